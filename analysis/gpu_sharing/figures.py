"""The figure: how long pods with several GPUs wait under each packing, and how many GPUs are in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.common.numbers import mean
from analysis.gpu_sharing.cases import BACKFILLS, IN_ORDER, LOADS, MAIN_LOAD
from scheduler_sim.report.look import COLOURS, blank, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = (
    *(("several_wait_min", load, "wait with two GPUs or more", "mean wait (min)") for load in LOADS),
    ("allocated", MAIN_LOAD, "GPUs given away", "of all (%)"),
)
"""Measure, load, title and axis of each panel."""

MARKS = {"easy": ("o", COLOURS[0]), "first_fit": ("s", COLOURS[1])}
APART = 0.3
"""Of a row: so far apart are the marks of the policies."""


def waits_figure(runs: pd.DataFrame) -> Figure:
    """Draw the mean wait of those with several GPUs, and the GPUs given away: a line a packing."""
    with look():
        figure = blank(10.5, 4.6)
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for panel, (measure, load, title, axis) in zip(panels, PANELS, strict=True):
            _marks(panel, runs[runs["load"] == load], measure)
            panel.set_title(f"{title}, load {load}")
            panel.set_xlabel(axis)
            if measure != "allocated":
                panel.set_xlim(0, None)
        panels[0].set_yticks(range(len(IN_ORDER)), IN_ORDER)
        panels[0].set_ylim(len(IN_ORDER) - 0.5, -0.5)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(BACKFILLS))
        seeds = runs["seed"].nunique()
        figure.suptitle(f"marks: mean of {seeds} seeds with its 95 % interval", fontsize=10.5)
    return figure


def _marks(panel: Axes, runs: pd.DataFrame, measure: str) -> None:
    for i, backfill in enumerate(BACKFILLS):
        own = runs[runs["backfill"] == backfill]
        found = [mean(own[own["packing"] == packing], measure) for packing in IN_ORDER]
        middle = np.array([one.value for one in found])
        ends = np.array([[one.value - one.low, one.high - one.value] for one in found]).T
        mark, colour = MARKS[backfill]
        place = np.arange(len(found)) + APART * (i - 0.5)
        panel.errorbar(middle, place, xerr=ends, fmt=mark, color=colour, ms=4, lw=1.2, label=backfill)
