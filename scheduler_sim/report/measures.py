"""The names of measures, and their values, as a person reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from scheduler_sim.report.energy_words import energy, power
from scheduler_sim.report.look import short, span_text
from scheduler_sim.report.wording import plain

STATISTICS = {
    "mean": "mean {}", "median": "median {}", "p90": "90th percentile of {}",
    "p99": "99th percentile of {}", "max": "largest {}", "weighted": "mean {} of a node-hour",
}  # fmt: skip
"""Last words of the name of a measure, and how they are said."""

WORDS = {
    "wait_time": "wait",
    "response_time": "response time",
    "bounded_slowdown": "bounded slowdown",
    "utilization": "utilisation",
    "utilization_total": "utilisation",
}


OF_BLOCKS = (
    "A trace is compared by blocks of time, each measured by itself: the means compared are those of its"
    " blocks, not the values of the whole trace; a 99th percentile of the whole is no mean of those of its"
    " blocks."
)
"""What a reader has to know where both stand."""


WHOLE_RUN = ("modular_jobs", "workflow_", "energy_", "counts_")
"""Beginnings of the names of measures that no trimming touches."""


def untrimmed(name: str, trim: Mapping[str, float]) -> str:
    """Say of a measure that it is of the whole run where a study leaves a part out of the others."""
    return " (whole run)" if any(trim.values()) and name.startswith(WHOLE_RUN) else ""


def metric_words(name: str) -> str:
    """Write the name of a measure: ``mean wait`` for ``wait_time_mean``."""
    if name.startswith("utilization_") and name != "utilization_total":
        return f"utilisation of {plain(name.removeprefix('utilization_'))}"
    name = without_unit(name)
    what, _, statistic = name.rpartition("_")
    if statistic not in STATISTICS:
        what, statistic = name, ""
    words = WORDS.get(what) or plain(what.replace("_", " "))
    return STATISTICS[statistic].format(words) if statistic else words


def with_unit(value: float, name: str) -> str | None:
    """Write the value of a measure of energy (J) or power (W) in units that fit it; None of any other."""
    if not name.startswith("energy_"):
        return None
    return energy(value) if name.endswith("_j") else power(value) if name.endswith("_w") else None


def without_unit(name: str) -> str:
    """Return the name of a measure without the unit with which :func:`with_unit` writes its value."""
    return name[:-2] if name.startswith("energy_") and name.endswith(("_j", "_w")) else name


def is_span(name: str) -> bool:
    """Tell whether a measure is a span of time in seconds."""
    return name.startswith(("wait_time", "response_time", "makespan"))


def written(value: float, name: str) -> str:
    """Write the value of a measure with sensible digits, spans of time with their unit."""
    if words := with_unit(value, name):
        return words
    if is_span(name):
        return span_text(float(f"{value:.3g}"))
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return short(round(value, min(digits, 6)))
