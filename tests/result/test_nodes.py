"""Node numbers: each component has as many as it asked for, and never one that another has."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.result.nodes import node_numbers
from tests.result.hand_made import Run, components_of


def numbers(runs, **modules):
    """Return the nodes of each component, as a list of (first, count)."""
    given_out = node_numbers(components_of(runs), modules)
    parts = [[] for _ in runs]
    for row, first, count in zip(given_out.row, given_out.first, given_out.count, strict=True):
        parts[row].append((int(first), int(count)))
    return parts


def test_lowest_free_nodes_first():
    assert numbers([Run(0, 0, 9, 3), Run(0, 0, 5, 2), Run(0, 5, 9, 2)], CM=8) == [
        [(0, 3)],
        [(3, 2)],
        [(3, 2)],
    ]


def test_what_ends_gives_back_before_the_next_starts():
    assert numbers([Run(0, 0, 10, 4), Run(0, 10, 10, 4)], CM=4) == [[(0, 4)], [(0, 4)]]


def test_a_run_of_nodes_is_preferred_to_lower_ones_in_pieces():
    # At 5, nodes 0-1 and 3-9 are free: three in a row stand at 3.
    runs = [Run(0, 0, 5, 2), Run(0, 0, 9, 1), Run(0, 5, 9, 3)]
    assert numbers(runs, CM=10)[2] == [(3, 3)]


def test_in_pieces_only_if_there_is_no_run_that_is_long_enough():
    # At 5, nodes 0-1 and 3-4 are free: three in a row are nowhere.
    runs = [Run(0, 0, 5, 2), Run(0, 0, 9, 1), Run(0, 5, 9, 3)]
    assert numbers(runs, CM=5)[2] == [(0, 2), (3, 1)]


def test_zero_seconds_take_free_nodes_and_keep_none():
    runs = [Run(0, 0, 9, 3), Run(0, 4, 0, 2), Run(0, 4, 5, 2)]
    assert numbers(runs, CM=5) == [[(0, 3)], [(3, 2)], [(3, 2)]]


def test_of_one_instant_in_the_order_of_the_table_whatever_the_module():
    runs = [Run(0, 0, 9, 2, "DAM"), Run(0, 0, 9, 2), Run(0, 0, 9, 1, "DAM")]
    assert numbers(runs, CM=2, DAM=4) == [[(0, 2)], [(0, 2)], [(2, 1)]]


def test_what_never_ran_has_no_nodes_and_what_failed_has():
    runs = [
        Run(0, None, 0, 2, state="REJECTED"),
        Run(0, 0, 3, 2, state="FAILED"),
        Run(0, None, 0, 1, state="PENDING"),
    ]
    assert numbers(runs, CM=2) == [[], [(0, 2)], []]


def test_nothing_at_all():
    assert len(node_numbers(components_of([]), {"CM": 4}).row) == 0


def test_too_many_at_once_is_refused():
    with pytest.raises(InputError, match="component 2 needs 3 nodes of 'CM' at 4 s, 2 of 4 are free"):
        numbers([Run(0, 0, 9, 2), Run(0, 4, 9, 3)], CM=4)


def test_an_unknown_module_is_refused():
    with pytest.raises(InputError, match="component 1 ran on 'DAM', which is not one of the modules: 'CM'"):
        numbers([Run(0, 0, 9, 2, "DAM")], CM=4)


def packed(draws, capacity):
    """Start each as early as it fits, without overtaking: a schedule that is often full."""
    runs, ends = [], []
    now = 0
    for gap, nodes, seconds in draws:
        nodes, now = min(nodes, capacity), now + gap
        while sum(held for end, held in ends if end > now) + nodes > capacity:
            now = min(end for end, _ in ends if end > now)
        runs.append(Run(0, now, seconds, nodes))
        ends.append((now + seconds, nodes))
    return runs


@given(
    draws=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 40), st.integers(0, 30)), max_size=60),
    capacity=st.integers(1, 70),
    shuffle=st.randoms(use_true_random=False),
)
def test_no_two_share_a_node_and_everyone_has_enough(draws, capacity, shuffle):
    runs = packed(draws, capacity)
    shuffle.shuffle(runs)
    parts = numbers(runs, CM=capacity)
    grid = np.full((capacity, max((run.end for run in runs), default=0)), -1)
    for number, (run, pieces) in enumerate(zip(runs, parts, strict=True)):
        nodes = [node for first, count in pieces for node in range(first, first + count)]
        assert len(nodes) == run.nodes == len(set(nodes))
        assert all(later[0] > first + count for (first, count), later in pairwise(pieces))
        held = grid[nodes, run.start : run.end]
        assert (held == -1).all(), "another has one of these nodes"
        grid[nodes, run.start : run.end] = number


@given(
    draws=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9), st.integers(1, 30)), max_size=25),
    capacity=st.integers(1, 12),
)
def test_as_a_plain_reference_gives_them_out(draws, capacity):
    runs = packed(draws, capacity)
    free = [0] * capacity  # when each node is free again
    for run, pieces in zip(runs, numbers(runs, CM=capacity), strict=True):
        idle = [node for node in range(capacity) if free[node] <= run.start]
        rows = [list(range(low, low + run.nodes)) for low in idle]
        wanted = next((row for row in rows if set(row) <= set(idle)), idle[: run.nodes])
        assert [node for first, count in pieces for node in range(first, first + count)] == wanted
        for node in wanted:
            free[node] = run.end
