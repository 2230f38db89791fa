"""What ``sacct --json`` prints, as the text that ``sacct --parsable2`` prints of the same jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.slurm_json import Job, at, number_of, plain, read_json, rows_of, text_of, word_of


def rows_of_json(path: str | Path, name: str, left: LeftOut) -> tuple[list[str], dict[int, list[str]], int]:
    """Return the names of columns, a row of texts for each job by its place in the list, from 1, and how many
    job steps there are.

    Raises TraceError for what is no such text, with the job that is not as it must be, if not left out.
    """
    jobs = read_json(path, name, "sacct", "time")["jobs"]
    rows = rows_of(jobs, [*_COLUMNS.values()], name, "sacct", left)
    return list(_COLUMNS), rows, sum(len(job.get("steps") or ()) for job in jobs)


def _job_id(job: Job) -> str:
    number, array = number_of(job["job_id"]), number_of(at(job, "array", "job_id"))
    het, offset = number_of(at(job, "het", "job_id")), number_of(at(job, "het", "job_offset"))
    if het:
        return f"{het}+{offset or 0}"
    task, tasks = number_of(at(job, "array", "task_id")), at(job, "array", "task")
    if array and task is not None and not (tasks and number == array):
        return f"{array}_{task}"
    if array and tasks:
        most = number_of(at(job, "array", "limits", "max", "running", "tasks"))
        limit = f"%{most}" if most and "%" not in str(tasks) else ""
        return f"{array}_[{str(tasks).strip('[]')}{limit}]"
    return str(number)


def _time(*keys: str) -> Callable[[Job], str]:
    return lambda job: text_of(number_of(at(job, "time", *keys)) or "Unknown")


def _limit(job: Job) -> str:
    return text_of(number_of(at(job, "time", "limit")))


def _tres(which: str) -> Callable[[Job], str]:
    """Trackable resources as sacct prints them: cpu=8,mem=16G,gres/gpu:a100=2."""

    def read(job: Job) -> str:
        return ",".join(_of_tres(one) for one in at(job, "tres", which) or () if number_of(one["count"]))

    return read


def _of_tres(one: dict[str, Any]) -> str:
    kind = f"{one['type']}/{one['name']}" if one.get("name") else str(one["type"])
    return f"{kind}={number_of(one['count'])}{'M' if kind == 'mem' else ''}"


def _memory(job: Job) -> str:
    """What was asked for: of each node, of each CPU, or of all nodes together."""
    for key, letter in (("memory_per_node", "n"), ("memory_per_cpu", "c")):
        if megabytes := number_of(at(job, "required", key)):
            return f"{megabytes}M{letter}"
    asked = _count(job, "requested", "mem")
    return "" if asked is None else f"{asked}M"


def _count(job: Job, which: str, kind: str) -> int | None:
    """Return how much of a trackable resource was asked for, or had; None where it is not said."""
    listed = at(job, "tres", which) or ()
    return next((number_of(one["count"]) for one in listed if one["type"] == kind), None)


def _nodes(job: Job) -> str:
    return text_of(number_of(job.get("allocation_nodes")) or _count(job, "requested", "node"))


def _cpus(job: Job) -> str:
    return text_of(_count(job, "allocated", "cpu") or number_of(at(job, "required", "CPUs")))


def _exit_code(job: Job) -> str:
    code = number_of(at(job, "exit_code", "return_code"))
    signal = at(job, "exit_code", "signal") or {}
    number = number_of(signal.get("signal_id", signal.get("id")))
    return f"{code or 0}:{number or 0}"


def _account(job: Job) -> str:
    return word_of(job.get("account")) or word_of(at(job, "association", "account"))


def _user(job: Job) -> str:
    return word_of(job.get("user")) or word_of(at(job, "association", "user"))


_COLUMNS: dict[str, Callable[[Job], Any]] = {
    "JobID": _job_id,
    "JobIDRaw": lambda job: number_of(job["job_id"]),
    "JobName": plain("name"),
    "User": _user,
    "Group": plain("group"),
    "Account": _account,
    "QOS": plain("qos"),
    "Partition": plain("partition"),
    "State": plain("state", "current"),
    "Submit": _time("submission"),
    "Eligible": _time("eligible"),
    "Start": _time("start"),
    "End": _time("end"),
    "ElapsedRaw": lambda job: number_of(at(job, "time", "elapsed")),
    "TimelimitRaw": _limit,
    "NNodes": _nodes,
    "NCPUS": _cpus,
    "ReqMem": _memory,
    "ReqTRES": _tres("requested"),
    "AllocTRES": _tres("allocated"),
    "ExitCode": _exit_code,
    "Constraints": plain("constraints"),
    "Licenses": plain("licenses"),
    "Reservation": plain("reservation", "name"),
    "Restarts": lambda job: number_of(job.get("restart_cnt")),
    "SubmitLine": plain("submit_line"),
}
"""Columns of ``sacct --parsable2``, and where they stand."""
