"""Dumps of ``squeue``: which jobs run and which wait, at the instant at which it was asked.

Read as dumps of sacct are: columns by the names that ``squeue --format`` prints above them, between ``|``, in
any order; what is not known is passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.errors import TraceError
from scheduler_sim.units import DAY
from scheduler_sim.workload import sacct_text as text
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.sacct_columns import Columns
from scheduler_sim.workload.sacct_lines import Dump, dump_of, has_header, is_json, read_dump
from scheduler_sim.workload.sacct_parts import parts_of_nodes
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.squeue_json import rows_of_queue
from scheduler_sim.workload.table import Workload

COMMAND = 'squeue --array --format="%i|%u|%a|%q|%P|%T|%M|%S|%l|%D|%C|%V|%r|%N|%j"'
"""What prints the columns that are read, as the pages give it."""

#: What squeue calls its columns, and what the same is called in dumps of sacct.
_CALLED = {
    "name": "jobname", "time": "elapsed", "time_limit": "timelimit", "nodes": "nnodes", "cpus": "ncpus",
    "submit_time": "submit", "start_time": "start", "features": "constraints", "tres_per_node": "reqgres",
    "min_memory": "reqmem",
}  # fmt: skip
_NEEDED = {
    "JobID": "JOBID",
    "State": "STATE",
    "Elapsed": "TIME",
    "Timelimit": "TIME_LIMIT",
    "NNodes": "NODES",
    "Submit": "SUBMIT_TIME",
}
_TEXTS = {
    "name": "JobName", "user": "User", "group": "Group", "account": "Account", "qos": "QOS",
    "partition": "Partition", "constraint": "Constraints", "licences": "Licenses",
}  # fmt: skip
WAITING, RUNNING = "PENDING", "RUNNING"
HELD = (
    "JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "launch failed requeued held",
    "launch_failed_requeued_held", "Dependency", "DependencyNeverSatisfied", "BeginTime", "JobArrayTaskLimit",
    "Reservation", "BadConstraints", "InvalidAccount", "InvalidQOS",
)  # fmt: skip
"""Reasons of jobs that wait for something else than the queue."""
HELD_STATES = ("REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
"""States of such jobs, which hold no nodes."""
OVER = "COMPLETING"
"""The state of a job that has ended; its nodes are free in moments."""


@dataclass(frozen=True)
class Queue:
    """What squeue listed, a row a job, in the order of submission.

    Attributes
    ----------
    jobs : the jobs, times in s from the midnight before the first submission; run times are not known (0)
    labels : what squeue calls each job
    waits : bool[rows], whether it waits; else it has nodes
    states : as squeue says them
    start, elapsed : int64[rows], when it started and how long it had run, s; -1 = it waits, or not said
    nodes : names of the nodes that each has, as Slurm lists them; empty where it does not say, or waits
    reasons : why each waits, as squeue says it; empty where it does not say
    origin : second 0 in Unix time, by the clock that squeue printed
    """

    jobs: Workload
    labels: tuple[str, ...]
    waits: Bools
    start: Ints
    elapsed: Ints
    nodes: tuple[str, ...]
    reasons: tuple[str, ...]
    states: tuple[str, ...]
    origin: int

    def asked_at(self) -> int | None:
        """When squeue was asked, s, by what runs: its start and how long it ran; None: not said."""
        runs = np.array(self.states, dtype=object) == RUNNING
        said = runs & (self.start >= 0) & (self.elapsed >= 0)
        return int(np.median((self.start + self.elapsed)[said])) if said.any() else None

    def left_out(self) -> tuple[str, ...]:
        """Why each neither runs nor waits for the queue: its reason, or its state; empty where it does."""
        return tuple(
            state if state in (OVER, *HELD_STATES) else reason if reason in HELD else ""
            for state, reason in zip(self.states, self.reasons, strict=True)
        )


def read_squeue(path: str | Path) -> Queue:
    """Read what squeue printed with its header and ``|`` between columns, or as JSON; plain or packed.

    Raises
    ------
    TraceError
        with file, line, field, value and what is allowed, for all that cannot be read.
    """
    name = str(path)
    if is_json(path):
        dump = _of_json(path, name)
    elif has_header(path):
        dump = read_dump(path, name, LeftOut(), _CALLED)
    else:
        raise TraceError(
            "no header of squeue with | between columns", file=name, allowed=f"what {COMMAND} prints"
        )
    reasons = [text.strip("() ") for text in _texts(dump, "reason")]
    nodes = _texts(dump, "nodelist") if "nodelist" in dump.columns else _texts(dump, "nodelist(reason)")
    columns = Columns(dump, name)
    for ours, theirs in _NEEDED.items():
        if ours not in columns:
            raise TraceError(f"no column {theirs}", file=name, allowed=f"what {COMMAND} prints")
    try:
        return _queue(columns, reasons, nodes, name)
    except TraceError as error:
        raise _as_squeue_calls_it(columns.mistakes() or error) from None


def _of_json(path: str | Path, name: str) -> Dump:
    names, rows = rows_of_queue(path, name)
    return dump_of([_CALLED.get(column, column) for column in map(str.lower, names)], rows)


def _as_squeue_calls_it(error: TraceError) -> TraceError:
    """Return an error that names columns as squeue does."""
    text = str(error)
    for called, known in _CALLED.items():
        text = re.sub(f"; field {known};", f"; field {called.upper()};", text, flags=re.IGNORECASE)
    for name in ("JobID", "State"):
        text = text.replace(f"; field {name};", f"; field {name.upper()};")
    return TraceError(text)


def _texts(dump: Dump, column: str) -> list[str]:
    """Return what stands in a column, a text a row; empty ones without it, or where it says nothing."""
    if column not in dump.columns:
        return [""] * len(dump.numbers)
    place = dump.columns.index(column)
    rows = dump.rows.decode("utf-8", "replace").split("\n")
    found = (row.split("|")[place].strip() for row in rows if row)
    return ["" if text.says_nothing(word) else word for word in found]


def _queue(columns: Columns, reasons: list[str], nodes_had: list[str], name: str) -> Queue:
    ids, (states, codes) = columns.job_ids("JobID"), columns.mapped("State")
    if (ids["rest"] != "").any():
        rows = np.flatnonzero(ids["rest"] != "")
        raise columns.error(
            "several tasks in one row", "JobID", rows, "one row per task, as squeue --array prints"
        )
    state = np.array(states, dtype=object)[codes]
    if (gone := np.isin(state, sorted({*text.ENDED} - {*HELD_STATES}))).any():
        allowed = ", ".join(text.UNFINISHED)
        raise columns.error("a job that has ended", "State", np.flatnonzero(gone), allowed)
    submit, nodes = columns.times("Submit"), columns.numbers_of("NNodes")
    for column, values in (("Submit", submit), ("NNodes", np.where(nodes > 0, nodes, -1))):
        if (values < 0).any():
            raise columns.error(
                "nothing said", column, np.flatnonzero(values < 0), "a time; nodes: a number above 0"
            )
    waits = np.isin(state, (WAITING, *HELD_STATES))
    start, elapsed = columns.times("Start"), columns.numbers_of("Elapsed")
    origin = int(submit.min()) // DAY * DAY
    table: dict[str, Any] = {
        **{ours: columns.texts(theirs) for ours, theirs in _TEXTS.items()},
        **_numbers(ids),
        "submit_time": submit - origin,
        "run_time": 0,
        "time_limit": columns.numbers_of("Timelimit"),
        "nodes": nodes,
        **parts_of_nodes(columns, nodes),
        "memory_kb": _memory_of_a_node(columns),
    }
    order = np.argsort(submit, kind="stable")
    local = ("; Note: times are local times of the site, taken as UTC",) if columns.local else ()
    source = TraceSource(
        format="squeue",
        name=name,
        header=(f"; UnixStartTime: {origin}", *local),
        line_numbers=columns.numbers,
    )
    labels = np.asarray(columns.texts("JobID"), dtype=object)
    return Queue(
        jobs=Workload(table, source).select(order),
        labels=tuple(labels[order].tolist()),
        waits=waits[order],
        start=np.where(waits | (start < 0), -1, start - origin)[order],
        elapsed=np.where(waits, -1, elapsed)[order],
        nodes=tuple("" if waits[row] else nodes_had[row] for row in order.tolist()),
        reasons=tuple(reasons[row] if waits[row] else "" for row in order.tolist()),
        states=tuple(state[order].tolist()),
        origin=origin,
    )


def _numbers(ids: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return ids of the rows: those of jobs, or numbers from 1 on where rows share them."""
    job = ids["job"]
    number = job if len(np.unique(job)) == len(job) else np.arange(1, len(job) + 1)
    return {"component_id": number, "modular_job_id": number}


def _memory_of_a_node(columns: Columns) -> np.ndarray:
    """Return what MIN_MEMORY asks for on each node, KB; -1 = nothing."""
    if "ReqMem" not in columns:
        return np.full(len(columns), -1, dtype=np.int64)
    said, codes = columns.mapped("ReqMem")
    kb: np.ndarray = np.array([one.kb for one in said], dtype=np.int64)[codes]
    return kb
