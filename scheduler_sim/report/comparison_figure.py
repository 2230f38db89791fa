"""What a study found, drawn: each level against the baseline, with its interval and the verdict in words."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.names import better
from scheduler_sim.report.look import COLOURS, GREY, blank, look
from scheduler_sim.report.measures import metric_words
from scheduler_sim.report.wording import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDED = ("baseline", "metric", "confidence", "ratio", "ratio_low", "ratio_high", "verdict")

BETTER, WORSE, OPEN = (COLOURS[0], "o"), (COLOURS[5], "s"), (GREY, "D")
"""Colour and mark of what was found."""

LESS, MORE = ("shorter", "lower"), ("longer", "higher")
"""First words of a verdict that found a difference."""

MARKS = {
    0.01: "÷100", 0.02: "÷50", 0.05: "÷20", 0.1: "÷10", 0.2: "÷5", 1 / 3: "÷3", 0.5: "−50 %",
    0.7: "−30 %", 0.8: "−20 %", 0.9: "−10 %", 0.95: "−5 %", 0.98: "−2 %", 0.99: "−1 %", 1.0: "same",
    1.01: "+1 %", 1.02: "+2 %", 1.05: "+5 %", 1.1: "+10 %", 1.2: "+20 %", 1.5: "+50 %",
    2.0: "×2", 3.0: "×3", 5.0: "×5", 10.0: "×10", 20.0: "×20", 50.0: "×50", 100.0: "×100",
}  # fmt: skip
"""Ratios that may be marked on the axis, and what to call them."""

FARTHEST = 2.5
"""How far, as a factor, the axis goes on beyond the outermost ratio; longer intervals get an arrow."""

MOST_MARKS = 9
APART = 0.07
"""Marks stand at least this share of the axis apart."""

VERDICT_LINE = 48


def comparison_figure(table: pd.DataFrame) -> Figure:
    """Draw the ratios to the baseline and their intervals, one panel a metric.

    Parameters
    ----------
    table : of ``metrics.comparison.compare``: the columns before ``baseline`` name a row.

    Raises
    ------
    InputError : a column is missing, or there is no row.
    """
    missing = [column for column in NEEDED if column not in table.columns]
    if missing:
        raise InputError(f"no column {missing[0]} in the comparison; needed: {', '.join(NEEDED)}")
    if table.empty:
        raise InputError("the comparison has no rows")
    names = row_names(table)
    metrics = list(pd.unique(table["metric"]))
    parts = {metric: table[table["metric"] == metric] for metric in metrics}
    with look():
        heights = [0.3 * len(part) + 0.2 for part in parts.values()]
        figure = blank(11, 1.0 + sum(heights) + 0.55 * len(parts))
        panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0]
        for panel, (metric, part) in zip(panels, parts.items(), strict=True):
            _axis(panel, part)
            _metric(panel, part, [names[i] for i in np.flatnonzero((table["metric"] == metric).to_numpy())])
            panel.set_title(metric_title(metric))
        baselines = ", ".join(dict.fromkeys(plain(name) for name in table["baseline"]))
        panels[-1].set_xlabel(f"compared with {baselines}")
        figure.legend(handles=_keys(metrics), loc="outside lower center", ncols=3, fontsize=8.5)
        confidence = ", ".join(dict.fromkeys(f"{100 * float(c):g} %" for c in table["confidence"]))
        blocks = " of blocks" if (table.get("replicates", pd.Series([""])) == "blocks").all() else ""
        figure.suptitle(
            f"Against {baselines}  ·  ratio of means{blocks} with {confidence} intervals",
            x=0.01, ha="left", fontsize=12, fontweight="bold",
        )  # fmt: skip
    return figure


def row_names(table: pd.DataFrame) -> list[str]:
    """Name each row by its factors; those that never change say nothing and are left out.

    A number has the name of its factor before it: ``load 0.7``.
    """
    factors = list(table.columns[: list(table.columns).index("baseline")])
    telling = [name for name in factors[:-1] if table[name].nunique() > 1] + factors[-1:]
    short = [f"{plain(name.rpartition('.')[2])} " for name in telling]
    return [
        " · ".join(
            f"{name if _is_number(value) else ''}{plain(value)}"
            for name, value in zip(short, row, strict=True)
        )
        for row in table[telling].itertuples(index=False, name=None)
    ]


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def metric_title(metric: str) -> str:
    """Name a metric as a title that says which direction is better."""
    words = metric_words(metric)
    return f"{words[:1].upper()}{words[1:]} ({better(metric)} is better)"


def _metric(panel: Axes, part: pd.DataFrame, names: list[str]) -> None:
    """Draw the rows of one metric from above, with the verdict at the right."""
    left, right = panel.get_xlim()
    for place, (_, row) in enumerate(part.iterrows()):
        colour, mark = outcome(row)
        ratio, low, high = (float(row[name]) for name in ("ratio", "ratio_low", "ratio_high"))
        pen: dict[str, Any] = {"color": colour, "clip_on": False, "zorder": 3}
        if np.isfinite(low) and np.isfinite(high):
            panel.plot(
                np.clip((low, high), left, right), [place, place], linewidth=2.2, solid_capstyle="butt", **pen
            )
            for end, arrow in ((left, "<"), (right, ">")):
                if (low < end) if arrow == "<" else (high > end):
                    panel.plot([end], [place], marker=arrow, markersize=6, linestyle="none", **pen)
        if np.isfinite(ratio):  # one of 0, which this axis does not have, stands at its end
            inside = "white" if mark == OPEN[1] else colour
            panel.plot(
                [np.clip(ratio, left, right)],
                [place],
                marker=mark,
                markersize=6.5,
                markerfacecolor=inside,
                linestyle="none",
                **pen,
            )
        panel.text(
            1.015, place, fill(plain_verdict(row["verdict"]), VERDICT_LINE),
            transform=panel.get_yaxis_transform(), va="center", fontsize=7.5, linespacing=1.05,
        )  # fmt: skip
    panel.set_yticks(range(len(part)), names)
    panel.set_ylim(len(part) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0, pad=9)
    panel.grid(visible=False, axis="y")
    panel.axvline(1, color="black", linewidth=0.9)


def outcome(row: Any) -> tuple[str, str]:
    """Return how to draw a row: better or worse only if its verdict says so, of a metric that can be."""
    first, which = str(row["verdict"]).split(" ", 1)[0], better(row["metric"])
    if first not in LESS + MORE or which == "neither":
        return OPEN
    return BETTER if (first in MORE) == (which == "more") else WORSE


def open_words(metrics: Iterable[str]) -> str:
    """Say what a row of one of these metrics is that is drawn as neither better nor worse."""
    return " or ".join(
        dict.fromkeys(
            "neither better nor worse" if better(metric) == "neither" else "no certain difference"
            for metric in metrics
        )
    )


def _keys(metrics: Iterable[str]) -> list[Line2D]:
    words = (("better", BETTER), ("worse", WORSE), (open_words(metrics), OPEN))
    return [
        Line2D(
            [],
            [],
            color=colour,
            marker=mark,
            markerfacecolor="white" if mark == OPEN[1] else colour,
            label=word,
        )
        for word, (colour, mark) in words
    ]


def plain_verdict(text: object) -> str:
    """Make a verdict safe to print; it may be longer than a name."""
    return " ".join(plain(word) for word in str(text).split())


def _axis(panel: Axes, part: pd.DataFrame) -> None:
    """Set up an axis on which the same factor is the same length wherever it is."""
    low, high = axis_ends(part)
    panel.set_xscale("log")
    panel.set_xlim(low, high)
    marks = axis_marks(low, high)
    panel.set_xticks(marks, [MARKS[mark] for mark in marks])
    panel.minorticks_off()


def axis_ends(part: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the axis: all ratios, the baseline, intervals up to ``FARTHEST``, some air."""
    ratios = part["ratio"].to_numpy(dtype=np.float64)
    ratios = np.append(ratios[np.isfinite(ratios) & (ratios > 0)], (0.98, 1.02))
    ends = part[["ratio_low", "ratio_high"]].to_numpy(dtype=np.float64)
    ends = ends[np.isfinite(ends)]
    low = max(min(ends.min(initial=1), ratios.min()), ratios.min() / FARTHEST)
    high = min(max(ends.max(initial=1), ratios.max()), ratios.max() * FARTHEST)
    air = (high / low) ** 0.05
    return low / air, high * air


def axis_marks(low: float, high: float) -> list[float]:
    """Return marks that do not touch, from the baseline outwards, the coarse ones first."""
    inside = [mark for mark in MARKS if low <= mark <= high]
    chosen: list[float] = []
    for mark in sorted(inside, key=_fineness):
        apart = [abs(np.log(mark / other)) / np.log(high / low) for other in chosen]
        if len(chosen) < MOST_MARKS and min(apart, default=1.0) >= APART:
            chosen.append(mark)
    return sorted(chosen)


def _fineness(mark: float) -> int:
    """Rank marks: the baseline, tens and halves, tenths, the rest."""
    ranks: tuple[tuple[float, ...], ...] = (
        (1.0,), (0.1, 10.0, 0.5, 2.0, 0.01, 100.0), (0.2, 5.0, 0.8, 1.2, 1.5, 0.9, 1.1),
    )  # fmt: skip
    return next((rank for rank, marks in enumerate(ranks) if mark in marks), len(ranks))
