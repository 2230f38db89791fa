"""Sets of nodes as bits, each function against lists; and the best fit, against its rule."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.plain_engine import plain

SETS = plain("core.bits", "rules.slurm.nodes")
BITS, NODES = SETS.bits, SETS.nodes
WORDS = 4
SIZE = 64 * WORDS

flags = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE)
dense = st.lists(st.sampled_from([True] * 9 + [False]), min_size=SIZE, max_size=SIZE)
sets = st.one_of(flags, dense)
places = st.integers(0, SIZE)


def words(drawn):
    packed = np.packbits(np.array(drawn, dtype=np.uint8), bitorder="little").view("<u8")
    return packed.astype(np.uint64)


def members(bits):
    return np.flatnonzero(np.unpackbits(bits.astype("<u8").view(np.uint8), bitorder="little")).tolist()


@given(sets, places, places)
def test_parts_of_a_set(drawn, one, other):
    bits, begin, stop = words(drawn), min(one, other), max(one, other)
    there = [i for i in members(bits) if begin <= i < stop]
    assert BITS.count_between(bits, begin, stop) == len(there)
    assert BITS.first_between(bits, begin, stop) == (there[0] if there else stop)
    if members(bits) and members(bits)[0] < stop:
        assert BITS.last_before(bits, stop) == [i for i in members(bits) if i < stop][-1]


@given(sets, st.integers(1, SIZE))
def test_the_nth_of_a_set(drawn, number):
    bits = words(drawn)
    if number <= len(members(bits)):
        assert BITS.nth(bits, 0, number) == members(bits)[number - 1]


@given(sets, places, st.integers(1, 63), places)
def test_some_move_behind_others(drawn, first, length, stop):
    bits = words(drawn)
    if first + length <= stop:
        BITS.rotate(bits, first, length, stop)
        drawn = [*drawn[:first], *drawn[first + length : stop], *drawn[first : first + length], *drawn[stop:]]
    assert bits.tolist() == words(drawn).tolist()


@given(st.integers(1, 2**64 - 1))
def test_the_highest_and_the_lowest_of_a_word(number):
    text = f"{number:b}"
    assert BITS.highest_in(np.uint64(number)) == len(text) - 1
    assert BITS.lowest_in(np.uint64(number)) == len(text) - len(text.rstrip("0"))


def best_fit(free: list[int], wanted: int) -> list[int]:
    """The smallest run that suffices, else the largest and so on with the rest; the first of equals."""
    runs: list[list[int]] = []
    for node in free:
        if runs and runs[-1][-1] == node - 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    found: list[int] = []
    while len(found) < wanted:
        missing = wanted - len(found)
        enough = [run for run in runs if len(run) >= missing]
        run = min(enough, key=len) if enough else max(runs, key=len)
        runs.remove(run)
        found += run[:missing]
    return sorted(found)


@given(sets, st.data())
def test_best_fit(drawn, data):
    bits = words(drawn)
    wanted = data.draw(st.integers(0, len(members(bits))))
    picked, run = np.zeros(WORDS, dtype=np.uint64), np.zeros(32 * WORDS + 1, dtype=np.int64)
    NODES.add_best_fit(picked, bits, run, 0, WORDS, wanted)
    assert members(picked) == best_fit(members(bits), wanted)
