"""A core as compiled code has it: the addresses and lengths of its arrays, in words of 8 bytes.

It is what Numba has a named tuple of such arrays be in memory. Compiled code gets the address of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np


class Words:
    """The words of a named tuple; its fields are arrays, records, such tuples, or have an address.

    Raises ValueError for an array that does not lie in one piece.
    """

    def __init__(self, tuple_: Any) -> None:
        self._tuple = tuple_
        self._words = np.fromiter(_words_of(tuple_), dtype=np.int64)
        self.address: int = self._words.ctypes.data

    @property
    def size(self) -> int:
        """Bytes."""
        return self._words.nbytes

    @cached_property
    def layout(self) -> str:
        """What the words mean, which is what code is compiled for."""
        return _layout_of(self._tuple)


def _words_of(part: Any) -> Iterator[int]:
    if isinstance(part, tuple):
        for one in part:
            yield from _words_of(one)
    elif isinstance(part, np.ndarray):
        if not part.flags.c_contiguous:
            raise ValueError("an array of the core has to lie in one piece")
        data: int = part.__array_interface__["data"][0]
        yield from (0, 0, part.size, part.itemsize, data, *part.shape, *part.strides)
    elif isinstance(part, np.void):
        yield np.frombuffer(part, dtype=np.uint8).__array_interface__["data"][0]
    else:
        yield part.address


def _layout_of(part: Any) -> str:
    if isinstance(part, tuple):
        fields = getattr(part, "_fields", ())
        within = (f"{name}: {_layout_of(one)}" for name, one in zip(fields, part, strict=True))
        return f"({', '.join(within)})"
    if isinstance(part, np.ndarray):
        return f"{part.dtype.descr}[{part.ndim}]{'' if part.flags.writeable else ' read only'}"
    if isinstance(part, np.void):
        return str(part.dtype.descr)
    return f"{type(part).__name__} {getattr(part, 'name', '')}"
