"""Heterogeneous jobs under policy slurm, by hand: modules A and B of 2 nodes each, backfill every 10 s."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_sim import Policy, Simulation, Workload
from scheduler_sim.result.result import Result
from tests.scheduling.unit_cases import operated, two_modules

KEYS = {"bf_interval": 10, "batch_sched_delay": 1, "KillWait": 0, "bf_resolution": 1, "limit_check_s": 1}


def simulation(jobs: list[tuple[int, int, str, int, int, int]], **columns: Any) -> Simulation:
    """Jobs: (job, submit, module, nodes, run, limit in minutes)."""
    job, submit, module, nodes, run, minutes = zip(*jobs, strict=True)
    trace = Workload.from_columns(
        modular_job_id=job,
        submit_time=submit,
        partition=module,
        nodes=nodes,
        run_time=run,
        time_limit=[60 * each for each in minutes],
        **columns,
    )
    return Simulation(two_modules(), trace, Policy.resolve({"backfill": "slurm", "slurm": KEYS}))


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


def test_who_waits_for_a_component_that_never_comes_waits_for_ever() -> None:
    """The second component is a singleton of the first's name: it waits for its own first, as in Slurm."""
    run = simulation(
        [(1, 0, "A", 1, 5, 1), (1, 0, "B", 1, 5, 1)],
        name=["H", "H"],
        user=["u", "u"],
        dependency_kinds=["SINGLETON", "SINGLETON"],
    ).run()
    assert told(run, "state") == [["PENDING", "PENDING"]]
