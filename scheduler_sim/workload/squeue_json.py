"""What ``squeue --json`` prints, as the text that ``squeue --array`` prints of the same jobs.

One record has all tasks of an array that wait for the same: here each is a job of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scheduler_sim.errors import TraceError
from scheduler_sim.units import DAY, HOUR, MINUTE
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.slurm_json import Job, number_of, plain, read_json, rows_of, word_of

_BYTES_A_TASK = 2000  # of memory, as a row
_ASKED = "asked at"
_TASK = "task"
_SHOWN_FIRST = (
    *("COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_FED"),
    *("REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED", "RESV_DEL_HOLD", "SIGNALING"),
)
"""Flags of states that squeue shows in place of the state (``job_state_string`` of Slurm)."""


def rows_of_queue(path: str | Path, name: str) -> tuple[list[str], dict[int, list[str]]]:
    """Return the names of columns, as squeue calls them, and a row of texts for each job, by number from 1.

    Raises TraceError for what is no such text, and for a job that is not as it must be.
    """
    said = read_json(path, name, "squeue", "job_state")
    asked = number_of(said.get("last_update"))
    jobs = [job | {_ASKED: asked} for one in said["jobs"] for job in _tasks(one, name)]
    return list(_COLUMNS), rows_of(jobs, [*_COLUMNS.values()], name, "squeue", LeftOut())


def _tasks(job: Job, name: str) -> Iterator[Job]:
    """Yield a job, or each of the tasks for which its record stands."""
    tasks = word_of(job.get("array_task_string"))
    if not number_of(job.get("array_job_id")) or not tasks:
        yield job
        return
    for first, last, step in (_span(part, tasks, name) for part in tasks.partition("%")[0].split(",")):
        check_memory((last - first) // step * _BYTES_A_TASK, name, f"{last - first + 1} tasks of an array")
        for task in range(first, last + 1, step):
            yield job | {_TASK: task}


def _span(part: str, tasks: str, name: str) -> tuple[int, int, int]:
    """The first and the last task, and the step, of 7, 1-9 or 1-9:2."""
    try:
        numbers, _, step = part.partition(":")
        first, _, last = numbers.partition("-")
        return int(first), int(last or first), max(int(step or 1), 1)
    except ValueError:
        allowed = "numbers of tasks as 1-9:2,12 (SLURM_BITSTR_LEN=0 has squeue print all)"
        raise TraceError("tasks of an array", file=name, found=tasks[:60], allowed=allowed) from None


# -- what stands in a record


def _job_id(job: Job) -> str:
    array, het = number_of(job.get("array_job_id")), number_of(job.get("het_job_id"))
    if het:
        return f"{het}+{number_of(job.get('het_job_offset')) or 0}"
    task = job.get(_TASK, number_of(job.get("array_task_id")))
    return f"{array}_{task}" if array and task is not None else str(number_of(job["job_id"]))


def _state(job: Job) -> str:
    said = job["job_state"]
    words = [str(word) for word in said] if isinstance(said, list) else [str(said)]
    return next((word for word in _SHOWN_FIRST if word in words), words[0])


def _elapsed(job: Job) -> str:
    """How long it has run: up to the moment at which squeue was asked, suspensions apart."""
    start, asked = number_of(job.get("start_time")), job[_ASKED]
    before, since = number_of(job.get("pre_sus_time")) or 0, number_of(job.get("suspend_time"))
    if _state(job) == "SUSPENDED":
        return _duration(before)
    if _state(job) == "PENDING" or not start or not asked:
        return "0:00"
    return _duration(max(asked - (since or start), 0) + (before if since else 0))


def _limit(job: Job) -> str:
    """In the record it is in minutes; squeue shows the limit of the partition where none is set."""
    said = job.get("time_limit")
    if isinstance(said, dict) and said.get("infinite"):
        return "UNLIMITED"
    minutes = number_of(said)
    return "NOT_SET" if minutes is None else _duration(minutes * MINUTE)


def _duration(seconds: int) -> str:
    days, rest = divmod(seconds, DAY)
    return f"{days}-{rest // HOUR:02}:{rest % HOUR // MINUTE:02}:{rest % MINUTE:02}"


def _nodes(job: Job) -> int:
    return number_of(job.get("node_count")) or 1


def _memory(job: Job) -> str:
    """Of each node, MB; what is asked for of each CPU, of as many as a node has."""
    if of_node := number_of(job.get("memory_per_node")):
        return f"{of_node}M"
    of_cpu, cpus = number_of(job.get("memory_per_cpu")), number_of(job.get("cpus")) or 1
    return f"{of_cpu * -(-cpus // _nodes(job))}M" if of_cpu else ""


def _gpus(job: Job) -> str:
    """Those of each node, also where they were asked for in other ways."""
    if of_node := word_of(job.get("tres_per_node")):
        return of_node
    asked = dict(part.partition("=")[::2] for part in word_of(job.get("tres_req_str")).split(","))
    gpus = asked.get("gres/gpu", "")
    return f"gres/gpu:{-(-int(gpus) // _nodes(job))}" if gpus.isdigit() else ""


def _time(key: str) -> Callable[[Job], Any]:
    return lambda job: number_of(job.get(key)) or "N/A"


_COLUMNS: dict[str, Callable[[Job], Any]] = {
    "JOBID": _job_id,
    "USER": plain("user_name"),
    "GROUP": plain("group_name"),
    "ACCOUNT": plain("account"),
    "QOS": plain("qos"),
    "PARTITION": plain("partition"),
    "STATE": _state,
    "TIME": _elapsed,
    "START_TIME": _time("start_time"),
    "TIME_LIMIT": _limit,
    "NODES": _nodes,
    "CPUS": lambda job: number_of(job.get("cpus")),
    "MIN_MEMORY": _memory,
    "TRES_PER_NODE": _gpus,
    "SUBMIT_TIME": _time("submit_time"),
    "REASON": plain("state_reason"),
    "NODELIST": plain("nodes"),
    "FEATURES": plain("features"),
    "LICENSES": plain("licenses"),
    "NAME": plain("name"),
}
"""Columns of ``squeue``, and where they stand."""
