"""Preemption under Slurm where jobs share nodes: the engine against the plain model, cases, and results."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, simulate
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
    keys = case.keys | {"KillWait": draw(st.sampled_from([2, 30, 0]))}
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


def plain(one: Preempting) -> PreemptingSharedSlurm:
    case = one.case
    config = Config(case.partitions)
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    config.requeue_delay = one.requeue_delay_s
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
