"""Slurm's schedulers on random sites: against the plain model, other policies, and themselves."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Policy, Simulation, System, Workload, simulate
from tests.conftest import examples, run_interpreted
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


@pytest.mark.interpreted
@examples(60)
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


@examples(60)
@given(cases())
def test_a_job_that_is_backfilled_keeps_off_the_nodes_reserved_for_those_before(case: Case) -> None:
    """By its limit, it has left them before the reservation begins. Who reserved before it in the pass
    had the higher priority, or the higher tier. The plain model is watched, pass by pass; of the engine,
    which does not tell of its passes, it is true because its starts are the model's, as above, on the
    same cases."""
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


@pytest.mark.interpreted
@examples(60)
@given(cases())
def test_what_is_there_for_speed_alone_changes_nothing(case: Case) -> None:
    assert fates(played(case)) == fates(played(case, accelerate=False))


@pytest.mark.long
def test_the_same_without_the_compiler(tmp_path) -> None:
    collected: list[Case] = []

    @examples(15)
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
def traces(draw: st.DrawFn, within: int = 400, most: int = 8) -> tuple[int, Workload]:
    """Nodes of a plain cluster, and jobs with limits of whole minutes, some of which run past them.

    ``within``: seconds of all submissions; ``most``: nodes.
    """
    nodes = draw(st.integers(2, most))
    count = draw(st.integers(2, 14))
    times = sorted(draw(st.lists(st.integers(0, within), min_size=count, max_size=count)))

    def column(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    return nodes, Workload.from_columns(
        submit_time=times,
        nodes=column(1, nodes),
        run_time=column(1, 300),
        time_limit=[60 * minutes for minutes in column(1, 5)],
    )


def test_what_starts_in_a_pass_of_counts_stands_in_its_plan() -> None:
    """At 4 job 5 takes the one node that job 4 will not need; so job 8 waits until job 5 has ended."""
    workload = Workload.from_columns(
        submit_time=[0, 0, 1, 1, 2, 2, 3, 3],
        nodes=[2, 1, 1, 5, 1, 5, 3, 1],
        run_time=[274, 202, 3, 237, 3, 65, 3, 32],
        time_limit=[120, 120, 240, 240, 240, 240, 120, 240],
    )
    policy = Policy(name="slurm", backfill="slurm", slurm=EXACT | {"bf_job_part_count_reserve": 1})
    starts = simulate(System.homogeneous(6), workload, policy).components["start_time"].tolist()
    assert starts == [0, 0, 1, 120, 4, 357, 422, 7]


@pytest.mark.parametrize(
    ("other", "more"), [("conservative", {}), ("easy", {"bf_job_part_count_reserve": 1})]
)
@examples(60)
@given(trace=traces())
def test_with_its_own_rules_off_it_is(other: str, more: dict[str, Any], trace: tuple[int, Workload]) -> None:
    nodes, workload = trace
    policy = Policy(name="slurm", backfill="slurm", slurm=EXACT | more)
    ours = simulate(System.homogeneous(nodes), workload, policy)
    theirs = simulate(System.homogeneous(nodes), workload, other)
    assert fates(ours) == fates(theirs)


# -------------------------------------------------------------------- operations

CROWDS = traces(within=20, most=3)
"""Most of the jobs wait for a while, behind others and before others."""


@pytest.mark.interpreted
@examples(60)
@given(trace=CROWDS, data=st.data())
def test_held_and_released_at_once_it_goes_to_the_end(
    trace: tuple[int, Workload], data: st.DataObject
) -> None:
    """Any job, at any moment: as if it had been cancelled, and submitted again then."""

    def anew(sim: Simulation, row: int) -> int:
        sim.cancel(row + 1)
        fields = {name: int(trace[1][name][row]) for name in ("nodes", "run_time", "time_limit")}
        return sim.submit(**fields)

    row, time = _moment(trace[1], data)
    assert _operated(trace, {}, row, time, _held_and_released) == _operated(trace, {}, row, time, anew)


@pytest.mark.interpreted
@examples(60)
@given(trace=CROWDS, data=st.data())
def test_held_and_released_at_once_it_keeps_a_priority_by_factors(
    trace: tuple[int, Workload], data: st.DataObject
) -> None:
    """Any job, at any moment: as if an operator had done something to it that means nothing."""
    keys = {"PriorityType": "priority/multifactor", "PriorityWeightJobSize": 1000}

    def nothing(sim: Simulation, row: int) -> int:
        sim.update(row + 1, time_limit=int(trace[1]["time_limit"][row]))
        return row + 1

    row, time = _moment(trace[1], data)
    assert _operated(trace, keys, row, time, _held_and_released) == _operated(trace, keys, row, time, nothing)


def _held_and_released(sim: Simulation, row: int) -> int:
    sim.hold(row + 1)
    sim.release(row + 1)
    return row + 1


def _moment(workload: Workload, data: st.DataObject) -> tuple[int, int]:
    """A row, and a moment from its submission on at which nothing is submitted."""
    times = [int(time) for time in workload["submit_time"]]
    row = data.draw(st.integers(0, len(times) - 1))
    moments = st.integers(times[row] + 1, times[row] + 200)
    return row, data.draw(moments.filter(lambda time: time not in times))


def _operated(
    trace: tuple[int, Workload],
    keys: dict[str, Any],
    row: int,
    time: int,
    operate: Callable[[Simulation, int], int],
) -> list[tuple[str, int | None]]:
    """Fates by row, that row's under the id that ``operate`` returns, if it waits at that time."""
    nodes, workload = trace
    policy = Policy(name="slurm", backfill="slurm", slurm=keys)
    sim = Simulation(System.homogeneous(nodes), deepcopy(workload), policy)
    ids = list(range(1, len(workload) + 1))

    def process() -> Any:
        yield sim.env.timeout(time - sim.env.now)
        if sim.state(row + 1) == "WAITING":
            ids[row] = operate(sim, row)

    sim.process(process())
    ended = fates(sim.run())
    return [ended[name] for name in ids]
