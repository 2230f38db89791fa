"""Heterogeneous jobs where nodes are shared: components beside other jobs, never beside one another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import TraceError
from tests.conftest import examples
from tests.slurm import shared_cases
from tests.slurm.shared_cases import SharedCase, fates, played, possible, told
from tests.slurm.test_shared_properties import ROWS, expanded
from tests.slurm.test_shared_reservations import Reserved, reserved_cases
from tests.slurm.test_shared_reservations import compare as compare_beside
from tests.slurm.test_shared_reservations import told as reserved_told

pytestmark = pytest.mark.interpreted

LIMIT_MIN = 4


@st.composite
def families(draw: st.DrawFn, cases: st.SearchStrategy[SharedCase]) -> SharedCase:
    """Sites with shared nodes, where one to three jobs in turn are components of one, in a partition each."""
    case = draw(cases)
    jobs, at = [], 0
    while at < len(case.jobs):
        family = case.jobs[at : at + draw(st.sampled_from([1, 1, 2, 2, 3]))]
        head, at = family[0], at + len(family)
        several = {"het": head.id, "limit": LIMIT_MIN, "user": head.user, "reservation": head.reservation}
        for job in family:
            if len(family) > 1:
                job = replace(job, partitions=job.partitions[:1], **several)
            jobs.append(replace(job, submit=head.submit))
    return _with_whole_jobs(replace(case, jobs=jobs))


def _with_whole_jobs(case: SharedCase) -> SharedCase:
    """Without the jobs that are rejected: some component never fits, or all have too few nodes together."""
    kept, jobs = {job.id for job in possible(case).jobs}, []
    least = {job.id: job.nodes for job in shared_cases.plain(case).jobs}
    for job in case.jobs:
        family = [other.id for other in case.jobs if job.het and other.het == job.het] or [job.id]
        if kept.issuperset(family) and sum(least[one] for one in family) <= len(case.nodes):
            jobs.append(job)
    return replace(case, jobs=jobs)


def het_cases(**kinds: object) -> st.SearchStrategy[SharedCase]:
    return families(shared_cases.shared_cases(**kinds))


def compare(case: SharedCase) -> None:
    """The engine is the plain model, with and without what is there for speed alone."""
    if case.jobs:
        ours = fates(played(case))
        assert ours == fates(played(case, accelerate=False))
        assert {i: expanded(fate) for i, fate in ours.items()} == told(case)


@examples(60)
@given(het_cases())
def test_the_engine_is_the_plain_model(case: SharedCase) -> None:
    compare(case)


@examples(60)
@given(het_cases(most=25, of=shared_cases.EQUAL_NODES, ask=shared_cases.RIGID_ASKS))
def test_so_many_able_nodes_are_those_of_the_plain_model(case: SharedCase) -> None:
    compare(case)


@examples(30)
@given(het_cases(most=16, of_main=ROWS, sharing=("NO", "EXCLUSIVE", *ROWS), crowded=True))
def test_where_cores_are_shared_it_is_the_plain_model(case: SharedCase) -> None:
    compare(case)


# -- beside advance reservations


@st.composite
def reserved_het_cases(draw: st.DrawFn, **kinds: object) -> Reserved:
    """None of the reservations draws jobs: that is refused."""
    one = draw(reserved_cases(**kinds))
    assume(not any("MAGNETIC" in made.flags for made in one.made))
    return one._replace(case=draw(families(st.just(one.case))))


def compare_reserved(one: Reserved) -> None:
    """Not where some component alone is refused its reservation: Slurm refuses the job."""
    assume(one.case.jobs)
    refused = {i for i, fate in reserved_told(one)[0].items() if fate[0] == "REJECTED"}
    assume(not any(job.het for job in one.case.jobs if job.id in refused))
    compare_beside(one)


@examples(60)
@given(reserved_het_cases())
def test_beside_reservations_it_is_the_plain_model(one: Reserved) -> None:
    compare_reserved(one)


@examples(60)
@given(reserved_het_cases(of=shared_cases.EQUAL_NODES, ask=shared_cases.RIGID_ASKS, most=25))
def test_so_many_able_nodes_beside_reservations_are_those_of_the_plain_model(one: Reserved) -> None:
    compare_reserved(one)


# -- by hand

SITE = {"modules": [{"name": "A", "nodes": 3, "cores_per_node": 4, "shared": True}]}
SLURM = Policy(
    name="slurm",
    backfill="slurm",
    slurm={"bf_interval": 5, "bf_resolution": 1, "SelectTypeParameters": ["CR_CORE"]},
)


def by_hand(**columns: list[int]) -> Result:
    rows = len(columns["submit_time"])
    ids = {"component_id": list(range(1, rows + 1)), "partition": rows * ["A"], "nodes": rows * [1]}
    result = simulate(System.from_dict(SITE), Workload.from_columns(**ids | columns), SLURM)
    result.check()
    return result


def test_components_share_nodes_with_others_but_not_with_one_another() -> None:
    """Job 1 has half of node 0. Backfill looks at 5: the first component of job 2 fills node 0, the second
    would fit beside it in no case, and gets half of node 2, where job 4 has begun a core's work in this pass.
    """
    result = by_hand(
        modular_job_id=[1, 2, 2, 4],
        submit_time=[0, 1, 1, 2],
        cores=[2, 2, 2, 1],
        run_time=[100, 50, 60, 30],
        time_limit=[120, 120, 120, 60],
    ).components
    assert result["start_time"].tolist() == [0, 5, 5, 5]
    assert result["end_time"].tolist() == [100, 55, 55, 35]  # both with the script of the first
    assert result["node_list"].tolist() == ["0", "0", "2", "2"]


def test_no_node_for_a_component_is_none_for_its_job() -> None:
    """Four components need four nodes, though two cores of each of the three would do for all."""
    result = by_hand(
        modular_job_id=[1, 1, 1, 1],
        submit_time=[0, 0, 0, 0],
        cores=[1, 1, 1, 1],
        run_time=[10, 10, 10, 10],
        time_limit=[60, 60, 60, 60],
    ).components
    assert result["state"].tolist() == 4 * ["REJECTED"]
    assert result["start_time"].tolist() == 4 * [-1]


def test_a_delay_between_components_is_refused_with_the_way_out() -> None:
    with pytest.raises(TraceError, match="start later than others of their job; allowed here: no delay, or"):
        by_hand(
            modular_job_id=[1, 1],
            submit_time=[0, 0],
            delay=[0, 30],
            cores=[1, 1],
            run_time=[10, 10],
            time_limit=[60, 60],
        )


def test_the_timeline_has_every_change_of_cores_beside_calls() -> None:
    """At 25 one core less is in use: the numbers of nodes and of waiting jobs are as before."""
    result = by_hand(
        modular_job_id=[1, 2],
        submit_time=[0, 0],
        api_calls=["20", ""],
        cores=[1, 1],
        run_time=[100, 25],
        time_limit=[120, 60],
    )
    module = result.timeline[result.timeline["module"] == "A"]
    assert module[["time", "cores_busy"]].values.tolist() == [[0, 2], [25, 1], [100, 0]]
