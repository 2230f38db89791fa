"""Preemption by the tiers of partitions under Slurm: the engine against the plain model, and its results."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, simulate
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_records import PREEMPTED, Preemptable, PreemptQos, PreemptRules
from tests.oracle.plain_slurm_records import Config, Job
from tests.slurm.engine_cases import (
    FIRST,
    SECOND,
    Case,
    Queue,
    _partitions,
    configure,
    fates,
    system_of,
    workload_of,
)

pytestmark = pytest.mark.interpreted

UNTIL_S = 8000
KEYS: dict[str, list[Any]] = {
    "KillWait": [2, 30, 0],
    "script_alone": [False, True],
    "bf_interval": [30, 2, 7],
    "bf_resolution": [60, 1],
    "bf_window": [1440, 4],
    "bf_job_part_count_reserve": [0, 0, 1],
    "batch_sched_delay": [3, 0, 1],
    "sched_interval": [60, 30],
    "looks_first": ["main", "backfill"],
}
RULES: dict[str, tuple[str, list[Any]]] = {
    "mode": ("PreemptMode", ["REQUEUE", "CANCEL"]),
    "exempt": ("PreemptExemptTime", [0, 0, 30]),
    "youngest_first": ("preempt_youngest_first", [False, False, True]),
    "strict_order": ("preempt_strict_order", [False, False, True]),
    "reorder_count": ("preempt_reorder_count", [1, 1, 0, 2]),
    "message_timeout": ("MessageTimeout", [10, 0]),
}
"""What the plain model calls the keys, and values to try."""


@dataclass(frozen=True)
class Preempting:
    case: Case
    rules: dict[str, Any]
    requeue_delay_s: int
    groups: dict[str, Preemptable]  # partitions

    @property
    def system(self) -> System:
        """The case's, with what its partitions say of preemption."""
        system = system_of(self.case)
        partitions = [replace(one, slurm=said_of(self.groups.get(one.name))) for one in system.partitions]
        return replace(system, partitions=tuple(partitions))


def said_of(group: Preemptable | None) -> dict[str, Any]:
    said = {"PreemptMode": group.mode, "GraceTime": group.grace} if group else {}
    return {name: value for name, value in said.items() if value}


MODES = st.sampled_from(["", "", "OFF", "REQUEUE", "CANCEL"])
GRACES = st.sampled_from([0, 0, 5, 40, 90])


@st.composite
def preempting(draw: st.DrawFn) -> Preempting:
    """Up to three partitions over the nodes of a module, and jobs of any of them."""
    sizes = (draw(st.integers(1, 4)), draw(st.integers(1, 3)))
    tiers = draw(st.sampled_from([(1, 2), (1, 2, 3), (1, 1, 2)]))
    part = draw(st.sampled_from([(FIRST, SECOND), (FIRST, SECOND), (FIRST,)]))
    queues = [Queue(f"p{tier}{i}", "m", (FIRST, SECOND), tier) for i, tier in enumerate(tiers)]
    queues.append(Queue("part", "m", part, draw(st.integers(1, 3))))
    times = sorted(draw(st.lists(st.integers(0, 150), min_size=3, max_size=10)))
    jobs = []
    for number, time in enumerate(times, start=1):
        named = draw(st.lists(st.sampled_from(queues), min_size=1, max_size=2, unique=True))
        nodes = sum(sizes) if all(SECOND in queue.sets for queue in named) else sizes[0]
        jobs.append(
            Job(
                number,
                time,
                [queue.name for queue in named],
                draw(st.integers(1, nodes)),
                draw(st.integers(1, 200)),
                draw(st.integers(1, 4)),
                requeue=draw(st.sampled_from([True, True, True, False])),
            )
        )
    keys = {name: draw(st.sampled_from(values)) for name, values in KEYS.items()} | {"latency": "measured"}
    rules = {name: draw(st.sampled_from(values)) for name, (_, values) in RULES.items()}
    case = Case({"m": sizes}, tuple(queues), tuple(jobs), keys, begins_s=draw(st.integers(1, 90)))
    groups = {queue.name: Preemptable(draw(MODES), draw(GRACES)) for queue in queues}
    return Preempting(case, rules, draw(st.sampled_from([30, 121])), groups)


def played(one: Preempting, columns: dict[str, Any] | None = None, **more: Any) -> Result:
    case = one.case
    keys = {RULES[name][0]: value for name, value in one.rules.items()}
    keys |= {"PreemptType": "preempt/partition_prio", "requeue_delay_s": one.requeue_delay_s} | more
    given_keys = {"starts_before_s": case.begins_s} | case.keys | keys
    policy = Policy(name="slurm", backfill="slurm", slurm=given_keys)
    said = {"requeue": [int(job.requeue) for job in case.jobs]} | (columns or {})
    result = simulate(one.system, workload_of(case, **said), policy)
    result.check()
    return result


def config_of(one: Preempting) -> Config:
    case = one.case
    config = Config(_partitions(case))
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    config.requeue_delay = one.requeue_delay_s
    return config


def plain(one: Preempting, **rules: Any) -> PreemptingSlurm:
    said = PreemptRules(partitions=one.groups, **one.rules | rules)
    slurm = PreemptingSlurm(config_of(one), deepcopy(list(one.case.jobs)), [], said)
    slurm.run(UNTIL_S)
    return slurm


@given(preempting())
@examples(300)
def test_the_engine_is_equal_to_the_plain_model(one: Preempting) -> None:
    slurm, result = plain(one), played(one)
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}
    assert result.metrics["counts"].get("requeued", 0) == lost_runs(slurm)


def lost_runs(slurm: PreemptingSlurm) -> int:
    """How many of those that were preempted did not end so."""
    preempted = sum(ended.why == PREEMPTED for ended in slurm.runs)
    return preempted - sum(job.state == PREEMPTED for job in slurm.jobs)


QOS = {
    "low": PreemptQos(priority=1),
    "other": PreemptQos(priority=2),
    "normal": PreemptQos(priority=5, preempts=("low", "other")),
    "high": PreemptQos(priority=9, preempts=("normal", "low", "other")),
}
"""Each preempts all below it, so that the order of the queue is one: Slurm compares two by two."""


@st.composite
def preempting_by_qos(draw: st.DrawFn) -> tuple[Preempting, dict[str, PreemptQos]]:
    """The same partitions, in which QOS count; each may say itself what becomes of its jobs."""
    one = draw(preempting())
    jobs = tuple(replace(job, qos=draw(st.sampled_from(list(QOS)))) for job in one.case.jobs)
    modes, times = st.sampled_from(["", "REQUEUE", "CANCEL"]), st.sampled_from([None, None, 40])
    qos = {
        name: replace(its, mode=draw(modes), exempt=draw(times), grace=draw(GRACES))
        for name, its in QOS.items()
    }
    return replace(one, case=replace(one.case, jobs=jobs)), qos


@given(preempting_by_qos())
@examples(60)
def test_by_qos_it_is_equal_to_the_plain_model_too(given_: tuple[Preempting, dict[str, PreemptQos]]) -> None:
    one, qos = given_
    keys = {"PreemptType": "preempt/qos", "qos": {name: keys_of(its) for name, its in qos.items()}}
    result = played(one, {"qos": [job.qos for job in one.case.jobs]}, **keys)
    slurm = plain(one, kind="preempt/qos", qos=deepcopy(qos))
    assert fates(result) == {job.id: (job.state, job.start) for job in slurm.jobs}


def keys_of(qos: PreemptQos) -> dict[str, Any]:
    said = {"Preempt": list(qos.preempts), "PreemptMode": qos.mode, "PreemptExemptTime": qos.exempt}
    said["GraceTime"] = qos.grace
    return {"priority": qos.priority} | {
        name: value for name, value in said.items() if value not in ("", None)
    }


def two(low: Preemptable | None = None, **rules: Any) -> Preempting:
    """Job 1 has all nodes when job 2, of a higher tier, comes for all of them; job 3 is after job 1."""
    queues = (Queue("low", "m", (FIRST, SECOND), 1), Queue("high", "m", (FIRST, SECOND), 2))
    jobs = (
        Job(1, 4, ["low"], 3, 100, 3),
        Job(2, 40, ["high"], 3, 20, 1),
        Job(3, 50, ["low"], 1, 5, 1, depends=(",", [("afternotok", [1], 0)])),
    )
    keys = {"bf_interval": 2, "KillWait": 2, "latency": "measured"}
    case = Case({"m": (2, 1)}, queues, jobs, keys, begins_s=4)
    first = {name: values[0] for name, (_, values) in RULES.items()}
    return Preempting(case, first | rules, 30, {"low": low or Preemptable()})


def test_cancelled_it_is_preempted_and_what_needs_its_failure_may_run() -> None:
    result = played(two(mode="CANCEL"))
    state = dict(zip(result.components["component_id"], result.components["state"], strict=True))
    assert state == {1: "PREEMPTED", 2: "COMPLETED", 3: "COMPLETED"}
    assert result.metrics["counts"]["preempted"] == 1
    first = result.components.iloc[0]
    assert (first["start_time"], first["run_time"]) == (4, first["end_time"] - 4)


@pytest.mark.parametrize(
    ("said", "by_default", "state"),
    [(-1, True, "COMPLETED"), (-1, False, "PREEMPTED"), (1, False, "COMPLETED"), (0, True, "PREEMPTED")],
)
def test_whether_it_may_be_requeued_says_the_job_or_slurm_conf(
    said: int, by_default: bool, state: str
) -> None:
    result = played(two(), {"requeue": [said, -1, -1]}, JobRequeue=by_default)
    assert result.components["state"].iloc[0] == state


@pytest.mark.parametrize(
    ("low", "state"),
    [("OFF", "COMPLETED"), ("CANCEL", "PREEMPTED"), ("REQUEUE", "COMPLETED"), ("", "COMPLETED")],
)
def test_a_partition_has_a_mode_of_its_own(low: str, state: str) -> None:
    found = played(two(Preemptable(low))).components
    assert found["state"].iloc[0] == state
    assert (found["start_time"].iloc[0] == 4) == (low in ("OFF", "CANCEL"))
    assert (found["start_time"].iloc[1] >= 104) == (low == "OFF")


def test_in_grace_it_goes_on_and_may_end_by_itself() -> None:
    """From 40 on; what looks for jobs past their time does so at 30, 60, ...: for 15 s more it is 60."""
    killed = played(two(Preemptable("CANCEL", 15))).components.iloc[0]
    assert (killed["state"], killed["end_time"]) == ("PREEMPTED", 60)
    alone = played(two(Preemptable("CANCEL", 70))).components.iloc[0]
    assert (alone["state"], alone["end_time"]) == ("COMPLETED", 104)
    late = played(two(Preemptable("CANCEL", 55))).components.iloc[0]
    assert (late["state"], late["end_time"]) == ("TIMEOUT", 104)


@pytest.mark.parametrize(
    ("version", "state", "late"), [("23.11", "COMPLETED", "TIMEOUT"), ("24.05", "PREEMPTED", "PREEMPTED")]
)
def test_since_24_05_one_that_ends_by_itself_in_grace_is_preempted(
    version: str, state: str, late: str
) -> None:
    """Nothing of it had to be killed, so KillWait does not count: job 2 starts as its nodes are idle."""

    def fate(grace: int) -> tuple[str, int, int, str]:
        one, other, after = played(two(Preemptable("CANCEL", grace)), version=version).components.iloc
        return one["state"], one["end_time"], other["start_time"] - one["end_time"], after["state"]

    assert fate(70) == (state, 105, 0, "COMPLETED" if state == "PREEMPTED" else "PENDING")
    assert fate(55) == (late, 105, 0, "COMPLETED")
    assert fate(15) == ("PREEMPTED", 60, 4, "COMPLETED")


@pytest.mark.parametrize(
    ("version", "runs"), [("23.11", []), ("24.05", [("PREEMPTED", 105), ("COMPLETED", 280)])]
)
def test_since_24_05_it_runs_again_where_it_is_requeued(version: str, runs: list[tuple[str, int]]) -> None:
    result = played(two(Preemptable("REQUEUE", 70)), version=version)
    assert result.components["state"].iloc[0] == "COMPLETED"
    assert [*zip(result.runs["state"], result.runs["end_time"], strict=True)] == runs
    assert list(result.runs["lost_s"]) == [101, 0][: len(runs)]


def test_requeued_it_runs_to_its_end() -> None:
    result = played(two(mode="REQUEUE"))
    first = result.components.iloc[0]
    assert (first["state"], first["run_time"]) == ("COMPLETED", 100)
    assert first["start_time"] > 60
    assert result.metrics["counts"]["requeued"] == 1
    assert "preempted" not in result.metrics["counts"]


def test_many_runs_are_lost_one_after_the_other() -> None:
    """More than there is room to write down at a time: job 1 makes way for each of the others."""
    one = two(mode="REQUEUE")
    jobs = [Job(1, 4, ["low"], 3, 190, 4)]
    jobs += [Job(2 + i, 40 + 130 * i, ["high"], 3, 20, 1) for i in range(12)]
    case = Case(one.case.modules, one.case.queues, tuple(jobs), one.case.keys, begins_s=4)
    many = replace(one, case=case)
    assert played(many).metrics["counts"]["requeued"] == 12


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"version": "19.05"}, "policy.slurm.version: found 19.05 beside preemption; allowed: 22.05"),
        ({"grouped_ends": False}, "policy.slurm.grouped_ends: found False beside preemption; allowed: True"),
        ({"PreemptMode": "SUSPEND"}, "PreemptMode"),
    ],
)
def test_what_is_refused(keys: dict[str, Any], message: str) -> None:
    case = two().case
    asked = {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"} | keys
    with pytest.raises(ConfigError, match=message):
        simulate(system_of(case), workload_of(case), Policy(name="slurm", backfill="slurm", slurm=asked))


def test_off_it_is_not_there() -> None:
    case = two().case
    policy = Policy(name="slurm", backfill="slurm", slurm=case.keys | {"PreemptMode": "REQUEUE"})
    found = simulate(system_of(case), workload_of(case), policy).components
    assert found["start_time"].iloc[1] >= 104
