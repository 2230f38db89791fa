"""The nodes of each module over time: which component had which."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.legend_handler import HandlerTuple
from matplotlib.patches import Patch

from scheduler_sim.errors import InputError
from scheduler_sim.report.class_nodes import column_width, width_words
from scheduler_sim.report.colouring import Colouring, colouring
from scheduler_sim.report.figures import headline, run_span
from scheduler_sim.report.look import blank, look
from scheduler_sim.report.module_view import ints, module_sizes, rows_in_words, unix_start
from scheduler_sim.report.node_panel import (
    BAND,
    Bars,
    draw_bands,
    draw_nodes,
    module_bars,
    name_bands,
    node_axis,
)
from scheduler_sim.report.reserved_bands import are_placed, bands, counted, left_out
from scheduler_sim.report.time_axis import time_axis
from scheduler_sim.report.wording import count, plain
from scheduler_sim.result.columns import rows_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scheduler_sim.result.result import Result

MOST_MODULES = 8
"""Modules drawn; of a system with more, those that did the most."""

HEIGHT, LEAST_HEIGHT = 7.5, 1.2
"""Inches for all modules together, and for the smallest of them at least."""

STACKED = (
    "There are more components than can be told apart: the picture shows how many nodes those of each colour"
    " held, the mean of each {}; white: idle."
)

Span = tuple[int, int]


def gantt(result: Result, colour: str = "wait", span: Span | None = None) -> Figure:
    """Draw which job had which nodes of each module over time.

    Up to 4,000 rectangles a module are drawn one by one, with the number of their component where it fits.
    Of more, the picture shows how many nodes the components of each class held, on top of each other.

    Parameters
    ----------
    result : of a run.
    colour : ``wait``, ``size``, ``user``, ``app`` or ``workflow``.
    span : first and last second to draw, on the trace's own clock; None for the whole run.

    Raises
    ------
    InputError : an unknown colour, an empty span, or a result that needs more nodes than there are.
    """
    colours, whole = colouring(result, colour), run_span(result)
    first, last = checked_span(span) if span else whole
    bars = {name: own.within(first, last) for name, own in module_bars(result).items()}
    names = most_used(bars)
    with look():
        reserved = {name: bands(result.manifest, name, first, last) for name in names}
        placed = [name for name in names if are_placed(result.manifest, name) and not bars[name].many]
        held = {name: _held(result, name) for name in names}
        for name in names:
            if name not in placed and reserved[name]:
                held[name][RESERVED] = counted(reserved[name])
        heights = panel_heights([bars[name].capacity for name in names])
        rows: list[tuple[str, bool]] = []
        for name in names:
            rows += [(name, True)] if held[name] else []
            rows.append((name, False))
        ratios = [0.45 if above else heights[names.index(name)] for name, above in rows]
        figure = blank(11, 1.9 + sum(ratios) + 0.3 * len(names))
        panels = figure.subplots(
            max(len(rows), 1), 1, sharex=True, squeeze=False, height_ratios=ratios or [1]
        )[:, 0]
        for panel, (name, above) in zip(panels, rows, strict=False):
            if above:
                _draw_held(panel, held[name])
            else:
                node_axis(panel, bars[name].capacity)
            if above or not held[name]:
                panel.set_title(module_title(result, name, bars[name].capacity))
        time_axis(panels[-1], first, last, zero=whole[0], unix_start=unix_start(result.manifest))
        by_row = [name for name in names if not bars[name].many]
        lines = notes(rows_in_words(result.manifest, by_row), [bars[name] for name in names], last - first)
        if left := len(bars) - len(names):
            lines = [*lines, f"Not drawn: {count(left, 'module')} on which less ran."]
        on_nodes = any(reserved[name] for name in placed)
        lines += left_out(result.manifest)
        legend(figure, colours, [*_patterns(held), *([BAND] if on_nodes else [])], lines)
        figure.suptitle(
            headline(result, sum(module_sizes(result.manifest).values())),
            x=0.01, ha="left", fontsize=12, fontweight="bold",
        )  # fmt: skip
        figure.draw_without_rendering()  # settles where each panel stands
        ids = ints(result.components, "component_id")
        for panel, (name, above) in zip(panels, rows, strict=False):
            if not above:
                draw_nodes(panel, bars[name], colours, ids)
                if name in placed:
                    draw_bands(panel, reserved[name])
            elif name not in placed:
                name_bands(panel, reserved[name])
    return figure


def checked_span(span: Span) -> Span:
    """Return a span of time as int; raises InputError if it is empty."""
    first, last = (int(second) for second in span)
    if first >= last:
        raise InputError(f"a span from {first} s to {last} s; its end must be after its beginning")
    return first, last


def most_used(bars: Mapping[str, Bars]) -> list[str]:
    """Return the modules to draw, in their own order: those with the most node-seconds."""
    used = {name: int(((own.end - own.start) * (own.high - own.low)).sum()) for name, own in bars.items()}
    most = sorted(bars, key=lambda name: -used[name])[:MOST_MODULES]
    return [name for name in bars if name in most]


def panel_heights(capacities: list[int], together: float = HEIGHT) -> list[float]:
    """Share out inches among modules: more for more nodes, but a small one stays readable."""
    weights = np.sqrt(np.maximum(capacities, 1))
    together = min(together, 2.6 + 1.5 * len(capacities))
    return [max(LEAST_HEIGHT, float(together * weight / weights.sum())) for weight in weights]


def module_title(result: Result, name: str, capacity: int, extra: str = "") -> str:
    """Say which module a panel shows and how much of it was used."""
    share = (result.metrics.get("utilization") or {}).get(name)
    used = "" if share is None else f", {100 * share:.1f} % used"
    return f"{plain(name)}: {count(capacity, 'node')}{used}{extra}"


def notes(rows: list[str], drawn: Collection[Bars], seconds: int) -> list[str]:
    """Say what a reader must know of the nodes drawn: what their ``rows`` are, and what is summed up."""
    columns = width_words(column_width(seconds))
    return [*rows, STACKED.format(columns)] if any(bars.many for bars in drawn) else rows


def legend(figure: Figure, colours: Colouring, patterns: list[Patch], lines: list[str]) -> None:
    """Say below the panels what colours and patterns mean."""
    entries = colours.keys or [("nothing ran", ("white",))]
    keys = [tuple(Patch(color=colour) for colour in several) for _, several in entries]
    figure.legend(
        handles=[*keys, *patterns],
        labels=[*(label for label, _ in entries), *(str(patch.get_label()) for patch in patterns)],
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
        loc="outside lower center",
        ncols=8,
        title="\n".join([*lines, colours.title + ":"]),
        title_fontsize=8.5,
        fontsize=8.5,
    )


RESERVED = "reserved"
PATTERNS = {
    "nodes_down": ("out of service", "xxxx"),
    "nodes_reserved_idle": ("idle, held", "////"),
    RESERVED: ("in an advance reservation", "...."),
}
"""What is known of nodes that are not free to all: the column, what it is called, how it is hatched."""

_Held = dict[str, tuple[Any, Any]]


def _held(result: Result, module: str) -> _Held:
    """Return the step functions of ``PATTERNS`` that are ever above 0."""
    own = rows_named(result.timeline["module"], module)
    time = ints(result.timeline, "time")[own]
    columns = {name: ints(result.timeline, name)[own] for name in PATTERNS if name != RESERVED}
    return {name: (time, values) for name, values in columns.items() if values.any()}


def _draw_held(panel: Axes, held: _Held) -> None:
    """Draw how many nodes were out of service or held, on top of each other."""
    times = np.unique(np.concatenate([time for time, _ in held.values()]))
    below = np.zeros(len(times), dtype=np.int64)
    for name, (time, values) in held.items():
        above = below + np.append(0, values)[np.searchsorted(time, times, side="right")]
        panel.fill_between(
            times, below, above, step="post",
            facecolor="white", edgecolor="black", hatch=PATTERNS[name][1], linewidth=0.4,
        )  # fmt: skip
        below = above
    node_axis(panel, int(np.max(below)), "nodes")
    panel.tick_params(axis="x", length=0, labelbottom=False)


def _patterns(held: Mapping[str, _Held]) -> list[Patch]:
    used = {column for module in held.values() for column in module}
    return [
        Patch(
            facecolor="white",
            edgecolor="black",
            hatch=hatch,
            linewidth=0.4,
            label=f"{words} (how many, above)",
        )
        for column, (words, hatch) in PATTERNS.items()
        if column in used
    ]
