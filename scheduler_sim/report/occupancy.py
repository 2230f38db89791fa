"""Rectangles put on pixels: a hundred thousand components in one image, none left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from scheduler_sim.arrays import Floats

TINTS = 8
"""Steps from white to a colour: enough for the eye, and a picture of noise stays small."""


def coverage(
    left: NDArray[Any], right: NDArray[Any], low: NDArray[Any], high: NDArray[Any], code: NDArray[np.int64],
    *, codes: int, width: int, height: int,
) -> Floats:  # fmt: skip
    """Return how much of each pixel the rectangles of each class cover: float64[codes, height, width].

    The share is exact however small a rectangle is: 1 if those of one class cover the pixel wholly. Pixel
    (y, x) reaches from (y, x) to (y + 1, x + 1); what lies outside the image is cut off.

    A rectangle is the sum of four quarter planes, one at each corner, with signs. The share of a
    quarter plane in the pixels is a running sum, along both axes, of four numbers around its corner.

    Parameters
    ----------
    left, right, low, high : float64[n], edges of the rectangles in pixels.
    code : int64[n], class of each, below ``codes``.
    """
    shape = (codes, height + 2, width + 2)  # room for the corners on the last edges
    total = np.zeros(np.prod(shape))
    columns = [_corner(np.clip(x, 0, width)) for x in (left, right)]
    rows = [_corner(np.clip(y, 0, height)) for y in (low, high)]
    for row_sign, (row, row_part) in zip((1, -1), rows, strict=True):
        for column_sign, (column, column_part) in zip((1, -1), columns, strict=True):
            place = (code * shape[1] + row) * shape[2] + column
            for step, weight in ((0, 1 - row_part), (shape[2], row_part)):
                for aside, share in ((0, 1 - column_part), (1, column_part)):
                    part = row_sign * column_sign * weight * share
                    total += np.bincount(place + step + aside, part, minlength=len(total))
    layers = total.reshape(shape)
    np.cumsum(layers, axis=1, out=layers)
    np.cumsum(layers, axis=2, out=layers)
    return layers[:, :height, :width]


def blend(layers: Floats, colours: tuple[Any, ...]) -> NDArray[np.uint8]:
    """Colour each pixel as the class that covers most of it: uint8[height, width, 3].

    The less of a pixel is covered by any class, the whiter it is.
    """
    palette = np.array([to_rgb(colour) for colour in colours])
    covered = np.rint(np.clip(layers.sum(axis=0), 0, 1) * TINTS)[..., None] / TINTS
    image = 1 - covered * (1 - palette[layers.argmax(axis=0)])
    levels: NDArray[np.uint8] = np.rint(255 * image).astype(np.uint8)
    return levels


def _corner(place: NDArray[Any]) -> tuple[NDArray[np.int64], Floats]:
    """Split places on an axis into the pixel and the part of the pixel before them."""
    pixel = np.floor(place).astype(np.int64)
    return pixel, place - pixel
