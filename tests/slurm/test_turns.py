"""Jobs that take turns on cores: cases by hand, what results say of them, operators, and what is refused."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from scheduler_sim import Policy, Result, Simulation, System, Workload, simulate
from scheduler_sim.engine.core.jit import COMPILED
from scheduler_sim.engine.engine import has
from scheduler_sim.errors import ConfigError, InvariantError
from scheduler_sim.result.node_rows import node_rows
from tests.engine.interpreted import interpreted
from tests.result.test_check import set_component
from tests.slurm.test_shared_cores import crowd, jobs, operated

pytestmark = pytest.mark.interpreted

GANG = {"PreemptMode": "GANG"}
BY_TIERS = {"PreemptMode": "SUSPEND,GANG", "PreemptType": "preempt/partition_prio"}


def slurm(**keys: Any) -> Policy:
    return Policy(backfill="slurm", slurm=keys)


def site(*sharing: str, nodes: int = 1, tiers: tuple[int, ...] = (), **module: Any) -> System:
    partitions = [
        {"name": f"p{i}", "module": "CM", "priority": dict(enumerate(tiers)).get(i, 1)}
        | {"slurm": {"OverSubscribe": one}}
        for i, one in enumerate(sharing)
    ]
    cores = {"nodes": nodes, "shared": True, "cores_per_node": 4} | module
    return System.from_dict({"modules": [{"name": "CM", **cores}], "partitions": partitions})


def told(result: Result) -> list[tuple[int, int, str]]:
    """Start, end, and suspensions of each, once it is checked."""
    result.check()
    table = result.components
    spans = table.get("suspended", pd.Series([""] * len(table))).astype(str)
    return list(zip(table["start_time"], table["end_time"], spans, strict=True))


# -------------------------------------------------------------------- turns


def test_two_jobs_on_the_same_cores_take_turns() -> None:
    """The first was there before: its turn begins as the first slice ends. Slices end at 30, 60, ..."""
    assert told(simulate(site("FORCE:2"), jobs(2), slurm(**GANG))) == [
        (0, 160, "60-90,120-150"),
        (0, 200, "0-60,90-120,150-160"),
    ]


def test_a_turn_lasts_as_long_as_said() -> None:
    two = jobs(2, run_time=[20, 20])
    assert told(simulate(site("FORCE:2"), two, slurm(SchedulerTimeSlice=5, **GANG))) == [
        (0, 30, "10-15,20-25"),
        (0, 40, "0-10,15-20,25-30"),
    ]


def test_slices_are_counted_from_the_start_of_the_daemon() -> None:
    two = jobs(2, run_time=[50, 50])
    assert told(simulate(site("FORCE:2"), two, slurm(starts_before_s=12, **GANG))) == [
        (0, 80, "48-78"),
        (0, 100, "0-48,78-80"),
    ]


def test_who_fits_beside_those_at_work_works_too() -> None:
    """The third has cores of both others, and works when they do not."""
    three = jobs(3, cores=[2, 2, 4], run_time=[80, 60, 60])
    assert told(simulate(site("FORCE:2"), three, slurm(**GANG))) == [
        (0, 110, "60-90"),
        (0, 60, ""),
        (0, 140, "0-60,90-110"),
    ]


def test_three_jobs_take_turns_one_after_the_other() -> None:
    """The first ends after 60 s; the second is at work as the slice ends, and goes on for another."""
    three = jobs(3, run_time=[60, 60, 60])
    assert told(simulate(site("FORCE:3"), three, slurm(**GANG))) == [
        (0, 60, ""),
        (0, 150, "0-60,90-120"),
        (0, 180, "0-90,120-150"),
    ]


def test_a_job_on_several_nodes_is_suspended_as_a_whole() -> None:
    """Of node 1, on which it meets nobody, nothing is at work then."""
    both = jobs(2, nodes=[2, 1], cores=[4, 4], run_time=[60, 60])
    result = simulate(site("FORCE:2", nodes=2), both, slurm(**GANG))
    assert told(result) == [(0, 60, ""), (0, 120, "0-60")]
    late = jobs(2, nodes=[2, 1], cores=[4, 4], run_time=[90, 30])
    result = simulate(site("FORCE:2", nodes=2), late, slurm(**GANG))
    assert told(result) == [(0, 120, "60-90"), (0, 90, "0-60")]
    timeline = result.timeline[result.timeline["module"] == "CM"].drop_duplicates("time", keep="last")
    columns = ["time", "nodes_busy", "nodes_reserved_idle", "cores_busy"]
    assert timeline[columns].values.tolist() == [[0, 2, 0, 8], [60, 1, 1, 4], [90, 2, 0, 8], [120, 0, 0, 0]]
    assert result.metrics["suspended"] == {
        "components": 2,
        "times": 2,
        "time": {"mean": 45.0, "median": 45.0, "p90": 57.0, "p99": 59.7, "max": 60.0},
        "node_seconds": {"CM": 2 * 30 + 60, "total": 2 * 30 + 60},
    }
    assert result.metrics["warnings"] == []


def test_who_does_not_ask_to_share_takes_turns_too() -> None:
    """As in Slurm: under gang scheduling the rows of YES are for all, if no core is free."""
    two = jobs(2, run_time=[60, 60])
    assert told(simulate(site("YES:2"), two, slurm())) == [(0, 60, ""), (60, 120, "")]
    assert told(simulate(site("YES:2"), two, slurm(**GANG))) == [(0, 60, ""), (0, 120, "0-60")]


def test_jobs_of_two_partitions_of_a_tier_have_cores_at_once() -> None:
    """As in Slurm: lists are those of partitions."""
    two = jobs(2, run_time=[60, 60], partition=["p0", "p1"])
    result = simulate(site("NO", "NO"), two, slurm(**GANG))
    assert told(result) == [(0, 60, ""), (0, 60, "")]
    assert result.timeline["cores_busy"].max() == 8


def test_suspended_time_is_not_of_its_limit() -> None:
    """Each works for a minute, its limit; a look for jobs past it comes every 30 s, before turns change."""
    two = jobs(2, run_time=[500, 500], time_limit=[60, 60])
    result = simulate(site("FORCE:2"), two, slurm(**GANG))
    assert told(result) == [(0, 60, ""), (0, 120, "0-60")]
    assert result.components["state"].tolist() == ["TIMEOUT", "TIMEOUT"]


def test_memory_is_kept() -> None:
    """Two jobs of 3 GB are not on a node of 4 GB at once, however little they work."""
    two = jobs(2, memory_kb=[3 << 20] * 2)
    assert told(simulate(site("FORCE:2", memory_gb=4), two, slurm(**GANG)))[1][0] >= 100


def test_nothing_changes_where_no_jobs_have_cores_in_common() -> None:
    sim = Simulation(site("NO"), jobs(2), slurm(**GANG))
    assert not has(sim._core, "time_slices")
    result = sim.run()
    assert result.components["start_time"].tolist() == [0, 100]
    assert "suspended" not in result.components


# -------------------------------------------------------------------- tiers


def test_a_job_of_a_higher_tier_suspends_those_on_its_cores() -> None:
    """The one on cores 2 and 3 works on."""
    three = jobs(3, cores=[2, 2, 2], run_time=[60] * 3, submit_time=[0, 0, 10], partition=["p0", "p0", "p1"])
    found = told(simulate(site("FORCE:1", "FORCE:1", tiers=(1, 2)), three, slurm(bf_interval=1, **BY_TIERS)))
    assert found == [(0, 120, "10-70"), (0, 60, ""), (10, 70, "")]


def test_jobs_of_a_higher_tier_take_turns_and_those_below_wait_for_all() -> None:
    three = jobs(3, run_time=[60] * 3, submit_time=[0, 10, 10], partition=["p0", "p1", "p1"])
    found = told(simulate(site("FORCE:1", "FORCE:2", tiers=(1, 2)), three, slurm(bf_interval=1, **BY_TIERS)))
    assert found == [(0, 180, "10-130"), (10, 100, "60-90"), (10, 130, "10-60,90-100")]


def test_a_job_of_a_lower_tier_waits_unless_there_is_no_preemption() -> None:
    """With GANG alone it starts on cores of those above it, and is suspended at once."""
    two = jobs(2, run_time=[60] * 2, submit_time=[0, 10], partition=["p0", "p1"])
    below = site("FORCE:1", "FORCE:1", tiers=(2, 1))
    assert told(simulate(below, two, slurm(bf_interval=1, **BY_TIERS))) == [(0, 60, ""), (60, 120, "")]
    assert told(simulate(below, two, slurm(bf_interval=1, **GANG))) == [(0, 60, ""), (10, 120, "10-60")]


def test_jobs_of_a_partition_that_is_off_are_not_suspended() -> None:
    two = jobs(2, run_time=[60] * 2, submit_time=[0, 10], partition=["p0", "p1"])
    system = site("FORCE:1", "FORCE:1", tiers=(1, 2))
    off = System.from_dict(
        system.to_dict()
        | {
            "partitions": [
                {"name": "p0", "module": "CM", "slurm": {"OverSubscribe": "FORCE:1", "PreemptMode": "OFF"}},
                {"name": "p1", "module": "CM", "priority": 2, "slurm": {"OverSubscribe": "FORCE:1"}},
            ]
        }
    )
    assert told(simulate(off, two, slurm(bf_interval=1, **BY_TIERS))) == [(0, 60, ""), (60, 120, "")]


# -------------------------------------------------------------------- results, operators


def test_the_law_of_turns_names_its_breach() -> None:
    result = simulate(site("FORCE:2"), jobs(2), slurm(**GANG))
    set_component(result, 1, suspended="0-50,90-120,150-160", suspended_time=90)
    with pytest.raises(InvariantError) as raised:
        result.check()
    assert str(raised.value) == "turns: jobs of partition p0 work on 8 cores of node 0 of CM at 50, it has 4"


def test_in_the_picture_of_a_node_they_stand_above_each_other() -> None:
    rows = node_rows(simulate(site("FORCE:2"), jobs(2), slurm(**GANG)), {"CM": 1})
    assert sorted(zip(rows.low / rows.grains, rows.high / rows.grains, strict=True)) == [(0, 0.5), (0.5, 1)]


@pytest.mark.parametrize("keys", [GANG, BY_TIERS], ids=["turns", "tiers"])
def test_turns_outlive_what_operators_do(keys: dict[str, Any]) -> None:
    """Jobs are cancelled, sent back, have other limits, come later, and lose their nodes."""
    system = site("FORCE:3", "FORCE:1", tiers=(1, 2), nodes=6, cores_per_node=16, sockets=2, memory_gb=64)
    sim = Simulation(system, crowd(60, nodes=2), slurm(**keys))
    sim.process(operated(sim))
    result = sim.run()
    result.check()
    assert result.metrics["counts"]["requeued"] > 0
    assert result.metrics["suspended"]["times"] > 20


@pytest.mark.parametrize("keys", [GANG, BY_TIERS], ids=["turns", "tiers"])
def test_turns_outlive_nodes_that_go_out_of_service(keys: dict[str, Any]) -> None:
    """Jobs there end with their nodes, at work or suspended, and run once more."""
    events = [
        {"time": 300, "end": 600, "module": "CM", "nodes": "0-1", "state": "DOWN"},
        {"time": 400, "end": 900, "module": "CM", "nodes": "2", "state": "DRAIN"},
    ]
    system = site("FORCE:3", "FORCE:1", tiers=(1, 2), nodes=6, cores_per_node=16, sockets=2, memory_gb=64)
    failing = System.from_dict(system.to_dict() | {"events": events})
    result = simulate(failing, crowd(45, nodes=2), slurm(**keys))
    result.check()
    assert result.metrics["counts"]["requeued"] > 0
    assert result.metrics["suspended"]["times"] > 20
    assert set(result.components["state"].astype(str)) == {"COMPLETED"}


def test_a_result_in_the_middle() -> None:
    """What is suspended is cancelled with the rest, if everything stops; and goes on in another branch."""
    sim = Simulation(site("FORCE:2"), jobs(2), slurm(**GANG))
    assert told(sim.run(until=70)) == [(0, 70, "60-70"), (0, 70, "0-60")]
    assert told(sim.run()) == [(0, 160, "60-90,120-150"), (0, 200, "0-60,90-120,150-160")]


# -------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            GANG | {"PreemptType": "preempt/qos"},
            "found GANG beside PreemptType preempt/qos; allowed: preempt/none",
        ),
        (
            GANG | {"PreemptType": "preempt/partition_prio"},
            "found GANG beside PreemptType preempt/partition_prio; allowed: preempt/none",
        ),
        (
            {"PreemptMode": "REQUEUE", "PreemptType": "preempt/partition_prio"},
            "found REQUEUE where several jobs have a core at once",
        ),
        (
            BY_TIERS | {"PreemptType": "preempt/qos"},
            "found SUSPEND,GANG beside PreemptType preempt/qos; allowed: preempt/partition_prio",
        ),
        (
            {"PreemptMode": "SUSPEND,GANG"},
            "found SUSPEND,GANG beside PreemptType preempt/none; allowed: preempt/partition_prio",
        ),
        (GANG | {"SchedulerTimeSlice": 4}, "SchedulerTimeSlice: found 4; allowed: an integer >= 5"),
    ],
)
def test_what_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Simulation(site("FORCE:2"), jobs(2), slurm(**keys))


def test_where_it_is_refused() -> None:
    whole = System.from_dict({"modules": [{"name": "CM", "nodes": 2}]})
    alone = Workload.from_columns(submit_time=[0], nodes=[1], run_time=[10])
    with pytest.raises(ConfigError, match="found GANG where each job has whole nodes"):
        Simulation(whole, alone, slurm(**GANG))
    mixed = {
        "modules": [{"name": "A", "nodes": 2}, {"name": "B", "nodes": 2, "shared": True, "cores_per_node": 4}]
    }
    with pytest.raises(ConfigError, match="modules whose nodes jobs share, and others"):
        Simulation(System.from_dict(mixed), alone, slurm(**GANG))
    booked = site("FORCE:2").to_dict() | {
        "reservations": [{"name": "r", "nodes": ["CM"], "start": 10, "duration": 60, "users": ["root"]}]
    }
    with pytest.raises(ConfigError, match="beside PreemptMode GANG; allowed here: OFF, REQUEUE, CANCEL"):
        Simulation(System.from_dict(booked), jobs(2), slurm(**GANG))


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED, reason="the compiler is off")
@pytest.mark.parametrize("keys", [GANG, BY_TIERS], ids=["turns", "tiers"])
def test_compiled_and_interpreted_agree(keys: dict[str, Any]) -> None:
    """Nodes of 80 cores, so that their bits take two words."""
    system = site("FORCE:3", "FORCE:1", tiers=(1, 2), nodes=12, cores_per_node=80, sockets=2, memory_gb=64)
    compiled = simulate(system, crowd(), slurm(**keys))
    compiled.check()
    assert compiled.metrics["suspended"]["times"] > 100
    with interpreted():
        plain = simulate(system, crowd(), slurm(**keys))
    for one, other in ((compiled.components, plain.components), (compiled.timeline, plain.timeline)):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
