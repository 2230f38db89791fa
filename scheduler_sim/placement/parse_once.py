"""Columns of text that few spellings fill: each is read once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.placement.repeating import as_slice
from scheduler_sim.workload.table import Workload


def error_at(workload: Workload, row: int, column: str, problem: str) -> TraceError:
    """Return an error that names the line of a row, and what its column says."""
    source, text = workload.source, str(workload.columns[column][row])
    return TraceError(problem, file=source.name or None, line=source.line_of(row), field=column, found=text)


def parse_once(
    workload: Workload, rows: Ints, column: str, read: Callable[[str], Any]
) -> tuple[list[Any], Ints]:
    """Read each spelling of some rows once; return what they mean, and which each row has, int64[rows].

    Raises TraceError, with the first line that has it, for one that ``read`` refuses.
    """
    texts = workload.columns[column]
    codes = np.asarray(texts.codes)[as_slice(rows)]
    used = np.unique(codes) if len(texts.categories) > 1 else codes[:1]
    values = []
    for code in used:
        try:
            values.append(read(str(texts.categories[code])))
        except InputError as error:
            row = int(rows[np.flatnonzero(codes == code)[0]])
            raise error_at(workload, row, column, str(error)) from None
    if len(used) <= 1:
        return values, np.broadcast_to(np.int64(0), codes.shape)
    return values, np.searchsorted(used, codes)
