"""Measured points: efficiencies or run times at numbers of processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.fitting.sample import Sample, gathered
from scheduler_sim.scaling.names import may_exceed_one
from scheduler_sim.scaling.parameters import PROCESSES

MOST_PROCESSES, LEAST, MOST = 1e12, 1e-12, 1e24
"""Bounds of points, within which the arithmetic of fits does not overflow."""


@dataclass(frozen=True)
class Series:
    """Measurements of one factor, or of the time of one phase.

    Attributes
    ----------
    name : of the factor or phase
    quantity : ``efficiency`` (share of 1) or ``time`` (s)
    points : float64[m, k], a column a parameter; the same point may stand several times
    measured : float64[m]
    label : what the file calls it; empty where the name says it all
    parameters : what the columns are
    """

    name: str
    quantity: str
    points: Floats
    measured: Floats
    label: str = ""
    parameters: tuple[str, ...] = (PROCESSES,)

    @cached_property
    def sample(self) -> Sample:
        """Means of repetitions, P rising."""
        return gathered(self.points, self.measured)

    @property
    def processes(self) -> Floats:
        """P, or the first of several parameters, each point once."""
        return self.sample.points[:, 0]

    @property
    def values(self) -> Floats:
        """Means of repetitions."""
        return self.sample.values

    def table(self) -> pd.DataFrame:
        """Return columns ``processes`` and the name of the series, of points of one parameter."""
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
    parameters : on what the values depend
    metric : what ``times`` are of, where that is not the run time: all that is said of seconds is then of it
    module : where they were measured, if the file says so
    """

    efficiencies: dict[str, Series]
    times: dict[str, Series]
    decimals: int | None
    notes: tuple[str, ...]
    counted: str = "processes"
    parameters: tuple[str, ...] = (PROCESSES,)
    metric: str = ""
    module: str = ""

    @property
    def processes(self) -> Floats:
        """All numbers of processes, or values of the first of several parameters, rising."""
        every = [series.processes for series in (*self.efficiencies.values(), *self.times.values())]
        return np.unique(np.concatenate(every))

    def table(self) -> pd.DataFrame:
        """Return the efficiencies as a table: ``processes`` and a column a factor; NaN where not measured."""
        whole = pd.DataFrame({"processes": self.processes})
        for series in self.efficiencies.values():
            whole = whole.merge(series.table(), on="processes", how="left")
        return whole


def repetitions_note(series: Iterable[Series]) -> list[str]:
    """Say how many repetitions a point has, and how far they lie apart; nothing without any."""
    samples = [one.sample for one in series]
    most = max((int(sample.count.max()) for sample in samples), default=1)
    if most == 1:
        return []
    noise = [100 * sample.noise for sample in samples if sample.count.max() > 1]
    apart = (
        f"{min(noise):.2g}"
        if f"{min(noise):.2g}" == f"{max(noise):.2g}"
        else f"{min(noise):.2g} to {max(noise):.2g}"
    )
    return [
        f"up to {most} repetitions a point: their mean counts; they lie {apart} % apart (standard deviation)"
    ]


def checked(
    name: str,
    points: ArrayLike,
    values: ArrayLike,
    quantity: str,
    parameters: Sequence[str] = (PROCESSES,),
) -> Sample:
    """Return measurements, those at the same point put together, P rising.

    Raises InputError, naming the point, for none at all, a parameter under 1, a value that is no number above
    0, and an efficiency above 1 of a factor that cannot be.
    """
    p, y = np.asarray(points, dtype=np.float64), np.asarray(values, dtype=np.float64)
    shape = (len(y) if y.ndim else 0, len(parameters))
    if y.ndim != 1 or not len(y) or p.shape not in (shape, shape[:1]) or p.size != np.prod(shape):
        raise InputError(
            f"{name}: found {p.size} {' and '.join(parameters)} and {y.size} values;"
            " allowed: as many of each, at least 1"
        )
    for at, value in zip(p.reshape(shape), y, strict=True):
        if problem := point_problem(name, dict(zip(parameters, at, strict=True)), float(value), quantity):
            raise InputError(f"{name}: {problem}")
    return gathered(p, y)


def point_problem(name: str, at: Mapping[str, float], value: float, quantity: str) -> str | None:
    """Say what is wrong with one point, None if nothing is."""
    for parameter, number in at.items():
        if not 1 <= number <= MOST_PROCESSES:
            return f"found {number:g} {parameter}; allowed: a number from 1 to {MOST_PROCESSES:g}"
    place = ", ".join(f"{number:g} {parameter}" for parameter, number in at.items())
    if not LEAST <= value <= MOST:
        return f"found {value:g} at {place}; allowed: a number above 0, {LEAST:g} to {MOST:g}"
    if quantity == "efficiency" and value > 1 and not may_exceed_one(name):
        hint = "; for a table in percent say --percent" if value > 1.5 else ""
        return f"found {value:g} at {place}; allowed: an efficiency up to 1{hint}"
    return None
