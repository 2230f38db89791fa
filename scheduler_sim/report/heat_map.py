"""A measure by size and run time of the components: a number in each cell, darker where it is larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scheduler_sim.metrics.slices import two_way
from scheduler_sim.report.figures import headline
from scheduler_sim.report.look import blank, ink, look, shades
from scheduler_sim.report.measures import metric_words, written
from scheduler_sim.report.module_view import module_sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from scheduler_sim.result.result import Result

TONES = 12
"""Steps of the colour scale."""


def heat_map(result: Result, measure: str = "wait_time_mean") -> Figure:
    """Draw a measure for each class of size and run time; below each value the components that ran.

    Parameters
    ----------
    result : of a run.
    measure : one that ``metrics.slices.two_way`` knows.

    Raises
    ------
    InputError : an unknown measure.
    """
    table = two_way(result.components, measure)
    ran = two_way(result.components, "ran").to_numpy()
    colour = _colours(table)
    with look():
        figure = blank(8.6, 1.9 + 0.58 * max(len(table), 2))
        panel = figure.subplots()
        panel.set_xlim(0, table.shape[1])
        panel.set_ylim(0, len(table))
        panel.grid(visible=False)
        for (y, x), value in np.ndenumerate(table.to_numpy()):
            if np.isnan(value):
                continue
            fill = colour(value)
            panel.fill_between([x, x + 1], y, y + 1, facecolor=fill, edgecolor="white", linewidth=1)
            panel.text(x + 0.5, y + 0.6, written(value, measure), ha="center", va="center", color=ink(fill))
            panel.text(
                x + 0.5,
                y + 0.24,
                f"{ran[y, x]:,.0f}",
                fontsize=6.5,
                ha="center",
                va="center",
                color=ink(fill),
            )
        panel.set_xticks(np.arange(table.shape[1]) + 0.5, list(table.columns))
        panel.set_yticks(np.arange(len(table)) + 0.5, list(table.index))
        panel.tick_params(length=0)
        panel.set_xlabel("run time")
        panel.set_ylabel("nodes")
        panel.set_title(
            f"{_first_upper(metric_words(measure))} by size and run time; in small print: components"
        )
        figure.suptitle(
            headline(result, sum(module_sizes(result.manifest).values())),
            x=0.01, ha="left", fontsize=12, fontweight="bold",
        )  # fmt: skip
    return figure


def _colours(table: pd.DataFrame) -> Callable[[float], Any]:
    """Return the colour of a value: equal ratios are equal steps; what is not above 0 is lightest."""
    tones = shades(TONES)
    values = table.to_numpy()
    above = values[values > 0]
    low, high = (np.log(above.min()), np.log(above.max())) if len(above) else (0.0, 0.0)

    def colour(value: float) -> Any:
        if value <= 0 or high == low:
            return tones[0]
        return tones[round((TONES - 1) * (np.log(value) - low) / (high - low))]

    return colour


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
