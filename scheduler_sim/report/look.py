"""The one look of all pictures: readable in grey, by the colour blind, at any size."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from scheduler_sim.output.rule import Kind, head
from scheduler_sim.output.whole import whole_file

# Okabe and Ito's colours, one a module; each differs from the next in lightness and hatch too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
HATCHES = ("", "////", "....", "xxxx", "----", "++++")
GREY = "#555555"

# Paul Tol's medium-contrast scheme (SRON/EPS/TN/09-002), reordered: six names that differ in grey, too.
TONES = ("#004488", "#EECC66", "#994455", "#6699CC", "#997700", "#EE99AA")

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (9, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
"""Dashes of lines, as many as ``COLOURS``."""

LOOK: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": False,
    "grid.color": "#666666",
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "text.parse_math": False,
    "path.simplify": True,
    "agg.path.chunksize": 0,
}

_METADATA = {"Software": "scheduler-sim"}
_PNG = b"\x89PNG\r\n\x1a\n"
_MARK = b"tEXtSoftware\0scheduler-sim"


@contextmanager
def look() -> Iterator[None]:
    """Draw with our settings alone, whatever the user's own matplotlib settings are."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(cast(Any, LOOK))
        yield


class Picture(Figure):
    """A figure that a notebook shows, with the bytes that :func:`save_png` writes."""

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        with look():
            self.savefig(file, format="png", metadata=_METADATA)
        return file.getvalue()


def blank(width: float, height: float) -> Picture:
    """Begin a picture of this size (inches); call it, and draw, within :func:`look`."""
    figure = Picture(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def shades(number: int) -> list[tuple[float, float, float]]:
    """Return RGB colours of ordered classes, from light to dark, each darker than the one before."""
    ramp = matplotlib.colormaps["viridis"]
    places = [0.96 - 0.96 * i / max(number - 1, 1) for i in range(number)]
    return [ramp(place)[:3] for place in places]


def ink(colour: Any) -> str:
    """Return the colour in which a text stands out more from this one: black or white.

    By the relative luminance and the contrast ratio of WCAG 2.2: black wins above 0.179.
    """
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return "black" if 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] > 0.179 else "white"


def save_png(figure: Figure, path: str | Path, *, force: bool = True) -> Path:
    """Write a figure as PNG, whole or not at all; the same figure gives the same bytes.

    A regular file there is replaced, without ``force`` only by another picture of this package.
    """
    with look(), whole_file(path, None if force else PICTURE) as file:
        figure.savefig(file, format="png", metadata=_METADATA)
    return Path(path)


def _is_picture(path: Path) -> bool:
    """Look for our mark among the texts before the pixels."""
    start = head(path, 4096)
    return start.startswith(_PNG) and _MARK in start.partition(b"IDAT")[0]


PICTURE = Kind("a picture that scheduler-sim drew", _is_picture)
