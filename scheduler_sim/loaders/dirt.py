"""What is wrong with rows of a table, and what becomes of them: an error, or rows left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.loaders.foreign_table import BadLine, ForeignTable

SHOWN = 3
"""So many of the lines that are left out are shown."""


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

    def notes(self, on_error: str) -> tuple[str, ...]:
        """Return what is left out, by kind, and the first lines. Raises TraceError for ``stop``."""
        counts = Counter(one.kind for one in self.table.bad)
        for rows, _, kind, _, _ in self.faults:
            counts[kind] += len(rows)
        if not counts:
            return ()
        first = sorted(self._first(), key=lambda one: (one[0] is None, one[0] or 0))[:SHOWN]
        if on_error == "stop":
            raise first[0][1]
        total = sum(counts.values())
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())
        shown = "; ".join(str(error) for _, error in first)
        return (f"{total:,} row{'s' * (total > 1)} left out: {kinds}; the first: {shown}",)

    def _first(self) -> Iterator[tuple[int | None, TraceError]]:
        """The first faults of each kind, with their lines."""
        for bad in self.table.bad[:SHOWN]:
            yield bad.line, self._error_of_line(bad)
        for rows, name, kind, allowed, theirs in self.faults:
            for row in rows[:SHOWN].tolist():
                line = self.table.line_of(row)
                yield (line if line is not None else row), self._error(row, name, kind, allowed, theirs)

    def _error_of_line(self, bad: BadLine) -> TraceError:
        return TraceError(
            bad.kind, file=self.table.name, line=bad.line, found=bad.found, allowed=bad.allowed or None
        )

    def _error(self, row: int, name: str, kind: str, allowed: str, theirs: list[str]) -> TraceError:
        line = self.table.line_of(row)
        said = ", ".join(f"{one}: {self._cell(one, row)}" for one in theirs)
        where = kind if line is not None else f"{kind} in row {row + 1}"
        return TraceError(
            where, file=self.table.name, line=line, field=name, found=said or None, allowed=allowed
        )

    def _cell(self, name: str, row: int) -> str:
        value = self.table.columns[name][row].as_py()
        return "nothing" if value in (None, "") else str(value)[:60]
