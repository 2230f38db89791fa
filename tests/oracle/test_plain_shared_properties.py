"""The reference for shared nodes on random sites: against itself, and against that for whole nodes."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.plain import Clock
from tests.oracle.plain import schedule as schedule_whole_nodes
from tests.oracle.plain_shared import SharedClock, schedule
from tests.oracle.plain_shared_records import Node, Request, request_of
from tests.oracle.records import Placement
from tests.oracle.shared_cases import EASY, EVERY, FIRST_FIT, KEEP, SCRATCH
from tests.oracle.shared_strategies import (
    DIALECTS,
    GAPS,
    JOBS,
    PACKINGS,
    RUNS,
    SITES,
    SLACKS,
    components,
)


def as_limited(jobs: list[tuple[int, Request]]) -> list[tuple[int, Request]]:
    """The same, each running exactly for its limit."""
    return [(gap, Request(**{**vars(request), "run": request.limit})) for gap, request in jobs]


def outcomes(clock: Clock) -> list[tuple[int, int, str, int, int]]:
    return [(o.start, o.end, o.state, *o.waits) for o in clock.outcomes.values()]


@pytest.mark.parametrize("policy", EVERY, ids=str)
@given(SITES, JOBS, PACKINGS)
def test_no_node_gives_more_than_it_has(policy, nodes, jobs, packing):
    """At every instant, by starts, ends and nodes alone."""
    clock = schedule(components(jobs), nodes, packing=packing, **policy)
    ran = [(row, o.start, o.end) for row, o in clock.outcomes.items() if o.end > o.start >= 0]
    assert all(o.state != "PENDING" for o in clock.outcomes.values())
    for now in {start for _, start, _ in ran}:
        on = defaultdict(list)
        for row, start, end in ran:
            if start <= now < end:
                for node in clock.nodes_of[row]:
                    on[node].append(request_of(clock.components[row]))
        for node, requests in on.items():
            has = clock.nodes[node]
            assert all(request.partition in has.partitions for request in requests)
            assert len(requests) == 1 or all(one.cores > 0 and not one.exclusive for one in requests)
            for amount in ("cores", "memory"):
                assert sum(getattr(request, amount) for request in requests) <= getattr(has, amount)
            assert sum(request.gpus * request.part for request in requests) <= has.gpus * has.size
    for row, _, _ in ran:
        assert len(set(clock.nodes_of[row])) == request_of(clock.components[row]).nodes


@given(SITES, JOBS, PACKINGS, DIALECTS)
def test_one_reservation_in_the_plan_is_r6(nodes, jobs, packing, dialects):
    rows = components(jobs)
    told = schedule(rows, nodes, packing=packing, **EASY, **dialects)
    planned = schedule(rows, nodes, packing=packing, **EASY, depth=1, **dialects)
    assert outcomes(told) == outcomes(planned)
    assert told.nodes_of == planned.nodes_of
    assert told.promised == planned.promised


def latest_promises(clock: SharedClock, most: int) -> list[tuple[int, int]]:
    """Start and promised start of each promise with fewer than ``most`` before it in its pass."""
    return [(clock.outcomes[row].start, time) for _, row, time, number in clock.promised if number < most]


@pytest.mark.parametrize("depth", [None, 1, 2, 3])
@given(SITES, JOBS, PACKINGS)
def test_what_is_backfilled_delays_no_front(depth, nodes, jobs, packing):
    """However early others end."""
    clock = schedule(components(jobs), nodes, packing=packing, backfill="easy", depth=depth)
    assert all(start <= promised for start, promised in latest_promises(clock, 1))


@pytest.mark.parametrize("depth", [2, 3, 4])
@given(SITES, JOBS, PACKINGS)
def test_what_is_backfilled_delays_no_reservation(depth, nodes, jobs, packing):
    """Where nothing ends early, which may send a front to other nodes.

    A third reservation may be due before the first two, and wait then, as it would lure one of them.
    """
    clock = schedule(components(as_limited(jobs)), nodes, packing=packing, backfill="easy", depth=depth)
    assert all(start <= promised for start, promised in latest_promises(clock, 2))


@given(SITES, JOBS, PACKINGS)
def test_conservative_delays_no_reservation(nodes, jobs, packing):
    """The first in the queue from scratch, every one that is kept."""
    scratch = schedule(components(jobs), nodes, packing=packing, **SCRATCH)
    assert all(start <= promised for start, promised in latest_promises(scratch, 1))
    keep = schedule(components(jobs), nodes, packing=packing, **KEEP)
    assert all(start <= promised for start, promised in latest_promises(keep, 1))


# -------------------------------------------------------------------- whole nodes
COUNTED = st.lists(st.tuples(GAPS, st.integers(1, 4), RUNS, SLACKS), min_size=1, max_size=14)
AS_WHOLE = [{"cores": 1}, {"cores": 4}, {"cores": 0}, {"cores": 1, "exclusive": True}]
"""Ways to ask for a whole node, each with the cores that nodes have."""


def both(rows, nodes, asked, packing, **policy) -> tuple[SharedClock, Clock]:
    """The same jobs on shared nodes of which they leave nothing, and on whole nodes."""
    sized = [(gap, size, run, max(1, run + slack)) for gap, size, run, slack in rows]
    shared = components([(gap, Request("m", *size, **asked)) for gap, *size in sized])
    whole = components([(gap, Placement("m", *size)) for gap, *size in sized])
    site = [Node("", max(1, asked["cores"] if "exclusive" not in asked else 4)) for _ in range(nodes)]
    counted = schedule_whole_nodes(whole, {"m": nodes}, **policy)
    return schedule(shared, site, packing=packing, **policy), counted


@pytest.mark.parametrize("asked", AS_WHOLE, ids=str)
@pytest.mark.parametrize("policy", [{}, FIRST_FIT, EASY], ids=str)
@given(COUNTED, st.integers(3, 5), PACKINGS, DIALECTS)
def test_whole_nodes_are_a_case_of_shared_ones(policy, asked, rows, nodes, packing, dialects):
    """Starts, ends, states and waits."""
    shared, whole = both(rows, nodes, asked, packing, **policy, **dialects)
    assert outcomes(shared) == outcomes(whole)


@pytest.mark.parametrize("policy", [SCRATCH, KEEP], ids=str)
@given(COUNTED, st.integers(3, 5), PACKINGS)
def test_the_first_promise_does_not_depend_on_names(policy, rows, nodes, packing):
    """Others may get later ones than where nodes are counted, and so be elsewhere in later passes."""
    shared, whole = both(rows, nodes, {"cores": 1}, packing, **policy)
    named, counted = (
        min((entry[:3] for entry in clock.promised if entry[2] > entry[0]), default=None)
        for clock in (shared, whole)
    )
    assert named == counted
