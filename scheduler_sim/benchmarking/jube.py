"""Reading what JUBE's ``result`` writes: tables in its three styles, and what its folders say of them.

A run of JUBE is a folder (``bench_run/000003``) with ``result/NAME.dat``, ``configuration.xml`` and
``timestamps``. Formats as JUBE 2.6 writes them: ``csv`` with any separator, ``aligned``, ``pretty``; each
may be transposed. A unit stands behind the name of a column, in brackets.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from scheduler_sim.benchmarking.result_table import RawTable, seconds_of
from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import ConfigError
from scheduler_sim.numerals import finite

CONFIGURATION, RESULTS, STAMPS = "configuration.xml", "result", "timestamps"
MOST_BYTES = 50_000_000

_UNIT = re.compile(r"^(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]$")
_RULE = re.compile(r"^[|\-+\s]+$")
_ENDINGS = ("", "_first", "_last", "_min", "_max", "_sum", "_cnt", "_avg", "_std")
"""What JUBE puts behind the name of a pattern for statistics of its matches."""


def read_tables(path: str | Path, benchmark: str | None = None) -> list[RawTable]:
    """Read a table, or all tables of a run's folder or of a folder of runs.

    Parameters
    ----------
    path : of a file, of a run (a folder with ``configuration.xml``), or of a folder of runs.
    benchmark : its name; None: as ``configuration.xml`` has it, else the name of the file.

    Raises
    ------
    ConfigError : no table there, or one that cannot be read: file, line, what was found and what is allowed.
    """
    path = Path(path)
    if not os.path.isdir(path):
        return [_read(path, path.parent.parent, benchmark)]
    runs = (
        [path]
        if os.path.isfile(path / CONFIGURATION)
        else [run.parent for run in sorted(path.glob(f"*/{CONFIGURATION}"))]
    )
    files = [(run, file) for run in runs for file in sorted((run / RESULTS).glob("*.dat"))]
    if not files:
        raise ConfigError(
            f"{path}: found no results of JUBE; allowed: a table, or a folder with {RESULTS}/*.dat and"
            f" {CONFIGURATION}, as 'jube result' leaves it, or a folder of such folders"
        )
    return [_read(file, run, benchmark) for run, file in files if not _names_a_database(file)]


def _names_a_database(file: Path) -> bool:
    """Tell a .dat that only says where JUBE's database is."""
    return len(read_text(file, "a table of results", MOST_BYTES).splitlines()) < 2


def _read(file: Path, run: Path, benchmark: str | None) -> RawTable:
    rows, transposed = _rows(file)
    header = [name for _, row in rows[:1] for name in row]
    columns, units = zip(*map(_name_and_unit, header), strict=True)
    if twice := sorted({name for name in columns if columns.count(name) > 1}):
        raise ConfigError(f"{file}: found the column {twice[0]!r:.60} twice; allowed: each once")
    cells = pd.DataFrame(
        [row for _, row in rows[1:]], columns=list(columns), index=[at for at, _ in rows[1:]], dtype=str
    )
    known = _Configuration.beside(run)
    name = benchmark or (file.stem if known is None else known.named(file.stem))
    return RawTable(
        name,
        file,
        cells,
        dict(zip(columns, units, strict=True)),
        None if known is None else known.results(file.stem, columns),
        _stamp(run),
        "column" if transposed else "line",
    )


def _name_and_unit(text: str) -> tuple[str, str]:
    found = _UNIT.match(text)
    return (text, "") if found is None else (found["name"], found["unit"])


def _rows(file: Path) -> tuple[list[tuple[int, list[str]]], bool]:
    """Return the rows of a table with their lines, the names first; and whether it was transposed."""
    text = read_text(file, "a table of results", MOST_BYTES)
    lines = [(at, line) for at, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines:
        raise ConfigError(f"{file}: the file is empty; allowed: a table of results")
    pretty = [(at, line) for at, line in lines if line.startswith("|")]
    if pretty:
        rows = [(at, _pretty(line)) for at, line in pretty if not _RULE.match(line)]
        ruled = len(pretty) > len(rows)
        rows = list(_unwrapped(rows))
    else:
        sign = max(";,\t|", key=lines[0][1].count)
        rows = [(at, _separated(line, sign)) for at, line in lines]
        ruled = not _stands_on_its_side(rows)
    if not ruled:
        rows = [(i, list(column)) for i, column in enumerate(zip(*_even(file, rows), strict=True), start=1)]
    _even(file, rows)
    if len(rows) < 2:
        raise ConfigError(
            f"{file}: found no rows; allowed: the names of the columns, and a row for each result"
        )
    return rows, not ruled


def _pretty(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _unwrapped(rows: list[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield rows; one whose first cell is empty goes on with the row before, as JUBE wraps long cells."""
    whole: tuple[int, list[str]] | None = None
    for at, row in rows:
        if whole is not None and not row[0] and len(row) == len(whole[1]):
            whole = whole[0], [f"{a} {b}".strip() for a, b in zip(whole[1], row, strict=True)]
            continue
        if whole is not None:
            yield whole
        whole = at, row
    if whole is not None:
        yield whole


def _separated(line: str, sign: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=sign))]


def _stands_on_its_side(rows: list[tuple[int, list[str]]]) -> bool:
    """Tell a transposed table: its first column has no number, and its first row has one."""
    first_row, first_column = rows[0][1][1:], [row[0] for _, row in rows if row]
    return any(map(_is_number, first_row)) and not any(map(_is_number, first_column))


def _is_number(text: str) -> bool:
    try:
        finite(text)
    except ValueError:
        return False
    return True


def _even(file: Path, rows: list[tuple[int, list[str]]]) -> list[list[str]]:
    width = len(rows[0][1])
    for at, row in rows:
        if len(row) != width:
            raise ConfigError(f"{file}:{at}: found {len(row)} fields; allowed: {width}, as in the first row")
    return [row for _, row in rows]


def _stamp(run: Path) -> int | None:
    """Return when a run of JUBE began, from its time stamps."""
    file = run / STAMPS
    if not os.path.isfile(file):
        return None
    for line in read_text(file, "time stamps of JUBE").splitlines():
        word, _, rest = line.partition(":")
        if word == "start":
            return seconds_of(rest.strip())
    return None


class _Configuration:
    """What ``configuration.xml`` says: the name of the benchmark, its patterns, the titles of columns."""

    def __init__(self, root: ElementTree.Element, file: Path) -> None:
        found = root if root.tag == "benchmark" else root.find(".//benchmark")
        if found is None:
            raise ConfigError(f"{file}: found no benchmark; allowed: what JUBE writes beside its results")
        self._benchmark = found
        self._patterns = {
            f"{(pattern.get('name') or '').strip()}{ending}"
            for pattern in found.iter("pattern")
            for ending in _ENDINGS
        }

    @classmethod
    def beside(cls, run: Path) -> _Configuration | None:
        file = run / CONFIGURATION
        if not os.path.isfile(file):
            return None
        try:
            return cls(ElementTree.fromstring(read_text(file, "JUBE's configuration", MOST_BYTES)), file)
        except ElementTree.ParseError as error:
            raise ConfigError(
                f"{file}: found no XML ({error}); allowed: what JUBE writes beside its results"
            ) from None

    def named(self, table: str) -> str:
        """Return what to call a table: the benchmark, and the table where JUBE's default name is not used."""
        name = self._benchmark.get("name") or table
        return name if table == "result" else f"{name}/{table}"

    def results(self, table: str, columns: tuple[str, ...]) -> frozenset[str]:
        """Return those columns that show what a pattern found."""
        titles = {name: name for name in columns}
        for one in self._benchmark.iter("table"):
            if (one.get("name") or "").strip() == table:
                titles |= {
                    (column.get("title") or column.text or "").strip(): (column.text or "").strip()
                    for column in one.iter("column")
                }
        return frozenset(name for name in columns if titles.get(name, name) in self._patterns)
