"""Advance reservations in the plain model of Slurm: cases worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle.plain_limit_checks import REFUSED
from tests.oracle.plain_reservation_records import DELETED, Change, Request
from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import COMPLETED, TIMEOUT, Config, Job, Partition

pytestmark = pytest.mark.interpreted

HOUR_S, DAY_S = 3600, 86400
MONDAY = 4 * DAY_S  # the epoch began on a Thursday


def job(number: int, submit: int, nodes: int, runtime: int, limit: int = 1, **more: object) -> Job:
    return Job(number, submit, ["main"], nodes, runtime, limit, **({"user": "u", "account": "a"} | more))


def create(at: int, name: str = "r", **asked: object) -> Change:
    given = {"users": ("v",)} | asked
    return Change(at, "create", name, Request(**given))


def update(at: int, name: str = "r", **asked: object) -> Change:
    return Change(at, "update", name, Request(**asked))


def play(jobs: list[Job], *changes: Change, until: int = 2000, **settings: object) -> ReservedSlurm:
    """On eight nodes, the daemon starting with second 0: looks every 5 s, at limits every 30 s."""
    parts = {"main": Partition(list(range(8))), "half": Partition([0, 1, 2, 3])}
    config = Config(parts, daemon_start=0, bf_interval=2, bf_resolution=1, kill_wait=0, kill_epilog=0)
    for key, value in settings.items():
        setattr(config, key, value)
    slurm = ReservedSlurm(config, jobs, list(changes))
    slurm.run(until)
    return slurm


def fates(slurm: ReservedSlurm) -> dict[int, tuple[str, int | None]]:
    return {one.id: (slurm.ended_as(one), one.start) for one in slurm.jobs}


def nodes_of(slurm: ReservedSlurm, name: str = "r") -> set[int]:
    return slurm.named(name).nodes


def where(slurm: ReservedSlurm, number: int) -> set[int]:
    return slurm.by_id[number].where


# -- which nodes are reserved


def test_the_lowest_nodes_that_no_job_has_at_the_start():
    """Job 1 has nodes 0 and 1 until 64 at its limit, beyond the start at 60."""
    slurm = play([job(1, 4, 2, 10)], create(8, start=60, end=90, node_count=3), until=10)
    assert nodes_of(slurm) == {2, 3, 4}


@pytest.mark.parametrize(("start", "nodes"), [(64, {2, 3}), (65, {0, 1})])
def test_a_limit_that_touches_the_start_counts_for_nodes_by_number(start: int, nodes: set[int]):
    slurm = play([job(1, 4, 2, 10)], create(8, start=start, end=90, node_count=2), until=10)
    assert nodes_of(slurm) == nodes


@pytest.mark.parametrize(("start", "said"), [(63, "Requested nodes are busy"), (64, "")])
def test_named_nodes_are_refused_if_a_job_may_run_beyond_the_start(start: int, said: str):
    slurm = play([job(1, 4, 2, 10)], create(8, start=start, end=90, nodes={0, 5}), until=10)
    assert [answer[2] for answer in slurm.answers] == [said]


def test_running_jobs_can_be_ignored():
    ignoring = {"start": 20, "end": 90, "flags": ("IGNORE_JOBS",)}
    assert nodes_of(play([job(1, 4, 2, 10)], create(8, **ignoring, nodes="ALL"), until=10)) == set(range(8))
    slurm = play([job(1, 4, 2, 10), job(2, 5, 2, 10)], create(8, **ignoring, node_count=5), until=10)
    assert nodes_of(slurm) == {0, 1, 4, 5, 6}  # those of the first job, and none of the second


def test_two_reservations_share_no_nodes_unless_one_may():
    first = create(1, start=60, end=90, nodes={0, 1})
    assert play([], first, create(2, "s", start=80, end=95, nodes={1}), until=5).answers[1][2]
    assert not play([], first, create(2, "s", start=90, end=95, nodes={1}), until=5).answers[1][2]
    for flag in ("MAINT", "OVERLAP"):
        beside = create(2, "s", start=80, end=95, nodes={1}, flags=(flag,))
        assert not play([], first, beside, until=5).answers[1][2]
    slurm = play([], first, create(2, "s", start=80, end=95, node_count=2), until=5)
    assert nodes_of(slurm, "s") == {2, 3}


def test_repetitions_of_a_week_are_compared():
    daily = create(1, start=60, end=90, nodes={0}, flags=("DAILY",))
    later = create(2, "s", start=3 * DAY_S + 70, end=3 * DAY_S + 80, nodes={0})
    assert play([], daily, later, until=5).answers[1][2]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"users": ()}, "No reservation"),
        ({"start": -700}, "Invalid time"),
        ({"node_count": None}, "Invalid node"),
    ],
)
def test_what_is_refused(asked: dict, said: str):
    given = {"start": 60, "end": 90, "node_count": 2} | asked
    assert play([], create(1, **given), until=5).answers[0][2].startswith(said)


def test_a_name_is_given_once():
    slurm = play(
        [], create(1, start=60, end=90, node_count=1), create(2, start=60, end=90, node_count=1), until=5
    )
    assert slurm.answers[1][2] == "Duplicate reservation name"


def test_nodes_of_a_partition():
    asked = {"start": 60, "end": 90, "partition": "half"}
    assert nodes_of(play([], create(1, **asked, nodes="ALL", flags=("PART_NODES",)), until=5)) == {0, 1, 2, 3}
    assert nodes_of(play([], create(1, **asked, node_count=6), until=5)) == {0, 1, 2, 3}  # all there are


# -- changes


def test_an_update_moves_begin_and_end_and_resizes():
    first = create(1, start=60, duration=1, node_count=2)
    slurm = play([], first, update(5, start=100), update(6, node_count=4), until=10)
    one = slurm.named("r")
    assert (one.start, one.end, one.nodes) == (100, 160, {0, 1, 2, 3})
    slurm = play([], first, update(5, node_count=1), until=10)
    assert nodes_of(slurm) == {1}  # idle ones go first, from the lowest


def test_one_that_has_started_keeps_its_start():
    slurm = play(
        [], create(1, start=5, end=90, node_count=1), update(8, start=20), update(9, end=40), until=10
    )
    assert [said for _, _, said in slurm.answers] == ["", "Reservation already started", ""]
    assert slurm.named("r").end == 40


def test_growth_over_busy_nodes_is_refused_and_changes_nothing():
    slurm = play(
        [job(1, 4, 6, 100, limit=5)],
        create(5, start=60, end=90, node_count=2),
        update(9, node_count=4),
        until=12,
    )
    assert slurm.answers[1][2] == "Requested nodes are busy"
    assert nodes_of(slurm) == {6, 7}


def test_deletion_holds_those_that_wait_and_is_refused_while_one_runs():
    inside = [job(1, 10, 2, 20, user="v", reservation="r"), job(2, 11, 2, 20, user="v", reservation="r")]
    gone = Change(20, "delete", "r")
    slurm = play(inside, create(1, start=8, end=300, node_count=2), gone, Change(34, "delete", "r"))
    assert slurm.answers[1][2] == "Requested reservation is in use"
    assert fates(slurm)[1][0] == COMPLETED
    waiting = play(
        [job(1, 10, 2, 20, user="v", reservation="r")], create(1, start=60, end=90, node_count=2), gone
    )
    assert fates(waiting)[1] == (DELETED, None)


def test_jobs_of_one_that_holds_none_go_on_without_it():
    asked = create(1, start=60, end=90, node_count=2, flags=("NO_HOLD_JOBS_AFTER",))
    slurm = play([job(1, 10, 2, 20, user="v", reservation="r")], asked, Change(20, "delete", "r"))
    assert fates(slurm)[1][0] == COMPLETED
    assert fates(slurm)[1][1] <= 24


# -- who may use it


@pytest.mark.parametrize(
    ("asked", "user", "account", "accepted"),
    [
        ({"users": ("u",)}, "u", "a", True),
        ({"users": ("v",)}, "u", "a", False),
        ({"users": ("-v",)}, "u", "a", True),
        ({"users": ("-u",)}, "u", "a", False),
        ({"users": (), "accounts": ("a",)}, "u", "a", True),
        ({"users": ("u",), "accounts": ("b",)}, "u", "a", False),
    ],
)
def test_access(asked: dict, user: str, account: str, accepted: bool):
    one = job(1, 10, 1, 5, user=user, account=account, reservation="r")
    slurm = play([one], create(1, start=5, end=90, node_count=1, **asked))
    assert (one.state == COMPLETED) is accepted
    assert slurm.no_access == ([] if accepted else [one])


@pytest.mark.parametrize("at", [10, 91])
def test_a_name_that_is_not_there_or_no_more_is_refused(at: int):
    name = "r" if at > 90 else "s"
    one = job(1, at, 1, 5, user="v", reservation=name)
    play([one], create(1, start=5, end=90, node_count=1))
    assert one.state == REFUSED


# -- when jobs start


def test_a_job_starts_with_its_reservation_and_only_on_its_nodes():
    """The look at 40 finds that it has begun."""
    slurm = play([job(1, 10, 2, 5, user="v", reservation="r")], create(1, start=40, end=90, nodes={5, 6}))
    assert fates(slurm)[1] == (COMPLETED, 40)
    assert where(slurm, 1) == {5, 6}


@pytest.mark.parametrize(("submit", "begins"), [(20, 20), (21, 81)])
def test_others_keep_off_unless_they_end_before(submit: int, begins: int):
    """All eight nodes are reserved from 80 on for a second; touching is allowed."""
    slurm = play([job(1, submit, 8, 5)], create(1, start=80, end=81, nodes="ALL"))
    assert fates(slurm)[1][0] == COMPLETED
    assert begins <= fates(slurm)[1][1] <= begins + 4


def test_a_job_beside_a_reservation_takes_other_nodes():
    slurm = play([job(1, 10, 3, 20, limit=5)], create(1, start=60, end=90, nodes={0, 1, 2}))
    assert where(slurm, 1) == {3, 4, 5}


def test_one_whose_nodes_are_reserved_blocks_nobody():
    """Job 1 wants seven nodes for a minute, two are reserved at 60: job 2 starts at once."""
    slurm = play([job(1, 10, 7, 20), job(2, 11, 3, 20)], create(1, start=60, end=90, node_count=2))
    assert fates(slurm)[2][1] <= 14
    assert 90 <= fates(slurm)[1][1] <= 94


def test_one_that_waits_in_a_reservation_blocks_that_alone():
    inside = [job(1, 10, 2, 30, user="v", reservation="r"), job(2, 14, 2, 5, user="v", reservation="r")]
    behind = job(3, 18, 1, 5, user="v", reservation="r")
    slurm = play(
        [*inside, behind, job(4, 18, 4, 5)], create(1, start=8, end=300, nodes={0, 1, 2}), builtin=True
    )
    assert fates(slurm)[4][1] <= 22
    assert fates(slurm)[3][1] > fates(slurm)[1][1] + 29


def test_a_job_may_run_past_the_end_until_the_look_at_limits():
    """From 70 to the end at 80; the looks are at 60 and 90."""
    slurm = play(
        [job(1, 70, 1, 200, limit=5, user="v", reservation="r")], create(1, start=60, end=80, node_count=1)
    )
    assert (slurm.by_id[1].state, slurm.by_id[1].end) == (TIMEOUT, 90)


def test_what_waits_when_it_ends_is_held_at_the_next_look():
    """Job 2 waits for the nodes of job 1; the look at 90 purges what ended at 75."""
    inside = [job(n, 60 + n, 2, 15, user="v", reservation="r") for n in (1, 2)]
    asked = create(1, start=60, end=75, node_count=2)
    assert play([replace(one) for one in inside], asked, until=88).named("r")
    slurm = play(inside, asked)
    assert not slurm.named("r")
    assert fates(slurm)[2] == (DELETED, None)


# -- flags


def test_flex_jobs_start_before_and_take_nodes_outside():
    """Inside first; of the others the tightest run of nodes."""
    asked = create(1, start=60, end=90, nodes={5, 6}, flags=("FLEX",))
    early = [
        job(1, 10, 1, 20, limit=5, user="v", reservation="r"),
        job(2, 12, 2, 20, limit=5, user="v", reservation="r"),
    ]
    slurm = play(early, asked)
    assert fates(slurm)[1][1] <= 12
    assert where(slurm, 1) == {5}
    assert where(slurm, 2) == {6, 7}


def test_flex_ends_no_job():
    asked = create(1, start=60, end=90, nodes={5, 6}, flags=("FLEX",))
    slurm = play([job(1, 70, 1, 100, limit=5, user="v", reservation="r")], asked)
    assert fates(slurm)[1][0] == COMPLETED


@pytest.mark.parametrize(("flags", "begins"), [((), 86), (("OVERLAP",), 71), (("MAINT",), 71)])
def test_whether_jobs_of_a_reservation_keep_off_another(flags: tuple[str, ...], begins: int):
    """The other has both nodes from 80 to 85."""
    mine = create(1, start=60, end=300, nodes={0, 1}, flags=flags)
    other = create(2, "s", start=80, end=85, nodes={0, 1}, flags=("OVERLAP",))
    slurm = play([job(1, 71, 2, 5, user="v", reservation="r")], mine, other)
    assert begins <= fates(slurm)[1][1] <= begins + 4


def test_maintenance_of_a_partition_is_over_before_a_job_of_it_starts():
    slurm = play([job(1, 10, 1, 5)], create(1, start=30, end=90, nodes="ALL", flags=("MAINT",)))
    assert 90 <= fates(slurm)[1][1] <= 94


def test_any_nodes_binds_a_job_to_a_time_alone():
    slurm = play(
        [job(1, 10, 8, 5, user="v", reservation="r")], create(1, start=40, end=90, flags=("ANY_NODES",))
    )
    assert fates(slurm)[1] == (COMPLETED, 40)


@pytest.mark.parametrize(
    ("flag", "start", "turn"),
    [
        ("HOURLY", 60, HOUR_S),
        ("DAILY", 60, DAY_S),
        ("WEEKLY", 60, 7 * DAY_S),
        ("WEEKDAY", MONDAY + 60, DAY_S),
        ("WEEKDAY", MONDAY + 4 * DAY_S + 60, 3 * DAY_S),
        ("WEEKEND", MONDAY + 5 * DAY_S + 60, DAY_S),
        ("WEEKEND", MONDAY + 6 * DAY_S + 60, 6 * DAY_S),
    ],
)
def test_repeated_ones_move_on_when_they_have_ended(flag: str, start: int, turn: int):
    """The clock of the model begins just before, so that weeks need not pass."""
    since = start - 60
    slurm = play(
        [job(1, 200, 1, 5)], create(1, start=60, end=90, node_count=1, flags=(flag,)), until=150, origin=since
    )
    assert slurm.named("r").start == 60 + turn


def test_purge_comp_ends_it_when_it_has_had_no_jobs():
    """It began at 5 and is idle since the look at 30; after 50 s more the look at 90 ends it."""
    asked = create(1, start=5, end=900, node_count=1, flags=("PURGE_COMP",), purge_comp=50)
    ended = [job(1, 200, 1, 5)]
    assert play(ended, asked, until=89).named("r")
    assert not play(ended, asked, until=91).named("r")


def test_a_magnetic_one_draws_who_has_access():
    """Job 1 may use it and names none: it starts inside. Job 2 takes the tightest run beside it."""
    asked = create(1, start=5, end=900, nodes={4, 5}, flags=("MAGNETIC",))
    slurm = play([job(1, 10, 1, 5, user="v"), job(2, 12, 1, 5)], asked)
    assert where(slurm, 1) == {4}
    assert where(slurm, 2) == {6}


def test_replace_gives_idle_nodes_for_those_taken():
    asked = create(1, start=5, end=900, node_count=2, flags=("REPLACE",))
    slurm = play([job(1, 10, 1, 50, user="v", reservation="r")], asked, until=20)
    assert where(slurm, 1) == {0}
    assert nodes_of(slurm) == {1, 2}


def test_a_run_without_reservations_is_that_of_the_model_without():
    def jobs() -> list[Job]:
        return [job(n, 2 * n, 1 + n % 6, 5 + 3 * n) for n in range(1, 20)]

    slurm = Slurm(
        Config({"main": Partition(list(range(8)))}, daemon_start=0, bf_interval=2, bf_resolution=1), jobs()
    )
    slurm.run(2000)
    assert fates(play(jobs())) == {one.id: (one.state, one.start) for one in slurm.jobs}
