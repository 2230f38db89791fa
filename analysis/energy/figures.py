"""The figures: energy against waiting with the Pareto front, and what modules and clocks bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.common.numbers import change
from analysis.energy.cases import BASE, BY_NAME, CHOICE, CLOCKS, KINDS, MODULES, OFF, POLICIES, SAVERS
from scheduler_sim.report.look import COLOURS, GREY, blank, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^", "D", "v", "P", "X")
OF_KIND = {
    kind: ("black" if kind == BASE else COLOURS[i - 1], "*" if kind == BASE else MARKS[i - 1])
    for i, kind in enumerate(k for k in KINDS if k != OFF)
}
ENERGIES = {
    "job_mwh": "energy of jobs",
    "above_idle_mwh": "energy above idle power",
}
SIDES = {
    "job_mwh": "unused nodes cost nothing",
    "above_idle_mwh": "all nodes are always on",
}
LONGEST_WAIT = 80.0
"""Per cent: what waits longer is in the tables alone, or the figure would show little else."""

COMPARED = (CHOICE, MODULES, CLOCKS)
LABEL = 0.035
"""Height of a label, as a share of its panel."""


def front(waits: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return which points no other one beats or equals in both, in order of the wait."""
    order = np.lexsort((energies, waits))
    lowest = np.minimum.accumulate(np.append(np.inf, energies[order]))[:-1]
    return order[energies[order] < lowest]


def front_figure(runs: pd.DataFrame, policy: str) -> Figure:
    """Draw the change of mean wait against that of energy, a mark a way to save: a panel a way to count."""
    with look():
        figure = blank(10.5, 5.6)
        panels = figure.subplots(1, 2, sharex=True)
        for panel, measure in zip(panels, ENERGIES, strict=True):
            _front_panel(panel, runs, measure)
            panel.set_title(SIDES[measure])
            panel.set_xlabel("change of mean wait against jobs as asked (%)")
            panel.set_ylabel(f"change of {ENERGIES[measure]} (%)")
        handles, names = panels[0].get_legend_handles_labels()
        kept = dict(zip(names, handles, strict=True))
        figure.legend(kept.values(), kept.keys(), loc="outside lower center", ncols=4)
        seeds = runs["seed"].nunique()
        figure.suptitle(
            f"Energy against waiting under {policy}  ·  marks: mean over {seeds} seeds, 95 % interval",
            fontsize=10.5,
        )
    return figure


def _front_panel(panel: Axes, runs: pd.DataFrame, measure: str) -> None:
    waits, energies = [0.0], [0.0]
    shown = [SAVERS[0].name]
    colour, mark = OF_KIND[BASE]
    panel.plot(0, 0, color=colour, marker=mark, markersize=11, linestyle="none", label=BASE)
    for saver in SAVERS[1:]:
        wait, energy = (change(runs, one, saver.name, BASE, by="saver") for one in ("wait_h", measure))
        if saver.kind == OFF or wait["change"] > LONGEST_WAIT:
            continue
        shown.append(saver.name)
        waits.append(wait["change"])
        energies.append(energy["change"])
        colour, mark = OF_KIND[saver.kind]
        ends = [
            [[row["change"] - row["change_low"]], [row["change_high"] - row["change"]]]
            for row in (wait, energy)
        ]
        panel.errorbar(
            wait["change"], energy["change"], xerr=ends[0], yerr=ends[1],
            color=colour, marker=mark, markersize=6.5, markeredgecolor="black", markeredgewidth=0.5,
            linestyle="none", elinewidth=0.6, label=saver.kind,
        )  # fmt: skip
    best = front(np.array(waits), np.array(energies))
    x, y = np.array(waits)[best], np.array(energies)[best]
    panel.plot(x, y, color=GREY, linewidth=1.2, zorder=0, label="Pareto front")
    panel.axhline(0, color="black", linewidth=0.6, zorder=0)
    panel.axvline(0, color="black", linewidth=0.6, zorder=0)
    panel.set_xlim(min(waits) - 42, max(waits) + 14)
    panel.set_ylim(min(energies) - 0.14 * (max(energies) - min(energies)), None)
    _name(panel, [(waits[i], energies[i], shown[i]) for i in best])


def _name(panel: Axes, points: list[tuple[float, float, str]]) -> None:
    """Write names to the lower left of points that fall from left to right, none over another."""
    (left, right), (bottom, top) = panel.get_xlim(), panel.get_ylim()
    above = 1.0
    for x, y, name in points:
        above = min((y - bottom) / (top - bottom) - LABEL, above - LABEL)
        place = ((x - left) / (right - left) - 0.01, above)
        panel.annotate(
            name, (x, y), xytext=place, textcoords="axes fraction", fontsize=8, ha="right", va="center"
        )


def brings_figure(runs: pd.DataFrame) -> Figure:
    """Draw the change of energy and of response by choosing modules, clocks, and both: a panel a policy."""
    names = [saver.name for saver in SAVERS if saver.kind in COMPARED]
    measures = {
        "job_mwh": ("energy of jobs", COLOURS[0], "o"),
        "above_idle_mwh": ("energy above idle power", COLOURS[1], "s"),
        "response_h": ("mean response", COLOURS[2], "^"),
    }
    with look():
        figure = blank(10.5, 5.6)
        panels = figure.subplots(1, len(POLICIES), sharey=True, sharex=True)
        for panel, policy in zip(panels, POLICIES, strict=True):
            own = runs[runs["policy"] == policy]
            for place, (measure, (text, colour, mark)) in enumerate(measures.items()):
                rows = [change(own, measure, name, BASE, by="saver") for name in names]
                middle = np.array([row["change"] for row in rows])
                ends = [
                    middle - [row["change_low"] for row in rows],
                    [row["change_high"] for row in rows] - middle,
                ]
                panel.errorbar(
                    middle, np.arange(len(names)) + 0.22 * (place - 1), xerr=ends,
                    color=colour, marker=mark, markersize=5.5, markeredgecolor="black", markeredgewidth=0.5,
                    linestyle="none", elinewidth=1, capsize=2, label=text,
                )  # fmt: skip
            panel.axvline(0, color="black", linewidth=1)
            panel.set_title(policy)
            panel.set_xlabel("change against jobs as asked (%)")
            labels = [n if ":" in n else f"both: {n}" for n in names]
            panel.set_yticks(range(len(names)), labels)
            panel.set_ylim(len(names) - 0.5, -0.5)
            for line in _borders(names):
                panel.axhline(line, color=GREY, linewidth=0.6)
        handles, texts = panels[0].get_legend_handles_labels()
        figure.legend(handles, texts, loc="outside lower center", ncols=3)
        seeds = runs["seed"].nunique()
        figure.suptitle(
            f"What modules and clocks bring  ·  marks: mean over {seeds} seeds, 95 % interval",
            fontsize=10.5,
        )
    return figure


def _borders(names: list[str]) -> list[float]:
    kinds = [BY_NAME[name].kind for name in names]
    return [i - 0.5 for i in range(1, len(kinds)) if kinds[i] != kinds[i - 1]]
