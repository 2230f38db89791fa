"""The figure: the mean bounded slowdown under each scheduler, over that of EASY, trace by trace."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.common.numbers import change
from analysis.learnt_scheduler.cases import TRACES
from analysis.learnt_scheduler.conduct import SCHEDULERS
from scheduler_sim.report.look import COLOURS, blank, look

BASE, *OTHERS = SCHEDULERS
APART = 0.16
"""Of a row: so far apart are the marks of the schedulers."""


def slowdown_figure(runs: pd.DataFrame) -> Figure:
    """Draw by how much less the mean bounded slowdown is than under EASY: a row a trace."""
    with look():
        figure = blank(8.5, 3.6)
        panel = figure.subplots()
        for i, scheduler in enumerate(OTHERS):
            rows = [
                change(runs[runs["trace"] == trace], "slowdown", scheduler, BASE, by="scheduler")
                for trace in TRACES
            ]
            middle = np.array([row["change"] for row in rows])
            ends = np.array(
                [[row["change"] - row["change_low"], row["change_high"] - row["change"]] for row in rows]
            ).T
            place = np.arange(len(TRACES)) + APART * (i - (len(OTHERS) - 1) / 2)
            panel.errorbar(middle, place, xerr=ends, fmt="o", color=COLOURS[i], ms=4, lw=1.2, label=scheduler)
        panel.axvline(0, color="0.6", lw=0.8)
        panel.set_yticks(range(len(TRACES)), TRACES)
        panel.set_ylim(len(TRACES) - 0.5, -0.5)
        panel.set_xlabel(f"mean bounded slowdown against {BASE} (%)")
        figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=len(OTHERS))
    return figure
