"""The reference against schedules drawn by hand: time goes right, a row is a node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import passes
from tests.oracle.plain import Clock, schedule
from tests.oracle.records import Component, Placement, priority

pytestmark = pytest.mark.interpreted


def job(submit, nodes, run, limit=None, *, after=(), fails=False, module="m", **resources):
    """One component on one module; its row is filled in by ``play``."""
    return (submit, [Placement(module, nodes, run, limit or run, resources=resources)], after, fails)


def choice(submit, *places):
    """One component with several placements (module, nodes, run = limit, cost)."""
    return (submit, [Placement(m, n, run, run, cost) for m, n, run, cost in places], (), False)


def play(jobs, nodes=4, modules=None, resources=None, **settings) -> Clock:
    components = [
        Component(row, submit, tuple(places), tuple(after), fails)
        for row, (submit, places, after, fails) in enumerate(jobs)
    ]
    return schedule(components, modules or {"m": nodes}, resources, **settings)


def starts(*args, **settings) -> list[int]:
    return [outcome.start for outcome in play(*args, **settings).outcomes.values()]


# Five jobs on four nodes, for every policy:  A 3 nodes 0..10 (limit 10), B wants all 4,
# C 1 node for 9 s, D 1 node for 4 s, E 2 nodes for 3 s.
FIVE = [job(0, 3, 10), job(0, 4, 5), job(1, 1, 9), job(2, 1, 4), job(3, 2, 3)]


def test_fcfs_lets_nothing_pass():
    """
    ....................DDDD
    AAAAAAAAAABBBBBCCCCCCCCC
    AAAAAAAAAABBBBBEEE
    AAAAAAAAAABBBBBEEE      (times 0..24; the top row is node 4, busy with B too)
    """
    assert starts(FIVE) == [0, 10, 15, 15, 15]


def test_first_fit_starts_whatever_fits():
    """
    .CCCCCCCCCCDDDBBBBB     (C for 10 s: at 10, when A ends, B finds 3 nodes)
    AAAAAAAAAADEEEBBBBB
    AAAAAAAAAAEEE.BBBBB
    AAAAAAAAAA....BBBBB     (B is passed by C, D and E, and starts when all is free)
    """
    jobs = [*FIVE[:2], job(1, 1, 10), *FIVE[3:]]
    assert starts(jobs, backfill="first_fit") == [0, 14, 1, 10, 10]


def test_easy_fills_up_to_the_shadow_time_and_not_beyond():
    """
    .CCCCCCCCCBBBBBDDDD
    AAAAAAAAAABBBBBEEE
    AAAAAAAAAABBBBBEEE
    AAAAAAAAAABBBBB         (C ends at 10, exactly B's shadow time; D finds no free node)
    """
    assert starts(FIVE, backfill="easy") == [0, 10, 1, 15, 15]


def test_easy_one_second_too_long_waits():
    """C for 10 s would end at 11, after the shadow time 10; D for 4 s goes instead."""
    jobs = [*FIVE[:2], job(1, 1, 10), *FIVE[3:]]
    assert starts(jobs, backfill="easy") == [0, 10, 15, 2, 15]


def test_easy_extra_nodes_may_be_held_beyond_the_shadow_time_until_used_up():
    """
    ..DDDDDDDDDDDDDDDDDDDD
    AAAAAAAAAABBBBBEEEEEEEEEEEEEEEEEEEE
    AAAAAAAAAABBBBB
    AAAAAAAAAABBBBB         (B leaves 1 node extra: D takes it, E must wait)
    """
    jobs = [job(0, 3, 10), job(1, 3, 5), job(2, 1, 20), job(3, 1, 20)]
    assert starts(jobs, backfill="easy") == [0, 10, 2, 15]
    wider = [job(0, 3, 10), job(1, 3, 5), job(2, 1, 20), job(3, 1, 20)]
    assert starts(wider, nodes=5, backfill="easy") == [0, 10, 2, 3]


def test_without_the_extra_rule_a_candidate_must_end_by_the_shadow_time():
    jobs = [job(0, 3, 10), job(1, 3, 5), job(2, 1, 20), job(3, 1, 7)]
    assert starts(jobs, backfill="easy", extra_rule=False) == [0, 10, 10, 3]


def test_easy_protects_only_the_first_where_depth_two_protects_the_second_too():
    """
    A 3 nodes to 10; B 2 nodes to 20 from 10; C 4 nodes; D 1 node for 25 s at 2.
    EASY knows B alone: D fits beside it (extra 2) and holds C up until 27. Depth 2: C is promised 20.
    """
    jobs = [job(0, 3, 10), job(1, 2, 10), job(1, 4, 5), job(2, 1, 25)]
    assert starts(jobs, backfill="easy") == [0, 10, 27, 2]
    assert starts(jobs, backfill="easy", depth=2) == [0, 10, 20, 25]
    assert starts(jobs, backfill="conservative") == [0, 10, 20, 25]


def test_conservative_promises_to_all():
    """As FIVE under EASY; D and E are promised 15, behind B."""
    assert starts(FIVE, backfill="conservative") == [0, 10, 1, 15, 15]
    assert starts(FIVE, backfill="conservative", replan="keep") == [0, 10, 1, 15, 15]


def test_keep_lifts_promises_when_something_ends_early():
    """A ends at 4 instead of 10: B, promised 10, moves to 4, and C from 15 to 9."""
    jobs = [job(0, 4, 4, 10), job(1, 4, 5), job(2, 4, 5)]
    clock = play(jobs, backfill="conservative", replan="keep")
    assert [outcome.start for outcome in clock.outcomes.values()] == [0, 4, 9]
    assert (1, 1, 10, 0) in clock.promised
    assert (2, 2, 15, 0) in clock.promised


def test_keep_stops_at_a_promise_that_is_nobodys_end_any_more():
    """
    At 0, four nodes: A 2 nodes, limit 4, and C 2 nodes, 3 s, run; B, 3 nodes, is promised 4 and D, 2 nodes
    for 1 s, is promised 3, just before B. A ends at 1. The one sweep takes B first: D's promise still stands
    in its way, it stays at 4; then D moves to 1. Nothing but B's own promise happens at 4.

    CCC.B
    CCC.B
    AD..B
    AD...
    """
    jobs = [job(0, 2, 1, 4), job(0, 3, 1), job(0, 2, 3), job(0, 2, 1)]
    clock = play(jobs, backfill="conservative", replan="keep")
    assert [(o.start, o.end) for o in clock.outcomes.values()] == [(0, 1), (4, 5), (0, 3), (1, 2)]


def test_scratch_may_push_a_promise_back_keep_does_not():
    """
    A 1 node, limit 4, run 3; B 4 nodes; C 3 nodes and D 1 node, 1 s each, at 2. B is promised 4, C goes
    at once, D is promised 3. A ends at 3: scratch gives B the free machine and D waits until 4; keep lifts
    B first, which D's promise 3 keeps at 4.

    scratch  AAABD     keep  AAADB
             ..CB.           ..C.B    (three nodes wide)
    """
    jobs = [job(0, 1, 3, 4), job(0, 4, 1), job(2, 3, 1), job(2, 1, 1)]
    clock = play(jobs, backfill="conservative")
    assert (2, 3, 3, 1) in clock.promised
    assert [o.start for o in clock.outcomes.values()] == [0, 3, 2, 4]
    assert starts(jobs, backfill="conservative", replan="keep") == [0, 4, 2, 3]


def test_shadow_static_keeps_the_first_promise_dynamic_follows_early_ends():
    """
    A (limit 20) ends at 5, B ends at 10. F wants 4 nodes: promised 20, from 5 on 10.
    C, 1 node for 10 s at 6, would end at 16: static lets it pass, and it holds F up.
    """
    jobs = [job(0, 2, 5, 20), job(0, 2, 10), job(1, 4, 5), job(6, 1, 10)]
    assert starts(jobs, backfill="easy") == [0, 0, 10, 15]
    assert starts(jobs, backfill="easy", shadow="static") == [0, 0, 16, 6]


def test_shadow_static_once_passed_stops_all_but_extra():
    """
    A and B are planned to end at 12: F's shadow. A does; B may overrun by 10 s and ends at 20. At 13 the
    static shadow is past, so G (1 node, 1 s), ending at 14, waits; the dynamic one is 14 and lets it in.
    """
    jobs = [job(0, 2, 12), job(0, 1, 20, 12), job(1, 4, 5), job(13, 1, 1)]
    assert starts(jobs, backfill="easy", overrun_s=10, shadow="static") == [0, 0, 20, 25]
    assert starts(jobs, backfill="easy", overrun_s=10) == [0, 0, 20, 13]


def test_candidate_time_run_peeks():
    """C (limit 20, run 5) fits before B's shadow only for one who knows its run time."""
    jobs = [job(0, 3, 10), job(1, 4, 5), job(2, 1, 5, 20)]
    assert starts(jobs, backfill="easy") == [0, 10, 15]
    assert starts(jobs, backfill="easy", candidate_time="run") == [0, 10, 2]


def test_backfill_order_rules_the_candidates_not_the_front():
    """A to 10, front B; C (8 s) before D (3 s) by submission, D before C by SJF: one node is free."""
    jobs = [job(0, 3, 10), job(1, 4, 5), job(1, 1, 8), job(1, 1, 3)]
    assert starts(jobs, backfill="easy") == [0, 10, 1, 15]
    assert starts(jobs, backfill="easy", backfill_order="sjf") == [0, 10, 15, 1]


def test_a_pass_after_every_event_sees_less_of_the_instant():
    """Both arrive at 0 and want all nodes: SJF prefers the second, if it sees both."""
    jobs = [job(0, 4, 9), job(0, 4, 5)]
    assert starts(jobs, order="sjf") == [5, 0]
    assert starts(jobs, order="sjf", passes="event") == [0, 9]


def test_a_pass_between_two_ends_of_one_instant():
    """A and B end at 10; first-fit with a pass after A's end starts the 2-node job before the 4-node one."""
    jobs = [job(0, 2, 10), job(0, 2, 10), job(1, 4, 5), job(2, 2, 5)]
    assert starts(jobs, backfill="first_fit") == [0, 0, 10, 15]
    assert starts(jobs, backfill="first_fit", passes="event") == [0, 0, 15, 10]


def test_limits_kill_and_overrun_spares():
    jobs = [job(0, 1, 10, 10), job(0, 1, 11, 10), job(0, 1, 15, 10), job(0, 1, 16, 10)]
    plain = play(jobs).outcomes.values()
    assert [(o.end, o.state) for o in plain] == [(10, "COMPLETED")] + 3 * [(10, "TIMEOUT")]
    spared = play(jobs, overrun_s=5).outcomes.values()
    assert [(o.end, o.state) for o in spared] == [
        (10, "COMPLETED"),
        (11, "COMPLETED"),
        (15, "COMPLETED"),
        (15, "TIMEOUT"),
    ]


def test_what_overran_is_planned_to_end_in_the_next_instant():
    """A (limit 10) runs to 14. At 11 it is planned to end at 12: 1 s fits; at 12, at 13: 2 s do not."""
    jobs = [job(0, 3, 14, 10), job(1, 4, 5), job(11, 1, 1), job(12, 1, 2)]
    assert starts(jobs, backfill="easy", overrun_s=5) == [0, 14, 11, 19]


def test_exit_codes_fail_and_too_large_is_rejected():
    outcomes = play([job(0, 1, 5, fails=True), job(3, 5, 5), job(0, 1, 9, 5, fails=True)]).outcomes
    assert [(o.state, o.start, o.end) for o in outcomes.values()] == [
        ("FAILED", 0, 5),
        ("REJECTED", -1, -1),
        ("TIMEOUT", 0, 5),
    ]


def test_dependencies_and_what_satisfies_them():
    """
    0 COMPLETED at 5, 1 TIMEOUT at 5, 2 REJECTED at 1. AFTER goes with the start, AFTERANY with any end,
    AFTEROK and AFTERNOTOK by its kind; what can never be satisfied stays PENDING.
    """
    kinds = ("AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK")
    jobs = [job(0, 1, 5), job(0, 1, 9, 5), job(1, 99, 5)]
    jobs += [job(0, 1, 2, after=[(row, kind)]) for row in (0, 1, 2) for kind in kinds]
    clock = play(jobs, nodes=50)
    assert [o.start for o in clock.outcomes.values()][3:] == [0, 5, 5, -1, 0, 5, -1, 5, 1, 1, -1, 1]
    assert clock.outcomes[6].state == "PENDING"
    assert clock.outcomes[4].eligible == 5


def test_zero_run_times_and_chains_repeat_the_instant():
    """0 s jobs on one node, each after the other, and one that wants the same node: all at 0."""
    jobs = [job(0, 1, 0, 5), job(0, 1, 0, 5, after=[(0, "AFTEROK")]), job(0, 1, 7, after=[(1, "AFTER")])]
    assert starts(jobs, nodes=1) == [0, 0, 0]


def test_waits_are_told_apart():
    """
    FIVE under fcfs: from 1 to 10 there is one free node (A has 3): C and D, which fit, wait for priority;
    B and E for resources; from 10 to 15 there is none.
    """
    waits = [(o.wait_resources, o.wait_priority) for o in play(FIVE).outcomes.values()]
    assert waits == [(0, 0), (10, 0), (5, 9), (5, 8), (12, 0)]


def test_modules_have_queues_of_their_own():
    """A blocked component of CM does not hold up DAM."""
    jobs = [
        job(0, 2, 10, module="CM"),
        job(0, 2, 10, module="CM"),
        job(0, 1, 5, module="CM"),
        job(0, 1, 5, module="DAM"),
    ]
    for backfill in ("none", "easy", "conservative"):
        assert starts(jobs, modules={"CM": 2, "DAM": 1}, backfill=backfill) == [0, 10, 20, 0]


def test_a_resource_blocks_like_a_module():
    """
    One licence. B waits for it with nodes free: fcfs blocks its module and the licence; C wants only nodes,
    D (other module) only the licence. EASY promises B the licence at 10, so D, 20 s long, is later.
    """
    jobs = [
        job(0, 1, 10, module="CM", lic=1),
        job(0, 1, 10, module="CM", lic=1),
        job(0, 1, 20, module="CM"),
        job(0, 1, 20, module="DAM", lic=1),
    ]
    pools = {"modules": {"CM": 4, "DAM": 4}, "resources": {"lic": 1}}
    assert starts(jobs, **pools) == [0, 10, 10, 20]
    assert starts(jobs, **pools, backfill="easy") == [0, 10, 0, 20]
    assert starts(jobs, **pools, backfill="first_fit") == [0, 10, 0, 20]


PLACES = [
    job(0, 2, 10, module="fast"),
    choice(1, ("fast", 2, 5, 9.0), ("slow", 2, 20, 1.0)),
    choice(1, ("fast", 2, 5, 1.0), ("slow", 2, 20, 1.0)),
]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("preferred", [("fast", 10), ("fast", 15)]),  # never looks at slow
        ("first_available", [("slow", 1), ("fast", 10)]),  # the first goes to slow, which is free
        ("earliest_start", [("slow", 1), ("fast", 10)]),
        ("earliest_end", [("fast", 10), ("fast", 15)]),  # 15 and 20, before slow's 21
        ("least_cost", [("slow", 1), ("fast", 10)]),  # 90 against 40; 10 against 40
    ],
)
def test_placement_strategies_under_conservative(strategy, expected):
    clock = play(PLACES, modules={"fast": 2, "slow": 2}, backfill="conservative", placement=strategy)
    assert [(o.placement.module, o.start) for o in clock.outcomes.values()][1:] == expected


def test_placement_under_easy_reserves_once_and_then_takes_what_is_free():
    """
    earliest_end: B holds the one reservation of fast (10..15) rather than start on slow at 1; C, for which
    fast has no depth left, ranks what is free or has depth left: slow, at once.
    """
    clock = play(PLACES, modules={"fast": 2, "slow": 2}, backfill="easy", placement="earliest_end")
    assert [(o.placement.module, o.start) for o in clock.outcomes.values()][1:] == [("fast", 10), ("slow", 1)]


def test_placement_under_fcfs_takes_what_is_free_or_blocks_all_it_asks_for():
    """B takes slow, C finds neither free and blocks both; D waits behind it for slow."""
    jobs = [*PLACES, job(2, 1, 1, module="slow")]
    clock = play(jobs, modules={"fast": 2, "slow": 3})
    assert [o.start for o in clock.outcomes.values()] == [0, 1, 10, 10]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # all nodes are held to 100; then limit x nodes 30x2, 20x4 and 25x3, submitted at 10, 20 and 30
        ("fifo", [1, 2, 3]),
        ("sjf", [2, 3, 1]),
        ("ljf", [1, 3, 2]),
        ("smallest", [1, 3, 2]),
        ("largest", [2, 3, 1]),
        ("wfp3", [2, 3, 1]),  # (90/30)³·2 = 54, (80/20)³·4 = 256, (70/25)³·3 = 66: the largest first
        ("unicef", [1, 2, 3]),  # 90/(1·30) = 3, 80/(2·20) = 2, 70/(1.58·25) = 1.77
        ("f1", [1, 2, 3]),  # 1.48·2 + 870, 1.30·4 + 1131.9, 1.40·3 + 1285.1
        ("f2", [1, 2, 3]),
        ("f3", [1, 2, 3]),
        ("f4", [1, 2, 3]),
    ],
)
def test_orders(order, expected):
    jobs = [job(0, 4, 100), job(10, 2, 30), job(20, 4, 20), job(30, 3, 25)]
    outcomes = play(jobs, order=order).outcomes
    assert sorted((1, 2, 3), key=lambda row: outcomes[row].start) == expected


def test_priorities_to_the_digit():
    component = Component(0, 110, (Placement("m", 4, 1, 100),))
    values = {
        order: priority(order, component, 160, 10) for order in ("wfp3", "unicef", "f1", "f2", "f3", "f4")
    }
    assert values == pytest.approx(
        {
            "wfp3": -0.5,
            "unicef": -0.25,
            "f1": 2 * 4 + 870 * 2,
            "f2": 10 * 4 + 25600 * 2,
            "f3": 400 + 6.86e6 * 2,
            "f4": 200 + 5.3e5 * 2,
        }
    )


SIMPLE = st.lists(
    st.builds(
        lambda gap, nodes, run, slack, module: (gap, nodes, run, slack, module),
        st.sampled_from([0, 0, 1, 2, 5]),
        st.integers(1, 4),
        st.integers(0, 12),
        st.integers(-4, 8),
        st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=14,
)


@given(
    SIMPLE,
    st.fixed_dictionaries(
        {
            "order": st.sampled_from(["fifo", "sjf", "wfp3"]),
            "backfill_order": st.sampled_from([None, "sjf", "largest"]),
            "overrun_s": st.sampled_from([0, 3]),
            "passes": st.sampled_from(["instant", "event"]),
            "extra_rule": st.booleans(),
            "candidate_time": st.sampled_from(["limit", "run"]),
        }
    ),
)
def test_shadow_and_extra_equal_one_reservation_in_the_plan(rows, settings):
    """Rule 5 as it is usually told is rule 6 with one reservation a module."""
    jobs, submit = [], 0
    for gap, nodes, run, slack, module in rows:
        submit += gap
        jobs.append(job(submit, nodes, run, max(1, run + slack), module=module))
    modules = {"a": 4, "b": 5}
    told = play(jobs, modules=modules, backfill="easy", **settings).outcomes
    passes.FORCE_PLAN = True
    try:
        planned = play(jobs, modules=modules, backfill="easy", **settings).outcomes
    finally:
        passes.FORCE_PLAN = False
    assert told == planned
