"""Which moments bring a pass, and what Slurm sees in it: hand-computed, on one to two nodes.

Where nothing else is said, the daemon has run for an hour, so that it passes over the whole queue at 0,
60, 120, ..., and there is no backfill: starts tell of passes of the main scheduler alone.
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, Simulation, System, Workload
from tests.simulation.acting import DONE, FAILED, GONE, at
from tests.slurm.engine_cases import fates

pytestmark = pytest.mark.interpreted

MAIN_ALONE = {"bf_interval": -1}
HIGHEST = 4294901759  # of the first submission under priority/basic
LATE, LIMIT = "TIMEOUT", 600

Run = dict[int, tuple[str, int | None]]


def simulation(*jobs: dict[str, Any], nodes: int = 2, **keys: Any) -> Simulation:
    """Jobs 1, 2, ... of one node, 100 s and a limit of 10 min, submitted at 0, but for what is given."""
    given = {"nodes": 1, "submit_time": 0, "run_time": 100, "time_limit": LIMIT, "user": "u", "name": ""}
    names = given.keys() | {name for job in jobs for name in job}
    texts = {"dependency_kinds", "dependency_ids"}
    columns = {
        name: [job.get(name, given.get(name, "" if name in texts else 0)) for job in jobs] for name in names
    }
    if "begin_time" in columns:
        columns["begin_time"] = [job.get("begin_time", -1) for job in jobs]
    policy = Policy(name="slurm", backfill="slurm", slurm=MAIN_ALONE | keys)
    return Simulation(System.homogeneous(nodes), Workload.from_columns(**columns), policy)


def run(*jobs: dict[str, Any], nodes: int = 2, **keys: Any) -> Run:
    return fates(simulation(*jobs, nodes=nodes, **keys).run())


def starts(*jobs: dict[str, Any], nodes: int = 2, **keys: Any) -> list[int | None]:
    return [start for _, start in run(*jobs, nodes=nodes, **keys).values()]


def after(*ids: int, kind: str = "AFTER", anyway: int = 0, **more: Any) -> dict[str, Any]:
    """What waits for other jobs, in one way or in several."""
    kinds = kind if "," in kind else ",".join([kind] * len(ids))
    listed = ",".join(map(str, ids))
    return more | {"dependency_kinds": kinds, "dependency_ids": listed, "dependency_any": anyway}


# -------------------------------------------------------------------- what asks for no pass


@pytest.mark.parametrize(("begin", "start"), [(40, 60), (60, 60), (61, 120)])
def test_a_begin_time_is_seen_by_the_next_pass_that_something_else_brings(begin: int, start: int) -> None:
    assert starts({"begin_time": begin}) == [start]


def test_a_submission_brings_that_pass() -> None:
    assert starts({"begin_time": 40}, {"submit_time": 45}) == [45, 45]


def test_backfill_sees_it_while_it_still_looks() -> None:
    """The submission, noted in the second of the pass at 0, brings another at 30; then nothing changes."""
    assert starts({"begin_time": 20}, bf_interval=30) == [30]
    assert starts({"begin_time": 31}, bf_interval=30) == [60]


def test_a_job_that_waits_for_a_start_does_not_start_in_the_same_pass() -> None:
    assert starts({}, after(1)) == [0, 60]
    assert starts({}, after(1), batch_sched_delay=0) == [0, 60]


def test_backfill_looks_behind_the_main_scheduler_and_sees_what_waited_for_its_start() -> None:
    assert starts({}, after(1), bf_interval=30) == [0, 0]


def test_minutes_after_a_start_ask_for_nothing() -> None:
    """It starts at 10, a minute later is 70."""
    late = {"submit_time": 10, "run_time": 300}
    assert starts({"run_time": 1}, late, after(2, kind="AFTER+1", submit_time=10)) == [0, 10, 120]


def test_to_slurm_a_job_cancelled_while_it_waits_started_then() -> None:
    sim = simulation({}, {"submit_time": 5}, after(2, kind="AFTER+1", submit_time=5), nodes=1)
    at(sim, 10, lambda: sim.cancel(2))
    assert fates(sim.run()) == {1: (DONE, 0), 2: (GONE, None), 3: (DONE, 100)}
    sim = simulation({}, {"submit_time": 5}, after(2, kind="AFTER+2", submit_time=5), nodes=1)
    at(sim, 10, lambda: sim.cancel(2))
    assert fates(sim.run())[3] == (DONE, 180)  # 130 has passed, and nothing else happens


def test_a_kill_asks_for_nothing_until_the_nodes_are_back() -> None:
    """Killed at the look at 126, and gone at 127, when the other comes: nothing has asked since 78."""
    overrun = {"run_time": 182, "time_limit": 120}
    keys = {"limit_check_s": 7, "starts_before_s": 42, "KillWait": 0, "killed_epilog_s": 1}
    assert run(overrun, {"submit_time": 127}, nodes=1, **keys) == {1: (LATE, 0), 2: (DONE, 127)}


def test_timers_count_from_the_start_of_the_daemon_and_have_not_run_out_then() -> None:
    """The main scheduler's delay, its interval, and backfill's."""
    assert starts({}, starts_before_s=0) == [3]
    assert starts({}, starts_before_s=0, batch_sched_delay=100) == [60]
    assert starts({}, starts_before_s=0, batch_sched_delay=100, bf_interval=30) == [30]
    assert starts({}, starts_before_s=0, batch_sched_delay=0) == [1]


def test_an_asked_pass_is_made_with_the_full_one_if_that_comes_first() -> None:
    """Ended at 58, with nobody waiting: the pass is that of 60, and the next can be at 64, not at 66."""
    assert starts({"run_time": 58}, {"submit_time": 64}, batch_sched_delay=4, starts_before_s=60) == [0, 64]
    assert starts({"run_time": 58}, {"submit_time": 63}, batch_sched_delay=4, starts_before_s=60) == [0, 64]


def test_computed_priorities_are_a_change_also_if_nobody_is_eligible() -> None:
    """Backfill looks at 0 and 5; eligible at 40, seen when the priorities of 45 have been noted."""
    keys = {"bf_interval": 5, "sched_interval": 600}
    by_factors = {"PriorityType": "priority/multifactor", "PriorityCalcPeriod": 45}
    assert starts({"begin_time": 40}, **keys) == [600]
    assert starts({"begin_time": 40}, **keys, **by_factors) == [45]


# -------------------------------------------------------------------- dependencies and what else holds


def test_a_second_alternative_lifts_nothing_else() -> None:
    both = after(1, 2, kind="AFTERNOTOK", anyway=1)
    failing = {"run_time": 10, "exit_code": 1}
    assert run(failing, failing, both | {"hold": 1})[3] == ("PENDING", None)
    assert run(failing, failing, both | {"begin_time": 200})[3] == (DONE, 240)


def test_a_singleton_is_one_of_the_alternatives() -> None:
    """It need not wait for the first of its name, which runs to 400, once the other has ended."""
    jobs = {"name": "x", "run_time": 400}, {"name": "y", "run_time": 10}
    either = after(2, kind="SINGLETON,AFTERANY", anyway=1, name="x")
    assert starts(*jobs, either) == [0, 0, 10]
    assert starts(*jobs, either | {"dependency_any": 0}) == [0, 0, 400]
    alone = after(2, kind="SINGLETON,AFTERNOTOK", anyway=1, name="x")
    assert starts(*jobs, alone, kill_invalid_depend=True) == [0, 0, 400]


def test_an_unknown_job_meets_all_alternatives() -> None:
    """A job that comes later is not known yet at the submission."""
    assert starts({}, after(1, 3, kind="AFTERANY", anyway=1), {"submit_time": 50}) == [0, 0, 100]


def test_nothing_is_tested_of_a_singleton_that_is_held() -> None:
    """Released at 50, it finds one of its name running, from 5 to 105."""
    held = {"name": "x", "hold": 1, "dependency_kinds": "SINGLETON"}
    sim = simulation(held, {"name": "x", "submit_time": 5})
    at(sim, 50, lambda: sim.release(1))
    assert fates(sim.run()) == {1: (DONE, 105), 2: (DONE, 5)}


def test_nothing_is_tested_of_a_job_that_is_held_also_if_it_could_be_killed() -> None:
    jobs = {"run_time": 10, "exit_code": 1}, after(1, kind="AFTEROK", hold=1)
    assert run(*jobs, kill_invalid_depend=True) == {1: (FAILED, 0), 2: ("PENDING", None)}
    sim = simulation(*jobs, kill_invalid_depend=True)
    at(sim, 50, lambda: sim.release(2))
    result = sim.run()
    assert fates(result) == {1: (FAILED, 0), 2: (GONE, None)}
    assert list(result.components["end_time"]) == [10, 50]


def test_two_dependencies_that_failed_before_its_submission_cancel_it_too() -> None:
    failing = {"run_time": 10, "exit_code": 1}
    late = after(1, 2, kind="AFTEROK", submit_time=50)
    assert run(failing, failing, late, kill_invalid_depend=True)[3] == (GONE, None)


def test_what_has_failed_its_dependents_has_failed_them_for_good() -> None:
    """Cancelled as it runs, its second run ends well: that meets no dependency tested before."""
    sim = simulation({"run_time": 30}, after(1, kind="AFTEROK"), after(1, kind="AFTEROK", submit_time=90))
    at(sim, 10, lambda: sim.cancel(1))
    at(sim, 80, lambda: sim.requeue(1))
    assert fates(sim.run()) == {1: (DONE, 240), 2: ("PENDING", None), 3: (DONE, 270)}


# -------------------------------------------------------------------- sched/builtin and priority/basic


def test_the_list_of_jobs_is_walked_in_order_of_submission_whatever_nice_says() -> None:
    jobs = {"run_time": 50}, {"submit_time": 10, "nice": 100}, {"submit_time": 20}
    assert starts(*jobs, nodes=1, SchedulerType="sched/builtin") == [0, 50, 150]
    assert starts(*jobs, nodes=1) == [0, 150, 50]


def test_a_release_moves_nobody_in_the_list() -> None:
    jobs = {"run_time": 50}, {"submit_time": 10, "hold": 1}, {"submit_time": 20}
    for scheduler, expected in (("sched/builtin", [0, 50, 150]), ("sched/backfill", [0, 150, 50])):
        sim = simulation(*jobs, nodes=1, SchedulerType=scheduler)
        at(sim, 30, lambda sim=sim: sim.release(2))
        assert [start for _, start in fates(sim.run()).values()] == expected


def test_each_is_tested_at_its_turn_in_the_list() -> None:
    """Who waits for the start of one before it starts with it, and before those behind."""
    assert starts({}, after(1), {}, SchedulerType="sched/builtin") == [0, 0, 100]
    assert starts({}, after(1), {}) == [0, 100, 0]


def test_with_two_tiers_there_is_no_list() -> None:
    site = {
        "modules": [{"name": "m", "nodes": 1}],
        "partitions": [
            {"name": "p", "module": "m", "priority": 1, "default": True},
            {"name": "q", "module": "m", "priority": 2},
        ],
    }
    workload = Workload.from_columns(
        nodes=[1, 1, 1],
        submit_time=[0, 10, 20],
        run_time=[50, 100, 100],
        time_limit=[LIMIT] * 3,
        nice=[0, 100, 0],
    )
    policy = Policy(name="slurm", backfill="slurm", slurm={"SchedulerType": "sched/builtin"})
    result = Simulation(System.from_dict(site), workload, policy).run()
    assert list(result.components["start_time"]) == [0, 150, 50]


@pytest.mark.parametrize(("least", "start"), [(HIGHEST - 1, 200), (HIGHEST, 0)])
def test_priorities_of_32_bits_can_be_the_least_that_blocks(least: int, start: int) -> None:
    """The second has one less than the first; if that is too low, it keeps the third from nothing."""
    jobs = {}, {"nodes": 2}, {}
    assert starts(*jobs, bf_min_prio_reserve=least)[2] == start


# -------------------------------------------------------------------- states


def test_one_that_fails_past_its_limit_before_a_look_has_failed() -> None:
    """Looks are at 110 and 140."""
    past = {"run_time": 128, "time_limit": 120}
    assert run(past | {"exit_code": 1}, past, starts_before_s=3610) == {1: (FAILED, 0), 2: (LATE, 0)}


# -------------------------------------------------------------------- the window


@pytest.mark.parametrize(
    "later", [later if later % 7 == 0 else pytest.param(later, marks=pytest.mark.long) for later in range(30)]
)
def test_a_reservation_from_the_end_of_the_window_on_comes_into_the_plan(later: int) -> None:
    """The third's is at 1800, ten minutes ahead from 1200 on; then the fourth, planned for 1500 before, is
    no more in the way of the fifth. Nothing else changes then: a plan from before does not stand.
    """
    jobs = [
        {"submit_time": later + submit, "nodes": nodes, "run_time": limit, "time_limit": limit}
        for submit, nodes, limit in [(0, 1, 1800), (0, 1, 1500), (10, 3, 600), (20, 2, 900), (1100, 1, 540)]
    ]
    keys = {"nodes": 3, "bf_interval": 30, "bf_window": 10, "bf_resolution": 1}
    found = starts(*jobs, **keys)
    assert 1200 < found[4] - later <= 1260
    assert found == starts(*jobs, **keys, accelerate=False)
