"""How blocks are drawn: nodes upwards, time to the right."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MultipleLocator

from analysis.concepts.blocks import PLANNED, RAN, RESERVED, Block
from scheduler_sim.output.whole import whole_file
from scheduler_sim.report.look import GREY, blank, ink, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from scheduler_sim.report.look import Picture

COLOURS = {
    "A": "#8C8C8C",
    "B": "#BDBDBD",
    "C": "#0072B2",
    "D": "#E69F00",
    "E": "#009E73",
    "F": "#CC79A7",
    "G": "#56B4E9",
}
"""A and B run from the beginning."""

WIDTH = 6.4
"""Inches: narrow, so that it can be read on a phone."""

WORDS = {RAN: "runs", PLANNED: "until its time limit", RESERVED: "reserved"}


@dataclass(frozen=True)
class Panel:
    """One module under one policy.

    Attributes
    ----------
    title : what it shows
    rows : nodes, or cores
    blocks : what stands there
    lines : minutes that are marked by an upright line, with their words
    arrows : above it, from one minute to another
    nodes : names of nodes, from the lowest, where rows are cores
    """

    title: str
    rows: int
    blocks: Sequence[Block]
    lines: Sequence[tuple[float, str]] = ()
    arrows: Sequence[tuple[float, float]] = ()
    nodes: Sequence[str] = ()


@dataclass(frozen=True)
class Drawing:
    """Panels one above the other, on one axis of time."""

    panels: Sequence[Panel]
    until: float
    kinds: Sequence[str] = field(default=(RAN,))

    def shown(self) -> list[dict[str, Any]]:
        """Return what it shows, a block each, as it is kept in the file of the picture."""
        return [
            {"panel": number, **asdict(block)}
            for number, panel in enumerate(self.panels)
            for block in panel.blocks
        ]


def draw(drawing: Drawing) -> Picture:
    """Draw the panels."""
    heights = [0.55 + 0.19 * panel.rows for panel in drawing.panels]
    with look():
        figure = blank(WIDTH, sum(heights) + 0.35 + 0.3 * (len(drawing.kinds) > 1))
        grid = figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
        for axes, panel in zip(grid, drawing.panels, strict=True):
            _panel(axes, panel, drawing.until)
        grid[-1].set_xlabel("minutes")
        if len(drawing.kinds) > 1:
            keys = [Patch(label=WORDS[kind], **_style(kind, GREY)) for kind in drawing.kinds]
            figure.legend(handles=keys, loc="outside lower left", ncols=len(keys))
    return figure


def save(drawing: Drawing, path: Path) -> Path:
    """Write a drawing as PNG, with what it shows in it as a text, always as the same bytes."""
    figure = draw(drawing)
    said = {"Software": "scheduler-sim", "Description": json.dumps(drawing.shown())}
    path.parent.mkdir(parents=True, exist_ok=True)
    with look(), whole_file(path) as file:
        figure.savefig(file, format="png", metadata=said)
    return path


def _panel(axes: Axes, what: Panel, until: float) -> None:
    axes.set_title(what.title, fontweight="bold", pad=14 if what.lines else 6)
    axes.set_xlim(0, until)
    axes.set_ylim(0, what.rows)
    axes.xaxis.set_major_locator(MultipleLocator(2))
    axes.grid(visible=False)
    axes.hlines(range(1, what.rows), 0, until, colors="#DDDDDD", linewidth=0.6, zorder=0)
    if what.nodes:
        each = what.rows // len(what.nodes)
        axes.set_yticks([each * (i + 0.5) for i in range(len(what.nodes))], what.nodes)
        axes.tick_params(axis="y", length=0)
        axes.hlines(range(each, what.rows, each), 0, until, colors="black", linewidth=1.2, zorder=5)
    else:
        axes.set_yticks(range(0, what.rows + 1, 2))
        axes.set_ylabel("nodes")
    named: set[str] = set()
    for block in sorted(what.blocks, key=lambda block: (block.name, -(block.end - block.start))):
        _block(axes, block, named=block.name not in named)
        named.add(block.name)
    for at, words in what.lines:
        axes.axvline(at, color="black", linewidth=1.4, linestyle=(0, (4, 2)), zorder=6)
        axes.annotate(words, (at, what.rows), (-1, 4), textcoords="offset points")
    for first, last in what.arrows:
        style = {"arrowstyle": "->", "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
        ends = (last, what.rows), (first, what.rows)
        axes.annotate("", *ends, arrowprops=style, annotation_clip=False, zorder=7)


def _block(axes: Axes, block: Block, *, named: bool) -> None:
    """Draw a block, in pieces where its rows do not lie together; its name stands in the largest."""
    pieces = [[row for _, row in run] for _, run in groupby(enumerate(block.rows), lambda at: at[1] - at[0])]
    for rows in pieces:
        place, high = (block.start, rows[0]), len(rows)
        style = _style(block.kind, COLOURS[block.name])
        axes.add_patch(Rectangle(place, block.end - block.start, high, **style, zorder=3))
    if named:
        largest = max(pieces, key=len)
        middle = (block.start + block.end) / 2, largest[0] + len(largest) / 2
        colour = ink(COLOURS[block.name]) if block.kind == RAN else "black"
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0}
        axes.text(
            *middle,
            block.name,
            ha="center",
            va="center",
            color=colour,
            fontweight="bold",
            zorder=8,
            bbox=box if block.kind == RESERVED else None,
        )


def _style(kind: str, colour: str) -> dict[str, Any]:
    if kind == RAN:
        return {"facecolor": colour, "edgecolor": "black", "linewidth": 0.8}
    if kind == PLANNED:
        return {"facecolor": (colour, 0.4), "edgecolor": "black", "linewidth": 0.8, "linestyle": "--"}
    return {"facecolor": "none", "edgecolor": colour, "linewidth": 1.4, "hatch": "////"}
