"""Slurm's schedulers on nodes that jobs share: plans and starts worked out by hand."""

from __future__ import annotations

import pytest

from tests.oracle.plain_cons_tres_records import Ask, Node, Settings, Share, SharedJob, SharedPartition
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm_records import RUNNING, Config
from tests.oracle.plain_slurm_space import Space

TWO = (0, 1)


def slurm_of(jobs: list[SharedJob], nodes: int = 2, **settings: object) -> SharedSlurm:
    """Nodes of eight cores, a partition with all, and one that gives whole nodes."""
    every = list(range(nodes))
    partitions = {
        "main": SharedPartition(every, name="main"),
        "whole": SharedPartition(every, name="whole", oversubscribe="EXCLUSIVE"),
    }
    config = Config(partitions, daemon_start=0, bf_interval=1, bf_resolution=1, backfill_first=True)
    for key, value in settings.items():
        setattr(config, key, value)
    return SharedSlurm(config, jobs, nodes=[Node(8)] * nodes, settings=Settings())


def job(
    number: int, submit: int, runtime: int, limit: int = 1, part: str = "main", **ask: object
) -> SharedJob:
    return SharedJob(number, submit, [part], 0, runtime, limit, ask=Ask(**ask))


def there(slurm: SharedSlurm, *jobs: SharedJob) -> None:
    """Jobs that run before it begins."""
    for one in jobs:
        slurm.seen.append(one)
        slurm.enter(one)


def running(number: int, start: int, limit: int, cores: dict[int, set[int]]) -> SharedJob:
    """A job that has run since `start`, with these cores."""
    found = job(number, start, 999, limit)
    found.state, found.start, found.part, found.where = RUNNING, start, "main", set(cores)
    found.shares = {node: Share(frozenset(here), len(here)) for node, here in cores.items()}
    return found


def planned(slurm: SharedSlurm, at: int) -> dict[int, tuple[int, frozenset[int]]]:
    """What the cycle of a second has planned: from when each job, and on which nodes."""
    return {number: (start, nodes) for now, number, start, nodes in slurm.plans if now == at}


def test_jobs_leave_in_groups_of_which_the_last_end_counts():
    """On node 0 six cores until 61 and two until 69: within a group, so that a job of eight waits for 69.

    A job on the other node does not matter where that is not among the nodes; else it is of the group.
    """
    slurm = slurm_of([])
    there(
        slurm,
        running(1, 1, 1, {0: {0, 1, 2, 3, 4, 5}}),
        running(2, 5, 2, {1: {0, 1, 2, 3}}),
        running(3, 9, 1, {0: {6, 7}}),
    )
    eight = job(4, 13, 20, nodes=(1, 1), tasks=8)
    assert slurm.will_run(14, eight, "main", {0, 1}, now_only=False) == (69, {0})
    slurm.leave(slurm.present, slurm.seen.pop())
    assert slurm.will_run(22, eight, "main", {0, 1}, now_only=False) == (61, {0})
    there(slurm, running(5, 25, 1, {1: {6}}))
    assert slurm.will_run(26, eight, "main", {0, 1}, now_only=False) == (85, {0})
    assert slurm.will_run(26, eight, "main", {0}, now_only=False) == (61, {0})
    assert slurm.will_run(26, eight, "main", {0, 1}, now_only=True) is None


def test_a_plan_holds_whole_nodes():
    """Job 2 is planned on both nodes when job 1 ends by its limit. Node 1 has cores free all the time, but
    only for a job that ends before that."""
    jobs = slurm_of([job(1, 2, 50, tasks=8), job(2, 3, 20, tasks=10), job(3, 5, 4, 3, tasks=1)])
    jobs.run(20)
    assert planned(jobs, 10) == {2: (62, frozenset(TWO)), 3: (122, frozenset({1}))}
    short = slurm_of([job(1, 2, 110, 2, tasks=8), job(2, 3, 20, tasks=10), job(3, 5, 4, 1, tasks=1)])
    short.run(20)
    assert short.by_id[3].start == 5


def test_a_partly_used_node_is_promised_again_in_the_cycle_that_started_on_it():
    """Jobs 1 and 2 share node 0 from the same cycle on, job 3 takes what is left of both nodes."""
    slurm = slurm_of(
        [job(1, 3, 50, tasks=3), job(2, 3, 50, tasks=3), job(3, 3, 50, tasks=10)], batch_sched_delay=1000
    )
    slurm.run(5)
    assert [slurm.by_id[number].start for number in (1, 2, 3)] == [3, 3, 3]
    cores = {number: slurm.by_id[number].shares for number in (1, 2, 3)}
    assert {number: {n: s.cpus for n, s in share.items()} for number, share in cores.items()} == {
        1: {0: 3},
        2: {0: 3},
        3: {0: 2, 1: 8},
    }


@pytest.mark.parametrize(("part", "plan"), [("main", (122, {0})), ("whole", (110, {1}))])
def test_only_a_job_with_whole_nodes_is_in_the_plan_of_the_cycle_that_starts_it(
    part: str, plan: tuple[int, set[int]]
):
    """Job 1 takes node 0 until 122, job 3 has node 1 until 110: to the select plugin both end in one group.

    Job 2 could have either node then and takes the first. With node 0 out of the plan there is only node 1.
    """
    slurm = slurm_of(
        [job(1, 2, 200, 2, part=part, nodes=(1, 1), tasks=8), job(2, 2, 200, nodes=(1, 1), tasks=8)],
        batch_sched_delay=1000,
    )
    there(slurm, running(3, -10, 2, {1: {0}}))
    slurm.jobs.insert(0, slurm.seen[0])
    slurm.run(2)
    assert slurm.by_id[1].start == 2
    assert planned(slurm, 2) == {2: plan}


def test_a_blocked_partition_takes_its_nodes_from_the_others():
    """Main passes alone: job 2 waits for a whole node, and job 3 of the other partition for job 2."""
    slurm = slurm_of(
        [
            job(1, 3, 30, tasks=10),
            job(2, 3, 10, part="whole", nodes=(1, 1)),
            job(3, 3, 10, tasks=1),
        ],
        builtin=True,
    )
    slurm.run(500)
    starts = [slurm.by_id[number].start for number in (1, 2, 3)]
    assert starts[0] == 3
    assert starts[1] == starts[2] >= 33
    assert slurm.by_id[2].where.isdisjoint(slurm.by_id[3].where)


def test_a_node_with_a_job_that_completes_starts_nothing():
    """Job 1's epilog lasts two seconds: its node is idle, but job 3, which needs it, waits for the end."""
    slurm = slurm_of(
        [job(1, 3, 10, tasks=4), job(2, 3, 90, 2, tasks=8), job(3, 12, 10, tasks=8)], epilog=2, kill_wait=2
    )
    slurm.run(500)
    assert slurm.by_id[1].end == 13
    assert slurm.by_id[3].start >= 15


def test_backfill_chooses_anew_without_the_nodes_that_complete():
    """Free are 6, 8, 5 and 8 cores: planned on node 2. Without node 1, node 0 alone is the tightest set."""
    slurm = slurm_of([], nodes=4)
    ended, waits = job(3, 0, 1), job(4, 1, 5, tasks=4)
    ended.state, ended.where, ended.end, ended.released = "COMPLETED", {1}, 9, 12
    there(slurm, running(1, 1, 2, {0: {0, 1}}), running(2, 1, 2, {2: {0, 1, 2}}))
    slurm.seen += [ended, waits]
    slurm.now = 10
    avail = {0, 1, 2, 3}
    assert slurm.will_run(10, waits, "main", avail, now_only=False) == (10, {2})
    assert slurm.start_planned(10, waits, "main", avail, Space(10, 900, avail))
    assert waits.where == {0}
