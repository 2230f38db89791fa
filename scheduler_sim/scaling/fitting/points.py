"""Measured points: efficiencies or run times at numbers of processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.names import may_exceed_one

MOST_PROCESSES, LEAST, MOST = 1e12, 1e-12, 1e15
"""Bounds of points, within which the arithmetic of fits does not overflow."""


@dataclass(frozen=True)
class Series:
    """One factor, or the time of one phase.

    Attributes
    ----------
    name : of the factor or phase
    quantity : ``efficiency`` (share of 1) or ``time`` (s)
    processes, values : float64[n], P rising
    label : what the file calls it; empty where the name says it all
    """

    name: str
    quantity: str
    processes: Floats
    values: Floats
    label: str = ""

    def table(self) -> pd.DataFrame:
        """Return columns ``processes`` and the name of the series."""
        return pd.DataFrame({"processes": self.processes, self.name: self.values})


@dataclass(frozen=True)
class Points:
    """What a file of points holds.

    Attributes
    ----------
    efficiencies, times : series by name, in the order of the file
    decimals : digits after the point of the efficiencies, as shares, where the file shows them
    notes : what was left out or taken for granted
    counted : what P is a number of: processes, nodes, ranks or threads
    """

    efficiencies: dict[str, Series]
    times: dict[str, Series]
    decimals: int | None
    notes: tuple[str, ...]
    counted: str = "processes"

    @property
    def processes(self) -> Floats:
        """All numbers of processes, rising."""
        every = [series.processes for series in (*self.efficiencies.values(), *self.times.values())]
        return np.unique(np.concatenate(every))

    def table(self) -> pd.DataFrame:
        """Return the efficiencies as a table: ``processes`` and a column a factor; NaN where not measured."""
        whole = pd.DataFrame({"processes": self.processes})
        for series in self.efficiencies.values():
            whole = whole.merge(series.table(), on="processes", how="left")
        return whole


def checked(name: str, processes: ArrayLike, values: ArrayLike, quantity: str) -> tuple[Floats, Floats]:
    """Return points as float64, P rising.

    Raises InputError, naming the point, for none at all, P under 1, P twice, a value that is
    no number above 0, and an efficiency above 1 of a factor that cannot be.
    """
    p, y = np.asarray(processes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if p.shape != y.shape or p.ndim != 1 or not len(p):
        raise InputError(
            f"{name}: found {p.size} processes and {y.size} values; allowed: as many of each, at least 1"
        )
    for at, value in zip(p, y, strict=True):
        if problem := point_problem(name, float(at), float(value), quantity):
            raise InputError(f"{name}: {problem}")
    order = np.argsort(p, kind="stable")
    p, y = p[order], y[order]
    if (np.diff(p) == 0).any():
        twice = p[:-1][np.diff(p) == 0][0]
        raise InputError(f"{name}: found {twice:g} processes twice; allowed: one value for each P")
    return p, y


def point_problem(name: str, processes: float, value: float, quantity: str) -> str | None:
    """Say what is wrong with one point, None if nothing is."""
    if not 1 <= processes <= MOST_PROCESSES:
        return f"found {processes:g} processes; allowed: a number from 1 to {MOST_PROCESSES:g}"
    if not LEAST <= value <= MOST:
        return f"found {value:g} at {processes:g} processes; allowed: a number above 0, {LEAST:g} to {MOST:g}"
    if quantity == "efficiency" and value > 1 and not may_exceed_one(name):
        hint = "; for a table in percent say --percent" if value > 1.5 else ""
        return f"found {value:g} at {processes:g} processes; allowed: an efficiency up to 1{hint}"
    return None
