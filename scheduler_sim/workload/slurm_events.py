"""Events of the Slurm simulators, as traces: when which job is submitted, with the options of sbatch.

A line is ``-dt SECONDS -e submit_batch_job | OPTIONS SCRIPT``; ``-sim-walltime`` is the run time. This is the
layout of the simulator of the University at Buffalo (ubccr-slurm-simulator/slurm_sim_tools). Other events,
and options that say nothing to a simulation here, are counted in the notes.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.comments import Comments
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.left_out import LeftOut, built
from scheduler_sim.workload.lines import read_blocks
from scheduler_sim.workload.sacct_text import switches_and_wait, time_limit
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

FORMAT = "slurm-sim-events"
_LINE = re.compile(r"\s*-dt\s+(\S+)\s+-e\s+(\S+)\s*(?:\|\s*(.*))?")
_UNIT_KB = {"K": 1, "M": 1024, "G": 1024**2, "T": 1024**3}
_SHORT = {
    "-J": "job-name",
    "-N": "nodes",
    "-n": "ntasks",
    "-c": "cpus-per-task",
    "-t": "time",
    "-q": "qos",
    "-p": "partition",
    "-A": "account",
    "-C": "constraint",
    "-G": "gpus",
    "-L": "licenses",
    "-s": "oversubscribe",
    "-sim-walltime": "sim-walltime",
}
_FLAGS = ("exclusive", "oversubscribe", "requeue", "no-requeue")
"""Options that need no value."""

_ALWAYS = ("submit_time", "run_time", "nodes")

Job = dict[str, Any]


def read_slurm_events(path: str | Path, left: LeftOut | None = None) -> Workload:
    """Read a file of events, plain or packed: a component for each ``submit_batch_job``.

    Times are rounded down to seconds, run times up. Raises TraceError with file, line, field, value and what
    is allowed, for all that cannot be read; for no line that is left out instead.
    """
    name, left = str(path), left or LeftOut()
    jobs, lines, passed = list[Job](), list[int](), Counter[str]()
    for number, line in enumerate(_lines_of(path, left), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            job = _job(line, passed)
        except TraceError as error:
            placed = TraceError(
                error.message,
                file=name,
                line=number,
                field=error.field,
                found=error.found,
                allowed=error.allowed,
            )
            if not left.skips:
                raise placed from None
            left.add(placed)
            continue
        if job is not None:
            jobs.append(job)
            lines.append(number)
    if not jobs:
        if left.total:
            raise left.nothing_left(name)
        raise TraceError("no records", file=name, allowed="at least one event submit_batch_job")
    passed_over = [f"{what} left out: {count:,}" for what, count in sorted(passed.items())]

    def workload(records: list[Any], _: Comments) -> Workload:
        of, numbers = ([jobs[row] for row in records[0].tolist()], records[1])
        return _workload(of, numbers, name, (*passed_over, *left.notes()))

    rows = [np.arange(len(jobs)), np.array(lines, dtype=np.int64)]
    return built(workload, rows, Comments(name), left)


def _workload(jobs: list[Job], lines: np.ndarray, name: str, notes: tuple[str, ...]) -> Workload:
    said = dict.fromkeys([*_ALWAYS, *(key for job in jobs for key in job)])
    columns: dict[str, Any] = {key: [job.get(key, FIELDS[key].default) for job in jobs] for key in said}
    columns["component_id"] = columns["modular_job_id"] = np.arange(1, len(jobs) + 1)
    return Workload(columns, TraceSource(FORMAT, name, notes=notes, line_numbers=lines))


def _lines_of(path: str | Path, left: LeftOut) -> Iterator[str]:
    for block in read_blocks(path, left):
        yield from block.decode("utf-8", "replace").splitlines()


def _job(line: str, left: Counter[str]) -> Job | None:
    """The job that a line submits; None for another event."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise TraceError("not an event", found=line[:60], allowed="-dt SECONDS -e EVENT | OPTIONS")
    if match[2] != "submit_batch_job":
        left[f"events {match[2][:40]}"] += 1
        return None
    job: Job = {"submit_time": math.floor(_number("dt", match[1])), "nodes": 1, "max_nodes": 0, "tasks": 0}
    for option, value in _options(match[3] or ""):
        read = _READ.get(option)
        if read is None:
            left[f"options --{option[:40]}"] += 1
        else:
            job |= read(value)
    if job.get("run_time", -1) < 0:  # it runs until its limit
        job["run_time"] = job.get("time_limit", -1)
    if job["run_time"] < 0:
        raise TraceError("no run time", field="sim-walltime", allowed="seconds, or a time limit")
    return job


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Options of sbatch with their values, without the script and what stands behind it."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise TraceError(f"options that cannot be split: {error}", found=text[:60]) from None
    i = 0
    while i < len(words) and words[i].startswith("-"):
        name, equals, value = words[i].partition("=")
        option = _SHORT.get(name, name.lstrip("-"))
        i += 1
        if not equals and option not in _FLAGS and i < len(words):
            value, i = words[i], i + 1
        yield option, value


# -- values


def _number(field: str, text: str) -> float:
    if not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{0,9})?", text):
        raise TraceError("not a number", field=field, found=text[:60], allowed="seconds")
    return float(text)


def _count(field: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise TraceError("not a count", field=field, found=text[:60], allowed="an integer >= 0")
    return int(text)


def _nodes(text: str) -> Job:
    least, _, most = text.partition("-")
    return {"nodes": _count("nodes", least), "max_nodes": _count("nodes", most or least)}


def _kb(field: str, text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([KMGT]?)B?", text.upper())
    if match is None:
        raise TraceError("not memory", field=field, found=text[:60], allowed="MB, or with K, M, G, T")
    return math.ceil(float(match[1]) * _UNIT_KB[match[2] or "M"])


def _of(column: str) -> Callable[[str], Job]:
    return lambda text: {column: text}


def _counted(column: str) -> Callable[[str], Job]:
    return lambda text: {column: _count(column, text)}


def _switches(text: str) -> Job:
    return dict(zip(("switches", "switch_wait"), switches_and_wait(text), strict=True))


_READ: dict[str, Callable[[str], Job]] = {
    "sim-walltime": lambda text: {"run_time": math.ceil(_number("sim-walltime", text))},
    "uid": _of("user"),
    "job-name": _of("name"),
    "partition": _of("partition"),
    "qos": _of("qos"),
    "reservation": _of("reservation"),
    "account": _of("account"),
    "constraint": _of("constraint"),
    "gres": _of("gres"),
    "licenses": _of("licences"),
    "nodes": _nodes,
    "ntasks": _counted("tasks"),
    "ntasks-per-node": _counted("tasks_per_node"),
    "cpus-per-task": _counted("cores_per_task"),
    "time": lambda text: {"time_limit": time_limit(text)},
    "mem": lambda text: {"memory_kb": _kb("mem", text)},
    "mem-per-cpu": lambda text: {"memory_per_core_kb": _kb("mem-per-cpu", text)},
    "gpus": lambda text: {"gres_per_job": f"gpu:{text}"},
    "gpus-per-node": lambda text: {"gres": f"gpu:{text}"},
    "exclusive": lambda text: {"exclusive": 1, "oversubscribe": 0},
    "oversubscribe": lambda text: {"oversubscribe": 1, "exclusive": 0},
    "requeue": lambda text: {"requeue": 1},
    "switches": _switches,
    "no-requeue": lambda text: {"requeue": 0},
}
"""How each option is read: the columns that it says."""
