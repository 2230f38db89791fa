"""The figure: how often bands of any width are right, and how far predictions are off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.prediction.cases import TRACES
from analysis.prediction.measures import PREDICTORS
from scheduler_sim.report.look import COLOURS, DASHES, GREY, blank, look
from scheduler_sim.units import HOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = np.linspace(0, 1, 101)


def coverage_figure(runs: pd.DataFrame) -> Figure:
    """Draw how many true starts the middle p of the draws holds, for all p; how far predictors are off."""
    with look():
        figure = blank(13.5, 3.9)
        first, *others = figure.subplots(1, 1 + len(TRACES))
        first.plot([0, 100], [0, 100], color=GREY, linewidth=0.8)
        for place, (name, trace) in enumerate(TRACES.items()):
            rank = runs.loc[runs["trace"] == name, "rank"].to_numpy()
            held = [100 * np.mean(np.abs(rank - 0.5) <= step / 2) for step in STEPS]
            pen = {"color": COLOURS[place], "linestyle": DASHES[place]}
            first.plot(100 * STEPS, held, label=trace.title, **pen)
        first.set_title("Bands of any width")
        first.set_xlabel("middle part of the draws (%)")
        first.set_ylabel("true starts in it (%)")
        figure.legend(*first.get_legend_handles_labels(), loc="outside lower left", ncols=2)
        for panel, (name, trace) in zip(others, TRACES.items(), strict=True):
            own = runs[(runs["trace"] == name) & (runs["last_wait"] >= 0)]
            _errors(panel, own)
            panel.set_title(trace.title)
        others[0].set_ylabel("predictions (%)")
        handles, names = others[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower right", ncols=len(PREDICTORS))
    return figure


def _errors(panel: Axes, runs: pd.DataFrame) -> None:
    """Draw what share of predictions is at most so far off."""
    for place, (column, title) in enumerate(PREDICTORS.items()):
        off = np.sort((runs[column] - runs["start"]).abs().to_numpy()) / HOUR
        share = 100 * np.arange(1, len(off) + 1) / len(off)
        panel.plot(off, share, color=COLOURS[place], linestyle=DASHES[place], label=title)
    panel.set_xscale("symlog", linthresh=0.1)
    panel.set_xlim(0, None)
    panel.set_ylim(0, 100)
    panel.set_xticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    panel.set_xlabel("off by at most (h)")
