"""Gantt charts of systems with a topology: nodes leaf by leaf."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.report.gantt import gantt
from scheduler_sim.report.leaf_order import boundaries, in_leaf_order, leaves_of
from scheduler_sim.report.node_panel import module_bars

MANIFEST = {"topology": {"m": ["0,2", "1,3-4"]}}


def test_leaves_of_a_manifest():
    leaves = leaves_of(MANIFEST, "m")
    assert [nodes.tolist() for nodes in leaves] == [[0, 2], [1, 3, 4]]
    assert boundaries(leaves).tolist() == [2]
    assert leaves_of({}, "m") == []
    assert boundaries([]).tolist() == []


def test_stretches_are_cut_where_their_nodes_stand():
    """Nodes 0, 2, 1, 3, 4 from below: 0-2 is one stretch there, 2-3 are two, half of node 1 is at 2."""
    row, low, high = np.array([7, 8, 9]), np.array([0.0, 2.0, 1.25]), np.array([3.0, 4.0, 1.75])
    row, begin, end = in_leaf_order(leaves_of(MANIFEST, "m"), row, low, high)
    assert row.tolist() == [7, 8, 8, 9]
    assert begin.tolist() == [0, 1, 3, 2.25]
    assert end.tolist() == [3, 2, 4, 2.75]


def test_stretches_of_a_row_that_come_to_stand_together_are_one():
    row, begin, end = in_leaf_order(
        leaves_of(MANIFEST, "m"), np.array([7, 7]), np.array([0, 2]), np.array([1, 3])
    )
    assert (row.tolist(), begin.tolist(), end.tolist()) == ([7], [0], [2])


def test_nothing_is_cut_where_nodes_stand_by_their_numbers():
    row, low, high = np.array([7, 8]), np.array([0, 2]), np.array([3, 4])
    found = in_leaf_order([np.arange(2), np.arange(2, 5)], row, low, high)
    assert [one.tolist() for one in found] == [[7, 8], [0, 2], [3, 4]]


@pytest.mark.interpreted
def test_a_chart_has_a_line_between_leaves():
    switches = [{"name": "a", "nodes": "m[0,2]"}, {"name": "b", "nodes": "m[1,3]"}]
    switches.append({"name": "top", "switches": ["a", "b"]})
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4}], "topology": {"switches": switches}})
    jobs = Workload.from_columns(nodes=[2, 2], submit_time=[0, 0], run_time=[60, 60])
    result = simulate(system, jobs, "slurm")
    bars = module_bars(result)["m"]
    assert (bars.low.tolist(), bars.high.tolist(), bars.edges.tolist()) == ([0, 2], [2, 4], [2])
    words = " ".join(
        text.get_text() for text in gantt(result).findobj(match=lambda x: hasattr(x, "get_text"))
    )
    assert "in the order of the topology" in words
