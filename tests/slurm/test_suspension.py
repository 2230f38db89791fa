"""Suspension by the tiers of partitions under Slurm: the engine against the plain model, and its results."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Simulation, simulate
from scheduler_sim.errors import ConfigError
from scheduler_sim.report.explain import explain
from scheduler_sim.report.explain_text import text_of
from scheduler_sim.report.export import export
from scheduler_sim.report.html import write_report
from scheduler_sim.result.nodes import node_numbers
from tests.conftest import examples
from tests.oracle.plain_gang import GangSlurm
from tests.oracle.plain_preemption_records import Preemptable, PreemptRules
from tests.oracle.plain_slurm_records import Config
from tests.slurm.engine_cases import _partitions, configure, fates, workload_of
from tests.slurm.test_preemption import UNTIL_S, Preempting, played, preempting, two

pytestmark = pytest.mark.interpreted

PRIO = "preempt/partition_prio"
SUSPENDED = {"mode": "SUSPEND,GANG"}


@st.composite
def suspending(draw: st.DrawFn) -> Preempting:
    """The random sites of preemption, in whose partitions jobs are suspended, or not at all."""
    one = draw(preempting())
    modes = st.sampled_from(["", "", "", "OFF", "SUSPEND"])
    groups = {name: Preemptable(draw(modes), its.grace) for name, its in one.groups.items()}
    case = replace(one.case, keys=one.case.keys | {"script_alone": False})  # refused beside suspension
    return replace(one, case=case, rules=one.rules | SUSPENDED, groups=groups)


def plain(one: Preempting) -> GangSlurm:
    case = one.case
    config = Config(_partitions(case))
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    rules = one.rules | {"mode": "SUSPEND"}
    slurm = GangSlurm(config, deepcopy(list(case.jobs)), [], PreemptRules(partitions=one.groups, **rules))
    slurm.run(UNTIL_S)
    return slurm


@given(suspending())
@examples(200)
def test_the_engine_is_equal_to_the_plain_model(one: Preempting) -> None:
    slurm = plain(one)
    assume(not slurm.is_unclear)
    result = played(one)
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}
    seconds = result.components["suspended_time"]
    assert set(result.components["component_id"][seconds > 0]) <= set(slurm.suspended)
    assert result.metrics["suspended"]["components"] == int((seconds > 0).sum())


def suspended(**low: Any) -> Preempting:
    """Job 1 has all three nodes from 4 on; job 2, of a higher tier, has one of them from 40 to 60."""
    one = two(Preemptable(**low), **SUSPENDED)
    jobs = [one.case.jobs[0], replace(one.case.jobs[1], nodes=1)]
    return replace(one, case=replace(one.case, jobs=tuple(jobs)))


def simulation(one: Preempting, **keys: Any) -> Simulation:
    given_keys = {"starts_before_s": one.case.begins_s, "PreemptMode": "SUSPEND,GANG"} | one.case.keys | keys
    policy = Policy(name="slurm", backfill="slurm", slurm={"PreemptType": PRIO} | given_keys)
    return Simulation(one.system, workload_of(one.case), policy)


def test_what_a_result_says() -> None:
    """It worked for 36 s, then 64; the other two of its nodes are held and do nothing."""
    result = played(suspended())
    first = result.components.iloc[0]
    assert (first["start_time"], first["end_time"], first["state"]) == (4, 124, "COMPLETED")
    assert (first["run_time"], first["suspended_time"], first["suspended"]) == (120, 20, "40-60")
    timeline = result.timeline[result.timeline["module"] == "m"]
    columns = ("time", "nodes_busy", "nodes_reserved_idle")
    assert timeline[list(columns)].values.tolist() == [[4, 3, 0], [40, 1, 2], [60, 3, 0], [124, 0, 0]]
    assert result.metrics["suspended"] == {
        "components": 1,
        "times": 1,
        "time": dict.fromkeys(("mean", "median", "p90", "p99", "max"), 20.0),
        "node_seconds": {"m": 60, "total": 60},
    }
    assert result.metrics["utilization"]["m"] == round((3 * 100 + 20) / (3 * 120), 6)
    assert "lost" not in result.metrics


def test_a_partition_may_be_off() -> None:
    assert played(suspended(mode="OFF")).components["start_time"].tolist() == [4, 104]


def test_suspended_time_is_not_of_its_limit() -> None:
    """It works for 180 s and is there for 200: its limit is three minutes."""
    one = suspended()
    long = replace(one.case.jobs[0], runtime=500)
    first = played(replace(one, case=replace(one.case, jobs=(long, one.case.jobs[1])))).components.iloc[0]
    assert (first["state"], first["end_time"]) == ("TIMEOUT", 210)  # the look after 204


def test_a_look_for_jobs_past_their_limit_passes_by_one_that_is_suspended() -> None:
    """It is past its limit from 184 on; the look at 210 comes while it is suspended, the next at 240."""
    one = suspended()
    long, other = replace(one.case.jobs[0], runtime=500), replace(one.case.jobs[1], submit=200)
    first = played(replace(one, case=replace(one.case, jobs=(long, other)))).components.iloc[0]
    assert (first["state"], first["end_time"], first["suspended"]) == ("TIMEOUT", 240, "200-220")


def test_a_result_in_the_middle(tmp_path: Any) -> None:
    """What is suspended is cancelled with the rest, if everything stops."""
    simulated = simulation(suspended())
    result = simulated.run(until=50)
    result.check()
    first = result.components.iloc[0]
    assert (first["state"], first["end_time"], first["suspended"]) == ("CANCELLED", 50, "40-50")
    result.save(tmp_path / "r")
    assert Result.load(tmp_path / "r").components["suspended"].tolist() == ["40-50", ""]
    Result.load(tmp_path / "r").check()
    assert simulated.run().components["end_time"].tolist() == [124, 60]


@pytest.mark.parametrize("requeued", [False, True])
def test_an_operator_stops_one_that_is_suspended(requeued: bool) -> None:
    simulated = simulation(suspended(), requeue_delay_s=30)

    def operator() -> Any:
        yield simulated.env.timeout(50 - simulated.env.now)
        simulated.requeue(1) if requeued else simulated.cancel(1)

    simulated.process(operator())
    result = simulated.run()
    result.check()
    first = result.components.iloc[0]
    if not requeued:
        assert (first["state"], first["end_time"], first["suspended"]) == ("CANCELLED", 50, "40-50")
        return
    lost = result.runs.iloc[0]
    assert (lost["state"], lost["lost_s"], lost["suspended"]) == ("REQUEUED", 36, "40-50")
    assert (first["state"], first["run_time"], first["suspended_time"]) == ("COMPLETED", 100, 0)


def test_an_operator_gives_one_that_is_suspended_another_limit() -> None:
    """A minute: it has worked for 36 s of it, and has 24 s left when it goes on at 60."""
    simulated = simulation(suspended())

    def operator() -> Any:
        yield simulated.env.timeout(50 - simulated.env.now)
        simulated.update(1, time_limit=60)

    simulated.process(operator())
    first = simulated.run().components.iloc[0]
    assert (first["state"], first["end_time"]) == ("TIMEOUT", 90)


def test_jobs_that_processes_submit_are_suspended_and_suspend() -> None:
    """They make the core grow, while one is suspended."""
    simulated = simulation(suspended())

    def submitter() -> Any:
        yield simulated.env.timeout(45 - simulated.env.now)
        for _ in range(3):
            simulated.submit(nodes=1, run_time=30, time_limit=60, partition="high")
        simulated.submit(nodes=3, run_time=10, time_limit=60, partition="low")

    simulated.process(submitter())
    result = simulated.run()
    result.check()
    found = result.components
    assert found["state"].tolist() == ["COMPLETED"] * 6
    assert found["run_time"].iloc[0] - found["suspended_time"].iloc[0] == 100
    assert found["start_time"].iloc[5] >= found["end_time"].iloc[0]


def test_energy_is_of_the_time_it_worked() -> None:
    """A node at work draws 300 W, any other 100 W, also one that a suspended job holds."""
    watts = {"idle_w": 100, "typical_w": 300, "peak_w": 300, "reference_khz": 1, "pstates_khz": [1]}
    models = {"energy": {"power": {"modules": [{"name": "m"} | watts]}}}
    one = suspended()
    given_keys = one.case.keys | {"PreemptType": PRIO, "PreemptMode": "SUSPEND,GANG"}
    policy = Policy(name="slurm", backfill="slurm", slurm=given_keys)
    result = simulate(one.system, workload_of(one.case), policy, models=models)
    result.check()
    assert result.components["energy_j"].tolist() == [3 * 300 * 100, 300 * 20]


def test_pictures_and_explanations(tmp_path: Any) -> None:
    """A picture has each of the times at which it worked."""
    result = played(suspended())
    runs = node_numbers(result.components, {"m": 3})
    assert sorted(zip(runs.row, runs.start, runs.end, strict=True)) == [(0, 4, 40), (0, 60, 124), (1, 40, 60)]
    result.plot.gantt()
    for suffix in (".json", ".paje", ".csv"):
        export(result, tmp_path / f"run{suffix}")
    write_report(result.save(tmp_path / "run"))
    assert "of which it was suspended for others for 20 s" in " ".join(text_of(explain(result, 1)).split())


@pytest.mark.parametrize(
    ("mode", "keys", "message"),
    [
        ("REQUEUE", {}, "partitions.low.slurm.PreemptMode: found REQUEUE beside PreemptMode SUSPEND,GANG"),
        ("SUSPEND", {"PreemptMode": "CANCEL"}, "partitions.low.slurm.PreemptMode: found SUSPEND beside"),
        (
            "",
            {"PreemptType": "preempt/qos"},
            "PreemptMode: found SUSPEND,GANG beside PreemptType preempt/qos",
        ),
        ("", {"PreemptMode": "SUSPEND"}, "PreemptMode: found 'SUSPEND'; allowed: OFF, REQUEUE, CANCEL"),
    ],
)
def test_what_is_refused(mode: str, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        simulation(suspended(mode=mode), **keys)
