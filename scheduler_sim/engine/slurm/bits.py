"""Sets of nodes as bits: word ``i >> 6``, bit ``i & 63`` is node ``i`` of the system.

A set is a row of uint64 words. Functions work on the words of one module, ``low`` to
``high - 1``; the modules of a system stand one after the other, each from a new word on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from scheduler_sim.engine.jit import COMPILED, part

Bits = Any
"""uint64[words]"""

ONE = np.uint64(1)
NONE = np.uint64(0)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)

if COMPILED:
    from numba.core import types
    from numba.extending import intrinsic

    def _ones(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    def _lowest(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

        return types.int64(types.uint64), generate

    ones_in: Callable[[Any], int] = cast(Any, intrinsic(_ones))
    """How many bits of a word are set: one instruction of the processor."""

    lowest_in: Callable[[Any], int] = cast(Any, intrinsic(_lowest))
    """Number of the lowest bit that is set; 64 where none is."""

else:

    def ones_in(word: Any) -> int:
        """How many bits of a word are set."""
        return int(word).bit_count()

    def lowest_in(word: Any) -> int:
        """Number of the lowest bit that is set; 64 where none is."""
        number = int(word)
        return (number & -number).bit_length() - 1 if number else 64


@part
def words(low: int, high: int) -> Any:
    """The numbers of a module's words, as the processor likes them: without a sign, they need no check."""
    return range(np.uint64(low), np.uint64(high))


@part
def count(bits: Bits, low: int, high: int) -> int:
    """Size of a set."""
    total = 0
    for i in words(low, high):
        total += ones_in(bits[i])
    return total


@part
def count_common(one: Bits, other: Bits, low: int, high: int) -> int:
    """Size of the intersection of two sets."""
    total = 0
    for i in words(low, high):
        total += ones_in(one[i] & other[i])
    return total


@part
def copy(target: Bits, source: Bits, low: int, high: int) -> None:
    """``target`` becomes ``source``."""
    for i in words(low, high):
        target[i] = source[i]


@part
def add(target: Bits, other: Bits, low: int, high: int) -> None:
    """Union, in place."""
    for i in words(low, high):
        target[i] |= other[i]


@part
def keep_common(target: Bits, other: Bits, low: int, high: int) -> None:
    """Intersection, in place."""
    for i in words(low, high):
        target[i] &= other[i]


@part
def take_out(target: Bits, other: Bits, low: int, high: int) -> None:
    """Difference, in place."""
    for i in words(low, high):
        target[i] &= ~other[i]


@part
def clear(target: Bits, low: int, high: int) -> None:
    """The empty set."""
    for i in words(low, high):
        target[i] = NONE


@part
def list_words(bits: Bits, words: Any, low: int, high: int) -> int:
    """Write down which words are not empty; returns how many."""
    size = 0
    for i in range(low, high):
        if bits[i] != NONE:
            words[size] = i
            size += 1
    return size


@part
def equal(one: Bits, other: Bits, low: int, high: int) -> bool:
    """Whether two sets are the same."""
    for i in words(low, high):
        if one[i] != other[i]:
            return False
    return True


@part
def put(bits: Bits, begin: int, end: int) -> None:
    """Add the nodes ``begin`` to ``end - 1``."""
    node = begin
    while node < end:
        i = node >> 6
        stop = min(end, (i + 1) << 6)
        span = stop - node
        ones = FULL if span == 64 else ((ONE << np.uint64(span)) - ONE) << np.uint64(node & 63)
        bits[i] |= ones
        node = stop
