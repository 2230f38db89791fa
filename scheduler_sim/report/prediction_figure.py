"""When waiting jobs will start, as a picture: a bar from 10 to 90 % for each, a mark at the half."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scheduler_sim.report.look import COLOURS, GREY, blank, look
from scheduler_sim.report.wording import count, duration, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 60
"""Jobs with a bar of their own: the first that were submitted."""

TASK = r"^(\d+)_\d+$"
"""A task of an array, as squeue prints it."""

ASKED = ("user", "nodes", "time_limit")
HOUR, TICKS = 3600, 9


def starts_figure(
    waiting: pd.DataFrame, asked: Sequence[pd.DataFrame], at: int, horizon: int, origin: int | None
) -> Figure:
    """Draw the bands of waiting jobs, and below them those of a job that is not submitted yet.

    The waiting tasks of an array that ask for the same are one row.

    Parameters
    ----------
    waiting, asked : ``job``, ``user``, ``nodes``, ``time_limit``, ``by_limits``, ``start_10``, ``start_50``
        and ``start_90`` (s); a table of one row for each size and limit that is asked for
    at, horizon : s; starts beyond the horizon end at its edge
    origin : second 0 in Unix time, None where nobody knows
    """
    jobs = by_array(waiting)
    shown = pd.concat([jobs.iloc[:MOST_ROWS], *asked], ignore_index=True)
    with look():
        figure = blank(10, 1.6 + 0.24 * max(len(shown), 2))
        panel = figure.subplots()
        for own, colour in ((len(shown) - len(asked), COLOURS[0]), (len(shown), COLOURS[5])):
            rows = np.arange(own - (len(asked) if own == len(shown) and asked else own), own)
            _bands(panel, shown.iloc[rows], rows, horizon, colour)
        panel.set_ylim(len(shown) - 0.4, -0.6)
        panel.set_yticks(range(len(shown)), [_called(row) for row in shown.to_dict("records")])
        panel.grid(visible=False, axis="y")
        _times(panel, at, _last(shown, at, horizon), origin)
        left = len(jobs) - MOST_ROWS
        more = f"; {count(left, 'more job')} not shown" if left > 0 else ""
        more += "; arrays from first to last task" if len(jobs) < len(waiting) else ""
        panel.set_title(f"Start: 10 to 90 % of the draws, | half of them, × if all run to their limits{more}")
        return figure


def by_array(waiting: pd.DataFrame) -> pd.DataFrame:
    """Return waiting jobs with a row for each array: its tasks (``30_1``) that ask for the same are one.

    Its band is from the first task's early end to the last one's late end, its half the median of theirs.
    """
    array = waiting["job"].astype(str).str.extract(TASK)[0]
    own = array.fillna("job " + waiting["job"].astype(str))
    keys = [own, *(waiting[name].astype(object) for name in ASKED)]
    number = pd.Series(pd.MultiIndex.from_arrays(keys).factorize()[0], index=waiting.index)
    grouped = waiting.assign(array=array).groupby(number, sort=False)
    rows = grouped.first()
    rows["start_10"], rows["start_90"] = grouped["start_10"].min(), grouped["start_90"].max()
    rows["start_50"] = grouped["start_50"].median().astype(np.int64)
    rows["by_limits"] = grouped["by_limits"].max()
    named = zip(rows["job"], rows["array"], grouped.size(), strict=True)
    rows["job"] = [job if tasks == 1 else f"{of}_[{count(tasks, 'task')}]" for job, of, tasks in named]
    return rows.drop(columns="array")


def _bands(panel: Axes, rows: pd.DataFrame, places: np.ndarray, horizon: int, colour: str) -> None:
    low, half, high, limits = (
        np.minimum(rows[name].to_numpy(), horizon)
        for name in ("start_10", "start_50", "start_90", "by_limits")
    )
    panel.barh(places, high - low, left=low, height=0.55, color=colour, alpha=0.45, linewidth=0)
    panel.plot(half, places, "|", color=colour, markersize=11, markeredgewidth=2.2)
    panel.plot(limits, places, "x", color=GREY, markersize=5)


def _last(shown: pd.DataFrame, at: int, horizon: int) -> int:
    """Return where the axis ends, s: at the last mark, or at the horizon."""
    last = min(int(shown[["start_90", "by_limits"]].to_numpy().max(initial=at)), horizon)
    return max(last + (last - at) // 40, at + HOUR)


def _called(row: dict[object, object]) -> str:
    user = plain(row["user"])
    asks = f"{count(int(str(row['nodes'])), 'node')}, {duration(int(str(row['time_limit'])))}"
    return f"{plain(row['job'])}{f' {user}' if user else ''}  {asks}"


def _times(panel: Axes, at: int, last: int, origin: int | None) -> None:
    """Mark full hours of the clock from ``at`` on, few enough to read."""
    panel.set_xlim(at, last)
    step = next(
        hours * HOUR
        for hours in (1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 10**5)
        if hours * HOUR * TICKS > last - at
    )
    zero = 0 if origin is None else origin
    ticks = np.arange(-(-(at + zero) // step) * step - zero, last + 1, step)
    panel.set_xticks(ticks, [moment(int(tick), at, origin) for tick in ticks], rotation=25, ha="right")


def moment(time: int, at: int, origin: int | None) -> str:
    """Write a time as ``Thu 5 Mar 14:00``, or, without a date, as how long it is from ``at`` on."""
    try:
        date = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=time + (origin or 0))
    except OverflowError:
        origin = None
    if origin is None:
        return f"{'-' if time < at else '+'}{duration(abs(time - at))}"
    return f"{date:%a} {date.day} {date:%b %H:%M}"
