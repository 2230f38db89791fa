"""A trace on one page: when jobs come, how large and long they are, and what a model expects of that."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scheduler_sim.report.look import COLOURS, GREY, look
from scheduler_sim.report.time_axis import time_axis
from scheduler_sim.report.wording import count, percent, plain, short, span_text
from scheduler_sim.units import DAY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from scheduler_sim.workload.curves import Cdf, TraceCurves

MOST_MODULES = 5
"""Modules drawn one by one; a trace with more is drawn as a whole."""

MOST_POINTS = 2000
"""Points of a drawn distribution; a panel is some 500 pixels wide."""

MOST_MARKS = 8
"""Marks that a logarithmic axis has room for."""

TIMES = {
    1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min", 3600: "1 h", 6 * 3600: "6 h",
    DAY: "1 d", 7 * DAY: "7 d", 30 * DAY: "30 d", 365 * DAY: "1 y", 3650 * DAY: "10 y",
    36500 * DAY: "100 y", 10**6 * 365 * DAY: "10⁶ y", 10**8 * 365 * DAY: "10⁸ y",
}  # fmt: skip
"""Marks of a logarithmic time axis: seconds and what to call them."""

WEEK = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
ACCURACY_END = 1.05
TAIL = 0.001
"""Share of a law at either end that an axis need not show."""


class _Line(NamedTuple):
    """How curves are drawn: colour and dashes, so that they differ in grey as well."""

    label: str
    colour: str
    dashes: Any = "-"
    width: float = 1.6


LAW = _Line("law of the model", COLOURS[5], (0, (4, 1.6)), 1.8)
_DASHES = ("-", (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1)))
_Drawn = list[tuple["TraceCurves", _Line]]


def trace_figure(
    curves: TraceCurves, law: TraceCurves | None = None, modules: Sequence[TraceCurves] = ()
) -> Figure:
    """Draw a trace on one page; what is not known says so.

    Parameters
    ----------
    curves : the whole trace
    law : what a model expects, drawn dashed over it wherever it says something; a distribution
        over whole numbers (integer ``x``) in steps, any other as a line
    modules : the same of each module, drawn as lines of their own if they are 2 to ``MOST_MODULES``
    """
    several = 1 < len(modules) <= MOST_MODULES
    whole = _Line("all of the trace", "#999999", width=3.6) if several else _Line("this trace", COLOURS[0])
    drawn: _Drawn = [(curves, whole)]
    if several:
        drawn += [
            (module, _Line(f"partition {plain(module.name)}", colour, dashes))
            for module, colour, dashes in zip(modules, COLOURS, _DASHES, strict=False)
        ]
    drawn += [] if law is None else [(law, LAW)]
    with look():
        figure = Figure(figsize=(12.5, 8.6), dpi=150, layout=ConstrainedLayoutEngine(rect=(0, 0, 0.985, 1)))
        FigureCanvasAgg(figure)
        load, by_hour, by_day, between, sizes, runs, limits, accuracy = _panels(figure)
        _load(load, drawn)
        _hours(by_hour, drawn)
        _days(by_day, drawn)
        _times(between, drawn, "inter_arrivals", "Time between submissions")
        _sizes(sizes, drawn)
        together = _ends(drawn, "run_times", "time_limits")
        _times(runs, drawn, "run_times", "Run time", together)
        _times(limits, drawn, "time_limits", "Requested time", together)
        _accuracy(accuracy, drawn)
        for panel in (between, sizes):
            panel.set_ylabel("share ≤ x")
        if len(drawn) > 1:
            _legend(figure, [line for _, line in drawn], several=several)
        figure.suptitle(_title(curves), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _panels(figure: Figure) -> list[Axes]:
    """Lay out the page: load over time, how jobs arrive, what they are."""
    grid = figure.add_gridspec(3, 12, height_ratios=[1, 1.1, 1.25])
    places = [grid[0, :]]
    places += [grid[1, 0:5], grid[1, 5:8], grid[1, 8:12]]
    places += [grid[2, first : first + 3] for first in (0, 3, 6, 9)]
    return [figure.add_subplot(place) for place in places]


def _title(curves: TraceCurves) -> str:
    parts = [plain(curves.name) or "trace"]
    if curves.jobs is not None:
        parts.append(count(curves.jobs, "job"))
    if curves.components not in (None, curves.jobs):
        parts.append(count(curves.components or 0, "component"))
    if curves.nodes is not None:
        parts.append(count(curves.nodes, "node"))
    if curves.load_edges is not None:
        parts.append(f"submitted over {span_text(int(curves.load_edges[-1] - curves.load_edges[0]))}")
    return "  ·  ".join(parts)


def _law(drawn: _Drawn) -> TraceCurves | None:
    curves, line = drawn[-1]
    return curves if line is LAW else None


def _load(panel: Axes, drawn: _Drawn) -> None:
    """Draw the work submitted in each slice of time."""
    (curves, line), law = drawn[0], _law(drawn)
    if curves.load is None or curves.load_edges is None:
        panel.set_title("Work submitted over time")
        return _unknown(panel)
    edges, nodes = curves.load_edges, curves.nodes
    panel.stairs(curves.load, edges, fill=True, color=line.colour, alpha=0.75, linewidth=0)
    if law is not None and law.load is not None and law.load_edges is not None:
        _steps(panel, law.load, law.load_edges)
    slice_text = span_text((edges[-1] - edges[0]) / len(curves.load))
    what = f"load of {count(nodes, 'node')} (dotted: all busy)" if nodes else "nodes that it would keep busy"
    panel.set_title(f"Work submitted over time, in slices of {slice_text}, as {what}")
    panel.set_ylabel("nodes" if nodes is None else "load")
    if nodes is not None:
        panel.axhline(1.0, color="black", linewidth=1.2, linestyle=(0, (1, 1.5)))
    panel.set_ylim(0, max(1.15 if nodes else 0, float(curves.load.max()) * 1.08) or 1)
    panel.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.10g}"))
    first, last = int(edges[0]), int(edges[-1])
    return time_axis(panel, first, last, unix_start=curves.unix_start)


def _hours(panel: Axes, drawn: _Drawn) -> None:
    """Draw when in the day jobs are submitted."""
    (curves, line), law = drawn[0], _law(drawn)
    panel.set_title("Submissions by hour of day")
    if not _bars(panel, curves.hour_shares, law.hour_shares if law else None, line.colour):
        return _unknown(panel)
    panel.set_xlim(0, 24)
    panel.set_xticks(range(0, 25, 3), [f"{hour}:00" for hour in range(0, 25, 3)])
    panel.set_ylabel("share of submissions")
    return _label(
        panel, "local time" if curves.calendar else "by the trace's clock: the header gives no date"
    )


def _days(panel: Axes, drawn: _Drawn) -> None:
    """Draw on which days jobs are submitted; a law's days only where they are the same days."""
    (curves, line), law = drawn[0], _law(drawn)
    panel.set_title("Submissions by day of week")
    alike = law is not None and law.calendar == curves.calendar
    if not _bars(panel, curves.weekday_shares, law.weekday_shares if law and alike else None, line.colour):
        return _unknown(panel)
    panel.set_xlim(0, 7)
    panel.set_xticks(np.arange(7) + 0.5, WEEK if curves.calendar else [str(day) for day in range(1, 8)])
    panel.tick_params(axis="x", length=0)
    return _label(panel, "" if curves.calendar else "day of the trace; the 8th counts as 1 again")


def _bars(panel: Axes, shares: np.ndarray | None, expected: np.ndarray | None, colour: str) -> bool:
    """Draw shares of submissions as bars, those of a law as steps over them; tell if there is any."""
    if shares is not None:
        panel.bar(np.arange(len(shares)) + 0.5, shares, width=0.86, color=colour, alpha=0.75)
    if expected is not None:
        _steps(panel, expected, np.arange(len(expected) + 1))
    panel.set_ylim(bottom=0)
    panel.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{100 * y:.3g} %"))
    panel.grid(visible=False, axis="x")
    return shares is not None or expected is not None


def _times(
    panel: Axes, drawn: _Drawn, name: str, title: str, ends: tuple[float, float] | None = None
) -> None:
    """Draw a distribution of times, in seconds, on an axis marked in units that people use."""
    median = _median(drawn, name)
    panel.set_title(title if median is None else f"{title}: median {span_text(median)}")
    ends = ends or _ends(drawn, name)
    if ends is None or not _has(drawn, name):
        return _unknown(panel)
    marks = list(TIMES)
    low = marks[max(bisect_right(marks, ends[0]) - 1, 0)]
    high = marks[min(bisect_left(marks, max(ends[1], 2 * low)), len(marks) - 1)]
    shown = _marks(low, high)
    panel.set_xscale("log")
    _distributions(panel, drawn, name, (0.8 * low, 1.2 * high), log=True)
    panel.set_xticks(shown, [TIMES[mark] for mark in shown], rotation=35, ha="right")
    panel.tick_params(axis="x", pad=1)
    return panel.minorticks_off()


def _marks(low: int, high: int) -> list[int]:
    """Return the marks of a time axis, the odd ones left out where their names would touch."""
    marks = [mark for mark in TIMES if low <= mark <= high]
    if len(marks) >= MOST_MARKS:
        marks = [mark for mark in marks if TIMES[mark] != "6 h"]
    if len(marks) > MOST_MARKS:
        marks = [mark for mark in marks if TIMES[mark] not in ("10 s", "10 min", "7 d", "30 d")]
    return marks


def _sizes(panel: Axes, drawn: _Drawn) -> None:
    """Draw the distribution of sizes on an axis of powers of two."""
    median = _median(drawn, "sizes")
    panel.set_title(
        "Size" if median is None else f"Size: median {short(median)} node{'' if median == 1 else 's'}"
    )
    ends = _ends(drawn, "sizes")
    if ends is None:
        return _unknown(panel)
    low, high = int(np.floor(np.log2(ends[0]))), int(np.ceil(np.log2(ends[1])))
    high = max(high, low + 1)
    panel.set_xscale("log", base=2)
    _distributions(panel, drawn, "sizes", (0.8 * 2.0**low, 1.2 * 2.0**high), log=True)
    every = (high - low) // (MOST_MARKS + 1) + 1
    powers = [2**power for power in range(low, high + 1, every)]
    panel.set_xticks(powers, [f"{size:,}" for size in powers], rotation=35, ha="right")
    panel.tick_params(axis="x", pad=1)
    panel.minorticks_off()
    return _label(panel, "nodes")


def _accuracy(panel: Axes, drawn: _Drawn) -> None:
    """Draw how much of what jobs ask for they use."""
    median = _median(drawn, "accuracy")
    panel.set_title("Accuracy" if median is None else f"Accuracy: median {short(round(median, 2))}")
    if not _has(drawn, "accuracy"):
        return _unknown(panel)
    _distributions(panel, drawn, "accuracy", (-0.03, ACCURACY_END), log=False)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    cdf = drawn[0][0].accuracy
    beyond = 0.0 if cdf is None else 1 - _share_at(cdf, 1.0)
    above = f" ({percent(beyond)} above 1)" if beyond > 0 else ""
    return _label(panel, f"run time / requested time{above}")


def _distributions(panel: Axes, drawn: _Drawn, name: str, span: tuple[float, float], *, log: bool) -> None:
    """Draw cumulative shares from one end of the axis to the other."""
    for curves, line in drawn:
        cdf = getattr(curves, name)
        if cdf is not None:
            smooth = line is LAW and cdf.x.dtype.kind == "f"
            x, share = _thinned(*_within(cdf, *span, smooth=smooth), log=log)
            panel.plot(x, share, drawstyle="default" if smooth else "steps-post", **_pen(line))
    panel.set_xlim(*span)
    panel.set_ylim(0, 1.03)
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])


def _within(cdf: Cdf, low: float, high: float, *, smooth: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the distribution from ``low`` to ``high``, with the share of what lies below as its start."""
    inside = (cdf.x > low) & (cdf.x < high)
    ends = [float(np.interp(x, *cdf, left=0.0)) if smooth else _share_at(cdf, x) for x in (low, high)]
    x = np.concatenate(([low], cdf.x[inside], [high]))
    return x, np.concatenate((ends[:1], cdf.share[inside], ends[1:]))


def _thinned(x: np.ndarray, share: np.ndarray, *, log: bool) -> tuple[np.ndarray, np.ndarray]:
    """Keep the first point of each of many columns, narrower than a pixel, and the very last."""
    if len(x) <= MOST_POINTS:
        return x, share
    place = np.log(x) if log else x
    column = ((place - place[0]) * ((MOST_POINTS - 1) / (place[-1] - place[0]))).astype(np.int64)
    kept = np.diff(column, prepend=-1) > 0
    kept[-1] = True
    return x[kept], share[kept]


def _share_at(cdf: Cdf, x: float) -> float:
    place = int(np.searchsorted(cdf.x, x, side="right"))
    return float(cdf.share[place - 1]) if place else 0.0


def _quantile(cdf: Cdf, share: float) -> float:
    """Return the least value that at least this share does not exceed."""
    return float(cdf.x[min(int(np.searchsorted(cdf.share, share)), len(cdf.x) - 1)])


def _median(drawn: _Drawn, name: str) -> float | None:
    """Return the median of the whole trace: the middle between two values where half ends between them."""
    cdf = getattr(drawn[0][0], name)
    return None if cdf is None else (_quantile(cdf, 0.5) + _quantile(cdf, np.nextafter(0.5, 1))) / 2


def _has(drawn: _Drawn, name: str) -> bool:
    return any(getattr(curves, name) is not None for curves, _ in drawn)


def _ends(drawn: _Drawn, *names: str) -> tuple[float, float] | None:
    """Return the least and the largest value of some distributions, at least 1; laws without tails."""
    ends = []
    for curves, line in drawn:
        tail = TAIL if line is LAW else 0.0
        known = [cdf for name in names if (cdf := getattr(curves, name)) is not None]
        ends += [(_quantile(cdf, tail), _quantile(cdf, 1 - tail)) for cdf in known]
    if not ends:
        return None
    return max(1.0, min(low for low, _ in ends)), max(1.0, *(high for _, high in ends))


def _pen(line: _Line) -> dict[str, Any]:
    return {"color": line.colour, "linestyle": line.dashes, "linewidth": line.width, "label": line.label}


def _steps(panel: Axes, heights: np.ndarray, edges: np.ndarray) -> None:
    """Draw what a law expects over bars."""
    halo = [withStroke(linewidth=LAW.width + 1.6, foreground="white")]
    panel.stairs(heights, edges, baseline=None, path_effects=halo, **_pen(LAW))


def _legend(figure: Figure, lines: list[_Line], *, several: bool) -> None:
    figure.legend(
        handles=[Line2D([], [], **_pen(line)) for line in lines],
        loc="outside lower center",
        ncols=7 if max(len(line.label) for line in lines) < 24 else 3,
        title="one line for each partition that jobs name first" if several else None,
    )


def _label(panel: Axes, text: str) -> None:
    panel.set_xlabel(text, fontsize=8.5)


def _unknown(panel: Axes) -> None:
    panel.set(xticks=[], yticks=[])
    panel.text(0.5, 0.5, "not known", transform=panel.transAxes, ha="center", va="center", color=GREY)
