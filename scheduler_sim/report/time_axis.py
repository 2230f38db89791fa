"""Axes of time: time since the first submission, under the dates where the trace says when it began."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, num2date
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scheduler_sim.report.look import GREY
from scheduler_sim.report.wording import date
from scheduler_sim.units import DAY, HOUR, MINUTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

BELOW = 20
"""Points from the axis of dates down to that of time since the first submission."""

# What marks say: years, months, days, hours, minutes, seconds; then what the first of each longer unit says.
MARKS = ["%Y", "%b", "%b %d", "%H:%M", "%H:%M", "%H:%M:%S"]
FIRST_MARKS = ["", "%Y", "%b %d", "%b %d", "%H:%M", "%H:%M"]


def time_axis(
    panel: Axes, first: int, last: int, *, zero: int | None = None, unix_start: int | None = None
) -> None:
    """Let the x axis run from ``first`` to ``last`` (s), and mark and name it.

    Parameters
    ----------
    panel : the lowest of those that share the axis.
    zero : the first submission, s; None for ``first``.
    unix_start : Unix time at which the trace's clock is 0, s; None where it is not known. With it the marks
        are dates in UTC, and those of time since the first submission stand on an axis of their own below.
    """
    panel.set_xlim(first, last)
    zero = first if zero is None else zero
    if unix_start is None or not date(unix_start + last):
        _since(panel.xaxis, first, last, zero)
        return
    _dates(panel.xaxis, first, last, unix_start)
    below = panel.secondary_xaxis("bottom")
    below.spines["bottom"].set_position(("outward", BELOW))
    below.spines["bottom"].set_visible(False)
    below.tick_params(axis="x", length=0, pad=0, labelcolor=GREY)
    _since(below.xaxis, first, last, zero)
    days = " to ".join(dict.fromkeys(date(unix_start + second)[:10] for second in (first, last)))
    below.set_xlabel(f"{below.get_xlabel()}; {days}, UTC")


def _since(axis: Axis, first: int, last: int, zero: int) -> None:
    """Mark whole units since ``zero``."""
    name, seconds = time_unit(last - first)
    locator = MaxNLocator(nbins=12, steps=[1, 2, 2.5, 5, 10])
    units = locator.tick_values((first - zero) / seconds, (last - zero) / seconds)
    axis.set_ticks([x for unit in units if first <= (x := zero + unit * seconds) <= last])
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{(x - zero) / seconds:,.10g}"))
    axis.set_label_text(f"{name} after the first submission")


def _dates(axis: Axis, first: int, last: int, unix_start: int) -> None:
    """Mark the calendar: the first of months, days or hours, as long as the span is."""
    locator = AutoDateLocator(tz=UTC, minticks=4, maxticks=12)
    ends = (num2date((unix_start + second) / DAY, tz=UTC) for second in (first, last))
    numbers = np.asarray(locator.tick_values(*ends))
    ticks = numbers * DAY - unix_start
    inside = (first <= ticks) & (ticks <= last)
    style = ConciseDateFormatter(locator, tz=UTC, formats=MARKS, zero_formats=FIRST_MARKS, show_offset=False)
    texts = [text.replace(" 0", " ") for text in style.format_ticks(list(numbers[inside]))]
    axis.set_ticks(list(ticks[inside]), texts)


def time_unit(seconds: int) -> tuple[str, int]:
    """Return the unit of a time axis that spans ``seconds``, and its length in seconds."""
    for name, size in (("days", DAY), ("hours", HOUR), ("minutes", MINUTE)):
        if seconds >= 3 * size:
            return name, size
    return "seconds", 1
