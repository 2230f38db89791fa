"""Tables of a result of which no DataFrame is made before somebody asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.result.columns import Column, Columns, frame

ROWS_AT_A_TIME = 1 << 17
"""So many rows are worked out, and written, at a time."""


@dataclass(frozen=True)
class Deferred:
    """A table that is worked out when it is asked for.

    Attributes
    ----------
    described : its columns
    rows : how many it has
    piece : returns the columns of some rows, as ``frame`` takes them, which nobody may write into; nothing
        that it reads may change
    """

    described: Sequence[Column]
    rows: int
    piece: Callable[[slice], dict[str, Any]]

    def frame(self) -> pd.DataFrame:
        """Return all of it, in memory of its own."""
        columns = self.piece(slice(0, self.rows))
        return frame({name: _own(values) for name, values in columns.items()}, self.described)


def frame_of(table: pd.DataFrame | Deferred) -> pd.DataFrame:
    """Return a table as a DataFrame."""
    return table.frame() if isinstance(table, Deferred) else table


def nothing(columns: Sequence[Column]) -> Deferred:
    """Return the table without rows."""
    return Deferred(columns, 0, lambda _: {column.name: [] for column in columns})


def _own(values: Any) -> Any:
    """Return a column that may be written into: a copy of one that is part of another array, or text."""
    shares = not isinstance(values, np.ndarray) or values.base is not None
    return values.copy() if shares else values


def rows_of(table: pd.DataFrame | Deferred) -> int:
    """Return how many rows a table has."""
    return table.rows if isinstance(table, Deferred) else len(table)


def columns_of(table: pd.DataFrame | Deferred) -> Columns:
    """Return the columns of a table, of which no DataFrame is made; those that are not known are left out."""
    return table.piece(slice(0, table.rows)) if isinstance(table, Deferred) else table


def pieces(table: pd.DataFrame | Deferred) -> Iterator[Columns]:
    """Yield the columns of a table, so many rows at a time; one piece of a table without rows."""
    count = rows_of(table)
    for start in range(0, max(count, 1), ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, count))
        yield table.piece(rows) if isinstance(table, Deferred) else table.iloc[rows]
