"""The law of reservations: who runs on nodes of others is found, and who starts outside its own."""

from __future__ import annotations

import pytest

from scheduler_sim import Policy, System, Workload, simulate
from scheduler_sim.result.reservation_laws import reservations
from scheduler_sim.result.schedule import Schedule

pytestmark = pytest.mark.interpreted

JOBS = Workload.from_columns(
    nodes=[2, 2, 2],
    submit_time=[0, 0, 0],
    run_time=[60, 60, 60],
    time_limit=[120, 120, 120],
    user=["u", "u", "v"],
    reservation=["", "lab", ""],
)


def breach(starts: list[int], *flags: str) -> str | None:
    """What the law says of a schedule with other starts than the engine's: of 4 nodes lab has 2."""
    lab = {"name": "lab", "start": 200, "end": 500, "nodes": ["m[0-1]"], "users": ["u"], "flags": list(flags)}
    system = System.from_dict({"modules": [{"name": "m", "nodes": 4}], "reservations": [lab]})
    result = simulate(system, JOBS, Policy(backfill="slurm"))
    result.check()
    table = result.components.copy()
    table["start_time"] = starts
    table["end_time"] = [start + 60 for start in starts]
    return reservations(Schedule(table, result.timeline, result.metrics, result.manifest))


@pytest.mark.parametrize("starts", [[0, 200, 0], [0, 500, 500], [80, 300, 501], [100, 300, 300]])
def test_who_keeps_to_it_passes(starts: list[int]) -> None:
    assert breach(starts) is None


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        ([0, 199, 0], "component 2 starts at 199, outside its reservation lab"),
        ([0, 501, 0], "component 2 starts at 501, outside its reservation lab"),
        ([250, 300, 280], "others run on 4 nodes of m at 280, lab leaves 2"),
    ],
)
def test_who_does_not_is_found(starts: list[int], said: str) -> None:
    assert breach(starts) == said


def test_a_limit_that_reaches_into_it_is_enough() -> None:
    assert breach([150, 300, 190]) == "others run on 4 nodes of m at 200, lab leaves 2"


def test_its_jobs_start_when_they_like_with_flex() -> None:
    assert breach([0, 100, 300], "FLEX") is None


def test_turns_come_again() -> None:
    assert breach([0, 3900, 3800], "HOURLY") is None
    assert breach([3900, 3900, 3850], "HOURLY") == "others run on 4 nodes of m at 3900, lab leaves 2"


SHARED = Workload.from_columns(
    nodes=[1] * 4,
    tasks=[4] * 4,
    submit_time=[0] * 4,
    run_time=[60] * 4,
    time_limit=[120] * 4,
    user=["u", "u", "v", "v"],
    reservation=["", "lab", "", ""],
)


def breach_on(lists: list[str], starts: list[int], *flags: str) -> str | None:
    """The same where jobs share nodes: of 2 nodes of 8 cores lab has node 0."""
    lab = {"name": "lab", "start": 200, "end": 500, "nodes": ["m[0]"], "users": ["u"], "flags": list(flags)}
    module = {"name": "m", "nodes": 2, "cores_per_node": 8, "shared": True}
    system = System.from_dict({"modules": [module], "reservations": [lab]})
    result = simulate(system, SHARED, Policy(backfill="slurm"))
    result.check()
    table = result.components.copy()
    table["node_list"] = lists
    table["start_time"] = starts
    table["end_time"] = [start + 60 for start in starts]
    return reservations(Schedule(table, result.timeline, result.metrics, result.manifest))


def test_shared_nodes_are_known_one_by_one() -> None:
    assert breach_on(["1", "0", "1", "1"], [300, 300, 300, 360]) is None
    assert breach_on(["0", "0", "0", "1"], [0, 300, 80, 300]) is None
    said = "component 3 is on node 0 of m, which lab has from 200"
    assert breach_on(["1", "0", "0", "1"], [0, 300, 150, 300]) == said
    assert breach_on(["1", "0", "0", "1"], [0, 300, 499, 300]) == said


def test_its_jobs_are_on_its_nodes() -> None:
    said = "component 2 is on node 1 of m, outside its reservation lab"
    assert breach_on(["1", "1", "1", "1"], [0, 300, 0, 60]) == said
    assert breach_on(["1", "1", "1", "1"], [0, 300, 0, 60], "FLEX") is None
