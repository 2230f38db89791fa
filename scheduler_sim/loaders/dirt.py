"""What is wrong with rows of a table, and what becomes of them: an error, or rows left out and counted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.foreign_table import BadLine, ForeignTable
from scheduler_sim.workload.left_out import SHOWN


@dataclass(frozen=True)
class Fault:
    """What is wrong with one row: which column of ours, what kind of fault, what stands there."""

    row: int
    field: str
    kind: str
    found: str
    allowed: str


@dataclass
class Dirt:
    """All that is wrong with a table.

    Attributes
    ----------
    table : the table
    faulty : bool[rows], rows with a fault
    """

    table: ForeignTable
    faults: list[tuple[np.ndarray, str, str, str, list[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.faulty = np.zeros(self.table.rows, dtype=bool)

    def add(self, wrong: np.ndarray, name: str, kind: str, allowed: str, theirs: list[str]) -> None:
        """Note rows (bool[rows]) with a fault in a column of ours, which is made of ``theirs``."""
        new = wrong & ~self.faulty  # of a row that has several, the first one counts
        if new.any():
            self.faults.append((np.flatnonzero(new), name, kind, allowed, theirs))
            self.faulty |= new

    def notes(self, on_error: str, with_jobs: int = 0) -> tuple[str, ...]:
        """Return what is left out, by kind, and the first lines; ``with_jobs`` rows go with their jobs.

        Raises TraceError for ``stop``.
        """
        left = self.table.left
        for bad in self.table.bad:
            left.add(self._error_of_line(bad))
        for rows, name, kind, allowed, theirs in self.faults:
            for row in rows[:SHOWN].tolist():
                left.add(self._error(row, name, kind, allowed, theirs), kind=kind)
            if more := len(rows[SHOWN:]):
                left.add(self._error(int(rows[0]), name, kind, allowed, theirs), more, kind)
        if left.total and on_error == "stop":
            raise left.first()[0]
        left.add_of_jobs(with_jobs)
        return left.notes("row")

    def _error_of_line(self, bad: BadLine) -> TraceError:
        return TraceError(
            bad.kind, file=self.table.name, line=bad.line, found=bad.found, allowed=bad.allowed or None
        )

    def _error(self, row: int, name: str, kind: str, allowed: str, theirs: list[str]) -> TraceError:
        line = self.table.line_of(row)
        said = ", ".join(f"{one}: {self._cell(one, row)}" for one in theirs)
        where = kind if line is not None else f"{kind} in row {row + 1}"
        error = TraceError(
            where, file=self.table.name, line=line, field=name, found=said or None, allowed=allowed
        )
        error.rows = np.array([row])
        return error

    def _cell(self, name: str, row: int) -> str:
        value = self.table.columns[name][row].as_py()
        return "nothing" if value in (None, "") else str(value)[:60]


def refuse_without_rows(table: ForeignTable, on_error: str) -> None:
    """Raise TraceError, with the first of its lines, for a file of which no line is a row."""
    if not table.rows and table.bad:
        Dirt(table).notes(on_error)
        raise table.left.nothing_left(table.name)
