"""The recomputed queue against a plain look at every instant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.policy.keys import ORDERS
from scheduler_sim.policy.order import MOVING, STATIC
from scheduler_sim.report.fronts import fronts
from scheduler_sim.report.module_view import ModuleView
from scheduler_sim.report.queue_order import can_be_recomputed, priority
from scheduler_sim.report.reservations import Plan
from tests.report.schedules import FCFS, schedule
from tests.result.hand_made import Run


def test_every_built_in_order_is_known():
    assert set(STATIC) | set(MOVING) == set(ORDERS)


def test_formulas():
    columns = {
        "time_limit": np.array([100]),
        "nodes": np.array([4]),
        "submit": np.array([1010]),
        "first_submit": 10,
        "now": 1210,
    }
    expected = {
        "fifo": 0,
        "sjf": 100,
        "ljf": -100,
        "smallest": 4,
        "largest": -4,
        "wfp3": -32,
        "unicef": -1,
        "f1": 8 + 870 * 3,
        "f2": 40 + 25600 * 3,
        "f3": 400 + 6.86e6 * 3,
        "f4": 200 + 5.3e5 * 3,
    }
    for order, value in expected.items():
        assert priority(order, **columns)[0] == pytest.approx(value)
    assert not can_be_recomputed("mine")


runs = st.lists(
    st.builds(
        lambda submit, wait, run, nodes: Run(submit, submit + wait, run, nodes),
        st.integers(0, 20),
        st.integers(0, 30),
        st.integers(0, 9),
        st.integers(1, 4),
    ),
    min_size=1,
    max_size=25,
)


@given(runs=runs, order=st.sampled_from(ORDERS), pick=st.integers(0, 24))
def test_fronts_are_the_first_that_wait(runs, order, pick):
    one = pick % len(runs)
    if runs[one].start == runs[one].submit:
        return
    result = schedule(runs, {"CM": 200}, FCFS)
    view = ModuleView.of(result, "CM", runs[one].submit, runs[one].start)
    queue = view.queue_order(order, min(run.submit for run in runs))
    instants = view.instants()
    found = fronts(view, queue, view.position(one), instants)
    for time, front in zip(instants.tolist(), found.tolist(), strict=True):
        waiting = [row for row, run in enumerate(runs) if run.submit <= time < run.start]
        keys = priority(
            order,
            time_limit=np.array([max(runs[row].run, 1) for row in waiting]),
            nodes=np.array([runs[row].nodes for row in waiting]),
            submit=np.array([runs[row].submit for row in waiting]),
            first_submit=min(run.submit for run in runs),
            now=time,
        )
        first = min(zip(keys, [runs[row].submit for row in waiting], waiting, strict=True))[2]
        assert view.row[front] == first


@given(runs=runs)
def test_idle_nodes_are_those_that_nobody_holds(runs):
    view = ModuleView.of(schedule(runs, {"CM": 200}, FCFS), "CM", 0, 60)
    for time in view.instants().tolist():
        held = sum(run.nodes for run in runs if run.start <= time < run.end)
        assert view.idle(time) == 200 - held


@given(
    ends=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 5)), max_size=6),
    asks=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), max_size=8),
)
def test_reservations_take_the_earliest_room(ends, asks):
    idle = 3
    plan = Plan(0, idle, np.array([e for e, _ in ends], dtype=int), np.array([n for _, n in ends], dtype=int))
    free = np.array([idle + sum(n for e, n in ends if e <= t) for t in range(400)])
    for nodes, span in asks:
        fits = [t for t in range(300) if (free[t : t + span] >= nodes).all()]
        start = plan.earliest(nodes, span)
        if not fits:
            assert start > 10**9
            continue
        assert start == fits[0]
        plan.take(nodes, start, start + span)
        free[start : start + span] -= nodes
