"""One module's nodes over time: which job had which or, of too many, how many nodes each class held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.report.class_nodes import column_edges, nodes_by_class
from scheduler_sim.report.colouring import Colouring
from scheduler_sim.report.leaf_order import boundaries, in_leaf_order, leaves_of
from scheduler_sim.report.look import ink
from scheduler_sim.report.module_view import module_sizes
from scheduler_sim.report.reserved_bands import Band
from scheduler_sim.result.columns import rows_named
from scheduler_sim.result.node_rows import node_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from scheduler_sim.result.result import Result


MOST_RECTANGLES = 4000
"""Rectangles drawn one by one; of more, the nodes of each class."""

BORDER = 4
"""Pixels that a rectangle must be wide and high to get a border."""

LEAST_LEAF = 3
"""Pixels for a leaf of a topology, with which lines stand between leaves."""

MOST_LABELS = 400
LABEL_SIZE, LARGE_LABEL = 6.5, 9.0
DIGIT, LINE = 0.62, 1.25
"""Width of a digit and height of a line of a label, in font sizes."""


@dataclass(frozen=True)
class Bars:
    """The nodes of one module over time: rectangles that do not overlap.

    Attributes
    ----------
    capacity : nodes of the module
    row : int64[n], row in the result's components; one in pieces has several rectangles
    start, end : int64[n], seconds
    low, high : the nodes from ``low`` up to, but not with, ``high``: int64[n], or float64[n] where jobs share
        them
    edges : where one leaf of a topology ends and the next begins; none without one
    """

    capacity: int
    row: Ints
    start: Ints
    end: Ints
    low: Ints | Floats
    high: Ints | Floats
    edges: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def many(self) -> bool:
        """Whether they are too many to be told apart."""
        return len(self.row) > MOST_RECTANGLES

    def within(self, first: int, last: int) -> Bars:
        """Cut out a span of time."""
        keep = (self.start <= last) & (self.end >= first)
        start, end = (np.clip(times[keep], first, last) for times in (self.start, self.end))
        return Bars(self.capacity, self.row[keep], start, end, self.low[keep], self.high[keep], self.edges)


def module_bars(result: Result) -> dict[str, Bars]:
    """Return what ran on the nodes of each module; raises InputError as ``node_rows`` does."""
    table, sizes = result.components, module_sizes(result.manifest)
    places = node_rows(result, sizes)
    start, end = places.start, places.end
    low: Ints | Floats = places.low
    high: Ints | Floats = places.high
    if places.grains > 1:
        low, high = low / places.grains, high / places.grains
    bars = {}
    for module, capacity in sizes.items():
        own = rows_named(table["module"], module)[places.row]
        leaves = leaves_of(result.manifest, module)
        spans = np.stack([places.row[own], start[own], end[own]])
        number, begin, behind = np.arange(spans.shape[1]), low[own], high[own]
        if leaves:  # stretches of one span of a component may come to lie beside one another
            spans, number = np.unique(spans, axis=1, return_inverse=True)
            number, begin, behind = in_leaf_order(leaves, number.ravel(), begin, behind)
        row, starts, ends = spans[:, number]
        bars[module] = Bars(capacity, row, starts, ends, begin, behind, boundaries(leaves))
    return bars


def draw_nodes(panel: Axes, bars: Bars, colouring: Colouring, ids: Ints) -> None:
    """Draw nodes into a panel whose place on the page and span of time are settled.

    Up to ``MOST_RECTANGLES`` are drawn one by one; those that are large enough get a border and the number of
    their component, from ``ids``. Of more, the nodes that each class held are drawn on top of each other.
    """
    (first, last), extent = panel.get_xlim(), panel.get_window_extent()
    if bars.many:
        _stacked(panel, bars, colouring)
        panel.set_xlim(first, last)
        panel.set_ylim(0, max(bars.capacity, 1))
        return
    wide = (bars.end - bars.start) * (extent.width / (last - first))
    high = (bars.high - bars.low) * (extent.height / max(bars.capacity, 1))
    outlined = (wide >= BORDER) & (high >= BORDER)
    colours = np.array([to_rgb(colour) for colour in colouring.colours])[colouring.code[bars.row]]
    _rectangles(panel, bars, colours, outlined)
    if len(bars.edges) < extent.height / LEAST_LEAF:
        panel.hlines(bars.edges, first, last, colors="black", linewidth=0.4, linestyles=":")
    _labels(panel, bars, colours, ids, wide, high)
    panel.set_xlim(first, last)
    panel.set_ylim(0, max(bars.capacity, 1))


BAND = Patch(
    facecolor="none",
    edgecolor="#333333",
    hatch="////",
    linewidth=1.0,
    label="in an advance reservation (its name)",
)
"""How bands look."""


def draw_bands(panel: Axes, bands: list[Band]) -> None:
    """Draw advance reservations over the nodes that they hold, and their names where they fit."""
    for one in bands:
        corner, wide, high = (one.start, one.low), one.end - one.start, one.high - one.low
        panel.add_patch(
            Rectangle(
                corner,
                wide,
                high,
                facecolor="none",
                edgecolor="#333333",
                hatch="////",
                linewidth=1.0,
                alpha=0.7,
            )
        )
    name_bands(panel, bands)


def name_bands(panel: Axes, bands: list[Band]) -> None:
    """Write the names of advance reservations where they fit."""
    (first, last), extent = panel.get_xlim(), panel.get_window_extent()
    size = LABEL_SIZE * panel.figure.dpi / 72
    for one in bands[:MOST_LABELS]:
        wide = (one.end - one.start) * extent.width / (last - first)
        above = "top" if one.high * 2 > panel.get_ylim()[1] else "bottom"
        if wide >= (len(one.name) + 1) * DIGIT * size:
            panel.text(
                one.start, one.high, f" {one.name}", fontsize=LABEL_SIZE, color="black", ha="left", va=above,
                clip_on=True, in_layout=False, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )  # fmt: skip


def node_axis(panel: Axes, capacity: int, label: str = "node") -> None:
    """Let the y axis count the nodes of a module."""
    panel.set_ylim(0, max(capacity, 1))
    panel.set_ylabel(label)
    panel.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10], integer=True))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    panel.grid(visible=False, axis="y")


def _rectangles(panel: Axes, bars: Bars, colours: np.ndarray, outlined: np.ndarray) -> None:
    """Draw rectangles with white borders; small ones with one of their own colour, so that they show."""
    left, right, low, high = bars.start, bars.end, bars.low, bars.high
    corners = np.stack(
        [np.stack(pair, axis=-1) for pair in ((left, low), (right, low), (right, high), (left, high))], axis=1
    )
    edges = np.where(outlined[:, None], 1.0, colours)
    panel.add_collection(
        PolyCollection(list(corners), facecolors=list(colours), edgecolors=list(edges), linewidths=0.5),
        autolim=False,
    )


def _stacked(panel: Axes, bars: Bars, colouring: Colouring) -> None:
    """Draw how many nodes each class held, on top of each other."""
    edges = column_edges(*(round(end) for end in panel.get_xlim()))
    code, codes = colouring.code[bars.row], len(colouring.colours)
    tops = np.cumsum(nodes_by_class(bars.start, bars.end, bars.high - bars.low, code, codes, edges), axis=0)
    below = np.zeros(len(edges))
    for colour, top in zip(colouring.colours, tops, strict=True):
        above = np.append(top, top[-1])  # as step="post" wants it
        panel.fill_between(edges, below, above, step="post", facecolor=colour, linewidth=0)
        below = above
    panel.set_ylabel("nodes")


def _labels(panel: Axes, bars: Bars, colours: np.ndarray, ids: Ints, wide: Any, high: Any) -> None:
    """Write the numbers of the components into the largest piece of each, where they fit."""
    size = LABEL_SIZE * panel.figure.dpi / 72
    digits = np.char.str_len(ids[bars.row].astype(str)) if len(bars.row) else np.zeros(0)
    fits = np.flatnonzero((wide >= (digits + 1) * DIGIT * size) & (high >= LINE * size))
    largest = fits[np.argsort(-(wide * high)[fits], kind="stable")]
    _, once = np.unique(bars.row[largest], return_index=True)
    for i in largest[np.sort(once)][:MOST_LABELS]:
        middle = ((bars.start[i] + bars.end[i]) / 2, (bars.low[i] + bars.high[i]) / 2)
        roomy = wide[i] >= 2 * (digits[i] + 1) * DIGIT * size and high[i] >= 2 * LINE * size
        points = LARGE_LABEL if roomy else LABEL_SIZE
        panel.text(
            *middle, str(ids[bars.row[i]]), fontsize=points, color=ink(colours[i]),
            ha="center", va="center", clip_on=True, in_layout=False,
        )  # fmt: skip
