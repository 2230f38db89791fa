"""The plain model of Slurm: cases worked out by hand, and the recordings."""

from __future__ import annotations

import pytest

from tests.conftest import needs_shared
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import Config, Job, Op, Partition
from tests.oracle.plain_slurm_space import Space, best_fit
from tests.slurm_oracle.cases import DATA, case_names, load_case
from tests.slurm_oracle.figures import meets, nearest
from tests.slurm_oracle.plain import BOTH_ORDERS

pytestmark = pytest.mark.interpreted

RECORDED = case_names() if DATA.is_dir() else []


def play(jobs: list[Job], ops: list[Op] = (), **settings: object) -> dict[int, Job]:
    """On eight nodes, the daemon starting with second 0."""
    config = Config({"CM": Partition(list(range(8)))}, daemon_start=0, bf_interval=2)
    for key, value in settings.items():
        setattr(config, key, value)
    slurm = Slurm(config, jobs, ops)
    slurm.run(2000)
    return slurm.by_id


def job(number: int, submit: int, nodes: int, runtime: int, limit: int = 1, **more: object) -> Job:
    return Job(number, submit, ["CM"], nodes, runtime, limit, **more)


def test_best_fit_takes_the_tightest_run_then_the_longest():
    assert best_fit({0, 1, 2, 5, 6, 7, 8}, 3) == {0, 1, 2}
    assert best_fit({0, 5, 6, 7, 9}, 1) == {0}
    assert best_fit({0, 1, 4, 5, 6, 9}, 5) == {4, 5, 6, 0, 1}


def test_main_passes_keep_batch_sched_delay_apart():
    """Submissions at 4 and 5: the pass of 4 starts the first, the second waits until three seconds later."""
    jobs = play([job(1, 4, 1, 50), job(2, 5, 1, 50)], builtin=True)
    assert (jobs[1].start, jobs[2].start) == (4, 7)


def test_a_completion_only_queues_a_pass():
    """Job 2 asks at 9 for what is free at 10: the pass at 9 finds nothing, the next comes at 12."""
    jobs = play([job(1, 4, 8, 6), job(2, 9, 8, 5)], builtin=True)
    assert jobs[2].start == 12


@pytest.mark.parametrize(("resolution", "fits"), [(1, True), (60, False)])
def test_a_reservation_is_floored_in_absolute_time(resolution: int, fits: bool):
    """Job 2 is planned at 130: job 3 ends at 122, before that, but not before 120."""
    jobs = play(
        [job(1, 10, 6, 100, limit=2), job(2, 12, 8, 10, limit=2), job(3, 62, 2, 20)],
        bf_resolution=resolution,
    )
    assert jobs[1].start == 10
    assert (jobs[3].start == 62) == fits
    assert (jobs[3].start < jobs[2].start) == fits


def test_touching_a_reservation_is_a_conflict():
    space = Space(0, 1000, {0, 1})
    space.reserve({0}, 60, 120)
    assert space.available({0, 1}, 0, 59)[0] == {0, 1}
    assert space.available({0, 1}, 0, 60) == ({1}, 120)
    assert space.available({1}, 0, 60) == ({1}, 0)  # what follows offers nothing new
    assert space.available({0, 1}, 60, 90) == ({1}, 120)
    assert not space.overlaps({0}, 0, 60)
    assert space.overlaps({0}, 0, 61)


def test_running_jobs_leave_in_aligned_windows():
    """Limits end at 60, 62 and 130: the window from the barrier at 90 to 120 takes the first two together."""
    slurm = Slurm(Config({"CM": Partition([0, 1, 2, 3])}, daemon_start=0), [])
    for number, (start, minutes) in enumerate([(0, 1), (2, 1), (10, 2)]):
        running = job(number, 0, 1, 999, limit=minutes, state="RUNNING", where={number})
        running.start = start
        slurm.seen.append(running)
    found = slurm.will_run(20, job(9, 0, 2, 1), "CM", {0, 1, 2, 3}, now_only=False)
    assert found == (62, {0, 1})  # node 3 and node 0 would have been enough at 60


def test_overdue_jobs_die_at_the_check():
    jobs = play([job(1, 4, 1, 500)], kill_wait=2)
    assert (jobs[1].state, jobs[1].end) == ("TIMEOUT", 90)  # limit at 64 or 65, checks at 30, 60, 90


def test_ending_late_between_two_checks_is_a_timeout_too():
    jobs = play([job(1, 4, 1, 70)])
    assert (jobs[1].state, jobs[1].end - jobs[1].start) == ("TIMEOUT", 70)


def test_release_sends_to_the_end_of_the_queue():
    def three() -> list[Job]:
        return [job(1, 4, 8, 30), job(2, 5, 8, 10), job(3, 6, 8, 10)]

    left, released = play(three()), play(three(), [Op(10, "release", 2)])
    assert left[2].start < left[3].start
    assert released[3].start < released[2].start


def test_bf_max_job_start_ends_the_cycle():
    """Three jobs that backfill could start at once: one a cycle, and the cycles are at 3, 5, 7."""
    jobs = [job(number, 3, 1, 50) for number in (1, 2, 3)]
    started = play(jobs, backfill_first=True, bf_max_job_start=1, batch_sched_delay=1000)
    assert [started[i].start for i in (1, 2, 3)] == [3, 5, 7]


def test_a_young_job_does_not_block_the_partition():
    """Job 2 waits for all nodes; job 3, too long to be backfilled, passes it while it is young."""

    def three() -> list[Job]:
        return [job(1, 4, 6, 100, limit=2), job(2, 5, 8, 10), job(3, 11, 2, 300, limit=9)]

    assert play(three(), bf_min_age_reserve=60)[3].start == 11
    assert play(three())[3].start > 100


def test_nice_moves_a_job_in_the_fifo_queue():
    jobs = [job(1, 4, 8, 30), job(2, 5, 8, 10), job(3, 6, 8, 10)]
    ended = play(jobs, [Op(10, "nice", 3, -100)])
    assert ended[3].start < ended[2].start


def test_kill_invalid_depend_takes_the_dependants_along():
    def chain() -> list[Job]:
        never = (",", [("afterok", [1], 0)])
        after = (",", [("afterany", [2], 0)])
        return [job(1, 4, 1, 5, exit_code=1), job(2, 5, 1, 5, depends=never), job(3, 6, 1, 5, depends=after)]

    killed = play(chain(), kill_invalid_depend=True)
    assert [killed[i].state for i in (1, 2, 3)] == ["FAILED", "CANCELLED", "COMPLETED"]
    kept = play(chain())
    assert [kept[i].state for i in (1, 2, 3)] == ["FAILED", "PENDING", "PENDING"]


@needs_shared
@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str):
    case = load_case(name)
    run, found = nearest(case, *BOTH_ORDERS)
    assert meets(case, found), (run.name, found)
