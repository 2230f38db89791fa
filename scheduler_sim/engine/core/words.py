"""A core as compiled code has it: the addresses and lengths of its arrays, in words of 8 bytes.

It is what Numba has a named tuple of such arrays be in memory. Compiled code gets the address of the first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, cast

import numpy as np

_SOME = ctypes.c_char * 0
"""So much of an array as to tell where it begins."""


class Words:
    """The words of a named tuple; its fields are arrays, records, such tuples, or have an address.

    Raises TypeError for an array that does not lie in one piece, or cannot be written to.
    """

    def __init__(self, core: Any) -> None:
        self._words = np.fromiter(_words_of(core), dtype=np.int64)
        self.address: int = self._words.ctypes.data

    @property
    def size(self) -> int:
        """Bytes."""
        return self._words.nbytes


def _words_of(part: Any) -> Iterator[int]:
    if isinstance(part, tuple):
        for one in part:
            yield from _words_of(one)
    elif isinstance(part, np.ndarray):
        data = ctypes.addressof(
            _SOME.from_buffer(cast(Any, part))
        )  # a fifth of what ``part.ctypes.data`` takes
        yield from (0, 0, part.size, part.itemsize, data, *part.shape, *part.strides)
    elif isinstance(part, np.void):
        yield np.frombuffer(part, dtype=np.uint8).ctypes.data
    else:
        yield part.address


def layout_of(part: Any) -> str:
    """Return what the words mean, which is what code is compiled for."""
    if isinstance(part, tuple):
        fields = getattr(part, "_fields", ())
        within = (f"{name}: {layout_of(one)}" for name, one in zip(fields, part, strict=True))
        return f"({', '.join(within)})"
    if isinstance(part, np.ndarray):
        return f"{part.dtype.descr}[{part.ndim}]"
    if isinstance(part, np.void):
        return str(part.dtype.descr)
    return f"{type(part).__name__} {getattr(part, 'name', '')}"
