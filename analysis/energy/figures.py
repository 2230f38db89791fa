"""The figures: energy against waiting with the Pareto front, and what modules and clocks bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.common.numbers import change, mean
from analysis.energy.cases import BASE, BY_NAME, CHOICE, CLOCKS, KINDS, MODULES, POLICIES, SAVERS
from scheduler_sim.report.look import COLOURS, GREY, blank, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^", "D", "v", "P", "X")
OF_KIND = {
    kind: ("black" if kind == BASE else COLOURS[i - 1], "*" if kind == BASE else MARKS[i - 1])
    for i, kind in enumerate(KINDS)
}
ENERGIES = {
    "job_mwh": "energy of jobs (MWh)",
    "above_idle_mwh": "energy above idle power (MWh)",
}
SIDES = {
    "job_mwh": "unused nodes cost nothing",
    "above_idle_mwh": "all nodes are always on",
}
LONGEST_WAIT_H = 6.0
"""Shifts within a day wait longer: their table has them, the figure would have little else."""

COMPARED = (CHOICE, MODULES, CLOCKS)


def front(waits: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Return which points no other one beats or equals in both, in order of the wait."""
    order = np.lexsort((energies, waits))
    lowest = np.minimum.accumulate(np.append(np.inf, energies[order]))[:-1]
    return order[energies[order] < lowest]


def front_figure(runs: pd.DataFrame, policy: str) -> Figure:
    """Draw mean wait against energy, a mark a way to save: a panel for each way to count."""
    with look():
        figure = blank(10.5, 5.4)
        panels = figure.subplots(1, 2, sharex=True)
        for panel, measure in zip(panels, ENERGIES, strict=True):
            _front_panel(panel, runs, measure)
            panel.set_title(SIDES[measure])
            panel.set_xlabel("mean wait (h)")
            panel.set_ylabel(ENERGIES[measure])
        handles, names = panels[0].get_legend_handles_labels()
        kept = dict(zip(names, handles, strict=True))
        figure.legend(kept.values(), kept.keys(), loc="outside lower center", ncols=4)
        seeds = runs["seed"].nunique()
        figure.suptitle(
            f"Energy against waiting under {policy}  ·  marks: mean of {seeds} seeds with its 95 % interval",
            fontsize=10.5,
        )
    return figure


def _front_panel(panel: Axes, runs: pd.DataFrame, measure: str) -> None:
    found = [(mean(own, "wait_h"), mean(own, measure)) for own in (_of(runs, s.name) for s in SAVERS)]
    shown = [i for i, (wait, _) in enumerate(found) if wait.value <= LONGEST_WAIT_H]
    for i in shown:
        wait, energy = found[i]
        kind = SAVERS[i].kind
        colour, mark = OF_KIND[kind]
        panel.errorbar(
            wait.value, energy.value,
            xerr=[[wait.value - wait.low], [wait.high - wait.value]],
            yerr=[[energy.value - energy.low], [energy.high - energy.value]],
            color=colour, marker=mark, markersize=11 if kind == BASE else 6.5, markeredgecolor="black",
            markeredgewidth=0.5, linestyle="none", elinewidth=0.5, alpha=0.95, label=kind,
        )  # fmt: skip
    waits, energies = (np.array([found[i][axis].value for i in shown]) for axis in (0, 1))
    best = front(waits, energies)
    panel.plot(waits[best], energies[best], color=GREY, linewidth=1.2, zorder=0, label="Pareto front")
    for i in best:
        name = SAVERS[shown[i]].name
        panel.annotate(
            name, (waits[i], energies[i]), xytext=(6, 7), textcoords="offset points", fontsize=8,
        )  # fmt: skip
    ends = mean(_of(runs, BASE), "wait_h")
    panel.set_xlim(max(0.0, min(waits.min(), ends.low) - 0.6), min(LONGEST_WAIT_H, waits.max() + 1.0))


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
            f"What modules and clocks bring  ·  marks: mean over {seeds} seeds with its 95 % interval",
            fontsize=10.5,
        )
    return figure


def _borders(names: list[str]) -> list[float]:
    kinds = [BY_NAME[name].kind for name in names]
    return [i - 0.5 for i in range(1, len(kinds)) if kinds[i] != kinds[i - 1]]


def _of(runs: pd.DataFrame, saver: str) -> pd.DataFrame:
    return runs[runs["saver"] == saver]
