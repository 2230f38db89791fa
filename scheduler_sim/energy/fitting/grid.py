"""Points as arrays: a row a workload, a column a frequency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats
from scheduler_sim.energy.laws import ONE
from scheduler_sim.energy.points import KHZ, POWER, ROLE, TIME, WORKLOAD, Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError


@dataclass(frozen=True, eq=False)
class Grid:
    """What workloads did at each frequency.

    Attributes
    ----------
    workloads : (w,) names; pstates : (k,) frequencies.
    columns : (w, k) of each measured column, NaN where a workload did not run.
    roles : (w,) fit or test; None where points have none.
    """

    workloads: np.ndarray
    pstates: PStates
    columns: dict[str, Floats]
    roles: np.ndarray | None

    @classmethod
    def of(cls, points: Points, pstates: PStates | None = None) -> Grid:
        """Arrange points. Raises InputError where they are of several modules, or a role changes."""
        table = points.table
        states = PStates.of(points.khz) if pstates is None else pstates
        roles = None
        if ROLE in table:
            changing = table.groupby(WORKLOAD)[ROLE].nunique()
            if (changing > 1).any():
                raise InputError(f"role: workload {changing.idxmax()} has several; allowed: one a workload")
            roles = table.drop_duplicates(WORKLOAD).set_index(WORKLOAD)[ROLE]
        if table.duplicated([WORKLOAD, KHZ]).any():
            raise InputError("points: of several modules; allowed: of one module, or no column module")
        row, names = pd.factorize(table[WORKLOAD].to_numpy(object))
        column = states.index(points.khz)
        columns: dict[str, Floats] = {}
        for name in [POWER, *([TIME] if TIME in table else []), *points.counters]:
            columns[name] = np.full((len(names), len(states)), np.nan)
            columns[name][row, column] = points.column(name)
        return cls(names, states, columns, None if roles is None else roles.loc[list(names)].to_numpy())

    def __len__(self) -> int:
        return len(self.workloads)

    def rows(self, which: Any) -> Grid:
        """Return some workloads, by number or mask."""
        columns = {name: values[which] for name, values in self.columns.items()}
        return Grid(
            self.workloads[which], self.pstates, columns, None if self.roles is None else self.roles[which]
        )

    def terms(self, names: Sequence[str], state: int) -> Floats:
        """Return columns at one frequency side by side, (w, c); ``1`` is a column of ones."""
        made = [np.ones(len(self)) if name == ONE else self.columns[name][:, state] for name in names]
        return np.column_stack(made) if made else np.empty((len(self), 0))

    def slower(self, reference: int) -> Floats:
        """Return f0 / f from one state to all, (k,)."""
        clock = self.pstates.effective_khz.astype(np.float64)
        factor: Floats = clock[reference] / clock
        return factor
