"""Measured points: what workloads drew at some clock frequency, how long they ran, what was counted.

A signature of an application is such a point: at the reference frequency.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.csv_texts import csv_texts
from scheduler_sim.errors import InputError, TraceError, did_you_mean

WORKLOAD, KHZ, POWER, TIME, ROLE, MODULE = "workload", "frequency_khz", "power_w", "time_s", "role", "module"
GPU_POWER, GPU_ALPHA = "gpu_power_w", "gpu_sensitivity"
"""Of signatures: W of all GPUs of a node, within its power; share of the time that follows their clock."""

REQUIRED = (WORKLOAD, KHZ, POWER)
TEXTS = (WORKLOAD, ROLE, MODULE)
ROLES = ("fit", "test")
ABOVE_ZERO = (KHZ, POWER, TIME, "cpi")

MOST_KHZ = 100_000_000
MOST = 1e15


@dataclass(frozen=True, eq=False)
class Points:
    """Measurements, one row for each workload, module and frequency; repeated runs are averaged.

    Attributes
    ----------
    table : ``workload`` (text), ``frequency_khz`` (int64, kHz), ``power_w`` (mean of one node, W), and where
        known ``time_s`` (s), ``module``, ``role`` (fit or test); every other column is a counter (float64).
    """

    table: pd.DataFrame

    @classmethod
    def of(cls, columns: Mapping[str, Any], name: str = "points", *, metered: bool = True) -> Points:
        """Make points from columns of equal length, by name; ``metered``: as in :meth:`from_csv`.

        Raises TraceError that names row (from 1) and field of the first value that is none.
        """
        return _checked(pd.DataFrame(dict(columns)), name, first_line=1, metered=metered)

    @classmethod
    def from_csv(cls, path: str | Path, *, averaged: bool = True, metered: bool = True) -> Points:
        """Read points from a CSV file with a header (also compressed: .gz).

        Without ``averaged`` repeated rows of a workload stay rows, such as load levels; where not
        ``metered``, ``power_w`` may be missing, as counters tell it.

        Raises TraceError for a file that cannot be read, a column that is missing, and any value that is not
        what its column holds, with the line.
        """
        return _checked(csv_texts(path), path, first_line=2, averaged=averaged, metered=metered)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def counters(self) -> list[str]:
        """Names of the columns that are counters."""
        return [str(name) for name in self.table if name not in (*REQUIRED, TIME, ROLE, MODULE)]

    @property
    def khz(self) -> Ints:
        """Frequency of each row, kHz (n,)."""
        return self.table[KHZ].to_numpy(np.int64)

    @property
    def power(self) -> Floats:
        """Power of each row, W (n,)."""
        return self.column(POWER)

    def has(self, name: str) -> bool:
        """Whether a column is there."""
        return name in self.table

    def column(self, name: str) -> Floats:
        """Return a column as float64 (n,). Raises InputError for one that is not there."""
        if name not in self.table:
            known = [str(column) for column in self.table if column not in TEXTS]
            raise InputError(
                f"points: found no column {name!r}; known: {', '.join(known)}{did_you_mean(name, known)}"
            )
        return self.table[name].to_numpy(np.float64)

    def terms(self, names: Sequence[str]) -> Floats:
        """Return columns side by side (n, c); ``1`` is a column of ones, ``NAME^2`` the square of one."""
        columns = [np.ones(len(self)) if name == "1" else self._term(name) for name in names]
        return np.column_stack(columns) if columns else np.empty((len(self), 0))

    def _term(self, name: str) -> Floats:
        squared = name.removesuffix("^2")
        return self.column(name) if squared == name else self.column(squared) ** 2

    def rows(self, which: Any) -> Points:
        """Return some rows, by a mask or by their numbers."""
        return Points(self.table.iloc[np.flatnonzero(which) if _is_mask(which) else which])

    def at(self, khz: int) -> Points:
        """Return the signatures of a frequency. Raises InputError where nothing ran at it."""
        there = self.khz == khz
        if not there.any():
            known = ", ".join(str(value) for value in np.unique(self.khz))
            raise InputError(f"points: found none at {khz} kHz; allowed: {known} kHz")
        return self.rows(there)

    def of_module(self, module: str) -> Points:
        """Return the rows of a module, by its name in any case; all of them where none is stated."""
        if MODULE not in self.table:
            return self
        return self.rows(self.table[MODULE].str.lower().to_numpy() == module.lower())


def _is_mask(which: Any) -> bool:
    return np.asarray(which).dtype == bool


def _checked(
    table: pd.DataFrame, file: str | Path, first_line: int, *, averaged: bool = True, metered: bool = True
) -> Points:
    table.columns = pd.Index([str(name).strip() for name in table.columns])
    required = REQUIRED if metered else (WORKLOAD, KHZ)
    for name in required:
        if name not in table:
            raise TraceError(
                "a column is missing", file=file, line=1, field=name, allowed=f"columns {', '.join(required)}"
            )
    if "1" in table:
        raise TraceError("a column may not be called 1, the constant of laws", file=file, line=1, field="1")
    if not len(table):
        raise TraceError("no rows", file=file, allowed="at least one measurement")
    made = {name: _texts(table[name], file, first_line) for name in TEXTS if name in table}
    for name in table.columns.difference(pd.Index(TEXTS), sort=False):
        made[name] = _numbers(table[name], name, file, first_line)
    khz = made[KHZ]
    if (broken := (khz != np.rint(khz)) | (khz > MOST_KHZ)).any():
        _refuse(table[KHZ], broken, "not a frequency", f"whole kHz up to {MOST_KHZ}", file, first_line)
    made[KHZ] = khz.astype(np.int64)
    if ROLE in made and (strange := ~np.isin(made[ROLE], ROLES)).any():
        _refuse(table[ROLE], strange, "an unknown role", " or ".join(ROLES), file, first_line)
    whole = pd.DataFrame({name: made[name] for name in table.columns})
    if not averaged:
        return Points(whole)
    keys = [name for name in (MODULE, WORKLOAD, KHZ, ROLE) if name in whole]
    return Points(whole.groupby(keys, sort=False, as_index=False).mean()[list(whole.columns)])


def _texts(column: pd.Series, file: str | Path, first_line: int) -> np.ndarray:
    texts = column.astype(str).str.strip()
    if (empty := (texts == "").to_numpy()).any():
        _refuse(column, empty, "an empty name", "a text", file, first_line)
    return texts.to_numpy(object)


def _numbers(column: pd.Series, name: str, file: str | Path, first_line: int) -> Floats:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(np.float64)
    if (broken := ~(np.abs(numbers) <= MOST)).any():
        _refuse(column, broken, "not a number", f"a number of size up to {MOST:g}", file, first_line)
    if name in ABOVE_ZERO and (low := numbers <= 0).any():
        _refuse(column, low, "not above 0", "a number > 0", file, first_line)
    return numbers


def _refuse(
    column: pd.Series, wrong: np.ndarray, what: str, allowed: str, file: str | Path, first_line: int
) -> None:
    row = int(np.flatnonzero(wrong)[0])
    raise TraceError(
        what,
        file=file,
        line=row + first_line,
        field=str(column.name),
        found=column.iloc[row],
        allowed=allowed,
    )
