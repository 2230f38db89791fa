"""The rows of nodes that jobs share: everyone beside the others, as high as its share of the cores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_sim import Result, System, Workload, simulate
from scheduler_sim.result.node_rows import NodeRows, node_rows
from scheduler_sim.result.nodes import node_numbers
from tests.report.schedules import behind_a_shadow

pytestmark = pytest.mark.interpreted

SIZES = {"CM": 3}
NODES = System.from_dict({"modules": [{"name": "CM", "nodes": 3, "shared": True, "cores_per_node": 4}]})


def run(**columns: object) -> Result:
    return simulate(NODES, Workload.from_columns(**columns), {"backfill": "first_fit"})


def places(rows: NodeRows) -> list[tuple[int, float, float]]:
    """Return (component, from, to), in nodes."""
    columns = (rows.row + 1, rows.low / rows.grains, rows.high / rows.grains)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_those_that_share_a_node_stand_beside_each_other():
    result = run(nodes=[1, 1, 2], submit_time=0, run_time=10, cores=[2, 1, -1])
    assert places(node_rows(result, SIZES)) == [(1, 0, 0.5), (2, 0.5, 0.75), (3, 1, 3)]


def test_one_is_cut_where_no_gap_is_high_enough():
    """Job 4 gets the cores that jobs 1 and 3 had, below and above job 2."""
    result = run(
        nodes=[1, 1, 1, 2, 1],
        submit_time=[0, 0, 0, 0, 10],
        run_time=[10, 30, 10, 90, 5],
        cores=[1, 1, 2, -1, 3],
    )
    own = [place[1:] for place in places(node_rows(result, SIZES)) if place[0] == 5]
    assert own == [(0, 0.25), (0.5, 1)]


def test_whole_nodes_have_the_numbers_given_out():
    result = behind_a_shadow()
    runs, rows = node_numbers(result.components, {"CM": 10}), node_rows(result, {"CM": 10})
    assert rows.grains == 1
    np.testing.assert_array_equal(rows.row, runs.row)
    np.testing.assert_array_equal(rows.low, runs.first)
    np.testing.assert_array_equal(rows.high, runs.first + runs.count)


jobs = st.lists(
    st.tuples(*(st.integers(*ends) for ends in ((1, 3), (0, 9), (0, 9), (-1, 4)))).filter(lambda job: job[3]),
    min_size=1, max_size=12,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(jobs)
def test_nothing_overlaps_and_each_is_as_high_as_its_cores(some):
    nodes, submit, run_time, cores = (list(column) for column in zip(*some, strict=True))
    result = run(nodes=nodes, submit_time=submit, run_time=run_time, cores=cores)
    rows, table = node_rows(result, SIZES), result.components
    high = np.bincount(rows.row, rows.high - rows.low, minlength=len(table))
    np.testing.assert_allclose(high / rows.grains, table["cores"] / 4)
    start, end = (table[name].to_numpy()[rows.row] for name in ("start_time", "end_time"))
    for i in range(len(rows.row)):
        meet = (start < end[i]) & (start[i] < end) & (rows.low < rows.high[i]) & (rows.low[i] < rows.high)
        assert not meet[i + 1 :].any()
