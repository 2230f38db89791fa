"""Slurm's schedulers on random sites: against the plain model, other policies, and themselves."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from tests.conftest import run_interpreted
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_passes import Passes
from tests.oracle.plain_slurm_records import Job
from tests.oracle.plain_slurm_space import Space
from tests.slurm.engine_cases import UNTIL_S, Case, cases, fates, plain, played, told

EXACT = {
    "sched_interval": 1,
    "batch_sched_delay": 0,
    "bf_interval": 0,
    "bf_resolution": 1,
    "bf_window": 100_000,
    "inclusive_end": False,
    "fixed_nodes": False,
    "grouped_ends": False,
    "KillWait": 0,
    "limit_check_s": 1,
}
"""A pass at every event, to the second, with none of Slurm's own rules of what fits."""


# -------------------------------------------------------------------- the plain model


@settings(max_examples=60)
@given(cases())
def test_the_engine_is_the_plain_model(case: Case) -> None:
    assert fates(played(case)) == told(case)


class Watched(Slurm):
    """Notes, for each start by the backfill scheduler, what was reserved before it in the same pass."""

    def backfill_cycle(self, now: int) -> None:
        self.reserved: list[tuple[int, int, set[int]]] = []
        super().backfill_cycle(now)

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        if by == "backfill":
            for begin, end, held in self.reserved:
                assert not nodes & held or now + 60 * job.limit < begin or end <= now
        super()._launch(job, now, nodes, by)


@settings(max_examples=60)
@given(cases())
def test_who_is_backfilled_keeps_off_the_nodes_reserved_for_those_before(case: Case) -> None:
    """By its limit, it has left them before the reservation begins. Who reserved before it in the pass
    had the higher priority, or the higher tier; with engine and model alike, this is true of both."""
    given_slurm = plain(case)
    slurm = Watched(given_slurm.c, given_slurm.jobs)

    class Noting(Space):
        def reserve(self, nodes: set[int], begin: int, end: int) -> None:
            slurm.reserved.append((begin, end, set(nodes)))
            super().reserve(nodes, begin, end)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Passes.backfill_cycle.__globals__, "Space", Noting)
        slurm.run(UNTIL_S)


# -------------------------------------------------------------------- the engine and itself


@settings(max_examples=60)
@given(cases())
def test_passes_that_are_skipped_change_nothing(case: Case) -> None:
    assert fates(played(case)) == fates(played(case, skip_idle_passes=False))


def test_the_same_without_the_compiler(tmp_path) -> None:
    collected: list[Case] = []

    @settings(max_examples=15)
    @given(cases())
    def collect(case: Case) -> None:
        collected.append(case)

    collect()
    (tmp_path / "cases").write_bytes(pickle.dumps(collected))
    code = (
        "import pickle, sys; from pathlib import Path; from tests.slurm.engine_cases import fates, played; "
        "folder = Path(sys.argv[1]); "
        "cases = pickle.loads((folder / 'cases').read_bytes()); "
        "(folder / 'fates').write_bytes(pickle.dumps([fates(played(case)) for case in cases]))"
    )
    run_interpreted(code, tmp_path)
    interpreted = pickle.loads((tmp_path / "fates").read_bytes())
    assert interpreted == [fates(played(case)) for case in collected]


# -------------------------------------------------------------------- other policies


@st.composite
def traces(draw: st.DrawFn) -> tuple[int, Workload]:
    """Nodes of a plain cluster, and jobs with limits of whole minutes, some of which run past them."""
    nodes = draw(st.integers(2, 8))
    count = draw(st.integers(2, 14))
    times = sorted(draw(st.lists(st.integers(0, 400), min_size=count, max_size=count)))

    def column(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    return nodes, Workload.from_columns(
        submit_time=times,
        nodes=column(1, nodes),
        run_time=column(1, 300),
        time_limit=[60 * minutes for minutes in column(1, 5)],
    )


@pytest.mark.parametrize(
    ("other", "more"), [("conservative", {}), ("easy", {"bf_job_part_count_reserve": 1})]
)
@settings(max_examples=60)
@given(trace=traces())
def test_with_its_own_rules_off_it_is(other: str, more: dict[str, Any], trace: tuple[int, Workload]) -> None:
    nodes, workload = trace
    policy = Policy(name="slurm", backfill="slurm", slurm=EXACT | more)
    ours = simulate(System.homogeneous(nodes), workload, policy)
    theirs = simulate(System.homogeneous(nodes), workload, other)
    assert fates(ours) == fates(theirs)


# -------------------------------------------------------------------- operations


@pytest.mark.parametrize(
    "keys", [{}, {"PriorityType": "priority/multifactor", "PriorityWeightJobSize": 1000}]
)
@settings(max_examples=40)
@given(trace=traces(), data=st.data())
def test_held_and_released_at_once_only_changes_the_place(
    keys: dict[str, Any], trace: tuple[int, Workload], data: st.DataObject
) -> None:
    """Of the last one submitted so far, not even that."""
    nodes, workload = trace
    times = list(workload["submit_time"])
    row = data.draw(st.sampled_from([i for i, time in enumerate(times) if time not in times[i + 1 :]]))
    policy = Policy(name="slurm", backfill="slurm", slurm=keys)

    def run(operate: bool) -> Any:
        sim = Simulation(System.homogeneous(nodes), deepcopy(workload), policy)

        def process() -> Any:
            yield sim.env.timeout(times[row] - sim.env.now)
            sim.hold(int(workload["component_id"][row]))
            sim.release(int(workload["component_id"][row]))

        if operate:
            sim.process(process())
        return fates(sim.run())

    assert run(operate=True) == run(operate=False)
