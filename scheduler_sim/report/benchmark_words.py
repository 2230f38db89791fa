"""Levels and steps of benchmarks in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.benchmarking.series import Series
from scheduler_sim.benchmarking.steps import Step
from scheduler_sim.report.wording import plain, printable

LONGEST = 80


def date_words(seconds: int) -> str:
    """Write a time (s since 1970) as ``2026-11-26 12:00``."""
    return f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%d %H:%M}"


def parameter_words(parameters: Mapping[str, str]) -> str:
    """Write parameters as ``nodes 4, size 16384``."""
    text = printable(", ".join(f"{name} {value}" for name, value in parameters.items())) or "no parameters"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def number_words(value: float) -> str:
    """Write a value with four digits."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def level_words(values: Floats, unit: str) -> str:
    """Write a level: its median, and how far runs lie apart."""
    level = f"{number_words(float(np.median(values)))} {plain(unit)}".strip()
    if len(values) < 2:
        return level
    low, high = np.percentile(values, [10, 90])
    return f"{level} ({number_words(float(low))} to {number_words(float(high))})"


def changed_words(series: Series, step: Step) -> str:
    """Say what a step changed, and what of the environment changed with it."""
    text = f"{number_words(step.before)} to {number_words(step.after)} {plain(series.unit)}".strip()
    if np.isfinite(step.change):
        text += f" ({step.change:+.1%})"
    changes = environment_words(series, step)
    return f"{text}; with it {changes}" if changes else text


def environment_words(series: Series, step: Step) -> str:
    """Say what of the environment changed between the runs before and after a step."""
    return ", ".join(
        f"{plain(name)} {plain(a) or 'nothing'} to {plain(b) or 'nothing'}"
        for name, (a, b) in series.changed_at(step).items()
    )
