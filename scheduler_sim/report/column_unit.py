"""One unit for a column of numbers: the header states it, and the numbers stand alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scheduler_sim.report.energy_words import WATT_HOURS, WATTS
from scheduler_sim.units import DAY, HOUR, MINUTE

SPANS: dict[float, str] = {DAY: "d", HOUR: "h", MINUTE: "min", 1: "s"}
ENERGIES = {HOUR * size: name for size, name in WATT_HOURS.items()}
"""Units of spans of time, and of energy, by their size in s and J."""

ENOUGH = 1.5
"""So many of a unit, in the middle of a column, make it the unit of the column."""

LARGE, DECIMALS = 100, 2
"""Numbers below that in the middle of a column have so many decimals, larger ones none."""


@dataclass(frozen=True)
class ColumnUnit:
    """A unit of a column.

    Attributes
    ----------
    name : as the header states it; size : of the unit, in s, J or W; decimals : of every number.
    """

    name: str
    size: float
    decimals: int

    def headed(self, title: str) -> str:
        """Write the header of a column: ``mean wait [h]``."""
        return f"{title} [{self.name}]"

    def written(self, value: float | None) -> str:
        """Write a value in s, J or W; one digit of what is too small for the decimals of the column."""
        if value is None or math.isnan(value):
            return "–"
        number = abs(value) / self.size
        text = f"{number:,.{self.decimals}f}"
        if number == 0:
            return "0"
        if not text.strip("0.,"):
            text = f"{number:.1g}"
        return f"−{text}" if value < 0 else text

    def signed(self, value: float) -> str:
        """Write a difference with its sign."""
        return f"+{self.written(value)}" if value > 0 else self.written(value)


def span_unit(*columns: ArrayLike) -> ColumnUnit:
    """Return the unit of columns of spans of time, in s."""
    return column_unit(SPANS, *columns)


def energy_unit(*columns: ArrayLike) -> ColumnUnit:
    """Return the unit of columns of energy, in J."""
    return column_unit(ENERGIES, *columns)


def power_unit(*columns: ArrayLike) -> ColumnUnit:
    """Return the unit of columns of power, in W."""
    return column_unit(WATTS, *columns)


def column_unit(units: Mapping[float, str], *columns: ArrayLike) -> ColumnUnit:
    """Return the unit in which half of all values, zeros left out, are 1.5 or more.

    Parameters
    ----------
    units : names by size, the largest first; the last is for what is smaller still.
    columns : of one quantity, which are read side by side and so have one unit; NaN where there is none.
    """
    values = np.abs(np.concatenate([np.ravel(np.asarray(one, dtype=np.float64)) for one in columns]))
    some = values[np.isfinite(values) & (values > 0)]
    middle = float(np.median(some)) if len(some) else 0.0
    size = next((size for size in units if middle >= ENOUGH * size), min(units))
    return ColumnUnit(units[size], float(size), DECIMALS if middle < LARGE * size else 0)
