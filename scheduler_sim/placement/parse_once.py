"""Columns of text that few spellings fill: each is read once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import InputError
from scheduler_sim.placement.repeating import as_slice
from scheduler_sim.workload.refused import refused
from scheduler_sim.workload.table import Workload


def parse_once(
    workload: Workload, rows: Ints, column: str, read: Callable[[str], Any]
) -> tuple[list[Any], Ints]:
    """Read each spelling of some rows once; return what they mean, and which each row has, int64[rows].

    Raises JobsRefused, for all rows that have one that ``read`` refuses.
    """
    texts = workload.columns[column]
    codes = np.asarray(texts.codes)[as_slice(rows)]
    used = np.unique(codes) if len(texts.categories) > 1 else codes[:1]
    values, wrong = [], {}
    for code in used.tolist():
        try:
            values.append(read(str(texts.categories[code])))
        except InputError as error:
            wrong[code] = str(error)
    if wrong:
        those = np.isin(codes, list(wrong))
        first = np.argmin(np.where(those, rows, len(workload)))
        raise refused(workload, rows[those], column, wrong[int(codes[first])])
    if len(used) <= 1:
        return values, np.broadcast_to(np.int64(0), codes.shape)
    return values, np.searchsorted(used, codes)
