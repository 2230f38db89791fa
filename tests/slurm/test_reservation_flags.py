"""Flags, features and groups of advance reservations, by hand: most of them under policy slurm."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, Simulation, System, Workload
from scheduler_sim.errors import ConfigError
from scheduler_sim.result.result import Result
from scheduler_sim.system.reservations import ReservationKeys

pytestmark = pytest.mark.interpreted

SLURM = Policy(name="slurm", backfill="slurm")
SETS = [{"name": "slow", "nodes": 2, "features": ["old"]}, {"name": "fast", "nodes": 4, "features": ["new"]}]


def reserved(**keys: Any) -> ReservationKeys:
    return ReservationKeys(**({"name": "r", "users": ["ann"], "start": 0, "end": 3600} | keys))


def run(
    rows: list[dict[str, Any]], *made: ReservationKeys, nodes: int = 6, policy: Any = SLURM, **more: Any
) -> Result:
    given = {
        "submit_time": 0,
        "nodes": 1,
        "run_time": 600,
        "time_limit": 600,
        "user": "ann",
        "group": "",
        "reservation": "",
    }
    columns = {name: [row.get(name, value) for row in rows] for name, value in given.items()}
    module = {"name": "m", "nodes": nodes} | ({"node_sets": SETS} if more.pop("sets", False) else {})
    if policy is SLURM:
        more["topology"] = {"levels": [nodes]}  # one leaf, so that the result names nodes
    system = System.from_dict({"modules": [module], **more})
    result = Simulation(system, Workload.from_columns(**columns), policy, reservations=list(made)).run()
    result.check()
    return result


def nodes_of(result: Result) -> list[str]:
    return result.components["node_list"].astype(str).tolist()


def test_a_magnetic_reservation_draws_who_may_use_it() -> None:
    rows = [{"nodes": 2}, {"user": "bob"}, {"nodes": 2}]
    kept_off = run(rows, reserved(nodes=["m[0-2]"]), nodes=8)
    drawn = run(rows, reserved(nodes=["m[0-2]"], flags=["MAGNETIC"]), nodes=8)
    assert nodes_of(kept_off) == ["3-4", "5", "6-7"]
    assert nodes_of(drawn) == [
        "0-1",
        "3",
        "4-5",
    ]  # the third does not fit beside the first: it is tried outside
    assert drawn.components["reservation"].astype(str).tolist() == ["r", "", ""]


def test_a_full_pass_tries_all_though_each_magnetic_reservation_has_a_try_of_its_own() -> None:
    """The job is tried in each of three first; no limit of depth counts in a pass over the whole queue."""
    keys = {"sched_interval": 7, "bf_interval": 1000, "starts_before_s": 1, "default_queue_depth": 0}
    made = [
        reserved(name=name, start=5000, end=6000, nodes=["m[0]"], flags=["MAGNETIC", "OVERLAP"])
        for name in "rst"
    ]
    result = run([{}], *made, policy=Policy(backfill="slurm", slurm=keys))
    assert result.components["start_time"].tolist() == [6]


def test_who_is_drawn_ends_with_the_reservation() -> None:
    result = run([{}, {"user": "bob"}], reserved(nodes=["m[0-2]"], end=300, flags=["MAGNETIC"]))
    assert result.components["state"].astype(str).tolist() == ["TIMEOUT", "COMPLETED"]


def test_replace_gets_idle_nodes_for_those_that_jobs_have() -> None:
    rows = [{"reservation": "r"}, {"reservation": "r", "nodes": 2}]
    assert nodes_of(run(rows, reserved(node_count=2, flags=["REPLACE"]))) == ["0", "1-2"]
    waits = run(rows, reserved(node_count=2))
    assert nodes_of(waits) == ["0", "0-1"]
    assert waits.components["start_time"].iloc[1] >= 600


@pytest.mark.parametrize(("flags", "expected"), [(["REPLACE_DOWN"], "1-2"), (["REPLACE"], "1-2"), ([], "")])
def test_nodes_that_are_down_are_replaced(flags: list[str], expected: str) -> None:
    down = {"time": 60, "state": "DOWN", "nodes": "0", "end": 5000}
    rows = [{"reservation": "r", "nodes": 2, "submit_time": 200}]
    assert nodes_of(run(rows, reserved(node_count=2, flags=flags), events=[down])) == [expected]


def test_nodes_with_features() -> None:
    made = reserved(node_count=2, features="new", flags=["REPLACE"])
    rows = [{"reservation": "r", "nodes": 2}, {"reservation": "r", "nodes": 2}, {"user": "bob", "nodes": 2}]
    assert nodes_of(run(rows, made, sets=True)) == ["2-3", "4-5", "0-1"]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"nodes": ["m[0]"], "flags": ["REPLACE"]}, "found REPLACE without node_count"),
        ({"nodes": ["m[0]"], "features": "new"}, "found without node_count"),
        ({"node_count": 7, "features": "new&none"}, "Requested nodes are busy"),
        ({"node_count": 2, "flags": ["ANY_NODES"]}, "Requested reservation is invalid"),
    ],
)
def test_what_is_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        run([{}], reserved(**keys))


def test_other_policies_refuse_them_by_name() -> None:
    for keys, said in (
        ({"flags": ["MAGNETIC"], "nodes": ["m"]}, "MAGNETIC"),
        ({"node_count": 1, "features": "new"}, "new"),
    ):
        with pytest.raises(ConfigError, match=f"found '?{said}'? under policy"):
            run([{}], reserved(**keys), policy=Policy.named("easy"))


@pytest.mark.parametrize("policy", [SLURM, Policy(name="easy")], ids=["slurm", "easy"])
def test_who_is_in_a_group_by_any_job_may_use_its_reservation(policy: Policy) -> None:
    """Ann is in lab by her first job; bob is in none, and dan, whose jobs have no user, by the job's own."""
    rows = [
        {"group": "lab"},
        {"group": "other", "reservation": "r"},
        {"user": "bob", "group": "other", "reservation": "r"},
        {"user": "", "group": "lab", "reservation": "r"},
        {"user": "", "group": "other", "reservation": "r"},
    ]
    result = run(rows, reserved(nodes=["m[0-2]"], users=[], groups=["lab"]), policy=policy)
    states = result.components["state"].astype(str).tolist()
    assert states == ["COMPLETED", "COMPLETED", "REJECTED", "COMPLETED", "REJECTED"]
    others = run(rows, reserved(nodes=["m[0-2]"], users=[], groups=["-lab"]), policy=policy)
    assert others.components["state"].astype(str).tolist() == [
        *("COMPLETED", "REJECTED", "COMPLETED", "REJECTED", "COMPLETED")
    ]


def test_users_take_the_place_of_groups() -> None:
    made = reserved(nodes=["m[0-2]"], users=[], groups=["lab"])
    change = {"name": "r", "at": 50, "users": ["bob"]}
    rows = [{"group": "lab", "submit_time": 100, "reservation": "r"}]
    rows += [{"user": "bob", "submit_time": 100, "reservation": "r"}]
    result = run(rows, reservations=[made.model_dump(exclude_none=True)], reservation_changes=[change])
    assert result.components["state"].astype(str).tolist() == ["REJECTED", "COMPLETED"]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"users": ["ann"], "groups": ["lab"]}, r"groups: found beside users; allowed: one of them"),
        ({}, r"users: found none, and no groups or accounts"),
    ],
)
def test_users_or_groups_and_not_both(keys: dict[str, Any], said: str) -> None:
    made = {"name": "r", "start": 0, "end": 9, "nodes": ["m"]} | keys
    with pytest.raises(ConfigError, match=said):
        System.from_dict({"modules": [{"name": "m", "nodes": 2}], "reservations": [made]})
