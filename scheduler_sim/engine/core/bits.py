"""Sets of nodes as bits: word ``i >> 6``, bit ``i & 63`` is node ``i`` of the system.

A set is a row of uint64 words. Functions work on the words of one module, ``low`` to
``high - 1``; the modules of a system stand one after the other, each from a new word on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from scheduler_sim.engine.core.jit import COMPILED, Instruction, part

Bits = Any
"""uint64[words]"""

ONE = np.uint64(1)
NONE = np.uint64(0)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)

if COMPILED:
    ones_in: Callable[[Any], int] = cast(Any, Instruction("ones"))
    """How many bits of a word are set: one instruction of the processor."""

    lowest_in: Callable[[Any], int] = cast(Any, Instruction("lowest"))
    """Number of the lowest bit that is set; 64 where none is."""

    highest_in: Callable[[Any], int] = cast(Any, Instruction("highest"))
    """Number of the highest bit that is set; -1 where none is."""

    @part
    def words(low: int, high: int) -> Any:
        """The numbers of a module's words, as the processor likes them: without a sign, with no check."""
        return range(np.uint64(low), np.uint64(high))

else:
    words = cast(Any, range)

    def ones_in(word: Any) -> int:
        """How many bits of a word are set."""
        return int(word).bit_count()

    def lowest_in(word: Any) -> int:
        """Number of the lowest bit that is set; 64 where none is."""
        number = int(word)
        return (number & -number).bit_length() - 1 if number else 64

    def highest_in(word: Any) -> int:
        """Number of the highest bit that is set; -1 where none is."""
        return int(word).bit_length() - 1


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
def put_common(target: Bits, one: Bits, other: Bits, low: int, high: int) -> None:
    """``target`` becomes the intersection of two sets."""
    for i in words(low, high):
        target[i] = one[i] & other[i]


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
def equal(one: Bits, other: Bits, low: int, high: int) -> bool:
    """Whether two sets are the same."""
    for i in words(low, high):
        if one[i] != other[i]:
            return False
    return True


@part
def count_between(bits: Bits, begin: int, stop: int) -> int:
    """How many of the bits from ``begin`` to ``stop - 1`` are set."""
    if begin >= stop:
        return 0
    first, last = begin >> 6, (stop - 1) >> 6
    head, tail = FULL << np.uint64(begin & 63), FULL >> np.uint64(63 - ((stop - 1) & 63))
    if first == last:
        return ones_in(bits[first] & head & tail)
    total = ones_in(bits[first] & head) + ones_in(bits[last] & tail)
    return total + count(bits, first + 1, last)


@part
def first_between(bits: Bits, begin: int, stop: int) -> int:
    """The first bit from ``begin`` on that is set; ``stop`` if there is none before it."""
    if begin >= stop:
        return stop
    word = begin >> 6
    here = bits[word] & (FULL << np.uint64(begin & 63))
    while here == NONE:
        word += 1
        if word << 6 >= stop:
            return stop
        here = bits[word]
    return min((word << 6) + lowest_in(here), stop)


@part
def last_before(bits: Bits, stop: int) -> int:
    """The last bit before ``stop`` that is set; there is one."""
    bit = stop - 1
    while bits[bit >> 6] >> np.uint64(bit & 63) & ONE == NONE:
        bit -= 1
    return bit


@part
def nth(bits: Bits, low: int, number: int) -> int:
    """The bit that is set as the ``number``-th from word ``low`` on; there are so many."""
    word = low
    here = ones_in(bits[word])
    while here < number:
        number -= here
        word += 1
        here = ones_in(bits[word])
    rest = bits[word]
    for _ in range(number - 1):
        rest &= rest - ONE
    return (word << 6) + lowest_in(rest)


@part
def rotate(bits: Bits, first: int, length: int, stop: int) -> None:
    """Move ``length`` bits, less than a word, from ``first`` on to before ``stop``; the others move down."""
    if first + length >= stop:
        return
    kept, by = _read(bits, first, length), np.uint64(length)
    low, high = first >> 6, (stop - 1) >> 6
    before, behind = bits[low], bits[high]
    up = np.uint64(64 - length)
    for word in words(low, high):
        bits[word] = bits[word] >> by | bits[word + ONE] << up
    bits[high] >>= by
    below = (ONE << np.uint64(first & 63)) - ONE
    bits[low] = bits[low] & ~below | before & below
    _write(bits, stop - length, length, kept)
    if stop & 63:
        above = FULL << np.uint64(stop & 63)
        bits[high] = bits[high] & ~above | behind & above


@part
def _read(bits: Bits, first: int, length: int) -> Any:
    """``length`` bits, less than a word, as the lowest of one."""
    word, at = first >> 6, first & 63
    found = bits[word] >> np.uint64(at)
    if at + length > 64:
        found |= bits[word + 1] << np.uint64(64 - at)
    return found & ((ONE << np.uint64(length)) - ONE)


@part
def _write(bits: Bits, first: int, length: int, values: Any) -> None:
    """Make ``length`` bits, less than a word, the lowest of one."""
    word, at, ones = first >> 6, first & 63, (ONE << np.uint64(length)) - ONE
    bits[word] = bits[word] & ~(ones << np.uint64(at)) | values << np.uint64(at)
    if at + length > 64:
        bits[word + 1] = bits[word + 1] & ~(ones >> np.uint64(64 - at)) | values >> np.uint64(64 - at)


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
