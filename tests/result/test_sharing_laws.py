"""The laws of nodes that jobs share: which breach each one names."""

from __future__ import annotations

import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.errors import InvariantError
from tests.result.test_check import set_component, set_text, set_timeline

NODES = System.from_dict(
    {"modules": [{"name": "CM", "nodes": 3, "shared": True, "cores_per_node": 4, "gpus_per_node": 1}]}
)

pytestmark = pytest.mark.interpreted


def run():
    """1 and 2 share node 0; 3 has node 1 to itself; 4 waits for the GPU of 1, as 5 has the others."""
    jobs = Workload.from_columns(
        nodes=[1, 1, 1, 1, 2],
        submit_time=[0, 0, 0, 5, 1],
        run_time=[20, 10, 30, 10, 10],
        cores=[2, 1, -1, 1, 2],
        gpus=[1, 0, 0, 1, 0],
    )
    return simulate(NODES, jobs, {"backfill": "first_fit"})


def test_a_right_schedule_passes():
    result = run()
    result.check()
    assert result.components["node_list"].tolist() == ["0", "0", "1", "2", "0,2"]
    assert result.components["cores"].tolist() == [2, 1, 4, 1, 4]
    assert result.metrics["counts"]["cores_not_stated"] == 1
    timeline = result.timeline[result.timeline["module"] == "CM"].set_index("time")
    assert timeline.loc[0, ["nodes_busy", "cores_busy", "gpus_busy"]].tolist() == [2, 7, 2]


BREACHES = {
    "node-lists": (
        lambda result: set_text(result, 4, "node_list", "0,9"),
        "component 5 has the nodes '0,9', not 2 of 3",
    ),
    "parts-of-nodes": (
        lambda result: set_component(result, 0, cores=3.5),
        "jobs have 4.5 of the cores of node 0 of CM at 0, it has 4",
    ),
    "parts-busy": (
        lambda result: set_timeline(result, "CM", 0, gpus_busy=1.0),
        "components have 2 of the gpus of CM at 0, the timeline has 1",
    ),
}


@pytest.mark.parametrize("law", BREACHES)
def test_each_law_names_its_breach(law):
    result = run()
    change, words = BREACHES[law]
    change(result)
    with pytest.raises(InvariantError) as raised:
        result.check()
    assert str(raised.value) == f"{law}: {words}"
