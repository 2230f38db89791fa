"""Preemption under Slurm where jobs share nodes: the engine against the plain model, cases, and results."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import ConfigError
from tests.conftest import examples
from tests.oracle.plain_cons_tres_records import SharedPartition
from tests.oracle.plain_preemption_records import PREEMPTED, Preemptable, PreemptQos, PreemptRules
from tests.oracle.plain_preemption_shared import PreemptingSharedSlurm, SharedRun
from tests.oracle.plain_slurm_records import Config
from tests.slurm.engine_cases import configure
from tests.slurm.shared_cases import (
    ALIKE_NODES,
    ANY_ASKS,
    EQUAL_NODES,
    MIXED_NODES,
    NODES,
    RIGID_ASKS,
    TYPED_ASKS,
    SharedCase,
    fates,
    fates_told,
    possible,
    shared_cases,
    workload_of,
)
from tests.slurm.test_preemption import GRACES, MODES, QOS, RULES, UNTIL_S, keys_of, said_of
from tests.slurm.test_shared_properties import expanded
from tests.slurm_oracle.shared_engine import settings_of, system_of

pytestmark = pytest.mark.interpreted

MODULE = "m"


@dataclass(frozen=True)
class Preempting:
    case: SharedCase
    rules: dict[str, Any]
    requeue_delay_s: int
    groups: dict[str, Preemptable]  # partitions
    qos: dict[str, PreemptQos] | None = None  # by which it goes, if not by partitions

    @property
    def system(self) -> System:
        """The case's, with what its partitions say of preemption."""
        system = system_of(self.case.nodes, self.case.partitions)
        partitions = [
            replace(one, slurm={**one.slurm, **said_of(self.groups.get(one.name))})
            for one in system.partitions
        ]
        return replace(system, partitions=tuple(partitions))


@st.composite
def preempting(draw: st.DrawFn, of: st.SearchStrategy, ask: st.SearchStrategy, most: int = 14) -> Preempting:
    """A shared site with a third partition over all nodes, of whatever tier, and jobs of any of them."""
    case = draw(shared_cases(of=of, ask=ask, most=most, crowded=draw(st.booleans())))
    tiers = draw(st.sampled_from([(1, 2, 3), (1, 2, 2), (2, 1, 3), (1, 1, 2)]))
    urgent = SharedPartition(list(range(len(case.nodes))), name="urgent", place=2)
    parts = [*case.partitions.values(), urgent]
    partitions = {one.name: replace(one, tier=tier) for one, tier in zip(parts, tiers, strict=True)}
    jobs = [
        replace(
            job,
            **draw(st.sampled_from([{}, {}, {"partitions": ["urgent"], "submit": job.submit + 30}])),
            requeue=draw(st.sampled_from([True, True, True, False])),
            qos=draw(st.sampled_from(list(QOS))),
        )
        for job in case.jobs
    ]
    keys = case.keys | {"KillWait": draw(st.sampled_from([2, 30, 0])), "script_alone": draw(st.booleans())}
    rules = {name: draw(st.sampled_from(values)) for name, (_, values) in RULES.items()}
    groups = {name: Preemptable(draw(MODES), draw(GRACES)) for name in partitions}
    jobs = [replace(job, id=i) for i, job in enumerate(sorted(jobs, key=lambda job: job.submit), 1)]
    case = replace(case, partitions=partitions, jobs=jobs, keys=keys)
    return Preempting(case, rules, draw(st.sampled_from([30, 121])), groups)


@st.composite
def by_qos(draw: st.DrawFn, one: st.SearchStrategy[Preempting]) -> Preempting:
    """Each QOS may say itself what becomes of its jobs."""
    modes, times = st.sampled_from(["", "REQUEUE", "CANCEL"]), st.sampled_from([None, None, 40])
    qos = {
        name: replace(its, mode=draw(modes), exempt=draw(times), grace=draw(GRACES))
        for name, its in QOS.items()
    }
    return replace(draw(one), qos=qos)


def played(one: Preempting, columns: dict[str, Any] | None = None, **more: Any) -> Result:
    case = one.case
    keys = {RULES[name][0]: value for name, value in one.rules.items()}
    keys |= {"PreemptType": "preempt/partition_prio", "requeue_delay_s": one.requeue_delay_s}
    said: dict[str, Any] = {"requeue": [int(job.requeue) for job in case.jobs]}
    if one.qos is not None:
        keys |= {"PreemptType": "preempt/qos", "qos": {name: keys_of(its) for name, its in one.qos.items()}}
        said["qos"] = [job.qos for job in case.jobs]
    given_keys = {"starts_before_s": case.begins_s} | case.keys | settings_of(case.settings) | keys | more
    workload = workload_of(case.jobs, **said | (columns or {}))
    result = simulate(one.system, workload, Policy(name="slurm", backfill="slurm", slurm=given_keys))
    result.check()
    return result


def config_of(one: Preempting) -> Config:
    case = one.case
    config = Config(case.partitions)
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    config.requeue_delay = one.requeue_delay_s
    return config


def plain(one: Preempting) -> PreemptingSharedSlurm:
    case, config = one.case, config_of(one)
    by = {} if one.qos is None else {"kind": "preempt/qos", "qos": deepcopy(one.qos)}
    rules = PreemptRules(partitions=one.groups, **one.rules | by)
    jobs = deepcopy(case.jobs)
    slurm = PreemptingSharedSlurm(config, jobs, [], rules, nodes=case.nodes, settings=case.settings)
    slurm.run(UNTIL_S)
    return slurm


def compare(one: Preempting) -> None:
    """Play a case in both: every start with its shares, every state, and every run that was lost."""
    one = replace(one, case=possible(one.case))
    assume(one.case.jobs)
    slurm, result = plain(one), played(one)
    ours = {i: expanded(fate) for i, fate in fates(result).items()}
    assert ours == fates_told(slurm)
    assert lost_runs(result) == sorted(run for run in slurm.runs if run.why == PREEMPTED)


def lost_runs(result: Result) -> list[SharedRun]:
    """Those that were preempted."""
    if result.runs is None:
        return []
    names = ("component_id", "start_time", "end_time", "nodes", "cores", "state")
    rows = result.runs[list(names)].itertuples(index=False)
    found = sorted(SharedRun(*map(int, numbers), str(state)) for *numbers, state in rows)
    return [run for run in found if run.why == PREEMPTED]


@given(preempting(NODES, ANY_ASKS))
@examples(200)
def test_the_engine_is_the_plain_model(one: Preempting) -> None:
    compare(one)


@given(by_qos(preempting(NODES, ANY_ASKS)))
@examples(60)
def test_by_qos_it_is_the_plain_model_too(one: Preempting) -> None:
    compare(one)


@given(preempting(MIXED_NODES, TYPED_ASKS))
@examples(60)
def test_gpus_of_several_types(one: Preempting) -> None:
    compare(one)


@pytest.mark.parametrize("of", [EQUAL_NODES, ALIKE_NODES], ids=["weights", "alike"])
@given(st.data())
@examples(60)
def test_jobs_that_any_so_many_able_nodes_meet(of: st.SearchStrategy, data: st.DataObject) -> None:
    one = data.draw(preempting(of, RIGID_ASKS, 25))
    compare(one)


# -- worked out by hand: job 9 is the urgent one


def site(*sets: dict[str, Any], **of_low: Any) -> System:
    """Node sets of one module; a partition of tier 2 above one of tier 1, both over all nodes."""
    named = [{"name": f"s{i}", "nodes": 1} | one for i, one in enumerate(sets)]
    module = {
        "name": MODULE,
        "nodes": sum(one["nodes"] for one in named),
        "shared": True,
        "node_sets": named,
    }
    partitions = [{"name": "low", "module": MODULE, "priority": 1, "slurm": of_low}]
    return System.from_dict(
        {"modules": [module], "partitions": [*partitions, {"name": "high", "module": MODULE, "priority": 2}]}
    )


def run(
    where: System,
    rows: list[dict[str, Any]],
    models: dict[str, Any] | None = None,
    columns: dict[str, Any] | None = None,
    **keys: Any,
) -> Result:
    """Play the rows: for 300 s each on one node with one core, the last one urgent, 60 s after the others."""
    usual = {"nodes": 1, "cores": 1, "gpus": 0, "run_time": 300, "submit_time": 0, "partition": "low"}
    urgent = {"component_id": 9, "submit_time": 60, "run_time": 20, "partition": "high"}
    jobs = [usual | {"component_id": i} | row for i, row in enumerate(rows[:-1], 1)]
    jobs.append(usual | urgent | rows[-1])
    given_columns = {name: [job[name] for job in jobs] for name in jobs[0]}
    given_keys = {"PreemptType": "preempt/partition_prio", "PreemptMode": "CANCEL", "KillWait": 2} | keys
    result = simulate(
        where,
        Workload.from_columns(**given_columns, **(columns or {})),
        Policy(name="slurm", backfill="slurm", slurm=given_keys),
        models=models,
    )
    result.check()
    return result


def victims(result: Result) -> set[int]:
    runs = result.runs
    return set() if runs is None else set(runs["component_id"][runs["state"] == PREEMPTED].tolist())


def waited(result: Result) -> int:
    """How long the urgent job did."""
    last = result.components.iloc[-1]
    return int(last["start_time"] - last["submit_time"])


def test_for_gpus_the_job_that_has_them_goes_though_it_is_tried_last() -> None:
    """All three are on one node; 1 and 2 give cores, of which there are enough."""
    node = site({"cores_per_node": 8, "gpus_per_node": 2})
    found = run(node, [{}, {}, {"gpus": 2}, {"gpus": 1}])
    assert victims(found) == {3}
    assert waited(found) < 10


def test_for_one_core_the_job_with_fewest_nodes_goes() -> None:
    nodes = site({"nodes": 3, "cores_per_node": 4})
    assert victims(run(nodes, [{"nodes": 2, "cores": 4}, {"cores": 4}, {}])) == {2}


def test_who_has_nothing_of_the_nodes_chosen_survives() -> None:
    """1 is thought away first, and the urgent job does not fit where it is."""
    nodes = site({"cores_per_node": 4}, {"cores_per_node": 8})
    found = run(nodes, [{"cores": 4}, {"cores": 8}, {"cores": 6}])
    assert victims(found) == {2}


def test_nobody_goes_where_there_is_room_beside_them_or_would_not_be_without() -> None:
    node = site({"cores_per_node": 4})
    assert victims(run(node, [{"cores": 3}, {}])) == set()
    above = {"cores": 3, "partition": "high"}
    assert victims(run(node, [above, {}, {"cores": 2}])) == set()


def test_for_memory_it_is_the_same() -> None:
    nodes = site({"cores_per_node": 8, "memory_gb": 16})
    gb = 1 << 20
    found = run(nodes, [{}, {}, {}], columns={"memory_kb": [2 * gb, 12 * gb, 8 * gb]})
    assert victims(found) == {2}


def test_a_node_where_a_victim_completes_starts_nothing() -> None:
    """KillWait lasts 30 s: of job 2's node half is free all the while, for which job 3 waits from 70 on."""
    jobs = [{"cores": 8}, {"cores": 4}, {"submit_time": 70, "cores": 4, "run_time": 5}, {"cores": 4}]
    found = run(site({"cores_per_node": 8}, {"cores_per_node": 8}), jobs, KillWait=30)
    assert victims(found) == set()  # the other half of node 1
    jobs[1], jobs[3] = {"cores": 8}, {"cores": 4}
    found = run(site({"cores_per_node": 8}, {"cores_per_node": 8}), jobs, KillWait=30)
    assert victims(found) == {1}
    assert found.components["start_time"].iloc[2] >= 60 + 30


def test_nor_does_a_node_of_another_partition_in_the_pass_that_ends_its_job() -> None:
    """Job 1 has nodes 1 and 2; the urgent one may use 2 alone, and job 2, tried next, would fit on node 1."""
    named = [{"name": f"s{i}", "nodes": 1, "cores_per_node": 8} for i in (1, 2)]
    module = {"name": MODULE, "nodes": 2, "shared": True, "node_sets": named}
    high = {"name": "high", "module": MODULE, "priority": 2, "node_sets": ["s2"]}
    parts = [{"name": "low", "module": MODULE, "priority": 1}, high]
    jobs = [{"nodes": 2, "cores": 8}, {"submit_time": 60, "cores": 8}, {"cores": 8}]
    found = run(System.from_dict({"modules": [module], "partitions": parts}), jobs, KillWait=30)
    assert victims(found) == {1}
    assert found.components["start_time"].iloc[1] >= 60 + 30


def test_in_grace_a_share_is_planned_to_be_free_by_its_end() -> None:
    """Without GraceTime job 1 would be planned to end at 300; the urgent job starts once it is over."""
    node = site({"cores_per_node": 8}, GraceTime=40)
    found = run(node, [{"cores": 8}, {}], limit_check_s=1)
    assert victims(found) == {1}
    assert 100 <= found.components["end_time"].iloc[0] <= 110
    assert waited(found) < 60


def test_what_is_lost_counts_by_its_part_of_the_nodes() -> None:
    """A quarter of a node of 8 cores, 40 W typical and 10 W idle; the run again is as long as the first."""
    watts = {"idle_w": 10, "typical_w": 40, "peak_w": 50, "reference_khz": 1, "pstates_khz": [1]}
    models = {"energy": {"power": {"modules": [{"name": MODULE, **watts}]}}}
    jobs = [{"cores": 2}, {"cores": 8, "run_time": 30}]
    found = run(site({"cores_per_node": 8}), jobs, models, PreemptMode="REQUEUE")
    assert found.runs is not None
    first, again = found.runs.iloc[0], found.runs.iloc[1]
    assert (first["cores"], first["parts"], first["state"]) == (2, 250_000, PREEMPTED)
    assert first["node_seconds_lost"] == first["lost_s"] / 4 > 10
    assert first["power_w"] == again["power_w"] == 40 / 4
    assert first["energy_lost_j"] == 10 * first["lost_s"]
    assert found.metrics["lost"]["node_seconds"][MODULE] == first["node_seconds_lost"]


@pytest.mark.parametrize(("of_low", "safe"), [({}, False), ({"PreemptMode": "OFF"}, True)])
def test_a_partition_may_be_off(of_low: dict[str, Any], safe: bool) -> None:
    found = run(site({"cores_per_node": 8}, **of_low), [{"cores": 8}, {}])
    assert victims(found) == (set() if safe else {1})
    assert (waited(found) > 200) == safe


def test_nobody_goes_for_one_that_a_limit_holds() -> None:
    """Its QOS has one job at a time, or so many cores."""
    node = site({"cores_per_node": 8})
    for limit in ({"GrpJobs": 1}, {"GrpTRES": {"cpu": 5}}):
        qos = {"normal": 0, "held": limit}
        jobs = [{"cores": 4, "partition": "high"}, {"cores": 4}, {"cores": 2}]
        columns = {"qos": ["held", "normal", "held"]}
        keys = {"qos": qos, "AccountingStorageEnforce": "limits"}
        assert victims(run(node, jobs, columns=columns, **keys)) == set()
        columns = {"qos": ["held", "normal", "normal"]}
        assert victims(run(node, jobs, columns=columns, **keys)) == {2}


@pytest.mark.parametrize(
    ("sharing", "keys", "words"),
    [
        ("FORCE:2", {}, "found CANCEL where several jobs have a core at once .OverSubscribe of a partition"),
        ("NO", {"PreemptMode": "SUSPEND"}, "PreemptMode"),
    ],
)
def test_what_is_refused(sharing: str, keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        run(site({"cores_per_node": 4}, OverSubscribe=sharing), [{}, {}], **keys)


@given(preempting(EQUAL_NODES, RIGID_ASKS, 25))
@examples(40)
def test_what_is_left_out_for_speed_makes_no_difference(one: Preempting) -> None:
    fast, slow = played(one), played(one, accelerate=False)
    pd.testing.assert_frame_equal(fast.components, slow.components)
