"""How waits and bounded slowdowns are distributed: one run, or several in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from scheduler_sim.arrays import Floats
from scheduler_sim.metrics.metric import JobColumns
from scheduler_sim.metrics.values import job_values
from scheduler_sim.report.look import COLOURS, DASHES, blank, look
from scheduler_sim.report.module_view import ints
from scheduler_sim.report.trace_figures import TIMES
from scheduler_sim.report.wording import count, plain, short, span_text
from scheduler_sim.result.columns import NEVER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scheduler_sim.result.result import Result

Pen = dict[str, Any]

MOST_POINTS = 2000
"""Steps of a drawn distribution; a panel is some 700 pixels wide."""

FIRST_SECOND = 0.4
"""How long the axis of waits is from 0 to 1 s, in decades."""

SLOWDOWNS = (1, 2, 5, 10, 20, 50, 100, 1000, 10_000, 100_000, 10**6, 10**7, 10**8)


def waits(results: Mapping[str, Result]) -> Figure:
    """Draw the distributions of wait (start − submit) and bounded slowdown over the components that ran.

    Parameters
    ----------
    results : what to call each run in the legend, and its result; one or several.
    """
    with look():
        figure = blank(11, 4.6 + 0.25 * len(results))
        left, right = figure.subplots(1, 2, sharey=True)
        values = {name: _values(result) for name, result in results.items()}
        drawn = [(*pair, _pen(i, len(values))) for i, pair in enumerate(values.items())]
        _wait_axis(left, max((own["wait_time"].max(initial=1) for own in values.values()), default=1))
        highest = max((own["bounded_slowdown"].max(initial=2) for own in values.values()), default=2)
        _slowdown_axis(right, highest)
        for panel, measure in ((left, "wait_time"), (right, "bounded_slowdown")):
            for _, own, pen in drawn:
                _distribution(panel, own[measure], pen)
        left.set_title("Wait")
        left.set_ylabel("share of components")
        left.set_xlabel("wait from submission to start, at most")
        right.set_title("Bounded slowdown: (wait + run) / run, runs below 10 s counted as 10 s")
        right.set_xlabel("bounded slowdown, at most")
        for panel in (left, right):
            panel.set_ylim(0, 1.03)
            panel.set_yticks([0, 0.25, 0.5, 0.75, 0.9, 1], ["0 %", "25 %", "50 %", "75 %", "90 %", "100 %"])
        figure.legend(
            handles=[Line2D([], [], label=_summary(name, own), **pen) for name, own, pen in drawn],
            loc="outside lower center", ncols=1, fontsize=8.5, handlelength=4,
        )  # fmt: skip
        figure.suptitle(_title(values), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def steps_of(values: NDArray[Any], place: Any) -> tuple[Floats, Floats]:
    """Return the points of a cumulative distribution, from (least value, 0) on: x and share.

    Many values are looked up at ``MOST_POINTS`` points that stand equally far apart on an
    axis whose scale is ``place`` (a matplotlib transform), at the least and at the largest.
    """
    ordered = np.sort(values).astype(np.float64)
    x = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    if len(x) > MOST_POINTS:
        least, largest = place.transform(x[[0, -1]])
        between = place.inverted().transform(np.linspace(least, largest, MOST_POINTS)[1:-1])
        x = np.concatenate((x[:1], between, x[-1:]))
    share = np.searchsorted(ordered, x, side="right") / len(ordered)
    return np.append(x[0], x), np.append(0.0, share)


def time_marks(most: float) -> dict[int, str]:
    """Return marks of a logarithmic time axis from 0 up to about ``most`` seconds."""
    later = [mark for mark in TIMES if mark > 1]
    end = next((mark for mark in later if mark >= most), later[-1])
    return {0: "0", **{mark: words for mark, words in TIMES.items() if mark <= end}}


def _values(result: Result) -> dict[str, NDArray[Any]]:
    ran = ints(result.components, "start_time") != NEVER
    return {name: values[ran] for name, values in job_values(JobColumns.of(result.components))}


def _pen(number: int, of: int) -> Pen:
    """Return a line of its own; later ones are thinner, so that equal ones show."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number % len(DASHES)],
        "linewidth": 2.6 - 1.0 * number / max(of - 1, 1),
    }


def _wait_axis(panel: Axes, most: float) -> None:
    panel.set_xscale("symlog", linthresh=1, linscale=FIRST_SECOND)
    marks = time_marks(most)
    panel.set_xticks(list(marks), list(marks.values()), rotation=35, ha="right")
    panel.minorticks_off()
    panel.set_xlim(0, 1.1 * max(max(marks), most))


def _slowdown_axis(panel: Axes, most: float) -> None:
    panel.set_xscale("log")
    end = next((mark for mark in SLOWDOWNS if mark >= most), most)
    marks = [
        mark for mark in SLOWDOWNS if mark <= end and (end <= 200 or mark in (1, 2, 5) or mark % 10 == 0)
    ]
    marks = [mark for mark in marks if end <= 200 or mark not in (20, 50)]
    panel.set_xticks(marks, ["1" if mark == 1 else f"{mark:,}" for mark in marks])
    panel.minorticks_off()
    panel.set_xlim(0.93, 1.1 * max(end, most))


def _distribution(panel: Axes, values: NDArray[Any], pen: Pen) -> None:
    if len(values):
        x, share = steps_of(values, panel.xaxis.get_transform())
        panel.plot(x, share, drawstyle="steps-post", solid_capstyle="butt", clip_on=False, **pen)


def _summary(name: str, values: Mapping[str, NDArray[Any]]) -> str:
    wait, slowdown = values["wait_time"], values["bounded_slowdown"]
    if not len(wait):
        return f"{plain(name)}: nothing ran"
    at_once = float((wait == 0).mean())
    return (
        f"{plain(name)}: {100 * at_once:.0f} % at once, median wait {span_text(float(np.median(wait)))},"
        f" mean {span_text(float(wait.mean()))}; bounded slowdown median {_digits(np.median(slowdown))},"
        f" mean {_digits(slowdown.mean())}"
    )


def _digits(number: Any) -> str:
    return short(float(f"{float(number):.3g}"))


def _title(values: Mapping[str, Mapping[str, NDArray[Any]]]) -> str:
    ran = {len(own["wait_time"]) for own in values.values()}
    words = f"{count(len(values), 'run')}  ·  " if len(values) > 1 else ""
    return f"Waits  ·  {words}" + (count(ran.pop(), "component") if len(ran) == 1 else "components that ran")
