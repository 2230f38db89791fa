"""Pictures of a run, with one look: readable in grey, by the colour blind, at any size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from scheduler_sim.report.envelope import Envelope, envelope, means
from scheduler_sim.report.look import COLOURS, GREY, HATCHES, blank, look, save_png
from scheduler_sim.report.module_view import ints, module_sizes, unix_start
from scheduler_sim.report.time_axis import time_axis
from scheduler_sim.report.wording import count, plain, short, span_text
from scheduler_sim.result.columns import TOTAL, rows_named
from scheduler_sim.result.steps import Steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scheduler_sim.result.result import Result

__all__ = ["headline", "overview", "run_span", "save_png"]

Array = NDArray[Any]

COLUMNS = 2000
"""Columns of time a picture holds at most; about the pixels a panel is wide."""

MOST_PANELS = 6
"""Modules drawn one by one; a system with more is drawn as a whole."""

DARK, MEDIUM, LIGHT = 1.0, 0.7, 0.3
"""Opacity up to the least, the mean and the most of a column."""

WIDE = 60
"""Columns of the line that shows the trend where the picture is too dense to read."""


def overview(result: Result) -> Figure:
    """Draw busy nodes per module and the queue, over the whole run."""
    sizes = module_sizes(result.manifest)
    names = list(sizes) if 0 < len(sizes) <= MOST_PANELS else [TOTAL]
    nodes = sum(sizes.values())
    span = run_span(result)
    with look():
        heights = [1.7 if len(names) < 3 else 1.25] * len(names) + [1.0, 1.0]
        figure = blank(11, 1.6 + 1.45 * sum(heights))
        panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        pictures = [
            _busy(panel, result, name, sizes.get(name, nodes), colour, span, alone=len(names) == 1)
            for panel, name, colour in zip(panels, names, COLOURS, strict=False)
        ]
        pictures.append(_queue(panels[-2], result, names, "queue_components", span))
        pictures.append(_queue(panels[-1], result, names, "queue_nodes", span))
        for panel in panels:
            finish(panel)
        time_axis(panels[-1], *span, unix_start=unix_start(result.manifest))
        exact = all(picture.exact for picture in pictures)
        figure.legend(
            handles=_keys(names, bool(ints(result.timeline, "nodes_down").any()), exact, span[1] - span[0]),
            loc="outside lower center",
            ncols=5,
            title=caption(exact, span[1] - span[0]),
            title_fontsize=8.5,
            fontsize=8.5,
        )
        figure.suptitle(headline(result, nodes), x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def run_span(result: Result) -> tuple[int, int]:
    """Return when the picture begins and ends, in seconds; never empty."""
    submit, time = ints(result.components, "submit_time"), ints(result.timeline, "time")
    moments = np.concatenate((submit, time))
    if not len(moments):
        return 0, 1
    first = int(submit.min()) if len(submit) else int(time.min())
    return first, max(int(moments.max()), first + 1)


def _steps(result: Result, module: str, column: str) -> Steps:
    table = result.timeline
    own = rows_named(table["module"], module)
    return ints(table, "time")[own], ints(table, column)[own]


def _busy(
    panel: Axes, result: Result, name: str, capacity: int, colour: str, span: tuple[int, int], *, alone: bool
) -> Envelope:
    """Draw the busy nodes of one module, how many it has, and which are out of service."""
    steps = _steps(result, name, "nodes_busy")
    picture = envelope(steps, *span, COLUMNS)
    draw(panel, picture, colour)
    trend(panel, picture, steps, span)
    panel.axhline(capacity, color="black", linestyle=(0, (5, 2)), linewidth=1)
    down = _steps(result, name, "nodes_down")
    if down[1].any():
        lost = envelope(down, *span, COLUMNS)
        panel.fill_between(
            lost.edges, capacity - held(lost.high), capacity, step="post",
            facecolor="white", edgecolor="black", hatch="xxx", linewidth=0,
        )  # fmt: skip
    share = (result.metrics.get("utilization") or {}).get(name)
    used = "" if share is None or alone else f", {100 * share:.1f} % used"
    panel.set_title(f"Busy nodes{'' if alone else ' of ' + plain(name)}{used}")
    panel.set_ylabel(f"nodes of {capacity:,}")
    panel.set_ylim(0, max(capacity, 1) * 1.06)
    return picture


def _queue(panel: Axes, result: Result, names: list[str], column: str, span: tuple[int, int]) -> Envelope:
    """Draw what waits: one module as an envelope, several as the mean of each on top of the last."""
    whole_steps = _steps(result, TOTAL, column)
    whole = envelope(whole_steps, *span, COLUMNS)
    if len(names) == 1:
        draw(panel, whole, COLOURS[0])
        trend(panel, whole, whole_steps, span)
    else:
        below = np.zeros(len(whole.area))
        for name, colour, hatch in zip(names, COLOURS, HATCHES, strict=False):
            top = below + means(_steps(result, name, column), whole.edges)
            panel.fill_between(
                whole.edges, held(below), held(top), step="post",
                facecolor=colour, edgecolor="black", hatch=hatch, linewidth=0,
            )  # fmt: skip
            below = top
        _fill(panel, whole.edges, below, whole.high, GREY, LIGHT)
    what = "waiting components" if column == "queue_components" else "nodes the waiting components ask for"
    mean, most = int(whole.area.sum()) / (span[1] - span[0]), int(whole.high.max())
    panel.set_title(f"Queue: {what}, {short(mean)} on average, {most:,} at most")
    panel.set_ylabel("components" if column == "queue_components" else "nodes")
    panel.set_ylim(0, max(most, 1) * 1.08)
    return whole


def draw(panel: Axes, picture: Envelope, colour: str) -> None:
    """Draw an envelope in three tones: up to the least, the mean and the most of each column."""
    _fill(panel, picture.edges, 0 * picture.low, picture.low, colour, DARK)
    _fill(panel, picture.edges, picture.low, picture.mean, colour, MEDIUM)
    _fill(panel, picture.edges, picture.mean, picture.high, colour, LIGHT)


def _fill(
    panel: Axes, edges: np.ndarray, below: np.ndarray, top: np.ndarray, colour: str, tone: float
) -> None:
    if (top > below).any():
        panel.fill_between(edges, held(below), held(top), step="post", color=colour, alpha=tone, linewidth=0)


def held(values: Array) -> Array:
    """Give the last edge the value of the last column, as ``step="post"`` wants it."""
    return np.append(values, values[-1])


def trend(panel: Axes, picture: Envelope, steps: Steps, span: tuple[int, int]) -> None:
    """Draw the mean of wide columns over a dense picture."""
    if picture.exact:
        return
    edges = np.unique(np.linspace(*span, WIDE + 1).astype(np.int64))
    middle = (edges[:-1] + edges[1:]) / 2
    halo = [withStroke(linewidth=3, foreground="white")]
    panel.plot(middle, means(steps, edges), color="black", linewidth=1.3, path_effects=halo)


def finish(panel: Axes) -> None:
    """Count the y axis in whole numbers."""
    panel.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10], integer=True))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))


def _keys(names: list[str], any_down: bool, exact: bool, seconds: int) -> list[Any]:
    keys: list[Any] = [
        Line2D([], [], color="black", linestyle=(0, (5, 2)), linewidth=1, label="all nodes there are")
    ]
    if any_down:
        keys.append(Patch(facecolor="white", edgecolor="black", hatch="xxx", label="out of service"))
    if len(names) > 1:
        keys += [
            Patch(
                facecolor=colour,
                edgecolor="black",
                hatch=hatch,
                linewidth=0,
                label=f"waits for {plain(name)}",
            )
            for name, colour, hatch in zip(names, COLOURS, HATCHES, strict=False)
        ]
    return keys if exact else keys + tones(seconds)


def tones(seconds: int) -> list[Any]:
    """Return the legend of a dense picture: what its shades mean, and its line."""
    shades = zip(("least", "mean", "most"), (DARK, MEDIUM, LIGHT), strict=True)
    mean = Line2D([], [], color="black", linewidth=1.3, label=f"mean of {span_text(seconds / WIDE)}")
    return [
        *(Patch(color=GREY, alpha=tone, linewidth=0, label=f"up to the {word}") for word, tone in shades),
        mean,
    ]


def caption(exact: bool, seconds: int) -> str:
    """Say how dense a picture is."""
    if exact:
        return "Every change is drawn when it happened."
    width = span_text(seconds / COLUMNS)
    return (
        f"There are more changes than pixels: each of {COLUMNS:,} columns sums up {width},"
        " shaded up to the least, the mean and the most in it."
    )


def headline(result: Result, nodes: int) -> str:
    """Say in one line what ran and how it went."""
    policy: Mapping[str, Any] = result.manifest.get("policy") or {}
    wait = (result.metrics.get("wait_time") or {}).get("mean")
    share = (result.metrics.get("utilization") or {}).get(TOTAL)
    jobs = result.metrics.get("jobs", len(result.components))
    parts = [
        plain(policy.get("name") or policy.get("order") or "schedule"),
        f"{count(jobs, 'job')} on {count(nodes, 'node')}",
        "nothing ran" if wait is None else f"mean wait {span_text(wait)}",
    ]
    parts += [] if share is None else [f"utilisation {100 * share:.1f} %"]
    return "  ·  ".join(parts)
