"""Reading points: a CSV table, BSC's modelfactors.csv, Extra-P's text, JSON, JSON lines and Talpas."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scheduler_sim.config.problem import listed
from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError, did_you_mean
from scheduler_sim.numerals import finite
from scheduler_sim.scaling.fitting.extrap_files import Measurements, read_jsonl, read_text_format
from scheduler_sim.scaling.fitting.extrap_json import place, read_json, read_talpas
from scheduler_sim.scaling.fitting.points import Points, Series, point_problem, repetitions_note
from scheduler_sim.scaling.names import FACTORS, canonical
from scheduler_sim.scaling.parameters import PARAMETERS, PROCESSES, parameter

COUNTED_AS_P = ("ranks", "nodes", "threads")
"""Words for P that stand for something else than processes, and are said as the file has them."""

PROCESSES_WORDS = (PROCESSES, *PARAMETERS[PROCESSES], *COUNTED_AS_P)
TIMES = ("time", "time_s", "run_time", "runtime", "elapsed")
_NOT_FACTORS = ("speedup", "ipc", "freq", "average ipc", "average frequency (ghz)", "elapsed time efficiency")


MODULE = "module"
"""Column of a CSV that says on which module a point was measured."""

_LEFT_OUT = ""
"""Name of columns beside the metric that is read."""


class _Cell(NamedTuple):
    """One value: its line and column, where it was measured, and what is written."""

    line: int
    column: str
    at: tuple[float, ...]
    text: str


def read_points(
    path: str | Path, *, percent: bool = False, metric: str = "", module: str | None = None
) -> Points:
    """Read a file of points; the format is told by the suffix and the first line.

    A CSV may have a column ``module``: of several modules ``module`` names the one whose points are read.

    ``metric`` names a metric of Extra-P's formats, or a column of a CSV, that is read in place of run times
    and efficiencies; its values stand in ``times``.

    - CSV (``,`` or ``;``): a column of processes, and columns of factors (shares of 1, or with
      ``percent`` per cent) or ``time`` (s).
    - modelfactors.csv of BSC's basicanalysis: a row a factor, always per cent; what it calls not
      available is left out, and said in the notes.
    - ``.txt``: Extra-P's text format, or the lines of Talpas; ``.json``: its two JSON formats; ``.jsonl``:
      its JSON lines. What begins with a brace is told by its first line under any name.

    Run times may depend on several parameters: columns ``processes``, ``nodes``, ``ranks``, ``threads``,
    ``size`` and ``clock_khz``, or as many PARAMETERs. The same point several times is repetitions: their mean
    counts.

    Raises ConfigError with every problem: file, line, column, what was found and what is allowed.
    """
    path = Path(path)
    text = read_text(path, "a table of points")
    if not text.strip():
        raise ConfigError(f"{path}: the file is empty; allowed: a table of points")
    suffix = path.suffix.lower()
    first = next(line for line in text.splitlines() if line.strip()).strip()
    if suffix == ".json" or (suffix != ".jsonl" and _is_one_json(text)):
        return _measured(path, read_json(path, text), metric)
    if first.startswith("{") and '"parameters"' in first:
        return _measured(path, read_talpas(path, text), metric)
    if suffix == ".jsonl" or first.startswith("{"):
        return _measured(path, read_jsonl(path, text), metric)
    if suffix == ".txt" or first.split()[0] in ("PARAMETER", "POINTS", "METRIC", "REGION", "DATA"):
        return _measured(path, read_text_format(path, text), metric)
    return _table(path, text, percent, metric, module)


def _is_one_json(text: str) -> bool:
    """Whether a file is one JSON object over several lines, as Extra-P's formats are written."""
    lines = text.strip().splitlines()
    return len(lines) > 1 and lines[0].startswith("{") and lines[-1].endswith("}") and lines[0][-1] != "}"


def _table(path: Path, text: str, percent: bool, metric: str, module: str | None) -> Points:
    delimiter = ";" if ";" in text.splitlines()[0] else ","
    reader = csv.reader(text.splitlines(), delimiter=delimiter)
    rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    rows = [(line, row) for line, row in rows if not row[0].startswith("#")]
    rows, measured_on = _of_one_module(path, rows, module)
    line, head = rows[0]
    bare = [cell.strip('"').lower() for cell in head]
    if bare[0] == "number of processes" and not metric:
        return _points(path, *_modelfactors(path, rows), scale=0.01)
    problems: list[str] = []
    if len(rows) < 2:
        problems.append(f"{path}:{line}: found no points; allowed: a row for each number of processes")
    width = _width(bare)
    if not width:
        words = ", ".join((*PROCESSES_WORDS, *PARAMETERS))
        problems.append(f"{path}:{line}: found the first column {head[0]!r:.40}; allowed: one of {words}")
        width = 1
    parameters, counted = _parameters(bare[:width])
    if len(set(parameters)) < width:
        problems.append(f"{path}:{line}: found the parameters {', '.join(parameters)}; allowed: each once")
    wanted = metric.strip().lower()
    if wanted and wanted not in bare[width:]:
        there = ", ".join(bare[width:])[:200]
        problems.append(f"{path}:{line}: found no metric {metric!r:.40}; allowed: {there}")
    if wanted:
        names = ["time" if cell == wanted else _LEFT_OUT for cell in bare[width:]]
    else:
        names = [_column(path, line, cell, problems) for cell in bare[width:]]
    for name in sorted({name for name in names if names.count(name) > 1} - {_LEFT_OUT}):
        problems.append(f"{path}:{line}: column {name} occurs twice")
    if width > 1 and (others := [name for name in names if name in FACTORS]):
        problems.append(
            f"{path}:{line}: found {', '.join(others)} of {width} parameters; allowed: time, or one parameter"
        )
    cells: list[_Cell] = []
    for at, row in rows[1:]:
        if len(row) != len(head):
            problems.append(f"{path}:{at}: found {len(row)} fields; allowed: {len(head)}")
            continue
        point = tuple(map(_number, row[:width]))
        if np.isnan(point).any():
            wrong = int(np.flatnonzero(np.isnan(point))[0])
            said = f"found {row[wrong]!r:.40} {parameters[wrong]}"
            problems.append(f"{path}:{at}: {said}; allowed: a number from 1")
            continue
        cells += [
            _Cell(at, name, point, cell)
            for name, cell in zip(names, row[width:], strict=True)
            if name != _LEFT_OUT
        ]
    left_out = [cell for cell, name in zip(head[width:], names, strict=True) if name == _LEFT_OUT]
    notes = [f"left out beside {metric}: {', '.join(left_out)}"] if left_out else []
    points = _points(path, cells, problems, notes, scale=0.01 if percent else 1.0, parameters=parameters)
    written = next((cell for cell in bare[width:] if cell in TIMES), "").removesuffix("_s").replace("_", " ")
    points = replace(points, module=measured_on)
    times = {name: replace(series, label=written) for name, series in points.times.items()}
    if not wanted or wanted in TIMES:
        return replace(points, times=times, counted=counted)
    (series,) = times.values()
    named = {metric: replace(series, name=metric, label="")}
    return replace(points, times=named, counted=counted, metric=metric)


def _of_one_module(
    path: Path, rows: list[tuple[int, list[str]]], module: str | None
) -> tuple[list[tuple[int, list[str]]], str]:
    """Return rows of one module without the column that says so, and which it is; "" without one."""
    line, head = rows[0]
    bare = [cell.strip('"').lower() for cell in head]
    if MODULE not in bare:
        return rows, ""
    at = bare.index(MODULE)
    of_row = [row[at] if at < len(row) else "" for _, row in rows[1:]]
    names = list(dict.fromkeys(of_row))
    wanted = next((name for name in names if module is not None and name.lower() == module.lower()), None)
    if wanted is None and (module is not None or len(names) > 1):
        hint = "" if module is None else did_you_mean(module, names)
        found = f"--module {module!r:.40}" if module is not None else f"{len(names)} modules"
        shown = ", ".join(f"--module {name}" for name in names)[:200]
        raise ConfigError(f"{path}:{line}: found {found} beside the column module; allowed: {shown}{hint}")
    name = names[0] if wanted is None and names else wanted or ""
    kept = [one for one, of in zip(rows[1:], of_row, strict=True) if of == name]
    return [(number, [*row[:at], *row[at + 1 :]]) for number, row in [rows[0], *kept]], name


def _width(head: Sequence[str]) -> int:
    """Return how many columns from the left are parameters."""
    known = [cell in PROCESSES_WORDS or parameter(cell) is not None for cell in head]
    return known.index(False) if False in known else len(head)


def _parameters(written: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the names of parameters, and what P counts. Without processes, nodes or the like are P."""
    names = [parameter(word) or word for word in written]
    counted = next((name for name in names if name in COUNTED_AS_P), PROCESSES)
    if PROCESSES in names or counted == PROCESSES:
        return tuple(names), PROCESSES
    return tuple(PROCESSES if name == counted else name for name in names), counted


def _column(path: Path, line: int, cell: str, problems: list[str]) -> str:
    name = canonical(cell) or ("time" if cell in TIMES else None)
    if name is None:
        allowed = ("time", *list(FACTORS)[:10])
        hint = did_you_mean(cell[:40], ("time", *FACTORS))
        problems.append(
            f"{path}:{line}: found the column {cell!r:.40}; allowed: {', '.join(allowed)}, ...,"
            f" or with --metric any{hint}"
        )
    return name or cell


def _modelfactors(
    path: Path, rows: Sequence[tuple[int, list[str]]]
) -> tuple[list[_Cell], list[str], list[str]]:
    (line, head), *others = rows
    problems, notes = [], []
    cells: list[_Cell] = []
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
        cells += [_Cell(at, name, (count,), cell) for count, cell in zip(counts, row[1:], strict=True)]
    if not cells and not problems:
        problems.append(f"{path}:{line}: found no efficiencies; allowed: a row for each factor")
    return cells, problems, notes


def _number(text: str) -> float:
    try:
        return finite(text.strip('"'))
    except ValueError:
        return np.nan


def _points(
    path: Path,
    cells: Sequence[_Cell],
    problems: list[str],
    notes: Iterable[str],
    scale: float,
    parameters: tuple[str, ...] = (PROCESSES,),
) -> Points:
    """Check every cell and put the columns together."""
    columns: dict[str, list[tuple[tuple[float, ...], float]]] = {}
    decimals = []
    for line, name, at, text in cells:
        quantity = "time" if name == "time" else "efficiency"
        value = _number(text) * (scale if quantity == "efficiency" else 1.0)
        place = dict(zip(parameters, at, strict=True))
        if np.isnan(value):
            said = f"found {text!r:.40} at {at[0]:g} {parameters[0]}; allowed: a number above 0"
            problems.append(f"{path}:{line}: {name}: {said}")
        elif problem := point_problem(name, place, value, quantity):
            problems.append(f"{path}:{line}: {name}: {problem}")
        else:
            columns.setdefault(name, []).append((at, value))
            if quantity == "efficiency":
                decimals.append(len(text.partition(".")[2]) + (2 if scale != 1 else 0))
    if problems:
        raise ConfigError(listed(dict.fromkeys(problems)))
    series = [
        _series(name, "time" if name == "time" else "efficiency", pairs, parameters)
        for name, pairs in columns.items()
    ]
    repeated = any(len(one.values) < len(one.measured) for one in series)
    return Points(
        {s.name: s for s in series if s.quantity == "efficiency"},
        {s.name: s for s in series if s.quantity == "time"},
        None if repeated else max(decimals, default=None),
        (*notes, *repetitions_note(series)),
        parameters=parameters,
    )


def _series(
    name: str, quantity: str, pairs: Sequence[tuple[tuple[float, ...], float]], parameters: tuple[str, ...]
) -> Series:
    points, values = zip(*pairs, strict=True)
    return Series(name, quantity, np.array(points), np.array(values), parameters=parameters)


def _measured(path: Path, read: Measurements, wanted: str) -> Points:
    """Take Extra-P's measurements of one metric, the run time unless told: a series a call path."""
    notes = []
    unknown = [name for name in read.parameters if parameter(name) is None]
    several = len(read.parameters) > 1
    if several and unknown:
        raise ConfigError(
            f"{path}: found the parameters {', '.join(read.parameters)[:80]}; allowed of several:"
            f" {', '.join(PARAMETERS)}, or p and n"
        )
    names, counted = (
        _parameters([name.lower() for name in read.parameters]) if several else ((PROCESSES,), PROCESSES)
    )
    if len(set(names)) < len(names):
        raise ConfigError(
            f"{path}: found the parameters {', '.join(read.parameters)[:80]}; allowed: each once"
        )
    metrics = list(dict.fromkeys(m.metric for m in read.found))
    if wanted:
        metric = next((m for m in metrics if m.lower() == wanted.strip().lower()), None)
        allowed = f"one of them; found no {wanted!r:.40}"
    else:
        metric = next((m for m in metrics if m.lower() in TIMES), metrics[0] if len(metrics) == 1 else None)
        allowed = "time among them, or one, or --metric"
    if metric is None:
        raise ConfigError(f"{path}: found the metrics {', '.join(metrics)[:200]}; allowed: {allowed}")
    if len(metrics) > 1:
        notes.append(f"metric {metric} of {', '.join(metrics)}")
    by_path: dict[str, list[tuple[tuple[float, ...], float]]] = {}
    problems = []
    for m in read.found:
        if m.metric != metric:
            continue
        if problem := point_problem(m.callpath, dict(zip(names, m.at, strict=True)), m.value, "time"):
            where = f"{path}:{m.line}" if m.line else place(path, m.where)
            problems.append(f"{where}: {m.callpath}: {problem}")
        by_path.setdefault(m.callpath, []).append((m.at, m.value))
    if problems:
        raise ConfigError(listed(problems))
    series = {name: _series(name, "time", pairs, names) for name, pairs in by_path.items()}
    of = "" if metric.lower() in TIMES or "time" in metric.lower() else metric
    return Points({}, series, None, (*notes, *repetitions_note(series.values())), counted, names, of)
