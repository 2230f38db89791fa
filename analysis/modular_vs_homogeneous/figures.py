"""The figures: those of D2.3, 15 a to d, with every seed; the claims over the load; the mixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from analysis.common.numbers import mean, number
from analysis.modular_vs_homogeneous.cases import (
    CM,
    DAM,
    ESB,
    LOADS,
    MOD,
    PREFERRED,
    READINGS,
    SLOWER,
    SPEED,
    STRATEGIES,
)
from analysis.modular_vs_homogeneous.claims import CLAIMS, find
from scheduler_sim.metrics.intervals import Interval
from scheduler_sim.report.look import COLOURS, DASHES, GREY, TONES, blank, look, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = (
    ("HOM1\nCM", CM, SLOWER, PREFERRED),
    ("HOM2\nDAM", DAM, SLOWER, PREFERRED),
    ("HOM3 ESB\nslower", ESB, SLOWER, PREFERRED),
    ("HOM3 ESB\nspeed", ESB, SPEED, PREFERRED),
    ("modular\npreferred", MOD, SLOWER, PREFERRED),
    ("modular\nearliest end\nslower", MOD, SLOWER, "earliest_end"),
    ("modular\nearliest end\nspeed", MOD, SPEED, "earliest_end"),
)
"""Name, system, reading and strategy of each column of the first figure."""

MARKS = ("o", "s", "^", "D", "v")
STYLE = {name: (COLOURS[i], DASHES[i], MARKS[i]) for i, name in enumerate(STRATEGIES)}

PANELS = (
    ("a  Wait", "wait_h", "mean wait (h)", True),
    ("b  Response", "response_h", "mean response (h)", True),
    ("c  Completion", "completion_h", "first submission to last end (h)", False),
)


def systems_figure(runs: pd.DataFrame, policy: str) -> Figure:
    """Draw the four systems: the panels of D2.3's Figure 15, every seed as a dot.

    Parameters
    ----------
    runs : of the main part under one policy, in both readings.
    """
    with look():
        figure = blank(11, 8.2)
        panels = figure.subplots(2, 2)
        for panel, (title, measure, axis, logarithmic) in zip(panels.flat, PANELS, strict=False):
            _systems(panel, runs, measure, logarithmic)
            panel.set_title(title)
            panel.set_ylabel(axis)
        _ratios(panels[1, 1], runs)
        seeds = runs["seed"].nunique()
        figure.suptitle(
            f"{policy}  ·  dots: single seeds; marks: mean of {seeds} seeds with its 95 % interval",
            fontsize=10.5,
        )
    return figure


def _systems(panel: Axes, runs: pd.DataFrame, measure: str, logarithmic: bool) -> None:
    for place, (_, system, reading, strategy) in enumerate(BARS):
        own = _of(runs, system, reading, strategy)
        values = own[measure].to_numpy(dtype=float)
        spread = place + 0.32 * (np.linspace(0, 1, len(values)) - 0.5)  # in the order of the seeds
        tone = TONES[(CM, DAM, ESB, MOD).index(system)]
        panel.plot(spread, values, linestyle="none", marker=".", markersize=3.5, color=tone, alpha=0.45)
        found = mean(own, measure)
        panel.errorbar(
            [place],
            [found.value],
            yerr=[[found.value - found.low], [found.high - found.value]],
            color="black",
            marker="D",
            markersize=5,
            markerfacecolor=tone,
            capsize=4,
            linewidth=1.3,
        )
        panel.annotate(
            number(found.value),
            (place + 0.2, found.value),
            (2, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )
    if logarithmic:
        _log_axis(panel)
    else:
        panel.set_ylim(0, None)
    panel.set_xticks(range(len(BARS)), [name for name, *_ in BARS], fontsize=7.5)
    panel.set_xlim(-0.5, len(BARS) - 0.25)
    panel.grid(visible=False, axis="x")


def _ratios(panel: Axes, runs: pd.DataFrame) -> None:
    """Panel d: D2.3's five ratios, and ours in both readings, with static preferred modules."""
    places = np.arange(len(CLAIMS))
    panel.bar(places, [claim.times for claim in CLAIMS], 0.62, color="#cccccc", label="D2.3", zorder=1)
    looks_like = (
        (SLOWER, PREFERRED, 0), (SPEED, PREFERRED, 1), (SLOWER, "earliest_end", 2), (SPEED, "earliest_end", 3)
    )  # fmt: skip
    for (reading, strategy, style), shift in zip(looks_like, (-0.24, -0.08, 0.08, 0.24), strict=True):
        part = runs[runs["reading"].isin((reading, "both"))]
        found = [find(part, claim, strategy).ratio for claim in CLAIMS]
        panel.errorbar(
            places + shift,
            [one.value for one in found],
            yerr=_ends(found),
            linestyle="none",
            color=COLOURS[style],
            marker=MARKS[style],
            markeredgecolor="black",
            markeredgewidth=0.5,
            markersize=6,
            capsize=3,
            label=f"{strategy.replace('_', ' ')}, {reading}",
            zorder=3,
        )
    _log_axis(panel)
    panel.axhline(1, color="black", linewidth=0.9)
    names = (
        "wait\nDAM / ESB",
        "wait\nDAM / mod.",
        "wait\nESB / mod.",
        "response\nDAM / mod.",
        "response\nESB / mod.",
    )
    panel.set_xticks(places, names, fontsize=8)
    panel.set_title("d  Ratios: above 1 the second is faster")
    panel.set_ylabel("ratio of means")
    panel.set_ylim(0.01, 120)
    panel.grid(visible=False, axis="x")
    panel.legend(loc="upper right", fontsize=7.5, ncols=2)


def _log_axis(panel: Axes) -> None:
    """Let the y axis be logarithmic, with plain numbers at its main ticks alone."""
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.yaxis.set_minor_formatter(lambda value, _: "")


def _ends(found: list[Interval]) -> np.ndarray:
    return np.array([[one.value - one.low for one in found], [one.high - one.value for one in found]])


def loads_figure(runs: pd.DataFrame) -> Figure:
    """Draw the ratios that D2.3 gives for the modular system over the offered load, by strategy.

    Parameters
    ----------
    runs : of the part of loads, in both readings.
    """
    with look():
        figure = blank(11, 8.6)
        panels = figure.subplots(2, 4, sharey="col")
        shown = CLAIMS[1:]
        for row, reading in enumerate(READINGS):
            part = runs[runs["reading"].isin((reading, "both"))]
            for panel, claim in zip(panels[row], shown, strict=True):
                for strategy in STRATEGIES:
                    _line(panel, part, claim, strategy)
                panel.axhline(claim.times, color=GREY, linewidth=2.5, alpha=0.5, label="D2.3")
                panel.axhline(1, color="black", linewidth=0.9)
                _log_axis(panel)
                if claim.measure == "response_h":
                    panel.set_yticks((0.2, 0.5, 1, 2, 4))
                panel.set_ylim(*((0.008, 300) if claim.measure == "wait_h" else (0.18, 4)))
                panel.set_xticks((0.2, 0.4, 0.6, 0.8, 1.0))
                what = "wait" if claim.measure == "wait_h" else "response"
                panel.set_title(f"{what}, {'DAM' if claim.more == DAM else 'ESB'} / modular")
            panels[row, 0].set_ylabel(f"ratios below 1 read as “{reading}”\nratio of means")
        for panel in panels[1]:
            panel.set_xlabel("offered load of HOM1-CM")
        handles, names = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=6, handlelength=3.2)
        seeds = runs["seed"].nunique()
        figure.suptitle(
            f"Above 1 the modular system is faster  ·  easy, {seeds} seeds; points where too few jobs"
            " wait are"
            " left out",
            fontsize=10.5,
        )
    return figure


LEAST_WAIT_H = 0.005
"""Below a mean wait of 18 s a ratio of waits says nothing."""


def _line(panel: Axes, runs: pd.DataFrame, claim: Any, strategy: str) -> None:
    colour, dashes, mark = STYLE[strategy]
    points = []
    for load in LOADS:
        part = runs[runs["level"] == f"{load}"]
        modular = _of(part, MOD, None, strategy)["wait_h"].mean()
        homogeneous = part[part["system"] == claim.more]["wait_h"].mean()
        if claim.measure == "response_h" or max(modular, homogeneous) >= LEAST_WAIT_H:
            points.append((load, find(part, claim, strategy).ratio.value))
    x, y = zip(*points, strict=True)
    panel.plot(
        x,
        y,
        color=colour,
        linestyle=dashes,
        marker=mark,
        markersize=4,
        markeredgecolor="black",
        markeredgewidth=0.4,
        linewidth=1.4,
        label=strategy.replace("_", " "),
    )


def _of(runs: pd.DataFrame, system: str, reading: str | None, strategy: str) -> pd.DataFrame:
    own = runs[(runs["system"] == system) & (runs["strategy"] == strategy)]
    return own if reading is None else own[own["reading"].isin((reading, "both"))]


DRAWN_DAM = 15
"""Of the mixes those whose DAM nodes are a multiple of this are drawn."""


def mixes_figure(tables: dict[str, pd.DataFrame], unit: str) -> Figure:
    """Draw the mean wait over the CM nodes of a mix, a line for each of some numbers of DAM nodes.

    Parameters
    ----------
    tables : of a search, by the title of the panel: ``nodes_CM``, ``nodes_DAM``, ``nodes_ESB``, ``state`` and
        ``value``.
    """
    with look():
        figure = blank(11, 4.6)
        panels = figure.subplots(1, len(tables), sharey=True, squeeze=False)[0]
        tones = shades(1 + int(max(table["nodes_DAM"].max() for table in tables.values())) // DRAWN_DAM)
        for panel, (title, table) in zip(panels, tables.items(), strict=True):
            drawn = table[table["nodes_DAM"] % DRAWN_DAM == 0].sort_values("nodes_CM")
            for dam, line in drawn.groupby("nodes_DAM"):
                tone = tones[-1 - int(dam) // DRAWN_DAM]
                panel.plot(line["nodes_CM"], line["value"], color=tone, linewidth=1.6)
                end = line.iloc[-1]
                panel.annotate(
                    f"{dam:,.0f} DAM", (end["nodes_CM"], end["value"]), xytext=(4, 0),
                    textcoords="offset points", va="center", fontsize=8,
                    path_effects=[withStroke(linewidth=2.5, foreground="white")],
                )  # fmt: skip
            left = drawn[drawn["state"].isin(("left", "winner"))]
            panel.scatter(
                left["nodes_CM"], left["value"], s=26, facecolors="white", edgecolors="black", zorder=3
            )
            for _, best in table[table["state"] == "winner"].iterrows():
                panel.scatter(best["nodes_CM"], best["value"], s=150, marker="*", color="#D55E00", zorder=4)
                panel.annotate(
                    f"best: {best['nodes_CM']:,.0f} CM, {best['nodes_ESB']:,.0f} ESB", zorder=4,
                    xy=(best["nodes_CM"], best["value"]), xytext=(0, -12), textcoords="offset points",
                    ha="center", va="top", fontsize=8.5, fontweight="bold",
                )  # fmt: skip
            panel.set_title(title)
            panel.set_yscale("log")
            panel.set_xlabel("CM nodes (the rest of the money buys ESB)")
            panel.set_xlim(-4, 215)
            panel.set_xticks(range(0, 166, 33))
        panels[0].set_ylim(bottom=panels[0].get_ylim()[0] / 1.6)
        panels[0].set_ylabel(unit)
        panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return figure
