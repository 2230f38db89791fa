"""Cores that several jobs have at once (OverSubscribe) in the plain select/cons_tres, by hand."""

from __future__ import annotations

import pytest

from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_needs import AVAILABLE, ONE_ROW, needs_of
from tests.oracle.plain_cons_tres_records import Ask, Node, Settings, Share, SharedJob, SharedPartition
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_rows import Tenant
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm_records import Config

CORES, MEMORY = Settings(), Settings(memory=True)


def part(oversubscribe: str, tier: int = 1, place: int = 0, nodes: int = 1) -> SharedPartition:
    return SharedPartition(list(range(nodes)), tier, oversubscribe=oversubscribe, place=place)


def tenant(number: int, of: SharedPartition, cores: set[int], kind: int = AVAILABLE, **more: int) -> Tenant:
    return Tenant(number, {0: Share(frozenset(cores), len(cores), **more)}, of, kind, len(cores))


def given(room: Room, of: SharedPartition, tasks: int, **more) -> set[int] | None:
    """The cores of node 0 that a job of so many tasks gets."""
    found = place(room, needs_of(Ask(tasks=tasks, **more), of, room.settings), {0})
    return None if found is None else set(found[0].cores)


def numbers(room: Room, of: SharedPartition) -> list[set[int]]:
    """The jobs of each row that has any."""
    return [{one.number for one in row} for row in room.rows(of) if row]


# ---------------------------------------------------------------------- which row


def test_a_job_is_in_the_first_row_with_room_and_the_fullest_row_is_first():
    """2 meets 1 and is larger, so that its row comes first; 3 fits beside it and goes there."""
    of = part("FORCE:2")
    room = Room([Node(8)], CORES, [tenant(1, of, {0, 1}), tenant(2, of, {1, 2, 3}), tenant(3, of, {5})])
    assert numbers(room, of) == [{2, 3}, {1}]


def test_the_others_are_put_in_anew_when_a_job_ends():
    """By their first cores: 2, then 4, which meets it, then 3, which fits beside either."""
    of = part("FORCE:3")
    room = Room([Node(8)], CORES)
    for number, cores in ((1, {0, 1, 2, 3, 4, 5}), (2, {0, 1}), (3, {4, 5, 6}), (4, {1, 2})):
        room.join(tenant(number, of, cores))
    assert numbers(room, of) == [{1}, {2, 3}, {4}]
    room.leave(1)
    assert numbers(room, of) == [{2, 3}, {4}]


def test_all_stay_where_they_are_if_one_finds_no_row():
    """2 meets 3, 3 meets 4, and 4 meets 5; by first cores 2 and 5 come first, into one row."""
    of = part("FORCE:2")
    room = Room([Node(8)], CORES)
    for number, cores in ((2, {0, 4}), (3, {2, 4, 5}), (4, {3, 5, 6}), (5, {1, 6}), (1, {7})):
        room.join(tenant(number, of, cores))
    assert numbers(room, of) == [{1, 2, 4}, {3, 5}]
    room.leave(1)
    assert numbers(room, of) == [{2, 4}, {3, 5}]


# ---------------------------------------------------------------------- which cores


def test_cores_that_nobody_has_come_first_then_those_beside_the_fullest_row():
    of = part("FORCE:2")
    room = Room([Node(4)], CORES, [tenant(1, of, {0, 1, 2}), tenant(2, of, {0})])
    assert given(room, of, 1) == {3}
    assert given(room, of, 2) == {1, 2}  # not beside the first row, beside the second
    assert given(room, of, 4) is None


def test_partitions_have_rows_of_their_own():
    """All cores have two jobs of one partition, and may have one of another: free of its own tier none is."""
    two, one = part("FORCE:2"), part("FORCE:1", place=1)
    room = Room([Node(2)], CORES, [tenant(1, two, {0, 1}), tenant(2, two, {0, 1})])
    assert given(room, two, 1) is None
    assert given(room, one, 2) == {0, 1}
    room.join(tenant(3, one, {0}))
    assert given(room, one, 1) == {1}
    assert given(room, one, 2) is None


def test_jobs_of_lower_tiers_are_spared_as_far_as_possible():
    """Of cores 0 to 3 the first two have jobs of the same tier, 2 one of a lower tier, 3 one of the lowest.

    Two cores are free of the same tier, but not of the others: partition by partition, the higher tier first.
    """
    high, own = part("FORCE:1", 3), part("FORCE:1", 3, 1)
    low, lowest = part("FORCE:1", 2, 2), part("FORCE:1", 1, 3)
    tenants = [tenant(1, high, {0, 1}), tenant(2, low, {2}), tenant(3, lowest, {3})]
    room = Room([Node(4)], CORES, tenants)
    assert given(room, own, 2) == {2, 3}
    assert given(room, own, 1) == {3}
    room.leave(3)
    assert given(Room([Node(4)], CORES, tenants[:2]), own, 1) == {3}


def test_in_a_row_nobody_of_other_partitions_is_spared():
    """Beside its own row a job takes the first cores, though others have those, and not the last."""
    own, low = part("FORCE:2", 2), part("FORCE:1", 1, 1)
    room = Room([Node(3)], CORES, [tenant(1, own, {1}), tenant(2, own, {0, 1, 2}), tenant(3, low, {0})])
    assert given(room, own, 1) == {0}


def test_memory_and_gres_are_never_shared():
    of, node = part("FORCE:2"), Node(4, memory=8_000, gres={"gpu": 2})
    room = Room([node], MEMORY, [tenant(1, of, {0, 1, 2, 3}, memory=6_000)])
    assert given(room, of, 2, mem=2_000) == {0, 1}
    assert given(room, of, 2, mem=3_000) is None
    shares = {0: Share(node.all_cores, 4, 0, {"gpu": 1})}
    room = Room([node], CORES, [Tenant(1, shares, of, AVAILABLE)])
    assert given(room, of, 1, gres={"gpu": 1}) == {0}
    assert given(room, of, 1, gres={"gpu": 2}) is None


# ---------------------------------------------------------------------- who shares


@pytest.mark.parametrize(
    ("oversubscribe", "ask", "kind", "whole"),
    [
        ("NO", {"oversubscribe": True}, ONE_ROW, False),
        ("YES:2", {}, ONE_ROW, False),
        ("YES:2", {"oversubscribe": True}, AVAILABLE, False),
        ("YES:2", {"oversubscribe": True, "exclusive": True}, ONE_ROW, True),
        ("FORCE:2", {}, AVAILABLE, False),
        ("FORCE:2", {"exclusive": True}, AVAILABLE, True),
        ("FORCE:1", {}, AVAILABLE, False),
        ("FORCE:1", {"exclusive": True}, ONE_ROW, True),
    ],
)
def test_who_may_share_cores(oversubscribe, ask, kind, whole):
    needs = needs_of(Ask(tasks=1, **ask), part(oversubscribe), CORES)
    assert (needs.kind, needs.whole) == (kind, whole)


def test_one_that_is_to_be_alone_shares_all_cores_where_that_is_forced():
    of = part("FORCE:2")
    room = Room([Node(4)], CORES, [tenant(1, of, {0})])
    assert given(room, of, 1, exclusive=True) == {0, 1, 2, 3}
    room.join(tenant(2, of, {0, 1, 2, 3}))
    assert given(room, of, 1, exclusive=True) is None


def test_who_keeps_its_cores_may_be_beside_those_that_share_in_its_partition_alone():
    """A node of a YES partition on which cores are shared: of that partition others may have free cores."""
    yes, no = part("YES:2"), part("NO", place=1)
    room = Room([Node(4)], CORES, [tenant(1, yes, {0, 1}), tenant(2, yes, {0, 1})])
    assert given(room, yes, 2) == {2, 3}
    assert given(room, no, 1) is None
    room.join(tenant(3, yes, {2}, ONE_ROW))
    assert given(room, yes, 1, oversubscribe=True) is None  # nobody shares beside one that does not


# ---------------------------------------------------------------------- the schedulers


def slurm_of(jobs: list[tuple[int, int, Ask]], oversubscribe: str, nodes: int = 1) -> dict[int, tuple]:
    """Start, and cores by node, of jobs (submit, run time, what it asks for) with limits of five minutes."""
    one = SharedPartition(list(range(nodes)), name="main", oversubscribe=oversubscribe)
    every = [SharedJob(i, at, ["main"], 0, run, 5, ask=ask) for i, (at, run, ask) in enumerate(jobs, 1)]
    config = Config({"main": one}, daemon_start=0, bf_interval=30, bf_resolution=1)
    slurm = SharedSlurm(config, every, nodes=[Node(4)] * nodes, settings=CORES)
    slurm.run(2_000)
    return {job.id: (job.start, {n: sorted(s.cores) for n, s in job.shares.items()}) for job in slurm.jobs}


def test_two_jobs_run_on_the_same_cores_and_the_third_waits():
    """4, one core, passes 3 in neither row: both are full."""
    full = Ask(tasks=4)
    found = slurm_of([(1, 100, full), (2, 60, full), (3, 50, full), (4, 9, Ask(tasks=1))], "FORCE:2")
    assert [found[number][0] for number in (1, 2)] == [3, 3]
    assert found[3][0] >= 63
    assert all(cores == {0: [0, 1, 2, 3]} for number, (_, cores) in found.items() if number < 4)


def test_backfill_tries_cores_of_its_own_first():
    """Of two nodes the first has a job that shares, the second none: both schedulers take free cores first.

    A third full job finds no core for itself, and shares.
    """
    ask = Ask(tasks=4, oversubscribe=True)
    found = slurm_of([(1, 100, ask), (1, 100, ask), (2, 50, ask)], "YES:2", nodes=2)
    assert [sorted(found[number][1]) for number in (1, 2, 3)] == [[0], [1], [0]]
    plain = slurm_of([(1, 100, ask), (1, 100, ask), (2, 50, Ask(tasks=4))], "YES:2", nodes=2)
    assert plain[3][0] >= 103
