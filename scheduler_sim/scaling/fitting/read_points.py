"""Reading points: a CSV table, BSC's modelfactors.csv, Extra-P's text and JSON lines."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from scheduler_sim.config.problem import listed
from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError, did_you_mean
from scheduler_sim.scaling.fitting.extrap_files import Measurement, read_jsonl, read_text_format
from scheduler_sim.scaling.fitting.points import Points, Series, point_problem
from scheduler_sim.scaling.names import FACTORS, canonical

PROCESSES = ("processes", "number of processes", "p", "procs", "ranks", "nodes", "threads")
COUNTED = ("ranks", "nodes", "threads")
"""Words for P that stand for something else than processes, and are said as the file has them."""

TIMES = ("time", "time_s", "run_time", "runtime", "elapsed")
_NOT_FACTORS = ("speedup", "ipc", "freq", "average ipc", "average frequency (ghz)", "elapsed time efficiency")

_Cells = list[tuple[int, str, float, str]]
"""Line, column, processes, what is written."""


def read_points(path: str | Path, *, percent: bool = False) -> Points:
    """Read a file of points; the format is told by the suffix and the first line.

    - CSV (``,`` or ``;``): a column of processes, and columns of factors (shares of 1, or with
      ``percent`` per cent) or ``time`` (s).
    - modelfactors.csv of BSC's basicanalysis: a row a factor, always per cent; what it calls not
      available is left out, and said in the notes.
    - ``.txt``: Extra-P's text format; ``.jsonl``: its JSON lines. One parameter; of repeated
      measurements the median counts.

    Raises ConfigError with every problem: file, line, column, what was found and what is allowed.
    """
    path = Path(path)
    text = read_text(path, "a table of points")
    if not text.strip():
        raise ConfigError(f"{path}: the file is empty; allowed: a table of points")
    suffix = path.suffix.lower()
    first = next(line for line in text.splitlines() if line.strip()).strip()
    if suffix == ".jsonl" or first.startswith("{"):
        return _measured(path, *read_jsonl(path, text))
    if suffix == ".txt" or first.split()[0] in ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA"):
        return _measured(path, *read_text_format(path, text))
    return _table(path, text, percent)


def _table(path: Path, text: str, percent: bool) -> Points:
    delimiter = ";" if ";" in text.splitlines()[0] else ","
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    rows = [(line, row) for line, row in rows if not row[0].startswith("#")]
    line, head = rows[0]
    bare = [cell.strip('"').lower() for cell in head]
    if bare[0] == "number of processes":
        return _points(path, *_modelfactors(path, rows), scale=0.01)
    problems: list[str] = []
    if len(rows) < 2:
        problems.append(f"{path}:{line}: found no points; allowed: a row for each number of processes")
    if bare[0] not in PROCESSES:
        words = ", ".join(PROCESSES)
        problems.append(f"{path}:{line}: found the first column {head[0]!r:.40}; allowed: one of {words}")
    names = [_column(path, line, cell, problems) for cell in bare[1:]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.append(f"{path}:{line}: column {name} stands twice")
    cells: _Cells = []
    for at, row in rows[1:]:
        if len(row) != len(head):
            problems.append(f"{path}:{at}: found {len(row)} fields; allowed: {len(head)}")
            continue
        processes = _number(row[0])
        if np.isnan(processes):
            problems.append(f"{path}:{at}: found {row[0]!r:.40} processes; allowed: a number from 1")
            continue
        cells += [(at, name, processes, cell) for name, cell in zip(names, row[1:], strict=True)]
    points = _points(path, cells, problems, [], scale=0.01 if percent else 1.0)
    counted = bare[0] if bare[0] in COUNTED else points.counted
    written = next((cell for cell in bare[1:] if cell in TIMES), "").removesuffix("_s").replace("_", " ")
    times = {name: replace(series, label=written) for name, series in points.times.items()}
    return replace(points, times=times, counted=counted)


def _column(path: Path, line: int, cell: str, problems: list[str]) -> str:
    name = canonical(cell) or ("time" if cell in TIMES else None)
    if name is None:
        allowed = ("time", *list(FACTORS)[:10])
        hint = did_you_mean(cell[:40], ("time", *FACTORS))
        problems.append(
            f"{path}:{line}: found the column {cell!r:.40}; allowed: {', '.join(allowed)}, ...{hint}"
        )
    return name or cell


def _modelfactors(path: Path, rows: Sequence[tuple[int, list[str]]]) -> tuple[_Cells, list[str], list[str]]:
    (line, head), *others = rows
    problems, notes, cells = [], [], []
    counts = [_number(cell.split("(")[0]) for cell in head[1:]]
    for at, row in others:
        name = canonical(row[0])
        bare = row[0].strip('"').lstrip("- ").lower()
        if name is None and bare not in _NOT_FACTORS:
            notes.append(f"{row[0].strip(chr(34)).strip()!r} is no factor known here; left out")
        if name is None:
            continue
        if len(row) != len(head):
            problems.append(f"{path}:{at}: found {len(row)} fields; allowed: {len(head)}")
            continue
        if any(np.isnan(_number(cell)) for cell in row[1:]):
            notes.append(f"{FACTORS[name].label} is not available in all runs; left out")
            continue
        cells += [(at, name, count, cell) for count, cell in zip(counts, row[1:], strict=True)]
    if not cells and not problems:
        problems.append(f"{path}:{line}: found no efficiencies; allowed: a row for each factor")
    return cells, problems, notes


def _number(text: str) -> float:
    try:
        return float(text.strip('"'))
    except ValueError:
        return np.nan


def _points(path: Path, cells: _Cells, problems: list[str], notes: Iterable[str], scale: float) -> Points:
    """Check every cell and put the columns together."""
    columns: dict[str, list[tuple[float, float]]] = {}
    first: dict[tuple[str, float], int] = {}
    decimals = []
    for line, name, processes, text in cells:
        quantity = "time" if name == "time" else "efficiency"
        value = _number(text) * (scale if quantity == "efficiency" else 1.0)
        if np.isnan(value):
            said = f"found {text!r:.40} at {processes:g} processes; allowed: a number above 0"
            problems.append(f"{path}:{line}: {name}: {said}")
        elif problem := point_problem(name, processes, value, quantity):
            problems.append(f"{path}:{line}: {name}: {problem}")
        elif (name, processes) in first:
            problems.append(
                f"{path}:{line}: {name}: found {processes:g} processes twice, first on line"
                f" {first[name, processes]}; allowed: one value for each P"
            )
        else:
            first[name, processes] = line
            columns.setdefault(name, []).append((processes, value))
            if quantity == "efficiency":
                decimals.append(len(text.partition(".")[2]) + (2 if scale != 1 else 0))
    if problems:
        raise ConfigError(listed(dict.fromkeys(problems)))
    series = [
        _series(name, "time" if name == "time" else "efficiency", pairs) for name, pairs in columns.items()
    ]
    return Points(
        {s.name: s for s in series if s.quantity == "efficiency"},
        {s.name: s for s in series if s.quantity == "time"},
        max(decimals, default=None),
        tuple(notes),
    )


def _series(name: str, quantity: str, pairs: Sequence[tuple[float, float]]) -> Series:
    p, y = np.array(sorted(pairs), dtype=np.float64).T
    return Series(name, quantity, p, y)


def _measured(path: Path, measurements: list[Measurement], notes: list[str]) -> Points:
    """Take Extra-P's measurements of one metric: the median of repetitions, a series a call path."""
    metrics = list(dict.fromkeys(m.metric for m in measurements))
    metric = next((m for m in metrics if m.lower() in TIMES), metrics[0] if len(metrics) == 1 else None)
    if metric is None:
        raise ConfigError(
            f"{path}: found the metrics {', '.join(metrics)[:200]}; allowed: time among them, or one"
        )
    if len(metrics) > 1:
        notes.append(f"metric {metric} of {', '.join(metrics)}")
    by_path: dict[str, dict[float, list[float]]] = {}
    problems = []
    for m in measurements:
        if m.metric != metric:
            continue
        if problem := point_problem(m.callpath, m.processes, m.value, "time"):
            problems.append(f"{path}:{m.line}: {m.callpath}: {problem}")
        by_path.setdefault(m.callpath, {}).setdefault(m.processes, []).append(m.value)
    if problems:
        raise ConfigError(listed(problems))
    repeated = max(len(values) for points in by_path.values() for values in points.values())
    if repeated > 1:
        notes.append(f"up to {repeated} repetitions a point: the median counts")
    series = {
        name: _series(name, "time", [(p, float(np.median(values))) for p, values in points.items()])
        for name, points in by_path.items()
    }
    return Points({}, series, None, tuple(notes))
