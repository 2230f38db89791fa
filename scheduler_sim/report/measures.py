"""The names of measures, and their values, as a person reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from scheduler_sim.metrics.names import named
from scheduler_sim.metrics.table import shown_in
from scheduler_sim.report.column_unit import ColumnUnit, energy_unit, power_unit, span_unit
from scheduler_sim.report.energy_words import energy, power
from scheduler_sim.report.wording import duration, plain, short, span_text
from scheduler_sim.result.columns import TOTAL
from scheduler_sim.result.documents import SPREAD

STATISTICS = {
    "mean": "mean {}", "median": "median {}", "p90": "90th percentile of {}",
    "p99": "99th percentile of {}", "max": "largest {}",
}  # fmt: skip
"""Last words of the name of a measure, and how they are said."""

UNITS = {"J": energy, "W": power}
COLUMN_UNITS = {"J": energy_unit, "W": power_unit}
"""Units in which values, and columns of them, are written with the multiple that fits."""

OF_BLOCKS = (
    "A trace is compared by blocks of time, each measured by itself: the means compared are those of its"
    " blocks, not the values of the whole trace; a 99th percentile of the whole is no mean of those of its"
    " blocks."
)
"""What a reader has to know where both stand."""


def untrimmed(name: str, trim: Mapping[str, float]) -> str:
    """Say of a measure that it is of the whole run where a study leaves a part out of the others."""
    return " (whole run)" if any(trim.values()) and named(name).metric.whole_run else ""


def metric_words(name: str) -> str:
    """Write the name of a measure: ``mean wait`` for ``wait_time_mean``."""
    metric, base, statistic, part = named(name)
    words = metric.words or plain(without_unit(base).replace("_", " "))
    if metric.words and part not in ("", TOTAL):
        words = f"{words} of {plain(part)}"
    return STATISTICS[statistic].format(words) if statistic else words


def with_unit(value: float, name: str) -> str | None:
    """Write the value of a measure of energy (J) or power (W) in units that fit it; None of any other."""
    unit = named(name).metric.unit
    return UNITS[unit](value) if unit in UNITS else None


def without_unit(name: str) -> str:
    """Return the name of a measure without the unit with which :func:`with_unit` writes its value."""
    unit = named(name).metric.unit
    return name.removesuffix(f"_{unit.lower()}") if unit in UNITS else name


def is_span(name: str) -> bool:
    """Tell whether a measure is a span of time in seconds."""
    return named(name).metric.is_span


def unit_of(name: str, *columns: ArrayLike) -> ColumnUnit | None:
    """Return the unit of columns of a measure; None where it is no span of time, energy or power."""
    if is_span(name):
        return span_unit(*columns)
    found = COLUMN_UNITS.get(named(name).metric.unit)
    return found(*columns) if found else None


def statistic_of(metrics: Mapping[str, Any], name: str, statistic: str) -> float | None:
    """Return a statistic of a run's metric; None where the run has none."""
    found = metrics.get(name)
    return found.get(statistic) if isinstance(found, Mapping) else None


def summaries(metrics: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each metric of single jobs that the terminal shows: words, and its ``SPREAD``."""
    return [
        (metric_words(name), *(in_full(statistic_of(metrics, name, one), name) for one in SPREAD))
        for name in shown_in("terminal")
    ]


def in_full(value: float | None, name: str) -> str:
    """Write the value of a measure, spans of time to the second, other values with two decimals."""
    if value is None or math.isnan(value):
        return "–"
    return duration(round(value)) if is_span(name) else f"{value:,.2f}"


def column_of(title: str, name: str, *columns: ArrayLike) -> tuple[str, Callable[[float], str]]:
    """Return the header of columns of a measure, and how their values are written: all in one unit."""
    unit = unit_of(name, *columns)
    if unit is not None:
        return unit.headed(title), unit.written
    return title, lambda value: "–" if math.isnan(value) else written(value, name)


def written(value: float, name: str) -> str:
    """Write the value of a measure with sensible digits, spans of time with their unit."""
    if words := with_unit(value, name):
        return words
    if is_span(name):
        return span_text(float(f"{value:.3g}"))
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return short(round(value, min(digits, 6)))
