"""Circles among rows that wait for one another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from scheduler_sim.workload.circles import on_circles

pairs = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=24)


@given(pairs)
def test_a_pair_is_on_a_circle_where_scipy_has_both_ends_in_one_strong_component(pairs):
    row, after = np.array(pairs).T
    graph = coo_array((np.ones(len(row)), (row, after)), shape=(12, 12)).tocsr()
    label = connected_components(graph, directed=True, connection="strong")[1]
    assert (on_circles(row, after) == (label[row] == label[after])).all()


def test_what_leads_into_a_circle_or_out_of_one_is_not_on_it():
    row, after = np.array([0, 1, 2, 2, 4, 5, 6]), np.array([1, 2, 1, 3, 0, 6, 5])
    assert on_circles(row, after).tolist() == [False, True, True, False, False, True, True]


def test_long_chains_are_walked_without_recursion():
    row = np.arange(100_000)
    assert not on_circles(row, row + 1).any()
    assert on_circles(row, (row + 1) % 100_000).all()
