"""What follows from R1 to R8: depth, promises that are kept, dialects, modules, waits. By hand."""

from __future__ import annotations

import pytest

from tests.oracle.plain_shared_records import Node
from tests.oracle.shared_cases import (
    DEPTH_1,
    DEPTH_2,
    EASY,
    EVERY,
    FIRST_FIT,
    KEEP,
    RESERVING,
    SCRATCH,
    cluster,
    job,
    play,
    starts,
    went,
)

PAIR = cluster(4, 4)


# -------------------------------------------------------------------- depth k
def test_depth_two_protects_the_second_too():
    """
    On nodes of one core: A, 3 nodes, to 10; B 2 nodes at 10; C all 4 at 20. D, a node for 25 s, passes C
    under easy, which promises C nothing.
    """
    jobs = [job(0, 1, 10, nodes=3), job(1, 1, 10, nodes=2), job(1, 1, 5, nodes=4), job(2, 1, 25)]
    assert starts(jobs, cluster(1, 1, 1, 1), **EASY) == [0, 10, 27, 2]
    assert starts(jobs, cluster(1, 1, 1, 1), **DEPTH_2) == [0, 10, 20, 25]


def test_the_second_choice_leaves_every_reservation_where_it_is():
    """
    A (3 cores) holds x until 10, B (2) y until 30, E (3) z until 5. F and G want a node of 4 cores each: z
    at 5, x at 10. C, a core for 50 s, takes x by best fit, in nobody's way but G's; second choice: y.
    """
    jobs = [job(0, 3, 10), job(0, 2, 30), job(0, 3, 5), job(1, 4, 20), job(1, 4, 5), job(2, 1, 50)]
    assert went(jobs, cluster(4, 4, 4), **EASY)[3:] == [(5, "z"), (25, "z"), (2, "x")]
    assert went(jobs, cluster(4, 4, 4), **DEPTH_2)[3:] == [(5, "z"), (10, "x"), (2, "y")]


LURED = [
    *(job(0, 4, 10), job(0, 3, 10), job(0, 4, 20)),  # on x; on y; on y
    *(job(1, 2, 20), job(1, 6, 5), job(2, 1, 50)),  # F, G, C
]


def test_nothing_starts_that_lures_one_reservation_into_the_way_of_another():
    """
    x has 4 cores, y 8. F, 2 cores for 20 s, is reserved on x at 10, when both have 4 free, and G, 6 cores, on
    y at 20. C, a core for 50 s, has room on y beside them, but with it y is the fuller one at 10: F would go
    there, and G find no 6 cores until 30. So it waits. Easy, which promises G nothing, starts it.
    """
    assert went(LURED, cluster(4, 8), **EASY)[3:] == [(10, "y"), (30, "y"), (2, "y")]
    assert went(LURED, cluster(4, 8), **DEPTH_2)[3:] == [(10, "x"), (20, "y"), (10, "x")]


def test_one_that_may_not_start_is_reserved_where_something_ends():
    """C of before, with a reservation of its own: not now, so at 10."""
    clock = play(LURED, cluster(4, 8), backfill="easy", depth=3)
    assert [entry for entry in clock.promised if entry[0] == 2] == [
        (2, 3, 10, 0),
        (2, 4, 20, 1),
        (2, 5, 10, 2),
    ]


# -------------------------------------------------------------------- replan: keep
def test_keep_lifts_promises_when_something_ends_early():
    """A ends at 4 instead of 10: B, promised 10, moves to 4, and C from 15 to 9."""
    jobs = [job(0, 4, 4, 10), job(1, 4, 5), job(2, 4, 5)]
    clock = play(jobs, cluster(4), **KEEP)
    assert [outcome.start for outcome in clock.outcomes.values()] == [0, 4, 9]
    assert {(1, 1, 10, 0), (2, 2, 15, 0)} <= set(clock.promised)


def test_one_that_is_lifted_takes_nodes_anew_at_the_same_time_too():
    """
    Nodes of one core. A has x to 4, but ends at 3; B wants all four at 4; C has y, z and u from 2 to 3. D is
    promised 3, on y as x is taken. The sweep at 3 leaves B at 4, as D stands in its way, and D at 3,
    on x now. From scratch B comes first, at 3.
    """
    jobs = [job(0, 1, 3, 4), job(0, 1, 1, nodes=4), job(2, 1, 1, nodes=3), job(2, 1, 1)]
    kept = play(jobs, cluster(1, 1, 1, 1), **KEEP)
    assert [outcome.start for outcome in kept.outcomes.values()] == [0, 4, 2, 3]
    assert kept.names(3) == ["x"]
    assert starts(jobs, cluster(1, 1, 1, 1), **SCRATCH) == [0, 3, 2, 4]


def test_a_reservation_keeps_its_nodes():
    """
    Shortest first. A holds x whole until 10, B 2 of 4 cores of y until 10, C 1 until 30. D, 2 cores, is
    promised y at 10, the fuller one. E comes at 5, wants 2 cores of x, and goes before D: with it there, x is
    the fuller one at 10, and D goes there if it is planned from scratch.
    """
    nodes = [Node("x", 4, partitions=("all", "x")), Node("y", 4, partitions=("all", "y"))]
    there = [job(0, 4, 10, partition="x"), job(0, 2, 10, partition="y"), job(0, 1, 30, partition="y")]
    jobs = [*there, job(1, 2, 5), job(5, 2, 3, partition="x")]
    assert went(jobs, nodes, order="sjf", **KEEP)[3:] == [(10, "y"), (10, "x")]
    assert went(jobs, nodes, order="sjf", **SCRATCH)[3:] == [(10, "x"), (10, "x")]


def test_a_sweep_goes_over_all_modules():
    """
    Four nodes of one core: B, promised 4, stays there in the sweep at 1, as D, promised 3, stands in its way;
    D moves to 1. When something ends early on another module, at 2, B moves to 3.
    """
    jobs = [job(0, 1, 1, 4, nodes=2), job(0, 1, 1, nodes=3), job(0, 1, 3, nodes=2), job(0, 1, 1, nodes=2)]
    nodes = [*cluster(1, 1, 1, 1), Node("u", 1, partitions=("b",), module="b")]
    other = job(0, 1, 2, 9, module="b", partition="b")
    assert starts(jobs, nodes, **KEEP) == [0, 4, 0, 1]
    assert starts([*jobs, other], nodes, **KEEP) == [0, 3, 0, 1, 0]


# -------------------------------------------------------------------- dialects and orders
ROOM = [job(0, 3, 10), job(0, 2, 30)]  # on x; on y


@pytest.mark.parametrize("policy", [EASY, DEPTH_1], ids=str)
def test_without_the_extra_rule_a_candidate_ends_by_the_shadow_time(policy):
    """F leaves C a core of x and y beside it, for which there is no use."""
    jobs = [*ROOM, job(1, 3, 5), job(2, 1, 50), job(2, 1, 8)]
    assert went(jobs, PAIR, **policy)[2:] == [(10, "x"), (2, "x"), (2, "y")]
    assert went(jobs, PAIR, extra_rule=False, **policy)[2:] == [(10, "x"), (10, "x"), (2, "x")]


@pytest.mark.parametrize("policy", [EASY, DEPTH_1], ids=str)
def test_candidates_judged_by_run_time(policy):
    """C ends at 10, though its limit is later: it need not go to y."""
    jobs = [*ROOM, job(1, 4, 5), job(2, 1, 8, 50)]
    assert went(jobs, PAIR, **policy)[2:] == [(10, "x"), (2, "y")]
    assert went(jobs, PAIR, candidate_time="run", **policy)[2:] == [(10, "x"), (2, "x")]


@pytest.mark.parametrize("policy", [EASY, DEPTH_1, FIRST_FIT], ids=str)
def test_candidates_in_an_order_of_their_own(policy):
    """F waits for x, which has a core free. By submission C, 8 s, is before D, 5 s; by limit after it."""
    jobs = [job(0, 3, 10), job(0, 4, 30), job(1, 4, 5), job(2, 1, 8), job(2, 1, 5)]
    assert starts(jobs, PAIR, **policy)[2:] == [10, 2, 15]
    shortest_first = [15, 7, 2] if policy == FIRST_FIT else [10, 15, 2]
    assert starts(jobs, PAIR, backfill_order="sjf", **policy)[2:] == shortest_first


def test_in_orders_n_is_nodes():
    """smallest: B asks for one node of 4 cores, C for two of one core each."""
    jobs = [job(0, 4, 10), job(1, 1, 5, nodes=2), job(1, 4, 5)]
    nodes = cluster(4, 1)
    assert starts(jobs, nodes) == [0, 10, 15]
    assert starts(jobs, nodes, order="smallest") == [0, 15, 10]


@pytest.mark.parametrize(("key", "value"), [("shadow", "static"), ("passes", "event")])
def test_dialects_that_are_refused(key, value):
    with pytest.raises(ValueError, match=key):
        starts([job(0, 1, 1)], PAIR, backfill="easy", **{key: value})


# -------------------------------------------------------------------- modules and waits
@pytest.mark.parametrize("policy", EVERY, ids=str)
def test_every_module_has_a_front_of_its_own(policy):
    """B waits on module a until 10; C starts on b at once, whatever its limit."""
    nodes = [*cluster(4, module="a"), Node("y", 4, partitions=("b",), module="b")]
    jobs = [job(0, 3, 10, module="a"), job(1, 2, 5, module="a"), job(2, 4, 99, module="b", partition="b")]
    assert starts(jobs, nodes, **policy) == [0, 10, 2]


@pytest.mark.parametrize("policy", RESERVING, ids=str)
def test_reservations_are_counted_by_module(policy):
    """Both fronts hold one, so that neither C nor D outlasts them."""
    jobs = []
    for name in "ab":
        where = {"module": name, "partition": name}
        jobs += [job(0, 3, 10, **where), job(1, 4, 5, **where), job(2, 1, 20, **where)]
    nodes = [Node(name, 4, partitions=(name,), module=name) for name in "ab"]
    assert starts(jobs, nodes, **policy) == [0, 10, 15] * 2


def test_waits_for_resources_and_for_its_turn():
    """fcfs. B does not fit from 1 to 10. C, one core, fits on x all that time; from 10 to 15 it does not."""
    jobs = [job(0, 3, 10), job(0, 4, 30), job(1, 4, 5), job(2, 1, 5)]
    clock = play(jobs, PAIR)
    assert [outcome.waits for outcome in clock.outcomes.values()] == [(0, 0), (0, 0), (9, 0), (5, 8)]
