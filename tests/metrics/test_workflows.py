"""What waiting for each other cost: drawings computed by hand, the plain model, and bounds.

In the drawings a column is 10 s: a letter stands for a component at work, a small one for one
that holds its nodes and has no data yet, a dot for time that passes.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduler_sim.engine.rules import dependencies
from scheduler_sim.metrics import ties
from scheduler_sim.metrics.compute import compute
from scheduler_sim.metrics.critical_path import ideal_ends
from scheduler_sim.metrics.ties import AFTER, AFTEROK, DYNAMIC
from scheduler_sim.metrics.workflows import overlap_shares, workflow_metrics, workflow_table
from tests.result.hand_made import Run, components_of, timeline_of

from . import plain

SHARES = ("overlapped_share", "back_to_back_share", "not_overlapped_share")


def edge(row, after_row, kind=AFTEROK, *, delay=0, any_will_do=0, ready=-1):
    return {
        "row": row,
        "after_row": after_row,
        "kind": kind,
        "delay": delay,
        "any": any_will_do,
        "ready": ready,
    }


def table_of(runs, edges=(), *, offset=None, appointment=None):
    arrays = {"offset": offset, "appointment": appointment}
    return workflow_table(
        components_of(runs),
        pd.DataFrame(list(edges)) if edges else None,
        **{name: None if given is None else np.array(given) for name, given in arrays.items()},
    )


def only(table):
    assert len(table) == 1
    return table.iloc[0]


def test_codes_are_those_of_the_engine():
    for name in ("AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK"):
        assert getattr(ties, name) == getattr(dependencies, name)


def test_a_diamond_that_waits_for_nodes():
    """The longer branch counts: 20 + 30 + 10 s; submitted at 0, ended at 110.

    a   ..AA
    b   .....B            after a
    c   .....  .CCC       after a; nodes free at 60 only
    d   .........  D      after b and c, at 100
    """
    runs = [Run(0, 20, 20, 1), Run(0, 50, 10, 1), Run(0, 60, 30, 1), Run(0, 100, 10, 1)]
    found = only(table_of(runs, [edge(1, 0), edge(2, 0), edge(3, 1), edge(3, 2)]))
    assert (found["critical_path"], found["runtime"], found["response_time"]) == (60, 90, 110)
    assert found["stretch"] == 110 / 60


def test_think_time_and_minutes_after_a_start_belong_to_the_ideal():
    """b: 20 s after the end of a; c: 60 s after the start of a, and the last to end.

    a   AA
    b   ....BB            20 s after the end of a
    c   ......CCC         AFTER+1
    """
    runs = [Run(0, 0, 20, 1), Run(0, 40, 20, 1), Run(0, 60, 30, 1)]
    found = only(table_of(runs, [edge(1, 0, delay=20), edge(2, 0, AFTER, delay=60)]))
    assert found["critical_path"] == found["runtime"] == 90
    assert found["stretch"] == 1.0
    assert only(table_of(runs[:2], [edge(1, 0, delay=20)]))["critical_path"] == 60


def test_any_one_dependency_is_enough():
    """c follows the first of a and b to end; d, which needs both, the last.

    a   AA
    b   BBBBB
    c   ..C
    d   .....D
    """
    runs = [Run(0, 0, 20, 1), Run(0, 0, 50, 1), Run(0, 20, 10, 1), Run(0, 50, 10, 1)]
    either = [edge(2, 0, any_will_do=1), edge(2, 1, any_will_do=1)]
    ends = ideal_ends(components_of(runs), pd.DataFrame([*either, edge(3, 0), edge(3, 1)]))
    assert ends.tolist() == [20, 50, 30, 60]


def test_a_call_shortens_the_ideal():
    """a calls 10 s after its start, at 30; b starts at 40 only, when its nodes are free.

    a   ..AAAA            the call is at 30
    b   ....BBBBB
    """
    runs = [Run(0, 20, 40, 2), Run(0, 40, 50, 3)]
    found = only(table_of(runs, [edge(1, 0, ready=30)]))
    assert found["critical_path"] == 10 + 50
    assert found["runtime"] == 70
    assert found["held_idle"] == 0  # it starts after the data was ready
    assert only(table_of(runs, [edge(1, 0)]))["critical_path"] == 90  # without the call


def test_a_consumer_that_starts_with_its_producer_holds_nodes_idle():
    """b (3 nodes) holds 20 s until a calls, c (2 nodes) 30 s until b, the later of its producers, does.

    a   AAAA              calls at 20
    b   bbBBB             calls at 30
    c   cccCCC            needs both
    """
    runs = [Run(0, 0, 40, 1, job=1), Run(0, 0, 50, 3, job=1), Run(0, 0, 60, 2, job=1)]
    needs = [edge(1, 0, DYNAMIC, ready=20), edge(2, 0, DYNAMIC, ready=20), edge(2, 1, DYNAMIC, ready=30)]
    found = only(table_of(runs, needs, offset=[0, 0, 0]))
    assert found["held_idle"] == 3 * 20 + 2 * 30
    assert found["critical_path"] == found["runtime"] == 60  # that they start together is the ideal here
    assert only(table_of(runs, needs[:0], offset=[0, 0, 0]))["held_idle"] == 0  # not known


def test_a_consumer_killed_while_it_waits_held_nodes_to_its_end_only():
    """b is killed at 20, a calls at 30.

    a   AAAA
    b   bb
    """
    runs = [Run(0, 0, 40, 1, job=1), Run(0, 0, 20, 5, job=1, limit=20, state="TIMEOUT")]
    assert only(table_of(runs, [edge(1, 0, DYNAMIC, ready=30)]))["held_idle"] == 5 * 20


def test_a_delay_that_was_kept_and_one_that_was_not():
    """Offsets 20 and 40: b starts at its appointment, c, whose nodes failed, 20 s after it.

    a   .AAA              submitted at 0, starts at 10
    b   ...BB             at 30
    c   .......CC         at 70, appointment 50
    """
    runs = [Run(0, 10, 30, 1, job=1), Run(0, 30, 20, 2, job=1), Run(0, 70, 20, 4, job=1)]
    found = only(table_of(runs, offset=[0, 20, 40], appointment=[-1, 30, 50]))
    assert found["critical_path"] == 40 + 20
    assert found["stretch"] == 90 / 60
    assert (found["appointments"], found["late"], found["lateness"]) == (2, 1, 20)
    assert (found["held_late"], found["held_idle"]) == (4 * 20, 0)


def test_an_appointment_a_call_brought_forward_is_the_offset():
    """Delay 40, but a calls at 20 and b has its nodes there.

    a   AAA
    b   ..BBB             appointment 40, moved to 20
    """
    runs = [Run(0, 0, 30, 1, job=1), Run(0, 20, 30, 1, job=1)]
    found = only(table_of(runs, offset=[0, 40], appointment=[-1, 20]))
    assert found["critical_path"] == found["runtime"] == 50
    assert (found["lateness"], found["late"]) == (0, 0)


def test_components_planned_together_wait_for_the_last_that_may():
    """b of job 1 must follow x; a starts with b, or, planned one by one, at once.

    x   XXX
    a   ...AAAA           with b
    b   ...B              after x
    """
    runs = [Run(0, 0, 30, 1), Run(0, 30, 40, 1, job=9), Run(0, 30, 10, 1, job=9)]
    assert only(table_of(runs, [edge(2, 0)], offset=[0, 0, 0]))["critical_path"] == 30 + 40
    assert only(table_of(runs, [edge(2, 0)]))["critical_path"] == 40


def test_a_component_that_waits_for_its_own_job_is_not_planned_with_it():
    """b after a, both of job 1; c starts with a.

    a   AA
    b   ..B
    c   CC
    """
    runs = [Run(0, 0, 20, 1, job=1), Run(0, 20, 10, 1, job=1), Run(0, 0, 20, 1, job=1)]
    found = only(table_of(runs, [edge(1, 0)], offset=[0, 0, 0]))
    assert found["critical_path"] == found["runtime"] == 30


def test_dynamic_within_a_job_goes_with_the_one_it_names():
    """b after a, c 10 s after b's start: all of one job, of which a starts alone.

    a   AA
    b   ..B
    c   ...CC
    """
    runs = [Run(0, 0, 20, 1, job=1), Run(0, 20, 10, 1, job=1), Run(0, 30, 20, 1, job=1)]
    found = only(table_of(runs, [edge(1, 0), edge(2, 1, DYNAMIC, delay=10)], offset=[0, 0, 10]))
    assert found["critical_path"] == found["runtime"] == 50


def test_dynamic_ties_jobs_to_one_start():
    """b (another job) starts 10 s after a, which starts when x ends and b may, too.

    x   XX
    a   ..A
    b   ...BB
    """
    runs = [Run(0, 0, 20, 1), Run(0, 20, 10, 1), Run(0, 30, 20, 1)]
    found = only(table_of(runs, [edge(2, 1, DYNAMIC, delay=10), edge(2, 0)], offset=[0, 0, 10]))
    assert found["components"] == 3
    assert found["critical_path"] == found["runtime"] == 50


def test_overlap_shares_by_hand():
    """Node-seconds: 2·40 overlapped, 1·20 back to back, 3·30 + 1·10 with a gap; the single job in none.

    1   AA          2   A           3   AAA
        .AA             .A              ....A         4   A
    """
    runs = [
        *(Run(0, 0, 20, 2, job=1), Run(0, 10, 20, 2, job=1)),
        *(Run(0, 0, 10, 1, job=2), Run(0, 10, 10, 1, job=2)),
        *(Run(0, 0, 30, 3, job=3), Run(0, 40, 10, 1, job=3)),
        Run(0, 0, 10, 20),
    ]
    found = workflow_metrics(components_of(runs))
    assert [found[name] for name in SHARES] == [0.4, 0.1, 0.5]
    assert found["node_seconds"]["max"] == 100
    of_all = found["with_single_components"]
    assert [of_all[name] for name in SHARES] == [0.2, 0.55, 0.25]


@pytest.mark.parametrize("runs", [[], [Run(0, 0, 0, 4, job=1), Run(0, 9, 0, 4, job=1)]])
def test_shares_of_nothing_are_none(runs):
    assert overlap_shares(table_of(runs)) == dict.fromkeys(SHARES)


def test_the_keys_of_metrics_json_need_nothing_new():
    runs = [Run(0, 0, 10, 1, job=1), Run(0, 15, 10, 1, job=1)]
    components, timeline = components_of(runs), timeline_of(runs, {"CM": 4}, {})
    found = compute(components, timeline, modules={"CM": 4})["workflow"]
    assert (found["appointments"], found["late"], found["lateness"]["max"]) == (0, 0, 0)
    given_all = compute(
        components,
        timeline,
        modules={"CM": 4},
        edges=pd.DataFrame([edge(1, 0, DYNAMIC, ready=20)]),
        offset=np.array([0, 12]),
        appointment=np.array([-1, 12]),
    )["workflow"]
    assert (given_all["appointments"], given_all["late"], given_all["lateness"]["max"]) == (1, 1, 3)
    assert given_all["held_idle"]["mean"] == 5
    assert given_all["critical_path"]["mean"] == 22
    assert list(given_all) == list(found)
    assert json.loads(json.dumps(given_all, allow_nan=False)) == given_all


def kept_rules(draw, most_wait):
    """Runs that keep their dependencies and offsets, each unit up to ``most_wait`` s later than it could."""
    count = draw(st.integers(1, 9))
    job = [draw(st.integers(1, 4)) for _ in range(count)]
    run = [draw(st.integers(0, 20)) for _ in range(count)]
    pairs = [(row, after) for row in range(count) for after in range(row)]
    edges = []
    for row, after in draw(st.lists(st.sampled_from(pairs), max_size=8)) if pairs else ():
        kind = draw(st.sampled_from([AFTER, AFTEROK, AFTEROK, DYNAMIC]))
        edges.append(edge(row, after, kind, delay=draw(st.integers(0, 9))))
    needs_any = {row for row in range(count) if draw(st.booleans())}
    for e in edges:
        e["any"] = int(e["row"] in needs_any)
    rows = [{"modular_job_id": j, "start_time": 0, "end_time": 0} for j in job]
    groups = plain.units(rows, edges)
    offset = [0] * count
    for group in groups:
        for i in group[1:]:
            offset[i] = draw(st.integers(0, 15))
    start = {}
    waits = iter(draw(st.lists(st.integers(0, most_wait), min_size=len(groups), max_size=len(groups))))
    left = list(groups)
    while left:
        able = [
            group
            for group in left
            if all(e["after_row"] in start for e in edges if e["row"] in group and e["kind"] != DYNAMIC)
        ]
        if not able:  # units that wait for each other: no simulation would start them
            return None
        group = able[0]
        left.remove(group)
        free = 0
        for i in group:
            mine = [e for e in edges if e["row"] == i and e["kind"] != DYNAMIC]
            times = []
            for e in mine:
                after = e["after_row"]
                lag = 0 if e["kind"] == AFTER else run[after]
                if lag and draw(st.booleans()):  # it calls
                    lag = draw(st.integers(0, lag))
                    e["ready"] = start[after] + lag
                times.append(start[after] + lag + e["delay"])
            free = max(free, (min if i in needs_any else max)(times, default=0))
        start |= {i: offset[i] + free for i in group}
        wait = next(waits)
        start |= {i: start[i] + wait for i in group}
    runs = [Run(0, start[i], run[i], draw(st.integers(1, 3)), job=job[i]) for i in range(count)]
    return runs, edges, offset


@given(st.data())
def test_no_schedule_beats_the_critical_path(data):
    drawn = kept_rules(data.draw, most_wait=9)
    assume(drawn is not None)
    runs, edges, offset = drawn
    for given_offset in (offset, None):
        table = table_of(runs, edges, offset=given_offset)
        assert (table["critical_path"] <= table["runtime"]).all()
        assert (table["stretch"][table["critical_path"] > 0] >= 1).all()
        assert (table["held_idle"] >= 0).all()
        assert (table["held_idle"] <= table["node_seconds"]).all()


@given(st.data())
def test_a_schedule_without_waits_is_its_own_ideal(data):
    drawn = kept_rules(data.draw, most_wait=0)
    assume(drawn is not None)
    runs, edges, offset = drawn
    table = table_of(runs, edges, offset=offset)
    assert table["critical_path"].tolist() == table["end_time"].tolist()


@st.composite
def anything(draw):
    """Components and ties that need not be possible: circles, calls after ends, offsets nobody kept."""
    count = draw(st.integers(1, 10))
    runs = [
        Run(0, draw(st.integers(0, 40)), draw(st.integers(0, 25)), draw(st.integers(1, 4)), job=draw(row))
        for row in [st.integers(1, 5)] * count
    ]
    row, small = st.integers(0, count - 1), st.integers(0, 12)
    edges = [
        edge(
            *draw(st.tuples(row, row).filter(lambda pair: pair[0] != pair[1])),
            draw(st.integers(0, 4)),
            delay=draw(small),
            ready=draw(st.sampled_from([-1, -1, 5, 20, 60])),
        )
        for _ in range(draw(st.integers(0, 8)) if count > 1 else 0)
    ]
    for i in draw(st.sets(row)):
        for e in edges:
            e["any"] |= int(e["row"] == i)
    whole = st.lists(small, min_size=count, max_size=count)
    appointment = draw(st.lists(st.sampled_from([-1, 5, 30]), min_size=count, max_size=count))
    return runs, edges, draw(st.none() | whole), appointment


@given(anything())
def test_everything_is_as_in_the_plain_model(case):
    runs, edges, offset, appointment = case
    components = components_of(runs)
    rows = components.to_dict("records")
    ends = plain.ideal_ends(rows, edges, offset)
    found = ideal_ends(
        components,
        pd.DataFrame(edges) if edges else None,
        None if offset is None else np.array(offset),
    )
    assert found.tolist() == ends

    table = table_of(runs, edges, offset=offset, appointment=appointment)
    groups = plain.workflows(rows, [(e["row"], e["after_row"]) for e in edges])
    assert len(table) == len(groups)
    for group, (_, ours) in zip(groups, table.iterrows(), strict=True):
        late = {i: max(0, runs[i].start - appointment[i]) for i in group if appointment[i] >= 0}
        idle = 0
        for i in group:
            ready = max([runs[i].start, *(e["ready"] for e in edges if e["row"] == i)])
            idle += runs[i].nodes * (min(ready, runs[i].end) - runs[i].start)
        assert ours["critical_path"] == max(ends[i] for i in group)
        assert ours["held_idle"] == idle
        assert ours["node_seconds"] == sum(runs[i].nodes * runs[i].run for i in group)
        assert (ours["appointments"], ours["lateness"]) == (len(late), sum(late.values()))
        assert ours["late"] == sum(1 for seconds in late.values() if seconds)
        assert ours["held_late"] == sum(runs[i].nodes * seconds for i, seconds in late.items())
    shares = overlap_shares(table)
    if table["node_seconds"].sum():
        assert sum(shares.values()) == pytest.approx(1, abs=2e-6)
    normalized, weight = table["normalized_runtime"], table["node_seconds"]
    if weight.sum():
        assert shares["overlapped_share"] == pytest.approx(
            weight[normalized < 1].sum() / weight.sum(), abs=1e-6
        )
        assert shares["not_overlapped_share"] == pytest.approx(
            weight[normalized > 1].sum() / weight.sum(), abs=1e-6
        )


def test_a_chain_of_thousands_ends_when_its_run_times_have_passed():
    count = 5_000
    order = np.random.default_rng(1).permutation(count)
    zero, run = np.zeros(count, dtype=np.int64), np.arange(count)
    components = pd.DataFrame({"modular_job_id": run, "start_time": zero, "end_time": run})
    edges = pd.DataFrame({"row": order[1:], "after_row": order[:-1]})
    assert ideal_ends(components, edges, zero)[order].tolist() == np.cumsum(order).tolist()
