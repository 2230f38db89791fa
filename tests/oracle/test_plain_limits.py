"""Limits of QOS and associations in the plain model of Slurm: cases worked out by hand."""

from __future__ import annotations

import pytest

from tests.oracle.plain_limit_checks import REFUSED
from tests.oracle.plain_limit_records import Association, Database, Limits
from tests.oracle.plain_limited_slurm import LimitedSlurm
from tests.oracle.plain_slurm_records import Config, Job, Partition

pytestmark = pytest.mark.interpreted


def job(number: int, submit: int, nodes: int, runtime: int, limit: int = 1, **more: object) -> Job:
    given = {"user": "u", "account": "a", "qos": "q"} | more
    return Job(number, submit, ["main"], nodes, runtime, limit, **given)


def play(jobs: list[Job], database: Database, **settings: object) -> LimitedSlurm:
    """On eight nodes, the daemon starting with second 0."""
    config = Config({"main": Partition(list(range(8)))}, daemon_start=0, bf_interval=2)
    for key, value in settings.items():
        setattr(config, key, value)
    slurm = LimitedSlurm(config, jobs, [], database)
    slurm.run(2000)
    return slurm


def database(
    qos: Limits | None = None,
    *,
    user: Limits | None = None,
    account: Limits | None = None,
    of_partition: Limits | None = None,
    free: bool = False,
    **how: object,
) -> Database:
    """One account with users u and v; root above it."""
    associations = {
        "root": Association(""),
        "a": Association("root", account or Limits()),
        "a/u": Association("a", user or Limits()),
        "a/v": Association("a"),
    }
    named = {"q": qos or Limits()} | ({"p": of_partition} if of_partition else {})
    named |= {"free": Limits()} if free else {}
    return Database(associations, named, {"main": "p"} if of_partition else {}, **how)


def starts(slurm: LimitedSlurm) -> dict[int, int | None]:
    return {job.id: job.start for job in slurm.jobs}


def three(**second: object) -> list[Job]:
    return [job(1, 4, 2, 40), job(2, 8, 2, 10, **second), job(3, 12, 2, 10, user="v")]


def test_jobs_of_a_user_in_a_qos_and_who_is_behind_them():
    """Job 2 waits for job 1; job 3, of another user, does not wait for job 2."""
    found = starts(play(three(), database(Limits(max_jobs_pu=1))))
    assert (found[1], found[3]) == (4, 12)
    assert found[2] in (44, 45, 46, 47)


@pytest.mark.parametrize("kind", ["account", "user"])
def test_limits_of_associations_at_every_level(kind: str):
    limits = Limits(grp_jobs=1) if kind == "account" else Limits(max_jobs=1)
    found = starts(play(three(), database(**{kind: limits})))
    assert found[2] >= 44
    assert found[3] == 12 if kind == "user" else found[3] > found[2]


def test_nodes_in_use_of_all_jobs_of_a_qos():
    """Of five nodes two are in use: a job of three more starts, one of four waits."""
    found = starts(play(three(), database(Limits(grp_tres={"node": 5}))))
    assert found[2] == 8
    slurm = play([job(1, 4, 2, 40), job(2, 8, 4, 10)], database(Limits(grp_tres={"node": 5})))
    assert starts(slurm)[2] >= 44


def test_more_nodes_than_are_ever_allowed():
    slurm = play([job(1, 4, 4, 10), job(2, 8, 3, 10)], database(Limits(grp_tres={"node": 3})))
    assert starts(slurm) == {1: None, 2: 8}
    assert slurm.reason[1] == "QOSGrpNodeLimit"


def test_the_qos_of_the_partition_goes_first_unless_the_jobs_own_is_over_it():
    """The partition's QOS allows two jobs, the job's own one."""
    own, of_partition = Limits(grp_jobs=1), Limits(grp_jobs=2)
    assert starts(play(three(), database(own, of_partition=of_partition)))[2] == 8
    own.flags = ("OverPartQOS",)
    assert starts(play(three(), database(own, of_partition=of_partition)))[2] >= 44


def test_a_limit_of_a_qos_hides_those_of_associations_of_its_kind():
    tight, wide = Limits(grp_jobs=1), Limits(grp_jobs=5)
    assert starts(play(three(), database(wide, account=tight)))[2] == 8
    assert starts(play(three(), database(account=tight)))[2] >= 44


def test_so_many_jobs_at_once_are_taken():
    slurm = play(three(), database(account=Limits(grp_submit=2)))
    assert [(job.id, job.state) for job in slurm.refused] == [(3, REFUSED)]


def test_minutes_that_are_used_up_end_what_runs_but_under_safe():
    """Four nodes use a minute of one in 15 s; at the check at 30 or 60 what runs ends."""
    limits = Limits(grp_tres_mins={"cpu": 1})
    jobs = [job(1, 4, 4, 50)]
    settings = {"multifactor": True, "calc_period": 5}
    killed = play(jobs, database(account=limits), **settings).jobs[0]
    assert (killed.state, killed.end) == ("TIMEOUT", 30)
    safe = play([job(1, 4, 4, 50)], database(account=limits, safe=True), **settings)
    assert safe.jobs[0].start is None  # it might use four minutes


def test_minutes_that_jobs_may_yet_use():
    """Two nodes for a minute are two; with another two they are more than three, until the first ends."""
    found = starts(play(three(), database(Limits(grp_tres_run_mins={"cpu": 3}))))
    assert found[1] == 4
    assert found[2] >= 44


def test_a_time_limit_over_the_longest_waits_for_ever():
    slurm = play(three(limit=3), database(Limits(max_wall=2)))
    assert starts(slurm)[2] is None
    assert slurm.reason[2] == "QOSMaxWallDurationPerJobLimit"


@pytest.mark.parametrize("builtin", [True, False])
@pytest.mark.parametrize("stop", [True, False])
def test_whether_a_limit_blocks(stop: bool, builtin: bool):
    """Job 2 would have six of five nodes with job 1: under assoc_limit_stop job 3 waits behind it."""
    jobs = [job(1, 4, 2, 40), job(2, 8, 4, 10), job(3, 12, 2, 10, user="v")]
    found = starts(play(jobs, database(Limits(grp_tres={"node": 5}), stop=stop), builtin=builtin))
    assert found[3] >= 44 if stop else found[3] == 12


@pytest.mark.parametrize("most", [7, 8])
def test_nodes_that_count_already_for_a_limit_of_nodes_are_planned_first(most: int):
    """Job 3 is planned once job 1 has left nodes 0 and 1; 5 to 7 are idle, the longer run.

    A limit of all eight nodes binds nobody, and weighs nothing.
    """
    qos = Limits(grp_tres={"node": most})
    three = [
        job(1, 4, 2, 40),
        job(2, 8, 3, 90, limit=3, qos="free"),
        job(3, 12, 4, 10),
    ]
    slurm = play(three, database(qos, free=True))
    planned = next(nodes for _, number, _, nodes in slurm.plans if number == 3)
    assert planned == ({0, 1, 5, 6} if most == 7 else {0, 5, 6, 7})
