"""How near a simulation is to the record, in one picture: waits, nodes in use, hours of the week."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scheduler_sim.metrics.agreement.slices import HOURS_OF_WEEK, calendar_start, day_names, hours_of_week
from scheduler_sim.metrics.agreement.use import Use, use_of
from scheduler_sim.metrics.agreement.waits import Distance, Waits, waits_of
from scheduler_sim.report.agreement_words import difference
from scheduler_sim.report.distributions import FIRST_SECOND, steps_of, time_marks
from scheduler_sim.report.look import COLOURS, DASHES, Picture, blank, look
from scheduler_sim.report.module_view import unix_start
from scheduler_sim.report.time_axis import time_axis
from scheduler_sim.report.wording import count, span_text
from scheduler_sim.units import DAY, HOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from scheduler_sim.arrays import Floats, Ints
    from scheduler_sim.result.result import Result

PENS: tuple[dict[str, Any], ...] = (
    {"label": "recorded", "color": COLOURS[0], "linestyle": DASHES[0], "linewidth": 2.2},
    {"label": "simulated", "color": COLOURS[5], "linestyle": DASHES[1], "linewidth": 1.5},
)
"""The two lines of each panel."""

MOST_HOURS = 21 * 24
"""Hours of a record that are drawn one by one; of a longer one the mean of each day."""

CELLS = 48
"""Cells of a side of the panel that holds recorded against simulated waits."""


def agreement_figure(result: Result) -> Picture:
    """Draw recorded and simulated waits and nodes in use of the components that are compared.

    Raises InputError if the trace records no starts.
    """
    waits, manifest = waits_of(result), result.manifest
    use, distance = use_of(result, waits), Distance.of(waits)
    with look():
        figure = blank(12, 9.6)
        grid = figure.add_gridspec(3, 2, height_ratios=[1.5, 1, 1])
        shares, pairs = (figure.add_subplot(grid[0, side]) for side in (0, 1))
        over_time, week = (figure.add_subplot(grid[row, :]) for row in (1, 2))
        _distribution(shares, waits)
        _pairs(pairs, waits)
        _in_use(over_time, result, use)
        _week(week, waits, hours_of_week(waits.submit, manifest), day_names(manifest))
        known = calendar_start(manifest) is not None
        week.set_xlabel("hour of submission" + (", on the trace's clock" if known else ""))
        handles = [Line2D([], [], **pen) for pen in PENS]
        figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=4)
        title = (
            f"Recorded and simulated  ·  {count(len(waits.rows), 'component')}  ·  mean wait"
            f" {span_text(float(waits.recorded.mean()))} recorded,"
            f" {span_text(float(waits.simulated.mean()))} simulated: {difference(distance.mean)}"
        )
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _distribution(panel: Axes, waits: Waits) -> None:
    """Draw which share of components waited at most a time."""
    _wait_axis(panel, "x", _longest(waits))
    for values, pen in zip((waits.recorded, waits.simulated), PENS, strict=True):
        x, share = steps_of(values, panel.xaxis.get_transform())
        panel.plot(x, share, drawstyle="steps-post", clip_on=False, **pen)
    panel.set_ylim(0, 1.03)
    panel.set_yticks([0, 0.25, 0.5, 0.75, 0.9, 1], ["0 %", "25 %", "50 %", "75 %", "90 %", "100 %"])
    panel.set_ylabel("share of components")
    panel.set_xlabel("wait, at most")
    panel.set_title("Waits")


def _pairs(panel: Axes, waits: Waits) -> None:
    """Draw how many components have which recorded and which simulated wait; on the diagonal they agree."""
    longest = _longest(waits)
    for axis in ("x", "y"):
        _wait_axis(panel, axis, longest)
    place = panel.xaxis.get_transform()
    ends: Any = place.transform(np.array([0.0, panel.get_xlim()[1]]))
    edges: Any = place.inverted().transform(np.linspace(ends[0], ends[1], CELLS + 1))
    edges[0], edges[-1] = 0, panel.get_xlim()[1]
    counts, _, _ = np.histogram2d(waits.recorded, waits.simulated, bins=[edges, edges])
    shown = np.ma.masked_equal(counts.T, 0)
    most = max(float(counts.max()), 2.0)
    drawn = panel.pcolormesh(edges, edges, shown, cmap="viridis_r", norm="log", vmin=1, vmax=most)
    bar = panel.figure.colorbar(drawn, ax=panel, pad=0.01, aspect=30)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.10g}"))
    bar.ax.minorticks_off()
    bar.set_label("components")
    panel.axline((0, 0), (longest, longest), color="black", linewidth=0.9, linestyle=(0, (4, 2)))
    panel.set_xlabel("recorded wait")
    panel.set_ylabel("simulated wait")
    panel.set_title("Each component: on the dashed line both waits agree")


def _wait_axis(panel: Axes, axis: str, longest: float) -> None:
    marks = time_marks(longest)
    scale = {"linthresh": 1, "linscale": FIRST_SECOND}
    if axis == "x":
        panel.set_xscale("symlog", **scale)
        panel.set_xticks(list(marks), list(marks.values()), rotation=35, ha="right")
        panel.set_xlim(0, 1.1 * max(max(marks), longest))
    else:
        panel.set_yscale("symlog", **scale)
        panel.set_yticks(list(marks), list(marks.values()))
        panel.set_ylim(0, 1.1 * max(max(marks), longest))
    panel.minorticks_off()


def _longest(waits: Waits) -> float:
    return float(max(waits.recorded.max(), waits.simulated.max(), 1))


def _in_use(panel: Axes, result: Result, use: Use) -> None:
    """Draw the nodes in use, hour by hour or day by day."""
    by_day = len(use.recorded) > MOST_HOURS
    slices = np.arange(0, len(use.recorded), DAY // HOUR if by_day else 1)
    edges = np.append(use.edges[slices], use.edges[-1])
    length = np.diff(use.edges)
    for values, pen in zip((use.recorded, use.simulated), PENS, strict=True):
        means = np.add.reduceat(values * length, slices) / np.add.reduceat(length, slices)
        panel.stairs(means, edges, baseline=None, **pen)
    first, last = int(edges[0]), int(edges[-1])
    time_axis(panel, first, last, unix_start=unix_start(result.manifest))
    panel.set_ylim(0, 1.05 * max(1.0, float(max(use.recorded.max(), use.simulated.max()))))
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    recorded, simulated = use.mean()
    panel.set_title(
        f"Nodes in use, mean of each {'day' if by_day else 'hour'}: {100 * recorded:.1f} % recorded,"
        f" {100 * simulated:.1f} % simulated over all"
    )


def _week(panel: Axes, waits: Waits, hours: Ints, days: Sequence[str]) -> None:
    """Draw the mean wait by hour of the week."""
    counts = np.bincount(hours, minlength=HOURS_OF_WEEK)
    edges = np.arange(HOURS_OF_WEEK + 1)
    highest = 0.0
    for values, pen in zip((waits.recorded, waits.simulated), PENS, strict=True):
        means: Floats = np.full(HOURS_OF_WEEK, np.nan)
        some = counts > 0
        means[some] = (
            (np.bincount(hours, weights=values, minlength=HOURS_OF_WEEK)[some]) / counts[some] / HOUR
        )
        highest = max(highest, float(np.nanmax(means)))
        panel.stairs(means, edges, baseline=None, **pen)
    panel.set_xlim(0, HOURS_OF_WEEK)
    panel.set_ylim(0, 1.08 * highest or 1)
    marks = range(0, HOURS_OF_WEEK, 12)
    names = [f"{days[hour // 24]} {hour % 24}:00" for hour in marks]
    panel.set_xticks(marks, names, rotation=35, ha="right")
    panel.yaxis.set_major_locator(MaxNLocator(nbins=5))
    panel.set_ylabel("hours")
    panel.set_title("Mean wait by hour of the week in which components were submitted")
