"""The reference for shared nodes against cases worked out by hand: R1 to R8, with the examples of the page.

Nodes are x, y, z in order; ``went`` says when and where each job started.
"""

from __future__ import annotations

import pytest

from tests.oracle.plain import schedule as schedule_whole_nodes
from tests.oracle.plain_shared_records import Node
from tests.oracle.records import Component, Placement
from tests.oracle.shared_cases import (
    EASY,
    EVERY,
    FIRST_FIT,
    KEEP,
    RESERVING,
    SCRATCH,
    Job,
    cluster,
    job,
    play,
    starts,
    went,
)

PAIR = cluster(4, 4)
PACKINGS = ["first_fit", "best_fit", "worst_fit"]
every_policy = pytest.mark.parametrize("policy", EVERY, ids=str)
reserving = pytest.mark.parametrize("policy", RESERVING, ids=str)


# -------------------------------------------------------------------- R1 and R2: what fits
@every_policy
def test_parts_that_are_free_on_different_nodes_do_not_fit_together(policy):
    """A holds 2 cores of x until 10, B 3 of y until 20. C wants 3 of one node: 2 and 1 are free."""
    jobs = [job(0, 2, 10), job(0, 3, 20), job(1, 3, 5)]
    assert went(jobs, PAIR, **policy) == [(0, "x"), (0, "y"), (10, "x")]


@every_policy
@pytest.mark.parametrize("asked", [{"memory": 5}, {"gpus": 2}])
def test_memory_and_gpus_are_asked_for_like_cores(policy, asked):
    """Cores are free all the time; B waits until 10 for what A has, C passes unless it must not."""
    nodes = cluster(8, memory=8, gpus=3)
    jobs = [job(0, 1, 10, **asked), job(1, 1, 5, **asked), job(2, 1, 5)]
    assert starts(jobs, nodes, **policy) == [0, 10, 2 if policy else 10]


@every_policy
def test_as_much_is_taken_on_each_of_several_nodes(policy):
    """A holds 2 of 4 cores of x until 10. B wants 3 cores on two nodes: of y and z, or, if z is small, x."""
    jobs = [job(0, 2, 10), job(1, 3, 5, nodes=2)]
    assert went(jobs, cluster(4, 4, 4), **policy)[1] == (1, "yz")
    assert went(jobs, cluster(4, 4, 2), packing="first_fit", **policy)[1] == (10, "xy")


@every_policy
@pytest.mark.parametrize("cores", [0, 1])
def test_whole_nodes_are_idle_before_and_shared_with_none(policy, cores):
    """
    A holds one core of x until 5. B is exclusive, or states no cores: it has y to itself until 20. C, the
    same, gets x at 5, for 10 s. D, one core for 3 s with memory and a GPU, finds room beside A, or waits
    behind C. At 6 x and y are wholly used, whatever B and C use of them.
    """
    nodes = cluster(4, 4, memory=8, gpus=2)
    whole = {"exclusive": cores == 1}
    jobs = [
        job(0, 1, 5),
        job(0, cores, 20, **whole),
        job(1, cores, 10, **whole),
        job(1, 1, 3, memory=1, gpus=1),
    ]
    last = (1, "x") if policy else (15, "x")
    assert went(jobs, nodes, **policy) == [(0, "x"), (0, "y"), (5, "x"), last]
    late = [
        *jobs[:3],
        job(6, 1, 1, memory=1, gpus=1),
    ]
    assert went(late, nodes, **policy)[3] == (15, "x")


@reserving
def test_whole_nodes_are_idle_in_the_plan_too(policy):
    """A holds a core until 10, then comes B, which is exclusive. C, a core for 20 s, would be there at 10."""
    jobs = [job(0, 1, 10), job(1, 1, 5, exclusive=True), job(2, 1, 20)]
    assert starts(jobs, cluster(4), **policy) == [0, 10, 15]


def test_whole_nodes_are_large_enough():
    nodes = [Node("x", 2, 16), Node("y", 8, 4)]
    jobs = [job(0, 4, 5, exclusive=True), job(0, 0, 5, memory=8), job(0, 4, 5, memory=8, exclusive=True)]
    clock = play(jobs, nodes)
    assert [clock.names(row) for row in range(3)] == [["y"], ["x"], []]
    assert [outcome.state for outcome in clock.outcomes.values()] == ["COMPLETED", "COMPLETED", "REJECTED"]


@every_policy
def test_partitions_may_overlap(policy):
    """y is in both. A takes it as p, so B, of q, has only z; C, of p, has x; D wants both nodes of p."""
    nodes = [
        Node("x", 4, partitions=("p",)),
        Node("y", 2, partitions=("q", "p")),
        Node("z", 4, partitions=("q",)),
    ]
    jobs = [job(0, 2, 10, partition="p"), job(0, 2, 5, partition="q"), job(0, 4, 5, partition="p")]
    expected = [(0, "y"), (0, "z"), (0, "x"), (10, "xy")]
    assert went([*jobs, job(1, 1, 5, partition="p", nodes=2)], nodes, **policy) == expected


# -------------------------------------------------------------------- R3: which nodes
@pytest.mark.parametrize(
    ("packing", "one", "two"), [("first_fit", "x", "xy"), ("best_fit", "y", "xy"), ("worst_fit", "z", "xz")]
)
def test_packings(packing, one, two):
    """x has 6 of 8 cores free, y 2, z all of them."""
    nodes = [Node(name, 8, partitions=("all", name)) for name in "xyz"]
    there = [job(0, 2, 99, partition="x"), job(0, 6, 99, partition="y")]
    assert went([*there, job(1, 2, 9)], nodes, packing=packing)[2] == (1, one)
    assert went([*there, job(1, 2, 9, nodes=2)], nodes, packing=packing)[2] == (1, two)
    assert went([*there, job(1, 2, 9, exclusive=True)], nodes, packing=packing)[2] == (1, "z")


@pytest.mark.parametrize("packing", PACKINGS)
def test_ties_go_by_the_order_of_the_nodes(packing):
    assert went([job(0, 1, 9, nodes=2)], cluster(4, 4, 4), packing=packing) == [(0, "xy")]


@pytest.mark.parametrize("policy", [SCRATCH, KEEP], ids=str)
def test_in_a_plan_free_cores_are_those_at_the_start(policy):
    """
    At 1 x has no core free and y one, at 10 x will have 4 and y 3: C, 2 cores, is reserved on y by best fit.
    D, 4 cores, gets x.
    """
    nodes = [Node("x", 4, partitions=("all", "x")), Node("y", 4, partitions=("all", "y"))]
    there = [job(0, 4, 10, partition="x"), job(0, 2, 10, partition="y"), job(0, 1, 30, partition="y")]
    assert went([*there, job(1, 2, 99), job(1, 4, 50)], nodes, **policy)[3:] == [(10, "y"), (10, "x")]


# -------------------------------------------------------------------- R4, R8: the clock
@every_policy
def test_a_run_time_of_0_ends_at_its_instant(policy):
    """B has x in the repeat of the instant, before any time goes by."""
    assert starts([job(3, 4, 0, 5), job(3, 4, 2)], cluster(4), **policy) == [3, 3]


@every_policy
def test_a_component_is_killed_at_its_limit(policy):
    clock = play([job(0, 4, 9, 6), job(1, 4, 2)], cluster(4), **policy)
    assert [(o.start, o.end) for o in clock.outcomes.values()] == [(0, 6), (6, 8)]
    assert [o.state for o in clock.outcomes.values()] == ["TIMEOUT", "COMPLETED"]


OVERRUN = [job(0, 3, 9, 3), job(1, 4, 5), job(4, 1, 2), job(5, 1, 1)]


@every_policy
def test_what_is_past_its_limit_is_planned_to_end_in_a_second(policy):
    """
    A may run 4 s longer than its 3 s. At 4 B is planned at 5: C, 2 s, would be in its way. At 5 B is planned
    at 6, and D ends by then.
    """
    expected = {"none": [0, 7, 12, 12], "first_fit": [0, 7, 4, 6]}.get(
        policy.get("backfill", "none"), [0, 7, 12, 5]
    )
    assert starts(OVERRUN, cluster(4), overrun_s=4, **policy) == expected


def test_a_promise_to_one_that_waits_for_an_overrun_is_renewed_each_second():
    clock = play(OVERRUN, cluster(4), overrun_s=4, **KEEP)
    told = [(now, time) for now, row, time, _ in clock.promised if row == 1]
    assert told == [(1, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 7)]


@every_policy
def test_what_never_fits_is_rejected(policy):
    """B is too large for its partition alone, C for the machine; what comes behind them does not wait."""
    nodes = [Node("x", 4, partitions=("small", "all")), Node("y", 8, partitions=("all",))]
    jobs = [job(0, 4, 1), job(1, 5, 1, partition="small"), job(1, 5, 1, nodes=2), job(1, 5, 1)]
    clock = play(jobs, nodes, **policy)
    assert [o.start for o in clock.outcomes.values()] == [0, -1, -1, 1]
    assert [o.state for o in clock.outcomes.values()][1:3] == ["REJECTED", "REJECTED"]


def test_a_rejected_submission_brings_a_pass():
    """A is past its limit. B is planned a second from each pass; C, which is too large, brings that at 6."""
    jobs = [job(0, 4, 9, 3), job(1, 4, 5), job(6, 9, 1)]
    clock = play(jobs, cluster(4), overrun_s=9, **EASY)
    assert clock.promised == [(1, 1, 3, 0), (6, 1, 7, 0)]


# -------------------------------------------------------------------- R5: fcfs and first_fit
def test_under_fcfs_nothing_passes_in_other_partitions_either():
    nodes = [Node("x", 4, partitions=("p",)), Node("y", 4, partitions=("q",))]
    jobs = [job(0, 4, 10, partition="p"), job(1, 4, 5, partition="p"), job(2, 1, 5, partition="q")]
    assert starts(jobs, nodes) == [0, 10, 10]
    assert starts(jobs, nodes, **FIRST_FIT) == [0, 10, 2]


def test_under_first_fit_all_that_fits_starts():
    """B waits for 4 cores of one node and is passed by C and D."""
    jobs = [job(0, 2, 10), job(0, 3, 9), job(1, 4, 5), job(2, 1, 20), job(3, 2, 20)]
    expected = [(0, "x"), (0, "y"), (22, "y"), (2, "y"), (3, "x")]
    assert went(jobs, PAIR, **FIRST_FIT) == expected


# -------------------------------------------------------------------- R6: easy
def beside_front(cores: int, then: Job, *more: Job) -> list[Job]:
    """A (3 cores) runs on x until 10, B (2 cores) on y until 30; F comes at 1."""
    return [job(0, 3, 10), job(0, 2, 30), job(1, cores, 5), then, *more]


ONE_CORE = job(2, 1, 50)


@pytest.mark.parametrize("policy", RESERVING[:2], ids=str)
@pytest.mark.parametrize(
    ("front", "candidate", "expected"),
    [
        (4, ONE_CORE, (2, "y")),  # the second choice: F stands on x
        (3, ONE_CORE, (2, "x")),  # F has room beside it
        (4, job(2, 1, 8), (2, "x")),  # is gone at 10
        (4, job(2, 1, 9), (2, "y")),  # ends a second late
        (4, job(2, 2, 50), (2, "y")),  # goes to y anyway
        (4, job(2, 3, 8), (15, "x")),  # does not fit now
    ],
)
def test_a_candidate_has_two_choices(policy, front, candidate, expected):
    assert went(beside_front(front, candidate), PAIR, **policy)[2:] == [(10, "x"), expected]


@pytest.mark.parametrize("policy", RESERVING[:2], ids=str)
def test_a_candidate_waits_if_there_is_no_room_beside_the_front(policy):
    jobs = [job(0, 3, 10), job(0, 4, 30), job(1, 4, 5), ONE_CORE]
    assert went(jobs, PAIR, **policy)[2:] == [(10, "x"), (15, "x")]


@pytest.mark.parametrize("policy", RESERVING[:2], ids=str)
def test_what_has_started_behind_the_front_is_in_its_way_then(policy):
    """F wants 3 of the 4 cores that x has at 10. C leaves them, D after it would not."""
    jobs = [job(0, 2, 10), job(0, 4, 30), job(1, 3, 5), ONE_CORE, ONE_CORE]
    assert went(jobs, PAIR, **policy)[2:] == [(10, "x"), (2, "x"), (15, "x")]


@pytest.mark.parametrize("policy", RESERVING[:2], ids=str)
def test_the_second_choice_is_on_as_many_nodes_as_are_asked_for(policy):
    """C wants a core on two nodes; beside F on x there are y and z if z has a core free."""
    there = [job(0, 3, 10), job(0, 2, 30)]
    behind = [job(1, 4, 5), job(2, 1, 50, nodes=2)]
    assert went([*there, job(0, 3, 40), *behind], cluster(4, 4, 4), **policy)[4] == (2, "yz")
    assert went([*there, job(0, 4, 40), *behind], cluster(4, 4, 4), **policy)[4] == (15, "xy")


def test_the_shadow_time_counts_what_the_pass_has_started():
    """All come at 0: B, 6 s, is what F waits for."""
    jobs = [job(0, 2, 10), job(0, 3, 6), job(0, 4, 5)]
    assert play(jobs, PAIR, **EASY).promised[0] == (0, 2, 6, 0)


# -------------------------------------------------------------------- R7: conservative
SAME_NODES = [(0, 1, 1), (0, 1, 5), (0, 1, 5), (1, 2, 10), (1, 1, 8)]
"""Submit time, nodes and run time on three nodes of one core."""


@pytest.mark.parametrize("policy", [SCRATCH, KEEP], ids=str)
def test_a_slot_is_on_the_same_nodes_throughout(policy):
    """
    R, 2 nodes, is reserved on x and y at 5. C, 8 s, could have x until 5 and z from then on, so it gets z
    at 5. Where nodes are counted it starts at 1.
    """
    jobs = [job(submit, 1, run, nodes=nodes) for submit, nodes, run in SAME_NODES]
    assert went(jobs, cluster(1, 1, 1), **policy)[3:] == [(5, "xy"), (5, "z")]
    whole = [
        Component(row, submit, (Placement("m", nodes, run, run),))
        for row, (submit, nodes, run) in enumerate(SAME_NODES)
    ]
    counted = schedule_whole_nodes(whole, {"m": 3}, **policy).outcomes
    assert [counted[row].start for row in (3, 4)] == [5, 1]


@pytest.mark.parametrize("policy", [SCRATCH, KEEP], ids=str)
def test_everybody_holds_a_slot(policy):
    """B is reserved at 10 and C at 15. D would be in B's way; E ends by 10."""
    jobs = [job(0, 3, 10), job(1, 4, 5), job(1, 4, 5), job(2, 1, 9), job(2, 1, 8)]
    assert starts(jobs, cluster(4), **policy) == [0, 10, 15, 20, 2]
