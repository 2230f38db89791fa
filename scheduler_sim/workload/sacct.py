"""Dumps of Slurm's accounting, ``sacct --parsable2``, as traces.

Columns go by the names in the header, in any order; what is not known is passed over. Second 0
of the trace is the midnight before the first submission, so that moments that Slurm rounds in
absolute time (``bf_resolution``) fall where they fell.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.units import DAY
from scheduler_sim.workload import sacct_text as text
from scheduler_sim.workload.fields import CANCELLED, NO_NODES, NO_RUN_TIME, NOT_ENDED, SAME_RUN
from scheduler_sim.workload.left_out import LeftOut
from scheduler_sim.workload.memory import check_memory
from scheduler_sim.workload.sacct_columns import Columns
from scheduler_sim.workload.sacct_header import NAMES, SMALL_NAMES
from scheduler_sim.workload.sacct_ids import Ids, ids_of
from scheduler_sim.workload.sacct_lines import AS_IT_IS_READ, Dump, read_dump
from scheduler_sim.workload.sacct_parts import TRES, had_types, of_tres, parts_of_nodes
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import MAX_WATTS

#: Seconds between two looks of slurmctld at time limits (PERIODIC_TIMEOUT in slurmctld.h).
LIMIT_CHECK = 30
_LOCAL = "; Note: times are local times of the site, taken as UTC"
_BYTES_A_RECORD = 1200  # of memory, from the text to the finished table
_NODES = ("NNodes", "AllocNodes", "AllocTRES", "ReqNodes", "ReqTRES")
_NEEDED: tuple[tuple[str, ...], ...] = (
    ("JobID", "JobIDRaw"), ("Submit",), ("State",), _NODES, ("ElapsedRaw", "Elapsed", "End"),
)  # fmt: skip
_TEXTS = {
    "name": "JobName", "user": "User", "group": "Group", "account": "Account", "qos": "QOS",
    "partition": "Partition", "constraint": "Constraints", "licences": "Licenses",
    "reservation": "Reservation",
}  # fmt: skip
_IDS = (
    "component_id", "modular_job_id", "components_total", "array_job_id", "array_task_id", "array_limit",
)  # fmt: skip


def read_sacct(path: str | Path, left: LeftOut | None = None) -> Workload:
    """Read a ``sacct --parsable2`` dump, plain or packed: a component for each run of a job.

    The reference page on sacct gives the rules: what each column becomes, what is skipped, which
    run has the number of its job, and what times without a zone mean.

    Raises
    ------
    TraceError
        with file, line, field, value and what is allowed, for all that cannot be read; for no line that is
        left out instead.
    """
    name, left = str(path), left or LeftOut()
    dump = read_dump(path, name, left)
    check_memory(len(dump.numbers) * _BYTES_A_RECORD, name, f"a trace of {len(dump.numbers)} records")
    columns = Columns(dump, name)
    dump.rows = b""
    for either in _NEEDED:
        if not any(column in columns for column in either):
            raise TraceError(
                f"no column {' or '.join(either)}",
                file=name,
                allowed=f"a column of that name, as {AS_IT_IS_READ} prints",
            )
    if dump.jobs.known:
        columns = _without(columns, columns.het_rows(dump.jobs.known), left)
    while True:
        try:
            return _workload(columns, dump, name, left)
        except TraceError as error:
            if not left.skips:
                raise columns.mistakes() or error from None
            faults = [one for one in (*columns.faults(), error) if one.rows is not None]
            if not faults:
                raise
            columns = _without_faults(columns, faults, left)


def _without_faults(columns: Columns, faults: list[TraceError], left: LeftOut) -> Columns:
    """Return a dump without the rows of some errors, and without the rest of their jobs; counts them."""
    gone = np.zeros(len(columns), dtype=bool)
    for error in faults:
        new = np.zeros_like(gone)
        new[error.rows] = True
        new &= ~gone
        if new.any():
            left.add(error, int(new.sum()))
        gone |= new
    jobs = columns.het_jobs(np.flatnonzero(gone))
    columns = columns.without(np.flatnonzero(gone))
    return _without(columns, columns.het_rows(jobs), left)


def _without(columns: Columns, rows: np.ndarray, left: LeftOut) -> Columns:
    left.add_of_jobs(len(rows))
    if len(rows) == len(columns):
        raise left.nothing_left(columns.name)
    return columns.without(rows)


def _workload(columns: Columns, dump: Dump, name: str, left: LeftOut) -> Workload:
    notes: list[str] = []
    if dump.steps:
        notes.append(f"{_counted(dump.steps, 'job step')} left out")
    if dump.repaired:
        within = "with the separator or a line end within a text"
        notes.append(f"{_counted(dump.repaired, 'row')} {within}")
    if dump.unsure:
        notes.append(
            f"{_counted(dump.unsure, 'row')} of these in which nothing tells where one text ends and the next"
            " begins: SubmitLine is as long as it may be; all other columns are as they were"
        )
    if strangers := [name for name in dump.spelled if name and name.lower() not in SMALL_NAMES]:
        named = (f"{name[:60]}{did_you_mean(name, NAMES)}" for name in strangers)
        notes.append(f"columns that are not of sacct, passed over: {', '.join(named)}")
    states, codes = columns.mapped("State")
    state = np.array(states, dtype=object)[codes]
    moments = {column: columns.times(column) for column in ("Submit", "Eligible", "Start", "End")}
    submit, start = moments["Submit"], moments["Start"]
    run_time = _run_time(columns, moments, state)
    started = start >= 0 if "Start" in columns else run_time > 0
    ended = ~np.isin(state, text.UNFINISHED)
    ids = ids_of(columns, submit, ended)
    notes += _remarks_on_ids(ids)
    nodes = _nodes(columns, started)
    reasons = {
        SAME_RUN: ids.repeated,
        NOT_ENDED: ~ended,
        CANCELLED: (state == "CANCELLED") & (~started | (run_time <= 0)),
        NO_RUN_TIME: ~started | (run_time < 0),
        NO_NODES: nodes <= 0,
    }
    skipped = np.select(list(reasons.values()), list(reasons), 0).astype(np.int8)
    if (submit < 0).any() and (skipped[submit < 0] == 0).any():
        rows = np.flatnonzero((submit < 0) & (skipped == 0))
        raise columns.error("a job without a submit time", "Submit", rows, "a time")

    known = submit[submit >= 0]
    origin = int(known.min()) // DAY * DAY if len(known) else 0
    limits = "TimelimitRaw" if "TimelimitRaw" in columns else "Timelimit"
    table: dict[str, Any] = {
        **{ours: columns.texts(theirs) for ours, theirs in _TEXTS.items()},
        **{name: getattr(ids, name) for name in _IDS},
        "submit_time": np.where(submit >= 0, submit - origin, -1),
        "begin_time": np.where(moments["Eligible"] > submit, moments["Eligible"] - origin, -1),
        "wait_time": np.where(started & (start >= submit), start - submit, -1),
        "run_time": np.where((skipped == 0) | (skipped == SAME_RUN), run_time, -1),
        "time_limit": columns.numbers_of(limits),
        "nodes": nodes,
        "listed_nodes": columns.numbers_of("ReqNodes"),
        "allocated_nodes": np.where(started, nodes, -1),
        **parts_of_nodes(columns, nodes),
        "allocated_frequency_khz": columns.numbers_of("AveCPUFreq"),
        "measured_power_w": _power(columns, moments, notes),
        "status": _status(state),
        "exit_code": _exit_code(columns, state),
        "requeue": columns.read_by("SubmitLine", text.requeue),
        "switches": columns.read_by("SubmitLine", text.switches),
        "switch_wait": columns.read_by("SubmitLine", text.switch_wait),
        "skipped": skipped,
    }
    table["listed_time_limit"] = table["time_limit"]
    table |= _dependencies(columns, ids, table["begin_time"], notes)
    notes += _remarks(columns, skipped, table["time_limit"])
    notes += _remarks_on_starts(columns, (skipped == 0) & (start >= 0) & (start < submit))
    comments = tuple(line.decode("utf-8", "replace").rstrip("\r") for line in dump.comments)
    source = TraceSource(
        format="sacct",
        name=name,
        header=(*comments, f"; UnixStartTime: {origin}", *([_LOCAL] if columns.local else [])),
        notes=(*notes, *left.notes()),
        line_numbers=columns.numbers,
    )
    return Workload(table, source)


def _run_time(columns: Columns, moments: dict[str, np.ndarray], state: np.ndarray) -> np.ndarray:
    """Return the time run, without suspensions: ElapsedRaw, else Elapsed, else from start to end.

    What was killed by its limit would have run on, by more than the time between two looks at limits.
    """
    ran = _elapsed(columns, moments)
    return np.where((state == "TIMEOUT") & (ran >= 0), ran + LIMIT_CHECK, ran)


def _elapsed(columns: Columns, moments: dict[str, np.ndarray]) -> np.ndarray:
    """Return the time run as sacct has it, s; -1 = not known."""
    if "ElapsedRaw" in columns:
        return columns.numbers_of("ElapsedRaw")
    if "Elapsed" in columns:
        return columns.numbers_of("Elapsed")
    start, end = moments["Start"], moments["End"]
    return np.where((start >= 0) & (end >= start), end - start, -1)


def _power(columns: Columns, moments: dict[str, np.ndarray], notes: list[str]) -> np.ndarray:
    """Return the mean power of all nodes of a job, W: its energy over its time; -1 = not measured.

    The energy is ConsumedEnergyRaw, else ConsumedEnergy, else that of AllocTRES: the first that says one.
    """
    joules = np.full(len(columns), -1, dtype=np.int64)
    for said in (
        *(columns.numbers_of(column) for column in ("ConsumedEnergyRaw", "ConsumedEnergy")),
        of_tres(columns, "AllocTRES", "joules"),
    ):
        joules = np.where(joules > 0, joules, said)
    ran = _elapsed(columns, moments)
    watts = np.where((joules > 0) & (ran > 0), joules / np.maximum(ran, 1), -1.0)
    beyond = int(np.count_nonzero(watts > MAX_WATTS))
    if beyond:
        notes.append(f"{_counted(beyond, 'job')} with an impossible energy, taken as not measured")
    return np.where(watts > MAX_WATTS, -1.0, watts)


def _nodes(columns: Columns, started: np.ndarray) -> np.ndarray:
    """Return the nodes a job had, or asked for if it never started; -1 = not said."""
    nodes = np.full(len(columns), -1, dtype=np.int64)
    for column in _NODES:
        said = of_tres(columns, column, "nodes") if column in TRES else columns.numbers_of(column)
        nodes = np.where((nodes <= 0) & (said > 0), said, nodes)
    return nodes


def _status(state: np.ndarray) -> np.ndarray:
    return pd.Series(state).map(text.ENDED).fillna(-1).to_numpy(dtype=np.int64)


def _exit_code(columns: Columns, state: np.ndarray) -> np.ndarray:
    """Return 0 for what was COMPLETED, else the exit code, at least 1: what ended otherwise, failed."""
    said = columns.numbers_of("ExitCode") if "ExitCode" in columns else np.int64(1)
    return np.where(state == "COMPLETED", 0, np.maximum(said, 1))


def _dependencies(columns: Columns, ids: Ids, begin: np.ndarray, notes: list[str]) -> dict[str, Any]:
    """Return the columns on dependencies. What is not in the dump counts as satisfied, as in Slurm.

    A job whose dependency is known waits for it, not for the moment at which it was satisfied.
    """
    if "Dependency" not in columns:
        return {}
    said, codes = columns.mapped("Dependency")
    jobs = set(ids.component_id.tolist()) | set(ids.array_job_id.tolist())
    tasks = set(zip(ids.array_job_id.tolist(), ids.array_task_id.tolist(), strict=True))
    spelled, gone = [], []
    for wishes, any_one in said:
        there = [wish for wish in wishes if _is_there(wish, jobs, tasks)]
        gone.append(len(wishes) - len(there))
        spelled.append(_spelled([] if any_one and gone[-1] else there, any_one))
    lost = int(np.array(gone, dtype=np.int64)[codes].sum())
    if lost:
        notes.append(f"{_counted(lost, 'dependency')} on jobs not in the dump, taken as satisfied")
    named, kinds, any_ones = (np.array(column)[codes] for column in zip(*spelled, strict=True))
    return {
        "dependency_ids": named.astype(object),
        "dependency_kinds": kinds.astype(object),
        "dependency_any": any_ones,
        "begin_time": np.where(kinds != "", -1, begin),
    }


def _is_there(wish: text.Depends, jobs: set[int], tasks: set[tuple[int, int]]) -> bool:
    if wish.job is None:
        return True
    return wish.job in jobs if wish.task is None else (wish.job, wish.task) in tasks


def _spelled(wishes: list[text.Depends], any_one: bool) -> tuple[str, str, int]:
    """Return dependencies as the columns of the table spell them: ids, kinds, whether any one is enough."""
    numbered = [wish for wish in wishes if wish.job is not None]
    alone = dict.fromkeys(wish.kind for wish in wishes if wish.job is None)
    ids = (str(wish.job) if wish.task is None else f"{wish.job}_{wish.task}" for wish in numbered)
    kinds = (f"{wish.kind}+{wish.minutes}" if wish.minutes else wish.kind for wish in numbered)
    return ",".join(ids), ",".join([*kinds, *alone]), int(any_one and bool(wishes))


def _remarks_on_ids(ids: Ids) -> list[str]:
    notes = []
    if ids.unnumbered:
        notes.append(
            f"no JobIDRaw: {_counted(ids.unnumbered, 'task')} of arrays got numbers above those of all jobs"
        )
    if ids.runs_before:
        notes.append(
            f"{_counted(ids.runs_before, 'run')} followed by another run of the same job got unused numbers"
        )
    return notes


def _remarks(columns: Columns, skipped: np.ndarray, limit: np.ndarray) -> list[str]:
    """Return what a careful person should know about the jobs that are simulated."""
    live = skipped == 0
    notes = []
    unlimited = int(np.count_nonzero(live & (limit < 0)))
    if unlimited:
        notes.append(f"{_counted(unlimited, 'job')} without a time limit: that of the partition is used")
    typed = int(np.count_nonzero(live & had_types(columns)))
    if typed:
        notes.append(
            f"{_counted(typed, 'job')} had GPUs of a type by AllocTRES, and without ReqTRES nothing tells"
            " whether they asked for it: they take any type"
        )
    restarts = columns.numbers_of("Restarts")
    lost = int(np.count_nonzero(live & (restarts > 0)))
    if lost:
        notes.append(f"{_counted(lost, 'job')} requeued: earlier runs are here only after sacct --duplicates")
    return notes


def _remarks_on_starts(columns: Columns, early: np.ndarray) -> list[str]:
    """Return what there is to say of jobs (bool[rows]) that started before they were submitted."""
    if not early.any():
        return []
    line = columns.numbers[int(np.argmax(early))]
    jobs = _counted(int(np.count_nonzero(early)), "job")
    return [f"{jobs} with a Start before Submit, first at line {line}: the recorded wait is taken as unknown"]


def _counted(number: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"
