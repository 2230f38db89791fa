"""Heterogeneous jobs under policy slurm, by hand: modules A and B of 2 nodes each, backfill every 10 s."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler_sim import Policy, Simulation
from scheduler_sim.result.result import Result
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import FIRST_PRIORITY, Config, Partition
from tests.oracle.plain_slurm_records import Job as PlainJob
from tests.scheduling.unit_cases import components, operated, two_modules

pytestmark = pytest.mark.interpreted

UNREACHED = FIRST_PRIORITY + 1
KEYS = {"bf_interval": 10, "batch_sched_delay": 1, "KillWait": 0, "bf_resolution": 1, "limit_check_s": 1}


def simulation(
    jobs: list[tuple[int, int, str, int, int, int]], keys: dict[str, Any] | None = None, **columns: Any
) -> Simulation:
    """Jobs: (job, submit, module, nodes, run, limit in minutes)."""
    policy = Policy.resolve({"backfill": "slurm", "slurm": KEYS | (keys or {})})
    return Simulation(two_modules(), components(jobs, **columns), policy)


def told(result: Result, *names: str) -> list[list[Any]]:
    result.check()
    return [result.components[name].tolist() for name in names]


def test_backfill_alone_starts_it_and_it_blocks_its_partition_for_the_main_scheduler() -> None:
    """
    A  ...........UUU     job 2 is U and V, submitted at 2 after a pass of backfill: they wait for the next
    B  XX.........VVV
    W (A, 1 node, submitted at 3) fits beside U; alone it starts at once, behind job 2 it waits as well
    """
    first, job = (1, 0, "B", 1, 2, 1), [(2, 2, "A", 1, 30, 1), (2, 2, "B", 1, 30, 1)]
    ((_, alone),) = told(simulation([first, (3, 3, "A", 1, 5, 1)]).run(), "start_time")
    (starts,) = told(simulation([first, *job, (3, 3, "A", 1, 5, 1)]).run(), "start_time")
    assert starts[1] == starts[2] > 5
    assert alone < 5 < starts[3]


def test_components_wait_for_each_other() -> None:
    """Job 1 holds B until 40, so that U of job 2 waits, too, though A is idle: it holds A in the plan."""
    jobs = [(1, 0, "B", 2, 40, 1), (2, 1, "A", 1, 20, 1), (2, 1, "B", 1, 20, 1), (3, 2, "A", 2, 5, 1)]
    starts, ends = told(simulation(jobs).run(), "start_time", "end_time")
    assert starts[1] == starts[2] >= 40
    assert starts[3] >= ends[1]


@pytest.mark.parametrize(
    ("runs", "limits", "ends", "states"),
    [
        ((30, 5), (1, 1), [30, 30], ["COMPLETED", "COMPLETED"]),
        ((30, 90), (1, 1), [30, 30], ["COMPLETED", "COMPLETED"]),
        ((90, 90), (2, 1), [90, 60], ["COMPLETED", "TIMEOUT"]),
        ((90, 90), (1, 2), [60, 60], ["TIMEOUT", "COMPLETED"]),
    ],
)
def test_all_end_with_the_first_or_at_their_own_limits(
    runs: tuple[int, int], limits: tuple[int, int], ends: list[int], states: list[str]
) -> None:
    jobs = [(1, 0, "A", 1, runs[0], limits[0]), (1, 0, "B", 1, runs[1], limits[1])]
    result = simulation(jobs).run()
    start, end, state = told(result, "start_time", "end_time", "state")
    assert [e - s for s, e in zip(start, end, strict=True)] == ends
    assert state == states


def test_it_fails_with_the_first() -> None:
    result = simulation([(1, 0, "A", 1, 5, 1), (1, 0, "B", 1, 9, 1)], exit_code=[3, 0]).run()
    end, state = told(result, "end_time", "state")
    assert end[0] == end[1]
    assert state == ["FAILED", "FAILED"]


@pytest.mark.parametrize(("moment", "whom"), [(5, 3), (5, 2), (60, 2)])
def test_cancelling_one_that_waits_or_the_first_while_it_runs_ends_all(moment: int, whom: int) -> None:
    """Job 1 holds B until 40; job 2 has components 2 (A) and 3 (B)."""
    run = simulation([(1, 0, "B", 2, 40, 1), (2, 1, "A", 1, 50, 1), (2, 1, "B", 1, 50, 1)])
    result = operated(run, moment, lambda run: run.cancel(whom))
    start, end, state = told(result, "start_time", "end_time", "state")
    assert state == ["COMPLETED", "CANCELLED", "CANCELLED"]
    assert end[1:] == [moment, moment]
    assert (start[1] >= 0) == (moment == 60)


def test_a_job_that_waits_for_a_component_that_never_comes_waits_for_ever() -> None:
    """The second component is a singleton of the first's name: it waits for its own first, as in Slurm."""
    run = simulation(
        [(1, 0, "A", 1, 5, 1), (1, 0, "B", 1, 5, 1)],
        name=["H", "H"],
        user=["u", "u"],
        dependency_kinds=["SINGLETON", "SINGLETON"],
    ).run()
    assert told(run, "state") == [["PENDING", "PENDING"]]


# -------------------------------------------------------------------- what a pass knows of a job's starts

Job = tuple[int, int, str, int, int, int]


def by_both(jobs: list[Job], **keys: int) -> list[int]:
    """The starts, which the plain model of Slurm makes the same. Backfill passes at 9, 19 and so on."""
    (found,) = told(simulation(jobs, {"starts_before_s": 1} | keys).run(), "start_time")
    names = [each[0] for each in jobs]
    config = Config({"A": Partition([0, 1]), "B": Partition([3, 4])}, daemon_start=-1, bf_resolution=1)
    config.bf_interval, config.batch_sched_delay, config.kill_wait, config.time_limit_period = 10, 1, 0, 1
    config = replace(config, **keys)
    config.bf_window = 60 * keys.get("bf_window", 1440)
    rows = [
        PlainJob(number, submit, [module], nodes, run, limit, het=names.index(job) + 1)
        if names.count(job) > 1
        else PlainJob(number, submit, [module], nodes, run, limit)
        for number, (job, submit, module, nodes, run, limit) in enumerate(jobs, 1)
    ]
    slurm = Slurm(config, rows)
    slurm.run(3000)
    assert found == [job.start for job in sorted(rows, key=lambda job: job.id)]
    return found


def test_the_earliest_start_found_for_a_component_is_known_to_the_others_whatever_it_reserves() -> None:
    """In the pass of 9, with T = 10 s a column; R and S run, P and Q are planned, X and Y are job 5:

    A  RRRRRRRRRRRRPPPPPP............QQQ...    X (4 min), tried now, could start at 300 as S ends.
       SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSQQQ...    Tried again at 180 it would touch Q: it is planned at 660.
    B                                YYYYYY    Y is planned at 300 all the same, and Z (6 min) waits
                                               for the pass of 69, in which X, tried now, would touch Q.
    """
    running = [(1, 0, "A", 1, 110, 2), (2, 0, "A", 1, 290, 5)]
    waiting = [(3, 1, "A", 1, 50, 1), (4, 1, "A", 2, 350, 6)]
    job = [(5, 1, "A", 1, 20, 4), (5, 1, "B", 2, 20, 4)]
    assert by_both([*running, *waiting, *job, (6, 2, "B", 2, 5, 6)])[-1] == 69
    assert by_both([*running, *waiting, *job, (6, 2, "B", 2, 5, 4)])[-1] == 9  # has ended by 300


def test_one_without_a_start_within_the_window_takes_the_entries_of_the_others() -> None:
    """Job 1 holds A for two days by its limit: V of job 2, which waits for U, does not hold B, W has it."""
    jobs = [(1, 0, "A", 2, 300, 2880), (2, 1, "A", 1, 20, 1), (2, 1, "B", 2, 20, 1), (3, 2, "B", 2, 40, 1)]
    starts = by_both(jobs)
    assert starts[3] == 9
    assert starts[1] == starts[2] >= 300
    assert by_both([(1, 0, "A", 2, 300, 1440 - 1), *jobs[1:]])[3] == 9  # too long for what is before V
    assert by_both([(1, 0, "A", 2, 30, 1), *jobs[1:]])[3] > 30


def test_the_deadlock_test_is_against_the_start_in_this_partition() -> None:
    """R holds a node of A until 300, S all of B until 120, by their limits. In the pass of 9:

    job 3  B [120, 180]  A [300, 360], both nodes of each
    job 4  B [180, 360]  A  180: job 3 is behind that on A, and before it on B. It reserves nothing there,
    so that W, which would keep the other node of A until 250, starts.
    """
    jobs = [(1, 0, "A", 1, 290, 5), (2, 0, "B", 2, 110, 2)]
    third = [(3, 1, "B", 2, 20, 1), (3, 1, "A", 2, 20, 1)]
    fourth = [(4, 1, "B", 1, 20, 3), (4, 1, "A", 1, 20, 1)]
    late = (5, 2, "A", 1, 200, 4)
    assert by_both([*jobs, *third, *fourth, late])[-1] == 9
    assert by_both([*jobs, *third[:1], *fourth, late])[-1] > 9


def test_a_job_whose_components_have_no_start_does_not_move_the_clock_for_ever() -> None:
    """A limit keeps job 1 for good, so that no start of its components is ever known, nor in sight.

    Job 2 waits for its start. The run ended at 2^60 s less bf_window, and job 1 had waited as long.
    """
    jobs = [(1, 0, "A", 1, 0, 1), (1, 0, "A", 1, 0, 1), (2, 1, "A", 1, 0, 1)]
    keys = {"accounts": {"root": {"limits": {"GrpTRES": {"node": 0}}}}}
    after = {"dependency_ids": ["", "", "1"], "dependency_kinds": ["", "", "AFTER+1"]}
    starts, waits = told(simulation(jobs, keys, **after).run(), "start_time", "wait_limit")
    assert starts == [-1, -1, -1]
    assert max(waits) < 100


def test_a_start_behind_the_end_of_the_plan_is_known_as_any_other() -> None:
    """Job 2 has A from 5 to 83, by its limit to 185; a plan of 2 minutes, rounded down, ends at 120 or 180.

    Pass of 9: U of job 3 could start at 185, which is behind 9 + bf_window = 129, and V has no turn.
    Then nothing is new: that main, at 59, finds one waiting job is no change. From 19 on backfill looks
    every second whether anything is. Job 2 ends at 83: pass of 83, U and V start.

    With job 4, submitted at 69, main starts it, which is a change: pass of 69, whose plan ends at 180.
    U can start at 185, behind that, but by 69 + bf_window = 189; in backfill.c only the other starts and
    bf_window bind V, so that it is tried for 185, too. Job 4 ends at 70: pass of 79. Job 2 ends at 83,
    within 10 s of that: pass of 89.
    """
    jobs = [(1, 0, "B", 1, 1, 1), (2, 5, "A", 2, 78, 3), (3, 6, "A", 1, 1, 1), (3, 6, "B", 1, 1, 1)]
    assert by_both(jobs, bf_window=2, bf_resolution=60)[2:] == [83, 83]
    assert by_both([*jobs, (4, 69, "B", 1, 1, 1)], bf_window=2, bf_resolution=60)[2:] == [89, 89, 69]


@pytest.mark.parametrize("keys", [{}, {"bf_min_age_reserve": 25}, {"bf_min_prio_reserve": UNREACHED}])
def test_it_blocks_its_partition_whatever_may_reserve(keys: dict[str, int]) -> None:
    """schedule() leaves a component to backfill (`goto fail_this_part`) before it looks at age and priority.

    So job 2, submitted with job 1, does not take a node of A at once, though nobody may reserve.
    """
    job = [(1, 0, "A", 1, 1, 1), (1, 0, "A", 1, 1, 1)]
    starts = by_both([*job, (2, 0, "A", 1, 1, 1)], **keys)
    assert starts[:2] == [9, 9]
    assert starts[2] > 9


def test_it_is_no_turn_of_a_pass_of_the_main_scheduler() -> None:
    """Nor has it been counted by then: of the one job that such a pass may try, job 2 is the first."""
    job = [(1, 0, "A", 1, 1, 1), (1, 0, "A", 1, 1, 1)]
    assert by_both([*job, (2, 0, "B", 1, 1, 1)], default_queue_depth=0)[2] == 0


@pytest.mark.parametrize(("version", "starts"), [("22.05", [0, 60, 10]), ("19.05", [0, 60, 70])])
def test_each_turn_counts_in_19_05(version: str, starts: list[int]) -> None:
    """K is planned at 60 for longer than the window, so that L never finds nodes: a test only in 19.05."""
    jobs = [(1, 0, "A", 2, 60, 1), (2, 1, "A", 2, 900, 15), (3, 1, "A", 2, 5, 9), (4, 1, "B", 1, 5, 1)]
    keys = {"version": version, "SelectType": "select/linear", "bf_window": 5, "bf_max_job_test": 2}
    keys |= {"bf_node_space_size": 100, "batch_sched_delay": 10_000, "sched_interval": 10_000, "defer": True}
    trace = simulation(jobs, keys)
    (found,) = told(trace.run(), "start_time")
    assert [found[i] for i in (0, 1, 3)] == starts


def test_one_that_asks_for_more_time_when_the_first_was_requeued_takes_what_it_did() -> None:
    """The first waits again from 20 on. The other asks at 50 for more time, and ends after its 80 s."""
    jobs = [(1, 0, "A", 1, 80, 2), (1, 0, "B", 1, 80, 2), (2, 900, "A", 1, 5, 1)]
    keys = {"backfill": "slurm", "slurm": KEYS, "extend_job": "grant"}
    trace = components(jobs, api_calls=["", "extend_job:50", ""])
    run = Simulation(two_modules(), trace, Policy.resolve(keys))
    result = operated(run, 20, lambda sim: sim.requeue(1))
    starts, ends = told(result, "start_time", "end_time")
    assert ends[1] - starts[1] == 80
    assert starts[0] > 20
