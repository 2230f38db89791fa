"""Preemption in the plain model of Slurm: cases worked out by hand.

The daemon starts with second 0; backfill looks every two seconds, main at the end of what is killed.
"""

from __future__ import annotations

import pytest

from tests.oracle.plain_gang import GangSlurm
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_records import (
    CANCEL,
    OFF,
    QOS,
    REQUEUE,
    SUSPEND,
    Preemptable,
    PreemptQos,
    PreemptRules,
)
from tests.oracle.plain_slurm_records import Config, Job, Partition

pytestmark = pytest.mark.interpreted

KILL_WAIT, EPILOG = 2, 1
BACK_AGAIN = KILL_WAIT + EPILOG + 30  # s from being preempted until it is eligible once more


def low(number: int, submit: int, nodes: int, runtime: int = 100, **more: object) -> Job:
    return Job(number, submit, ["low"], nodes, runtime, 3, **more)


def high(number: int, submit: int, nodes: int, runtime: int = 20, **more: object) -> Job:
    return Job(number, submit, ["high"], nodes, runtime, 3, **more)


def of_qos(number: int, submit: int, nodes: int, qos: str, **more: object) -> Job:
    return Job(number, submit, ["low"], nodes, 60, 3, qos=qos, **more)


def play(jobs: list[Job], nodes: int = 6, until: int = 2000, **rules: object) -> PreemptingSlurm:
    """On so many nodes, of which both partitions have all."""
    every = list(range(nodes))
    parts = {"low": Partition(every, tier=1), "high": Partition(every, tier=10)}
    config = Config(parts, daemon_start=0, bf_interval=2, kill_wait=KILL_WAIT, requeue_delay=30)
    kind = GangSlurm if rules.get("mode") == SUSPEND else PreemptingSlurm
    slurm = kind(config, jobs, [], PreemptRules(**rules))
    slurm.run(until)
    return slurm


def preempted(slurm: PreemptingSlurm) -> list[tuple[int, int]]:
    """Which jobs were, and when, in the order in which it happened."""
    return [(run.id, run.end) for run in slurm.runs if run.why == "PREEMPTED"]


def victims(slurm: PreemptingSlurm) -> set[int]:
    return {job for job, _ in preempted(slurm)}


def starts(slurm: PreemptingSlurm) -> dict[int, int | None]:
    return {job.id: job.start for job in slurm.jobs}


def ends(slurm: PreemptingSlurm) -> dict[int, str]:
    return {job.id: job.state for job in slurm.jobs}


# -- what becomes of whom


def test_requeued_it_runs_once_more_from_the_beginning():
    slurm = play([low(1, 4, 6), high(2, 20, 6)])
    ((one, at),) = preempted(slurm)
    assert (one, at) in {(1, 20), (1, 21), (1, 22)}
    found = starts(slurm)
    assert at + KILL_WAIT + EPILOG <= found[2] <= at + KILL_WAIT + EPILOG + 3
    assert at + BACK_AGAIN <= found[1] == 60  # nothing happens before main looks at all
    assert slurm.by_id[1].end - found[1] == 100
    assert ends(slurm) == {1: "COMPLETED", 2: "COMPLETED"}


@pytest.mark.parametrize(("mode", "requeue"), [(CANCEL, True), (REQUEUE, False)])
def test_cancelled_it_is_over(mode: str, requeue: bool):
    slurm = play([low(1, 4, 6, requeue=requeue), high(2, 20, 6)], mode=mode)
    assert ends(slurm) == {1: "PREEMPTED", 2: "COMPLETED"}
    assert len(slurm.runs) == 2


def test_off_nobody_is():
    slurm = play([low(1, 4, 6), high(2, 20, 6)], mode=OFF)
    assert not preempted(slurm)
    assert starts(slurm)[2] >= 104


def test_not_those_of_a_partition_that_is_off():
    slurm = play([low(1, 4, 6), high(2, 20, 6)], partitions={"low": Preemptable(OFF)})
    assert not preempted(slurm)


def test_the_partitions_own_mode_goes_before_the_clusters():
    slurm = play([low(1, 4, 6), high(2, 20, 6)], partitions={"low": Preemptable(CANCEL)})
    assert ends(slurm)[1] == "PREEMPTED"


def test_nobody_of_the_same_tier():
    slurm = play([high(1, 4, 6, 100), high(2, 20, 6)])
    assert not preempted(slurm)


def test_nobody_where_idle_nodes_suffice_or_all_would_not():
    assert not preempted(play([low(1, 4, 3), high(2, 20, 3)]))
    assert not preempted(play([low(1, 4, 2), high(2, 6, 4, 100), high(3, 20, 4)]))


# -- which


def three() -> list[Job]:
    """On six nodes: jobs of two nodes, one and two; one is idle."""
    return [low(1, 4, 2), low(2, 8, 1), low(3, 12, 2)]


def test_the_smallest_that_suffices():
    assert victims(play([*three(), high(4, 20, 2)], until=60)) == {2}


def test_those_that_give_most_nodes_go_first_and_no_more_than_needed():
    """Of four nodes one is idle: thinking away 2, then 1 and 3 gives more; 1 and 3 alone are enough."""
    slurm = play([*three(), high(4, 20, 5)], until=60)
    assert victims(slurm) == {1, 3}


def test_youngest_first():
    slurm = play([low(1, 4, 2), low(2, 8, 2), low(3, 12, 2), high(4, 20, 2)], until=60)
    assert victims(slurm) == {1}
    youngest = play(
        [low(1, 4, 2), low(2, 8, 2), low(3, 12, 2), high(4, 20, 2)], until=60, youngest_first=True
    )
    assert victims(youngest) == {3}


def big_last() -> list[Job]:
    """Six nodes are busy; one of four nodes is wanted. In order: 1 (1 node), 2 (1), 3 (4)."""
    return [low(1, 4, 1), low(2, 8, 1), low(3, 12, 4), high(4, 20, 4)]


@pytest.mark.parametrize("strict", [False, True])
def test_the_last_that_was_needed_is_tried_first(strict: bool):
    """With 3 alone it fits, whoever was thought away before."""
    slurm = play(big_last(), until=60, strict_order=strict)
    assert victims(slurm) == {3}


def test_how_often_the_order_is_improved():
    """Without any second try it is those in order that hold the chosen nodes: the lowest four of six."""
    first = play(big_last(), until=60, reorder_count=-1)
    assert victims(first) == {1, 2, 3}


# -- when


def test_grace_then_the_next_check_of_time_limits():
    """From 20 it may work on for 15 s; the check is every 30 s, and nothing has a pass look before."""
    slurm = play([low(1, 4, 6), high(2, 20, 6)], mode=CANCEL, partitions={"low": Preemptable(grace=15)})
    assert preempted(slurm) == [(1, 60)]


def test_grace_then_the_next_try_of_who_needs_it():
    """The submission at 40 has passes look."""
    jobs = [low(1, 4, 6), high(2, 20, 6), low(3, 40, 1)]
    ((_, at),) = preempted(play(jobs, mode=CANCEL, partitions={"low": Preemptable(grace=15)}))
    assert 40 <= at <= 43


def test_in_grace_it_may_end_by_itself():
    slurm = play([low(1, 4, 6, 25), high(2, 20, 6)], mode=CANCEL, partitions={"low": Preemptable(grace=15)})
    assert not preempted(slurm)
    assert ends(slurm)[1] == "COMPLETED"


def test_in_grace_it_goes_though_nobody_needs_it_any_more():
    """Job 3 ends early, so that job 4 has its nodes; job 1 goes at a check of time limits nevertheless."""
    jobs = [low(1, 4, 3), high(3, 6, 3, 16), high(4, 20, 3)]
    slurm = play(jobs, mode=CANCEL, partitions={"low": Preemptable(grace=15)})
    assert starts(slurm)[4] in (22, 23, 24)
    assert preempted(slurm) == [(1, 60)]


def test_exempt_for_so_long():
    """Until 24: what passes at 16 changes nothing, the next does."""
    jobs = [low(1, 4, 6), high(2, 10, 6), low(3, 16, 1), low(4, 30, 1)]
    ((_, at),) = preempted(play(jobs, until=100, exempt=20))
    assert 24 <= at <= 33


# -- by QOS

QOSES = {
    "low": PreemptQos(exempt=0),
    "normal": PreemptQos(priority=10, preempts=("low",)),
    "high": PreemptQos(priority=100, preempts=("low", "normal")),
}


def test_by_the_list_of_a_qos_the_lowest_first():
    jobs = [of_qos(1, 4, 3, "normal"), of_qos(2, 8, 3, "low"), of_qos(3, 20, 3, "high")]
    assert victims(play(jobs, until=60, kind=QOS, qos=dict(QOSES))) == {2}


def test_by_qos_nobody_that_is_not_in_its_list():
    jobs = [of_qos(1, 4, 6, "normal"), of_qos(2, 20, 6, "low")]
    assert not preempted(play(jobs, kind=QOS, qos=dict(QOSES)))


def test_within_a_qos_those_of_lower_priority():
    own = {"q": PreemptQos(within=True)}
    jobs = [of_qos(1, 4, 6, "q", nice=100), of_qos(2, 20, 6, "q")]
    assert victims(play(jobs, until=60, kind=QOS, qos=own)) == {1}
    assert not preempted(play([of_qos(1, 4, 6, "q"), of_qos(2, 20, 6, "q")], kind=QOS, qos=dict(own)))


def test_whose_job_may_preempt_is_tried_first():
    """Job 3 waits with job 2, which came before it, and starts before it."""
    jobs = [of_qos(1, 4, 6, "high"), of_qos(2, 8, 6, "low"), of_qos(3, 12, 6, "normal")]
    found = starts(play(jobs, kind=QOS, qos=dict(QOSES)))
    assert found[3] < found[2]


# -- suspended


def test_suspended_while_one_of_a_higher_tier_is_on_one_of_its_nodes():
    slurm = play([low(1, 4, 3), high(2, 20, 4)], mode=SUSPEND)
    (second,) = (job for job in slurm.jobs if job.id == 2)
    assert 20 <= second.start <= 22
    assert slurm.by_id[1].end == 4 + 100 + 20
    assert slurm.suspended == [1]
    assert ends(slurm) == {1: "COMPLETED", 2: "COMPLETED"}


def test_what_is_suspended_keeps_its_nodes_from_its_own_partition():
    slurm = play([low(1, 4, 3), high(2, 20, 6), low(3, 24, 4)], mode=SUSPEND)
    assert starts(slurm)[3] >= 124


def test_suspended_time_is_not_of_its_limit():
    """It works for 170 s of its three minutes, and is there for 190."""
    slurm = play([low(1, 4, 3, 170), high(2, 20, 6)], mode=SUSPEND)
    assert slurm.by_id[1].state == "COMPLETED"
    assert slurm.by_id[1].end == 194
