"""The figures: those of D2.3, 16 and 17, and one for each thing that is varied beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.common.numbers import mean, means, number
from scheduler_sim.generation.scenarios import SCENARIOS
from scheduler_sim.report.look import COLOURS, DASHES, GREY, HATCHES, TONES, blank, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^", "D", "v")
STYLE = {name: (COLOURS[i], DASHES[i], MARKS[i]) for i, name in enumerate(SCENARIOS)}
"""Colour, dashes and mark of each scenario's line."""

ERROR: dict[str, Any] = {"ecolor": "black", "elinewidth": 1, "capsize": 2.5}
INTERVALS = "Marks: 95 % intervals of the mean over {seeds} seeds"

VARIED = (
    ("outside_wait_h", "Wait of jobs outside workflows", "mean wait (h)"),
    ("workflow_response_h", "Response of workflows", "mean response (h)"),
    ("workflow_runtime_h", "Run time of workflows, first start to last end", "mean run time (h)"),
    ("overlapped", "Workflows' node-seconds overlapped", "share (%)"),
)
"""Measure, title and axis of each panel of what is varied."""


def scenario_figure(runs: pd.DataFrame, share: int) -> Figure:
    """Draw the five scenarios at one share of workflows: the panels of D2.3's Figures 16 and 17.

    Parameters
    ----------
    runs : of all scenarios, one row a seed, with the columns of ``measures.MEASURES``.
    share : jobs in workflows (%), for the title.
    """
    with look():
        figure = blank(10, 7.4)
        panels = figure.subplots(2, 2)
        _normalised(panels[0, 0], runs)
        _bars(
            panels[0, 1],
            runs,
            "b  Workflows as wholes beside single jobs",
            "mean (h)",
            {"whole_wait_h": "wait for the first start", "whole_response_h": "response"},
        )
        names = {
            "workflow_response_h": "response, submission to last end",
            "workflow_runtime_h": "run time, first start to last end",
            "workflow_internal_wait_h": "internal wait between components",
        }
        _bars(panels[1, 0], runs, "c  Workflows", "mean (h)", names)
        _overlap(panels[1, 1], runs)
        seeds = runs["seed"].nunique()
        figure.suptitle(
            f"{share} % of the jobs in workflows  ·  {INTERVALS.format(seeds=seeds)}", fontsize=10.5
        )
    return figure


def _normalised(panel: Axes, runs: pd.DataFrame) -> None:
    """Panel a: mean over all jobs, as D2.3, and the median of the workflows beside it."""
    names = {
        "normalized_all": "mean over all jobs",
        "normalized_median": "median of the workflows",
    }
    _bars(panel, runs, "a  Normalised run time (1 = back to back)", "run time / components' run times", names)
    panel.axhline(1, color="black", linewidth=1, linestyle=(0, (4, 2)))


def _bars(panel: Axes, runs: pd.DataFrame, title: str, axis: str, names: dict[str, str]) -> None:
    """Draw bars of several measures side by side for each scenario, their values above."""
    width = 0.84 / len(names)
    for place, (measure, name) in enumerate(names.items()):
        found = means(runs, "scenario", SCENARIOS, measure)
        x = np.arange(len(SCENARIOS)) + (place - (len(names) - 1) / 2) * width
        heights = [one.value for one in found]
        panel.bar(
            x,
            heights,
            width,
            yerr=[one.high - one.value for one in found],
            color=TONES[place],
            hatch=HATCHES[place],
            edgecolor="white",
            linewidth=0.6,
            error_kw=ERROR,
            label=name,
        )
        for at, one in zip(x, found, strict=True):
            top = one.high if np.isfinite(one.high) else one.value
            box = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
            panel.annotate(
                number(one.value),
                (at, top),
                (0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                bbox=box,
                zorder=4,
            )
    _scenario_axis(panel, title, axis)
    panel.set_ylim(0, 1.28 * panel.get_ylim()[1])
    panel.legend(loc="upper left", fontsize=8, ncols=1 if len(names) > 2 else 2)


def _overlap(panel: Axes, runs: pd.DataFrame) -> None:
    """Panel d: what share of the workflows' node-seconds overlapped, stacked to 100 %."""
    kinds = {
        "overlapped": "overlapped (below 1)",
        "back_to_back": "back to back (1)",
        "not_overlapped": "not overlapped (above 1)",
    }
    x, bottom = np.arange(len(SCENARIOS)), np.zeros(len(SCENARIOS))
    for (kind, name), tone, hatch in zip(kinds.items(), TONES, HATCHES, strict=False):
        found = means(runs, "scenario", SCENARIOS, kind)
        heights = np.array([one.value for one in found])
        panel.bar(
            x,
            heights,
            0.62,
            bottom=bottom,
            color=tone,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.6,
            label=name,
        )
        for at, height, low in zip(x.tolist(), heights, bottom, strict=True):
            if height >= 5:
                box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
                text = f"{height:.0f} %"
                panel.text(at, low + height / 2, text, ha="center", va="center", fontsize=8, bbox=box)
        if kind == "overlapped":
            ends = [one.high - one.value for one in found]
            panel.errorbar(x + 0.22, heights, yerr=ends, fmt="none", **ERROR)
        bottom += heights
    _scenario_axis(panel, "d  Node-seconds of workflows, by normalised run time", "share (%)")
    panel.set_ylim(0, 128)
    panel.set_yticks(range(0, 101, 20))
    panel.legend(loc="upper center", fontsize=7.5, ncols=3, columnspacing=0.8, handlelength=1.2)


def _scenario_axis(panel: Axes, title: str, axis: str) -> None:
    panel.set_title(title)
    panel.set_ylabel(axis)
    panel.set_xticks(range(len(SCENARIOS)), [name.replace("+", "\n+") for name in SCENARIOS])
    panel.grid(visible=False, axis="x")


def varied_figure(
    runs: pd.DataFrame,
    levels: Sequence[str],
    title: str,
    axis: str,
    numeric: bool,
    reference: tuple[str, pd.DataFrame] | None = None,
) -> Figure:
    """Draw four measures of the scenarios over what is varied.

    Parameters
    ----------
    runs : one row a level, scenario and seed. levels : in the order of the x axis.
    title, axis : of the figure, and of the x axis, with its unit.
    numeric : levels are numbers on a scale; else names side by side.
    reference : name and runs of what does not vary, drawn as a horizontal line.
    """
    scenarios = [name for name in SCENARIOS if (runs["scenario"] == name).any()]
    places = np.array([float(level) for level in levels]) if numeric else np.arange(len(levels), dtype=float)
    apart = (places[-1] - places[0]) * 0.008
    with look():
        figure = blank(10, 6.6)
        panels = figure.subplots(2, 2)
        for panel, (measure, name, unit) in zip(panels.flat, VARIED, strict=True):
            for i, scenario in enumerate(scenarios):
                own = runs[runs["scenario"] == scenario]
                shift = (i - (len(scenarios) - 1) / 2) * apart
                _line(panel, places + shift, own, levels, measure, scenario)
            if reference is not None:
                level = mean(reference[1], measure).value
                panel.axhline(level, color="black", linewidth=1, linestyle=(0, (2, 2)), label=reference[0])
            panel.set_title(name)
            panel.set_ylabel(unit)
            panel.set_xticks(places, levels)
            panel.set_ylim(*((-4, 104) if measure == "overlapped" else (0, None)))
        for panel in panels[1]:
            panel.set_xlabel(axis)
        handles, names = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=5, handlelength=3.5)
        seeds = runs["seed"].nunique()
        figure.suptitle(f"{title}  ·  {INTERVALS.format(seeds=seeds)}", fontsize=10.5)
    return figure


def _line(
    panel: Axes, places: np.ndarray, runs: pd.DataFrame, levels: Sequence[str], measure: str, scenario: str
) -> None:
    colour, dashes, mark = STYLE[scenario]
    found = [mean(runs[runs["level"] == level], measure) for level in levels]
    panel.errorbar(
        places,
        [one.value for one in found],
        yerr=[one.high - one.value for one in found],
        color=colour,
        linestyle=dashes,
        marker=mark,
        markersize=4.5,
        markeredgecolor="black" if colour != GREY else GREY,
        markeredgewidth=0.5,
        linewidth=1.5,
        elinewidth=1,
        capsize=2.5,
        label=scenario,
    )
