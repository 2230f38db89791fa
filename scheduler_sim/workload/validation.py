"""What must hold in every workload, checked once, over whole columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn
from scheduler_sim.workload.columns import once
from scheduler_sim.workload.fields import FIELDS, SKIP_REASONS, Field
from scheduler_sim.workload.mwf_text import check_frequency, parse_api_calls
from scheduler_sim.workload.source import TraceSource

#: Largest time (s) and largest number of nodes or KB that a column may hold.
MAX_TIME = 10**15
MAX_AMOUNT = 2**53
#: Largest number of tasks, of cores of a task and the like.
MAX_COUNT = 2**24
#: Most W that a job may have drawn: no machine comes near.
MAX_WATTS = 10**9
#: Largest nice value of Slurm, either way (sbatch, ``--nice``).
MAX_NICE = 2_147_483_645


def check_columns(columns: Mapping[str, Any], source: TraceSource) -> None:
    """Raise a TraceError for the first row that breaks a rule; rows not simulated are exempt.

    A start of -1 means *never* in results, so submissions may not be negative. The bounds
    keep every sum the simulation forms within int64.
    """
    live = columns["skipped"] == 0
    for name, (holds, allowed) in _RULES.items():
        values = columns[name]
        wrong = ~holds(once(values))
        if name != "skipped" and wrong.any():
            wrong = wrong & live
        if wrong.any():
            rows = np.flatnonzero(np.broadcast_to(wrong, live.shape))
            raise problem(source, rows, name, "value out of range", _shown(values[rows[0]]), allowed)
    _check_total(columns, source, live)
    for name, check in _TEXT_RULES.items():
        _check_texts(columns[name], source, name, check)


def _shown(value: Any) -> int | float:
    return int(value) if float(value).is_integer() else float(value)


def check_value(name: str, value: Any) -> int | float | str:
    """Return one value as a column holds it. Raises TraceError where it is not what may stand there."""
    kind = FIELDS[name].dtype
    if kind == "text":
        good, allowed = isinstance(value, str), "text"
    elif kind == "float64":
        good, allowed = isinstance(value, int | float | np.integer | np.floating), "a number"
    else:
        good, allowed = isinstance(value, int | np.integer), "a whole number within int64"
        good = good and -(2**63) <= value < 2**63
    if good and name in _RULES:
        holds, allowed = _RULES[name]
        good = bool(holds(value))
    if not good:
        raise TraceError("value out of range", field=name, found=value, allowed=allowed)
    if name in _TEXT_RULES:
        _TEXT_RULES[name](value)
    return value if isinstance(value, str) else (float(value) if kind == "float64" else int(value))


def rule_of(name: str) -> tuple[Callable[[np.ndarray], np.ndarray], str] | None:
    """Return what tells which numbers a column may hold, and says so in words; None if any will do."""
    return _RULES.get(name)


def problem(
    source: TraceSource,
    rows: np.ndarray | int,
    name: str,
    message: str,
    found: object,
    allowed: str | None,
) -> TraceError:
    """Return the error for a cell of some rows, with file, line and position of the first, if it has them."""
    rows = np.atleast_1d(rows)
    row = int(rows[0])
    line = source.line_of(row)
    where = message if line is not None else f"{message} in row {row} of the workload"
    field = _listed(name, source.format).place(source.format)
    error = TraceError(where, file=source.name or None, line=line, field=field, found=found, allowed=allowed)
    error.rows = rows
    return error


def _listed(name: str, file_format: str) -> Field:
    field, listed = FIELDS[name], FIELDS.get(f"listed_{name}")
    if field.position(file_format) is None and listed is not None and listed.position(file_format):
        return listed
    return field


def _check_total(columns: Mapping[str, Any], source: TraceSource, live: np.ndarray) -> None:
    rows = slice(None) if live.all() else live
    longest = np.maximum(columns["run_time"], columns["time_limit"])[rows].astype(float)
    # No matrix product: the threads that it leaves behind keep another processor busy for a while.
    node_seconds = float((longest * columns["nodes"][rows]).sum())
    starts = (columns[name][rows] for name in ("submit_time", "begin_time"))
    latest = max(float(start.max(initial=0)) for start in starts) + float(longest.sum())
    if max(node_seconds, latest) >= 2.0**62:
        raise TraceError(
            "the times of all components together are beyond what int64 seconds can hold",
            file=source.name or None,
            found=f"{max(node_seconds, latest):.3g}",
            allowed="at most 4.6e18 node-seconds",
        )


def _check_texts(column: TextColumn, source: TraceSource, name: str, check: Callable[[str], object]) -> None:
    wrong: dict[int, TraceError] = {}
    for code, text in enumerate(column.categories):
        try:
            check(text)
        except TraceError as error:
            wrong[code] = error
    if wrong:
        rows = np.flatnonzero(np.isin(column.codes, list(wrong)))
        code = int(column.codes[rows[0]])
        said = wrong[code]
        raise problem(source, rows, name, said.message, column.categories[code], said.allowed)


def _at_least(smallest: int, largest: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: (values >= smallest) & (values <= largest)


def _in_thousandths(values: np.ndarray) -> np.ndarray:
    """Whether numbers are -1, or from 0 on and whole in thousandths."""
    there = (values >= 0) & (values <= MAX_AMOUNT / 1000)
    pieces = np.where(there, values, 0) * 1000
    good: np.ndarray = (values == -1) | (there & (np.abs(pieces - np.rint(pieces)) < 1e-3))
    return good


_COUNTED: tuple[Callable[[np.ndarray], np.ndarray], str] = (
    lambda values: (values == -1) | ((values >= 1) & (values <= MAX_COUNT)),
    f"1 to {MAX_COUNT}; -1 = not stated",
)
_WATTS: tuple[Callable[[np.ndarray], np.ndarray], str] = (
    lambda values: (values == -1) | ((values >= 0) & (values <= MAX_WATTS)),
    f"0 to {MAX_WATTS:g} W; -1 = not measured",
)
_RULES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "skipped": (
        lambda values: np.isin(values, [0, *SKIP_REASONS]),
        f"0 or {', '.join(map(str, SKIP_REASONS))}",
    ),
    "nodes": (_at_least(1, 2**31 - 1), "1 to 2147483647"),
    "submit_time": (_at_least(0, MAX_TIME), "0 to 1e15 s"),
    "run_time": (_at_least(0, MAX_TIME), "0 to 1e15 s"),
    "time_limit": (lambda v: (v == -1) | ((v >= 1) & (v <= MAX_TIME)), "-1 (none), or 1 to 1e15 s"),
    "components_total": (_at_least(-1, MAX_AMOUNT), "1 or more; -1 = unknown"),
    "processes_per_node": (_at_least(-1, MAX_AMOUNT), "0 or more; -1 = unknown"),
    "threads_per_process": (_at_least(-1, MAX_AMOUNT), "0 or more; -1 = unknown"),
    "memory_kb": (_at_least(-1, MAX_AMOUNT), "0 or more; -1 = none"),
    "nam_kb": (_at_least(-1, MAX_AMOUNT), "0 or more; -1 = none"),
    "cores": (_in_thousandths, "0 or more, with at most three decimals; -1 = not stated"),
    "gpus": (_in_thousandths, "0 or more, with at most three decimals; -1 = not stated"),
    "measured_power_w": _WATTS,
    "measured_peak_w": _WATTS,
    "exclusive": (_at_least(0, 1), "0 or 1"),
    "oversubscribe": (_at_least(0, 1), "0 or 1"),
    "max_nodes": (_at_least(-1, 2**31 - 1), "0 to 2147483647; -1 = as many as nodes"),
    "tasks": (_at_least(-1, MAX_COUNT), f"0 to {MAX_COUNT}; -1 = not stated"),
    "tasks_per_node": _COUNTED,
    "cores_per_task": _COUNTED,
    "memory_per_core_kb": (_at_least(-1, MAX_AMOUNT // 2**20), "0 or more; -1 = none"),
    "cores_per_gpu": (_at_least(-1, MAX_COUNT), f"0 to {MAX_COUNT}; -1 = not stated"),
    "memory_per_gpu_kb": (_at_least(-1, MAX_AMOUNT // 2**20), "0 or more; -1 = none"),
    "begin_time": (_at_least(-1, MAX_TIME), "-1 (none), or 0 to 1e15 s"),
    "array_job_id": (_at_least(-1, MAX_AMOUNT), "0 or more; -1 = none"),
    "array_task_id": (_at_least(-1, MAX_AMOUNT), "0 or more; -1 = none"),
    "array_limit": (lambda v: (v == -1) | ((v >= 1) & (v <= MAX_AMOUNT)), "1 or more; -1 = any number"),
    "nice": (_at_least(-MAX_NICE, MAX_NICE), f"-{MAX_NICE} to {MAX_NICE}"),
    "hold": (_at_least(0, 1), "0 or 1"),
    "requeue": (_at_least(-1, 1), "0 or 1; -1 = not stated"),
    "switches": (_at_least(-1, MAX_COUNT), f"0 to {MAX_COUNT}; -1 = any number"),
    "switch_wait": (_at_least(-1, MAX_TIME), "0 to 1e15 s; -1 = not stated"),
    "dependency_any": (_at_least(0, 1), "0 or 1"),
    "delay": (_at_least(-1, MAX_TIME), "0 or more; -1 = none"),
}
_TEXT_RULES: dict[str, Callable[[str], object]] = {"frequency": check_frequency, "api_calls": parse_api_calls}
