"""Queue, release lists, event heap and short times, each against the simplest thing that does the same."""

from __future__ import annotations

import heapq

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.engine.plain_engine import ENGINE, core, slot

queue, releases, events, record = ENGINE.queue, ENGINE.releases, ENGINE.events, ENGINE.record
ROWS = 12


# ------------------------------------------------------------------------ queue
keys = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), min_size=ROWS, max_size=ROWS
)
moves = st.lists(st.tuples(st.sampled_from(["in", "in", "out", "start", "new"]), st.integers(0, ROWS - 1)))


def queue_core(drawn, **needs):
    made = core(ROWS, **needs)
    for row, (tier, key, submit) in enumerate(drawn):
        made.ranks[row].tier, made.ranks[row].key, made.jobs[row].submit = tier, key, submit
    return made


def rank(made, row: int):
    it = made.ranks[row]
    return -it.tier, it.key, made.jobs[row].submit, row


def order_of(made) -> list[int]:
    return made.queue.waiting[made.queue.at.head : made.queue.at.tail].tolist()


def newcomers_of(made) -> list[int]:
    return made.queue.newcomers[: made.queue.at.new].tolist()


@examples(150)
@given(keys, moves)
def test_the_queue_is_always_in_order(drawn, steps):
    made = queue_core(drawn)
    inside: set[int] = set()
    for what, row in steps:
        if what == "in" and row not in inside:
            last = queue.insert(made, row)
            inside.add(row)
            assert last == (order_of(made)[-1] == row)
            made.jobs[row].state = slot.WAITING
        elif what == "out" and row in inside:
            queue.remove(made, row)
            inside.remove(row)
        elif what == "start":  # everybody up to a place, some of whom started
            place = made.queue.at.head + min(row, len(inside))
            for gone in order_of(made)[: place - made.queue.at.head][::2]:
                made.jobs[gone].state = slot.RUNNING
                inside.remove(gone)
            queue.close_gaps(made, place)
        assert order_of(made) == sorted(inside, key=lambda r: rank(made, r))


@examples(100)
@given(keys, st.sets(st.integers(0, ROWS - 1)), st.permutations(range(ROWS)))
def test_newcomers_are_sorted_compared_and_inserted(drawn, waiting, coming):
    made = queue_core(drawn)
    for row in waiting:
        queue.insert(made, row)
    new = [row for row in coming if row not in waiting]
    made.queue.newcomers[: len(new)] = new
    made.queue.at.new = len(new)
    last = queue.newcomers_come_last(made)
    assert newcomers_of(made) == sorted(new, key=lambda r: rank(made, r))
    assert last == (
        not new or not waiting or max(rank(made, r) for r in waiting) < min(rank(made, r) for r in new)
    )
    if new:
        queue.remove(made, new[0])  # cancelled before it was in the queue
        assert sorted(newcomers_of(made)) == sorted(new[1:])
    queue.insert_newcomers(made)
    assert order_of(made) == sorted([*waiting, *new[1:]], key=lambda r: rank(made, r))


@examples(60)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=300), st.booleans())
def test_long_sorts(values, nearly):
    """Insertion sort while little moves, heap sort when much does."""
    made = core(len(values))
    made.ranks["key"] = sorted(values) if nearly else values
    for row in range(len(values)):
        made.queue.newcomers[row] = row
    made.queue.at.new = len(values)
    if nearly:
        made.queue.newcomers[0], made.queue.newcomers[len(values) - 1] = len(values) - 1, 0
    queue.sort_newcomers(made)
    assert newcomers_of(made) == sorted(range(len(values)), key=lambda r: rank(made, r))


@examples(60)
@given(keys, st.lists(st.integers(-5, 5), min_size=ROWS, max_size=ROWS), st.integers(0, 9))
def test_orders_that_move_sort_the_queue_anew(drawn, later, now):
    made = queue_core(drawn)
    for row in range(ROWS):
        queue.insert(made, row)
    made.clock.now, made.clock.origin, made.rules.dynamic = now + 100, 100, 1

    def fill(at, rows, columns, out):
        assert at == now
        for i, row in enumerate(rows):
            out[i] = later[row] * at

    queue.refresh(made._replace(orders=made.orders._replace(fill=fill)))
    assert order_of(made) == sorted(range(ROWS), key=lambda r: (-drawn[r][0], later[r] * now, drawn[r][2], r))


@examples(60)
@given(keys, st.lists(st.integers(-5, 5), min_size=ROWS, max_size=ROWS))
def test_candidates_have_an_order_of_their_own(drawn, second):
    made = queue_core(drawn, second_order=True)
    made.ranks["second_key"] = second
    made.queue.candidates[:ROWS] = range(ROWS)
    queue.sort_candidates(made, ROWS)
    expected = sorted(range(ROWS), key=lambda r: (-drawn[r][0], second[r], drawn[r][2], r))
    assert made.queue.candidates[:ROWS].tolist() == expected
    assert made.ranks["key"].tolist() == [key for _, key, _ in drawn]


# ------------------------------------------------------------------------ release lists
@examples(150)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30), st.integers(1, 5)), max_size=60))
def test_release_lists_are_sorted_by_planned_end(steps):
    """Equal ends stand in trace order; adding what is there takes it away."""
    made, model = core(ROWS, releases=10), []
    for row, time, nodes in steps:
        there = next((one for one in model if one[1] == row), None)
        if there is not None:
            releases.drop_release(made, 0, there[0], row)
            model.remove(there)
        else:
            releases.add_release(made, 0, time, row, nodes)
            model.append((time, row, nodes))
            model.sort(key=lambda one: one[:2])
        head, tail = made.pools[0].release_head, made.pools[0].release_tail
        assert 0 <= head <= tail <= made.releases.shape[1]
        assert made.releases[0, head:tail].tolist() == model
    late = [time for time, row, _ in model if time <= 5]
    made.clock.now = 5
    assert releases.overran(made) == bool(late)
    for _, row, _ in model:
        made.jobs[row].end = 5
    assert not releases.overran(made)


# ------------------------------------------------------------------------ what ends next
@examples(150)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["push", "push", "pop", "drop"]), st.integers(0, ROWS - 1), st.integers(0, 20)
        )
    )
)
def test_the_event_heap_gives_the_earliest_end(steps):
    made, model = core(ROWS, releases=ROWS), []
    for what, row, time in steps:
        there = next((one for one in model if one[1] == row), None)
        if what == "push" and there is None:
            events.push_end(made, time, row)
            heapq.heappush(model, (time, row))
        elif what == "pop" and model:
            assert events.pop_end(made) == heapq.heappop(model)[1]
        elif what == "drop":
            events.drop_end(made, row)
            if there is not None:
                model.remove(there)
                heapq.heapify(model)
        assert made.clock.events == len(model)
        assert events.next_end(made) == (model[0][0] if model else slot.INF)


# ------------------------------------------------------------------------ seconds with too few nodes free
@examples(100)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8), st.integers(0, 2)), max_size=25),
    st.integers(0, 5),
)
def test_short_times_are_counted_by_the_second(changes, last):
    """The tree of seconds by free nodes, against one entry a second in which a job waited."""
    made, seconds = core(), []
    for wait, free, queued in changes:
        made.clock.now += wait
        seconds += [int(made.pools[0].free)] * wait * int(made.pools[0].queued > 0)
        made.pools[0].free, made.pools[0].queued, made.pools[0].touched = free, queued, 1
        record.settle(made, made.clock.now + 1)
    made.clock.now += last
    seconds += [int(made.pools[0].free)] * last * int(made.pools[0].queued > 0)
    for nodes in range(1, 12):
        assert record.short_so_far(made, 0, nodes) == sum(free < nodes for free in seconds)
