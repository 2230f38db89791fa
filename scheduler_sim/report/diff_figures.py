"""Two schedules of one workload in one picture: their nodes over time, which jobs won and which lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scheduler_sim.report.colouring import Colouring
from scheduler_sim.report.distributions import FIRST_SECOND, steps_of, time_marks
from scheduler_sim.report.figures import run_span
from scheduler_sim.report.gantt import checked_span, legend, most_used, notes, panel_heights
from scheduler_sim.report.look import blank, look
from scheduler_sim.report.module_view import ints, rows_in_words, unix_start
from scheduler_sim.report.node_panel import Bars, draw_nodes, module_bars, node_axis
from scheduler_sim.report.schedule_diff import ScheduleDiff
from scheduler_sim.report.time_axis import time_axis
from scheduler_sim.report.wording import count, percent, percent_change, plain, span_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scheduler_sim.result.result import Result

MUCH = 3600
"""Seconds from which a change of wait has the stronger colour."""

# Blue won, brown lost; in grey print all five differ, too.
OUTCOMES = {
    "more than 1 h earlier": "#004488",
    "earlier": "#7FB2E5",
    "at the same time": "#E8E8E8",
    "later": "#F5C56B",
    "more than 1 h later": "#C4622D",
    "only in one of the two": "#000000",
}
SAME, ONE_ONLY = 2, 5
WON, LOST = OUTCOMES["earlier"], OUTCOMES["later"]
MOST_NAMES = 8
"""Users, applications or modules with a bar of their own."""

BARS = {"size": "By nodes", "user": "By user", "app": "By application", "module": "By module"}

Span = tuple[int, int]


def diff_figure(diff: ScheduleDiff, span: Span | None = None) -> Figure:
    """Draw both schedules on one time axis, and below them which start earlier and which later.

    Parameters
    ----------
    diff : of ``schedule_diff``.
    span : first and last second of the time axis, on the trace's own clock; None for all.

    Raises
    ------
    InputError : an empty span, or a result that needs more nodes than there are.
    """
    sides = (diff.before, diff.after)
    names = _run_names(*sides)
    spans = [run_span(result) for result in sides]
    whole = min(first for first, _ in spans), max(last for _, last in spans)
    first, last = checked_span(span) if span else whole
    bars = [{name: own.within(first, last) for name, own in module_bars(result).items()} for result in sides]
    outcome = _outcome(diff)
    codes = outcome, _in_order_of_after(diff, outcome)
    rows = _rows(*bars)
    with look():
        heights = panel_heights([bars[side][module].capacity for side, module in rows], together=7.0)
        figure = blank(12, 5.2 + sum(heights))
        parts: Any = figure.subfigures(2, 1, height_ratios=[sum(heights) + 1.4, 3.8])
        above, below = parts
        panels = above.subplots(
            max(len(rows), 1), 1, sharex=True, squeeze=False, height_ratios=heights or [1]
        )[:, 0]
        for panel, (side, module) in zip(panels, rows, strict=False):
            own = bars[side][module]
            node_axis(panel, own.capacity)
            panel.set_title(f"{names[side]}: {plain(module)}, {count(own.capacity, 'node')}")
        time_axis(panels[-1], first, last, zero=whole[0], unix_start=unix_start(diff.before.manifest))
        colourings = [_colouring(code) for code in codes]
        by_row = dict.fromkeys(module for side, module in rows if not bars[side][module].many)
        drawn = [bars[side][module] for side, module in rows]
        lines = notes(rows_in_words(diff.before.manifest, list(by_row)), drawn, last - first)
        legend(above, colourings[0], [], lines)
        _who(below, diff)
        figure.suptitle(_title(diff, names), x=0.01, ha="left", fontsize=12, fontweight="bold")
        figure.draw_without_rendering()  # settles where each panel stands
        for panel, (side, module) in zip(panels, rows, strict=False):
            draw_nodes(
                panel, bars[side][module], colourings[side], ints(sides[side].components, "component_id")
            )
    return figure


def _run_names(before: Result, after: Result) -> tuple[str, str]:
    """Name the two runs by their policies, or by their order if these are called the same."""
    policies = [result.manifest.get("policy") or {} for result in (before, after)]
    one, other = (plain(policy.get("name") or policy.get("order") or "") for policy in policies)
    return (f"before ({one})", f"after ({other})") if one != other else ("before", "after")


def _rows(before: dict[str, Bars], after: dict[str, Bars]) -> list[tuple[int, str]]:
    """Return the panels: (0 before or 1 after, module), each module before above after."""
    shown = [most_used(before), most_used(after)]
    modules = list(dict.fromkeys([*shown[0], *shown[1]]))
    return [(side, name) for name in modules for side, bars in enumerate((before, after)) if name in bars]


def _outcome(diff: ScheduleDiff) -> np.ndarray:
    """Return the number in ``OUTCOMES`` of each component."""
    change = diff.components["wait_difference"].to_numpy()
    code = SAME + np.sign(np.nan_to_num(change)) * np.where(np.abs(change) > MUCH, 2, 1)
    return np.where(np.isnan(change), ONE_ONLY, code).astype(np.int64)


def _in_order_of_after(diff: ScheduleDiff, code: np.ndarray) -> np.ndarray:
    ordered = np.empty_like(code)
    ordered[diff.match] = code
    return ordered


def _colouring(code: np.ndarray) -> Colouring:
    found = np.unique(code)
    keys = [
        (label, (colour,))
        for number, (label, colour) in enumerate(OUTCOMES.items())
        if number in found or number < ONE_ONLY
    ]
    return Colouring("After, a component starts", code, tuple(OUTCOMES.values()), keys)


def _title(diff: ScheduleDiff, names: tuple[str, str]) -> str:
    both = diff.components.dropna(subset="wait_difference")
    waits = [float(both[f"wait_{side}"].mean()) for side in ("before", "after")]
    if both.empty:
        return f"{names[0]} → {names[1]}  ·  nothing ran in both"
    change = percent_change(waits[1] / waits[0]) if waits[0] > 0 else ""
    words = f"mean wait {span_text(waits[0])} → {span_text(waits[1])}"
    return f"{names[0]} → {names[1]}  ·  {words}" + (f" ({change})" if change else "")


def _who(figure: Any, diff: ScheduleDiff) -> None:
    """Draw the distribution of differences, and winners and losers by class."""
    known = [what for what in ("user", "app", "module") if _several(diff.components[what])]
    ways = ["size", *known][:3]
    ecdf, *panels = figure.subplots(1, 1 + len(ways), width_ratios=[1.5] + [1.0] * len(ways))
    _differences(ecdf, diff)
    for panel, what in zip(panels, ways, strict=True):
        _bars(panel, diff.by(what), what)
    figure.legend(
        handles=[
            Patch(facecolor=LOST, edgecolor="black", hatch="////", linewidth=0.4, label="waits longer after"),
            Patch(facecolor=WON, edgecolor="black", linewidth=0.4, label="waits less after"),
        ],
        loc="outside lower center", ncols=2, fontsize=8.5,
    )  # fmt: skip


def _several(names: pd.Series) -> bool:
    return names.astype(str).nunique() > 1


def _differences(panel: Axes, diff: ScheduleDiff) -> None:
    """Draw the distribution of the differences of wait on an axis that is logarithmic both ways."""
    change = diff.components["wait_difference"].dropna().to_numpy()
    most = float(np.abs(change).max(initial=1))
    marks = {mark: words for mark, words in time_marks(most).items() if mark not in (1, 10)}
    ticks = {-mark: f"−{words}" for mark, words in reversed(marks.items()) if mark} | marks
    end = 1.1 * max(max(marks), most)
    panel.set_xscale("symlog", linthresh=1, linscale=FIRST_SECOND)
    panel.set_xticks(
        list(ticks), list(ticks.values()), rotation=60, ha="right", rotation_mode="anchor", fontsize=7.5
    )
    panel.minorticks_off()
    panel.set_xlim(-end, end)
    panel.set_ylim(0, 1.03)
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    panel.set_ylabel("share of components")
    panel.axvspan(-end, 0, color=WON, alpha=0.25, linewidth=0)
    panel.axvspan(0, end, color=LOST, alpha=0.25, linewidth=0)
    if not len(change):
        panel.set_title("Change of wait: nothing ran in both")
        return
    x, share = steps_of(change, panel.xaxis.get_transform())
    panel.plot([-end, *x, end], [0, *share, 1], drawstyle="steps-post", color="black", linewidth=1.6)
    less, longer = percent(float((change < 0).mean())), percent(float((change > 0).mean()))
    panel.set_title(f"Change of wait: {less} wait less, {longer} longer")


def _bars(panel: Axes, table: pd.DataFrame, what: str) -> None:
    """Draw which share of each class waits less, to the right, and longer, to the left, and how many."""
    table = _largest(table) if what in ("user", "app", "module") else table
    places = np.arange(len(table))[::-1]
    longer, shorter = table["longer"].to_numpy(), table["shorter"].to_numpy()
    lost, won = (100 * part / np.maximum(table["components"].to_numpy(), 1) for part in (longer, shorter))
    panel.barh(places, won, color=WON, edgecolor="black", linewidth=0.4, height=0.75)
    panel.barh(places, -lost, color=LOST, edgecolor="black", hatch="////", linewidth=0.4, height=0.75)
    widest = max(lost.max(initial=1), won.max(initial=1))
    for i, place in enumerate(places):
        panel.text(won[i] + 0.03 * widest, place, f"{shorter[i]:,}", va="center", fontsize=7)
        panel.text(-lost[i] - 0.03 * widest, place, f"{longer[i]:,}", va="center", ha="right", fontsize=7)
    panel.axvline(0, color="black", linewidth=0.8)
    panel.set_xlim(-1.75 * widest, 1.75 * widest)
    panel.set_yticks(places, [plain(name) for name in table.index], fontsize=8)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(-0.6, max(len(table), 1) - 0.4)
    panel.grid(visible=False, axis="y")
    panel.xaxis.set_major_locator(MaxNLocator(nbins=4, symmetric=True, steps=[1, 2, 2.5, 5, 10]))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{abs(x):.3g} %"))
    panel.set_title(BARS[what])
    panel.set_xlabel("share of the class; numbers: components", fontsize=7.5)


def _largest(table: pd.DataFrame) -> pd.DataFrame:
    """Keep those in which most changed, most first, and put the others together."""
    counts = table[["components", "shorter", "longer"]]
    changed = (counts["shorter"] + counts["longer"]).to_numpy()
    ordered = counts.iloc[np.argsort(-changed, kind="stable")]
    if len(ordered) <= MOST_NAMES + 1:
        return ordered
    others = ordered.iloc[MOST_NAMES:]
    together = pd.DataFrame([others.sum()], index=pd.Index([f"{len(others):,} others"]))
    return pd.concat([ordered.iloc[:MOST_NAMES], together])
