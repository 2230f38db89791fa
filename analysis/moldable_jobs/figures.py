"""The figures: responses and waits over the load, who gains, jobs that never end, moldable shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from analysis.common.numbers import change, mean
from analysis.moldable_jobs.cases import FLOORS, LARGE, LOADS, MAIN_FLOOR, POLICIES, RIGID, SHARES, SMALL
from scheduler_sim.report.look import COLOURS, DASHES, GREY, blank, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^", "D", "v")
LINES = {
    name: (GREY if name == RIGID else COLOURS[i - 1], DASHES[i], MARKS[i])
    for i, name in enumerate((RIGID, *FLOORS))
}
OF_POLICY = {name: (COLOURS[i], MARKS[i]) for i, name in enumerate(POLICIES)}
INTERVALS = "marks: mean of {seeds} seeds with its 95 % interval"
GROUPS = {
    "response_h": "all jobs",
    "small_response_h": f"jobs on at most {SMALL} nodes",
    "large_response_h": f"jobs on at least {LARGE} nodes",
    "resizable_response_h": "jobs that may be resized",
    "fixed_response_h": "xPIC: jobs that keep their size",
}
"""Whose response is compared, by the sizes in the trace."""


def loads_figure(runs: pd.DataFrame) -> Figure:
    """Draw mean response and wait over the load: a column a policy, a line a floor."""
    with look():
        figure = blank(10.5, 6.6)
        panels = figure.subplots(2, 3, sharex=True)
        for column, policy in enumerate(POLICIES):
            own = runs[runs["policy"] == policy]
            for row, (measure, name) in enumerate((("response_h", "response"), ("wait_h", "wait"))):
                panel = panels[row, column]
                for floor in (RIGID, *FLOORS):
                    _line(panel, own[own["floor"] == floor], measure, LOADS, floor)
                panel.set_title(f"{policy}: {name}")
                panel.set_ylabel(f"mean {name} (h)")
                panel.set_ylim(0, None)
                panel.set_xticks([float(load) for load in LOADS])
        for panel in panels[1]:
            panel.set_xlabel("offered load")
        handles, _ = panels[0, 0].get_legend_handles_labels()
        names = ["rigid", *(f"moldable, efficiency at least {floor}" for floor in FLOORS)]
        figure.legend(handles, names, loc="outside lower center", ncols=3, handlelength=3.5)
        _headline(figure, "MaxTime is the longest request", runs)
    return figure


def _line(panel: Axes, runs: pd.DataFrame, measure: str, levels: Sequence[str], floor: str) -> None:
    colour, dashes, mark = LINES[floor]
    apart = 0.006 * ((RIGID, *FLOORS).index(floor) - 2)
    found = [mean(runs[runs["level"] == level], measure) for level in levels]
    panel.errorbar(
        [float(level) + apart for level in levels],
        [one.value for one in found],
        yerr=[one.high - one.value for one in found],
        color=colour,
        linestyle=dashes,
        marker=mark,
        label=floor,
        **_usual(colour),
    )


def _usual(colour: str) -> dict[str, Any]:
    edge = GREY if colour == GREY else "black"
    return {
        "markersize": 4.5,
        "markeredgecolor": edge,
        "markeredgewidth": 0.5,
        "linewidth": 1.5,
        "elinewidth": 1,
        "capsize": 2.5,
    }


def whom_figure(runs: pd.DataFrame, load: str) -> Figure:
    """Draw the change of response of groups of jobs against rigid ones, at one load: a panel a floor."""
    with look():
        figure = blank(10.5, 4.4)
        shown = (FLOORS[0], MAIN_FLOOR, FLOORS[-1])
        panels = figure.subplots(1, len(shown), sharey=True, sharex=True)
        for panel, floor in zip(panels, shown, strict=True):
            for place, policy in enumerate(POLICIES):
                own = runs[runs["policy"] == policy]
                rows = [change(own, measure, floor, RIGID, by="floor") for measure in GROUPS]
                middle = np.array([row["change"] for row in rows])
                ends = [
                    middle - [row["change_low"] for row in rows],
                    [row["change_high"] for row in rows] - middle,
                ]
                y = np.arange(len(GROUPS)) + 0.2 * (place - 1)
                colour, mark = OF_POLICY[policy]
                style = {**_usual(colour), "markersize": 6}
                panel.errorbar(
                    middle, y, xerr=ends, color=colour, marker=mark, linestyle="none", label=policy, **style
                )
            panel.axvline(0, color="black", linewidth=1)
            panel.set_title(f"efficiency at least {floor}")
            panel.set_xlabel("change of mean response (%)")
            panel.set_yticks(range(len(GROUPS)), list(GROUPS.values()))
            panel.set_ylim(len(GROUPS) - 0.5, -0.5)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        _headline(figure, f"Moldable against rigid, load {load}; left of 0 it pays", runs)
    return figure


def open_figure(limited: pd.DataFrame, open_runs: pd.DataFrame, load: str) -> Figure:
    """Draw the longest response with MaxTime and without, over the floors: a panel a policy."""
    with look():
        figure = blank(10.5, 3.9)
        panels = figure.subplots(1, 3, sharey=True)
        levels = (RIGID, *FLOORS)
        for panel, policy in zip(panels, POLICIES, strict=True):
            for place, (runs, name) in enumerate(
                ((limited, "MaxTime is the longest request"), (open_runs, "no MaxTime"))
            ):
                own = runs[runs["policy"] == policy]
                found = [mean(own[own["floor"] == floor], "response_max_h") for floor in levels]
                panel.errorbar(
                    np.arange(len(levels)) + 0.12 * (2 * place - 1),
                    [one.value for one in found],
                    yerr=[one.high - one.value for one in found],
                    color=COLOURS[(0, 5)[place]],
                    linestyle=DASHES[place],
                    marker=MARKS[place],
                    label=name,
                    **_usual("black"),
                )
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            panel.yaxis.set_minor_formatter(NullFormatter())
            panel.set_yticks([30, 100, 300, 1000])
            panel.set_title(policy)
            panel.set_xticks(range(len(levels)), levels)
            panel.set_xlabel("least efficiency offered")
        panels[0].set_ylabel("longest response (h)")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, handlelength=3.5)
        _headline(figure, f"The longest response of a workload, load {load}", open_runs)
    return figure


def shares_figure(main: pd.DataFrame, shares: pd.DataFrame, load: str) -> Figure:
    """Draw the change of response against rigid jobs over the share that may be resized: a panel a policy."""
    both = {
        "resizable_response_h": "jobs that may be resized",
        "fixed_response_h": "jobs that keep their size",
        "response_h": "all jobs",
    }
    with look():
        figure = blank(10.5, 3.9)
        panels = figure.subplots(1, 3, sharey=True)
        for panel, policy in zip(panels, POLICIES, strict=True):
            for place, measure in enumerate(both):
                rows = [
                    change(runs[runs["policy"] == policy], measure, MAIN_FLOOR, RIGID, by="floor")
                    for runs in (*(shares[shares["level"] == share] for share in SHARES), main)
                ]
                middle = np.array([row["change"] for row in rows])
                ends = [
                    middle - [row["change_low"] for row in rows],
                    [row["change_high"] for row in rows] - middle,
                ]
                colour = COLOURS[place]
                panel.errorbar(
                    0.75 * np.array([*map(float, SHARES), 100.0]) + 0.8 * (place - 1),
                    middle,
                    yerr=ends,
                    color=colour,
                    linestyle=DASHES[place],
                    marker=MARKS[place],
                    label=both[measure],
                    **_usual(colour),
                )
            panel.axhline(0, color="black", linewidth=1)
            panel.set_title(policy)
            panel.set_xlabel("jobs that may be resized (%)")
            panel.set_xticks([0.75 * float(share) for share in (*SHARES, "100")], ["19", "38", "56", "75"])
        panels[0].set_ylabel("change of mean response (%)")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, handlelength=3.5)
        _headline(figure, f"Moldable against rigid, load {load}, efficiency at least {MAIN_FLOOR}", main)
    return figure


def _headline(figure: Figure, text: str, runs: pd.DataFrame) -> None:
    seeds = runs["seed"].nunique()
    figure.suptitle(f"{text}  ·  {INTERVALS.format(seeds=seeds)}", fontsize=10.5)
