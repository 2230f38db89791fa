"""What ``sacct --json`` prints, as the text that ``sacct --parsable2`` prints of the same jobs.

Layouts: those of the data parsers of Slurm 21.08 to 25.11. A number is a number, or since 23.02 a mapping
with ``set``, ``infinite`` and ``number``; states and words of exit codes are texts, or since 23.11 lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scheduler_sim.errors import TraceError
from scheduler_sim.output.packed import BrokenFile, packing_of
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.memory import check_memory

_BYTES_A_BYTE = 8  # of memory, of the text
_PIECE = 1 << 20
_NO_VALUE = 0xFFFF_FFFE  # and one more is INFINITE
_JOBS = re.compile(rb'"jobs"\s*:\s*\[')
_ENERGY = "energy"

Job = dict[str, Any]


def is_json_of_sacct(start: bytes) -> bool:
    """Whether a text begins as what ``sacct --json`` prints: a mapping with a list of jobs in it."""
    return start.lstrip().startswith(b"{") and _JOBS.search(start) is not None


def rows_of_json(path: str | Path, name: str, left: LeftOut) -> tuple[list[str], dict[int, list[str]], int]:
    """Return the names of columns, a row of texts for each job by its place in the list, from 1, and how many
    job steps there are.

    Raises TraceError for what is no such text, with the job that is not as it must be, if not left out.
    """
    jobs = _jobs(path, name)
    rows = {}
    for place, job in enumerate(jobs, 1):
        try:
            rows[place] = [_text(read(job)) for read in _COLUMNS.values()]
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            wrong = TraceError(
                f"job {place} of the list cannot be read: {error!s:.80}",
                file=name,
                found=str(job)[:60],
                allowed="a job as sacct --json prints it",
            )
            if not left.skips:
                raise wrong from None
            left.add(wrong, kind="a job of the list that cannot be read")
    if not rows:
        raise left.nothing_left(name)
    steps = sum(len(job.get("steps") or ()) for job in jobs)
    return list(_COLUMNS), rows, steps


def _jobs(path: str | Path, name: str) -> list[Job]:
    try:
        said = json.loads(b"".join(_pieces(path, name)))
    except (ValueError, RecursionError) as error:
        raise TraceError(f"cannot be read as JSON: {error!s:.200}", file=name) from None
    except (OSError, BrokenFile) as error:
        raise TraceError(f"cannot be read: {error!s:.200}", file=name) from None
    jobs = said.get("jobs") if isinstance(said, dict) else None
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise TraceError("no list of jobs", file=name, allowed="what sacct --json prints")
    if not jobs:
        raise TraceError("no records", file=name, allowed="at least one job")
    if "time" not in jobs[0]:
        raise TraceError(
            "jobs without their times: this may be of squeue or scontrol",
            file=name,
            found=", ".join(map(str, jobs[0]))[:60],
            allowed="what sacct --json prints",
        )
    return jobs


def _pieces(path: str | Path, name: str) -> Iterator[bytes]:
    with open(path, "rb") as raw:
        packing = packing_of(raw.read(8))
        raw.seek(0)
        size = 0
        for piece in packing.unpacked(raw, _PIECE) if packing else iter(lambda: raw.read(_PIECE), b""):
            size += len(piece)
            check_memory(size * _BYTES_A_BYTE, name, f"a text of more than {size / 1e6:.0f} MB")
            yield piece


# -- what stands in it


def _at(job: Any, *keys: str) -> Any:
    """Return what stands under keys within keys, None where nothing does."""
    for key in keys:
        job = job.get(key) if isinstance(job, dict) else None
    return job


def _number(said: Any) -> int | None:
    """Return a number, None where none is set, or it is no limit."""
    if isinstance(said, dict):
        if not said.get("set", True) or said.get("infinite"):
            return None
        said = said.get("number")
    if said is None or isinstance(said, bool):
        return None
    number = int(said)
    return None if number in (_NO_VALUE, _NO_VALUE + 1) or number < 0 else number


def _word(said: Any) -> str:
    """Return a text, or the first of a list."""
    if isinstance(said, list):
        return str(said[0]) if said else ""
    return "" if said is None else str(said)


def _job_id(job: Job) -> str:
    number, array = _number(job["job_id"]), _number(_at(job, "array", "job_id"))
    het, offset = _number(_at(job, "het", "job_id")), _number(_at(job, "het", "job_offset"))
    if het:
        return f"{het}+{offset or 0}"
    task, tasks = _number(_at(job, "array", "task_id")), _at(job, "array", "task")
    if array and task is not None and not (tasks and number == array):
        return f"{array}_{task}"
    if array and tasks:
        most = _number(_at(job, "array", "limits", "max", "running", "tasks"))
        limit = f"%{most}" if most and "%" not in str(tasks) else ""
        return f"{array}_[{str(tasks).strip('[]')}{limit}]"
    return str(number)


def _time(*keys: str) -> Callable[[Job], str]:
    return lambda job: _text(_number(_at(job, "time", *keys)) or "Unknown")


def _limit(job: Job) -> str:
    return _text(_number(_at(job, "time", "limit")))


def _tres(which: str) -> Callable[[Job], str]:
    """Trackable resources as sacct prints them: cpu=8,mem=16G,gres/gpu:a100=2."""

    def read(job: Job) -> str:
        return ",".join(_of_tres(one) for one in _at(job, "tres", which) or () if _number(one["count"]))

    return read


def _of_tres(one: dict[str, Any]) -> str:
    kind = f"{one['type']}/{one['name']}" if one.get("name") else str(one["type"])
    return f"{kind}={_number(one['count'])}{'M' if kind == 'mem' else ''}"


def _memory(job: Job) -> str:
    """What was asked for: of each node, of each CPU, or of all nodes together."""
    for key, letter in (("memory_per_node", "n"), ("memory_per_cpu", "c")):
        if megabytes := _number(_at(job, "required", key)):
            return f"{megabytes}M{letter}"
    asked = _count(job, "requested", "mem")
    return "" if asked is None else f"{asked}M"


def _count(job: Job, which: str, kind: str) -> int | None:
    """Return how much of a trackable resource was asked for, or had; None where it is not said."""
    return next((_number(one["count"]) for one in _at(job, "tres", which) or () if one["type"] == kind), None)


def _nodes(job: Job) -> str:
    return _text(_number(job.get("allocation_nodes")) or _count(job, "requested", "node"))


def _cpus(job: Job) -> str:
    return _text(_count(job, "allocated", "cpu") or _number(_at(job, "required", "CPUs")))


def _exit_code(job: Job) -> str:
    code = _number(_at(job, "exit_code", "return_code"))
    signal = _at(job, "exit_code", "signal") or {}
    number = _number(signal.get("signal_id", signal.get("id")))
    return f"{code or 0}:{number or 0}"


def _plain(*keys: str) -> Callable[[Job], str]:
    return lambda job: _word(_at(job, *keys))


def _account(job: Job) -> str:
    return _word(job.get("account")) or _word(_at(job, "association", "account"))


def _user(job: Job) -> str:
    return _word(job.get("user")) or _word(_at(job, "association", "user"))


_COLUMNS: dict[str, Callable[[Job], Any]] = {
    "JobID": _job_id,
    "JobIDRaw": lambda job: _number(job["job_id"]),
    "JobName": _plain("name"),
    "User": _user,
    "Group": _plain("group"),
    "Account": _account,
    "QOS": _plain("qos"),
    "Partition": _plain("partition"),
    "State": _plain("state", "current"),
    "Submit": _time("submission"),
    "Eligible": _time("eligible"),
    "Start": _time("start"),
    "End": _time("end"),
    "ElapsedRaw": lambda job: _number(_at(job, "time", "elapsed")),
    "TimelimitRaw": _limit,
    "NNodes": _nodes,
    "NCPUS": _cpus,
    "ReqMem": _memory,
    "ReqTRES": _tres("requested"),
    "AllocTRES": _tres("allocated"),
    "ExitCode": _exit_code,
    "Constraints": _plain("constraints"),
    "Licenses": _plain("licenses"),
    "Reservation": _plain("reservation", "name"),
    "Restarts": lambda job: _number(job.get("restart_cnt")),
    "SubmitLine": _plain("submit_line"),
}
"""Columns of ``sacct --parsable2``, and where they stand."""


def _text(value: Any) -> str:
    return "" if value is None else str(value)
