"""The figure: by how much each group of jobs waits longer under each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.common.numbers import difference
from analysis.site_rules.cases import BASE, MAINTENANCE, PLACEMENT, PREEMPTION, QUOTA, RULES, of_rule
from analysis.site_rules.measures import GROUPS
from scheduler_sim.report.look import COLOURS, GREY, blank, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^")
APART = 0.24
"""Of a row: so far apart are the marks of a rule's variants."""

TITLES = {
    QUOTA: "at most so many nodes for each user",
    PREEMPTION: "urgent jobs go before others",
    MAINTENANCE: "eight hours of maintenance",
    PLACEMENT: "which nodes a job gets",
}


def waits_figure(runs: pd.DataFrame) -> Figure:
    """Draw the difference of the mean wait to the site without the rule: a panel a rule, a line a group."""
    with look():
        figure = blank(13.5, 5.4)
        panels = figure.subplots(1, len(RULES), sharey=True)
        for panel, rule in zip(panels, RULES, strict=True):
            _panel(panel, runs, of_rule(rule))
            panel.set_title(TITLES[rule])
            panel.set_xlabel("longer mean wait (h)")
            panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=1)
        panels[0].set_yticks(
            range(len(GROUPS)), [f"{name} jobs" if name == "all" else name for name in GROUPS]
        )
        panels[0].set_ylim(len(GROUPS) - 0.5, -0.5)
        seeds = runs["seed"].nunique()
        figure.suptitle(
            f"What rules cost whom  ·  marks: mean of {seeds} seeds, 95 % interval",
            fontsize=10.5,
        )
    return figure


def _panel(panel: Axes, runs: pd.DataFrame, names: list[str]) -> None:
    for i, name in enumerate(names):
        own = (runs[runs["group"] == group] for group in GROUPS)
        rows = np.array([difference(one, "wait_h", name, BASE, by="variant") for one in own])
        middle = rows[:, 0]
        ends = [middle - rows[:, 1], rows[:, 2] - middle]
        place = np.arange(len(GROUPS)) + APART * (i - (len(names) - 1) / 2)
        panel.errorbar(
            middle, place, xerr=ends, fmt=MARKS[i], color=COLOURS[i], ms=4.5, lw=1.2, label=name,
            markeredgecolor="black", markeredgewidth=0.4,
        )  # fmt: skip
    panel.axvline(0, color="black", linewidth=1)
    for line in (0.5, 3.5, 6.5, 8.5):
        panel.axhline(line, color=GREY, linewidth=0.6)
