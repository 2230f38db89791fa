"""One series of a benchmark over time: its runs, its levels, its steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.ticker import Locator

from scheduler_sim.benchmarking.series import Series
from scheduler_sim.report.look import COLOURS, GREY, Picture, blank, look
from scheduler_sim.report.wording import plain

RUN, LEVEL = COLOURS[0], COLOURS[5]


def series_figure(series: Series) -> Picture:
    """Draw the runs (a bar from the least to the largest of repetitions) and the level between steps."""
    with look():
        figure = blank(7.6, 2.1)
        panel = figure.subplots()
        when = np.array(series.times, dtype="datetime64[s]")
        panel.vlines(when, series.low, series.high, color=RUN, linewidth=1, alpha=0.6)
        panel.plot(when, series.values, ".", color=RUN, markersize=5)
        edges = [0, *(step.at for step in series.steps), len(when)]
        for first, end in pairwise(edges):
            level = float(np.median(series.values[first:end]))
            panel.plot(when[[first, end - 1]], [level, level], color=LEVEL, linewidth=2)
        for step in series.steps:
            between = when[step.at - 1] + (when[step.at] - when[step.at - 1]) // 2
            panel.axvline(between, color=GREY, linewidth=1, linestyle="--")
            if np.isfinite(step.change):
                panel.annotate(
                    f"{step.change:+.1%}",
                    (between, 1),
                    xycoords=("data", "axes fraction"),
                    xytext=(3, -2),
                    textcoords="offset points",
                    va="top",
                    fontsize=8,
                    color=GREY,
                )
        panel.set_ylabel(f"{plain(series.metric)}, {plain(series.unit)}".removesuffix(", "))
        locator: Locator = AutoDateLocator(maxticks=8)
        panel.xaxis.set_major_locator(locator)
        panel.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        panel.margins(x=0.02, y=0.15)
    return figure
