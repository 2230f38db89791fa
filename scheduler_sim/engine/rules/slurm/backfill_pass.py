"""Slurm's backfill scheduler: every component in order is started, or reserves, up to the depths.

Conservative backfill, planned anew in each pass, with the limits and the rounding that
Slurm has (its manual page slurm.conf, SchedulerParameters; the rules as they were read and
measured are in docs/reference/slurm.md).
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.core.queue import close_gaps
from scheduler_sim.engine.core.record import fits
from scheduler_sim.engine.core.state import INF, WAITING
from scheduler_sim.engine.core.waiting import promise, withdraw
from scheduler_sim.engine.rules.coscheduling.members import is_member, somebody_is_expected
from scheduler_sim.engine.rules.slurm.accelerate.pass_cutoff import last_hope, last_in_reach
from scheduler_sim.engine.rules.slurm.accelerate.release_order import (
    seat_picked,
    seated,
    sit_with,
    take_seats,
)
from scheduler_sim.engine.rules.slurm.accelerate.start_lower_bounds import first_try, note_front
from scheduler_sim.engine.rules.slurm.bits import copy, count_common, keep_common
from scheduler_sim.engine.rules.slurm.het.advance import (
    has_reservation,
    next_end,
    picked_reserved,
    stands_until,
)
from scheduler_sim.engine.rules.slurm.het.delays import occupy_advance_reservations, replaced_lost
from scheduler_sim.engine.rules.slurm.het.het_jobs import (
    delay_of,
    forget_plans,
    have_turn,
    not_before,
    note_start,
    start_jobs,
    waits_for_window,
    whole_job_waits,
    would_block,
)
from scheduler_sim.engine.rules.slurm.job_partition_queue import turn, turns
from scheduler_sim.engine.rules.slurm.limits import may_reserve, over_a_limit
from scheduler_sim.engine.rules.slurm.node_space import (
    is_free,
    list_plan,
    next_change,
    next_try,
    open_plan,
    plan_is_full,
    prolong_plan,
    record_at,
    reserve,
    rounded_down,
)
from scheduler_sim.engine.rules.slurm.nodes import pick
from scheduler_sim.engine.rules.slurm.predicted import fits_now, predicted_start
from scheduler_sim.engine.rules.slurm.slot_search import clear_of_reserved, stay_free, would_do
from scheduler_sim.engine.rules.slurm.start import has_licences, may_run, start_on_picked
from scheduler_sim.engine.rules.slurm.state import SlurmCore


@part
def backfill_pass(core: SlurmCore) -> None:
    """Start or reserve for the components that wait, in order."""
    core.slurm.memory.pass_number += 1
    core.slurm.memory.started = core.slurm.memory.tested = core.slurm.memory.self_change = 0
    core.slurm.memory.valid, core.slurm.memory.retried = stands_until(core), -INF
    for i in range(len(core.slurm.partition)):
        core.slurm.partition[i].tried = core.slurm.partition[i].reserved = 0
    if core.slurm.rules.fixed:
        take_seats(core)
        open_plan(core)
    else:
        build_profiles(core, False)
        occupy_advance_reservations(core)
    size = turns(core)
    for i in range(size):
        row, _ = turn(core, i)
        withdraw(core, row)
        forget_plans(core, row)
    _have_turns(core, 0, size)


@part
def backfill_newcomers(core: SlurmCore) -> None:
    """The plan of the last pass stands, and newcomers are last in the queue: their turns are all there is."""
    if core.slurm.memory.broken_off:
        return
    prolong_plan(core)
    _have_turns(core, core.slurm.memory.planned, turns(core))


@part
def _have_turns(core: SlurmCore, first: int, size: int) -> None:
    """Give the turns from ``first`` on, and note how long the outcome will be the same.

    Turns are not needed once nobody behind may start now, and the pass is known to bring the next.
    """
    core.slurm.memory.broken_off, core.slurm.memory.turns, core.slurm.memory.taken = 1, size, 1
    needed, hope = size, size - 1
    for i in range(first, size):
        if core.slurm.memory.self_change and core.slurm.rules.skip and not core.rules.complex:
            if core.slurm.memory.taken:
                hope = last_hope(core, i, last_in_reach(core, i, hope))
                core.slurm.memory.taken = 0
            if hope < i:
                needed, core.slurm.memory.broken_off = i, 0
                break
        row, placement = turn(core, i)
        if core.slurm.memory.tested >= core.slurm.rules.bf_max_job_test:
            break
        have_turn(core, row)
        if core.jobs[row].state != WAITING or not may_run(core, row) or not whole_job_waits(core, row):
            continue
        if waits_for_window(core, row):
            continue
        if not core.slurm.rules.aligned:
            core.slurm.memory.tested += 1
        if over_a_limit(core, row, placement):
            continue
        if has_licences(core, placement) and not _tried(core, row, placement):
            break
    else:
        core.slurm.memory.broken_off = 0
    start_jobs(core)
    close_gaps(core, core.queue.at.tail)
    core.slurm.memory.planned = min(needed, core.queue.at.tail - core.queue.at.head)
    if core.clock.events == 0 and core.queue.at.seen == core.clock.jobs:
        core.slurm.memory.valid = INF  # nobody runs, nobody comes: who could not start now never will
    elif core.slurm.rules.fixed:
        core.slurm.memory.valid = min(core.slurm.memory.valid, next_change(core), _next_planned_end(core))
    elif core.slurm.rules.bf_interval > 0:
        core.slurm.memory.valid = core.clock.now


@part
def _next_planned_end(core: SlurmCore) -> int:
    """When the next running component is past its planned end, and must be guessed at."""
    time = INF
    for module in range(len(core.pools)):
        for i in range(core.pools[module].release_head, core.pools[module].release_tail):
            if core.releases[module, i].time > core.clock.now:
                time = min(time, core.releases[module, i].time)
                break
    return time


@part
def _tried(core: SlurmCore, row: int, placement: int) -> bool:
    """Start or reserve; False ends the pass."""
    if has_reservation(core, row):
        if picked_reserved(core, row) or (replaced_lost(core, row) and picked_reserved(core, row)):
            return _started(core, row, placement)
        return True
    ahead, first, delay = may_reserve(core, row, placement), not_before(core, row), delay_of(core, row)
    if core.slurm.rules.fixed:
        time = _fixed_slot(core, row, placement, ahead, first, delay)
    else:
        time = _counted_slot(core, row, placement, ahead, first + delay)
    if delay > 0:  # its start moves on with the clock
        core.slurm.memory.valid = core.clock.now
    if time == core.clock.now and not is_member(core, row):
        return _started(core, row, placement)
    if time < INF:
        if core.slurm.rules.fixed and plan_is_full(core):
            return False
        if is_member(core, row) and would_block(core, row, time):
            promise(core, row, placement, time)
            return True
        _reserve(core, row, placement, time)
    return True


@part
def _started(core: SlurmCore, row: int, placement: int) -> bool:
    """Start on the nodes PICKED, or after the pass with the others of its job; False ends the pass."""
    if is_member(core, row):
        note_start(core, row, core.clock.now)
        promise(core, row, placement, core.clock.now)
        return True
    start_on_picked(core, row, placement, core.slurm.rules.launch)
    core.slurm.memory.started += 1
    core.slurm.memory.taken = 1
    if core.slurm.rules.fixed:
        sit_with(core, core.slurm.partition[core.slurm.way[placement].partition], row, list_plan(core))
    else:
        _, end = _span(core, placement, core.clock.now)
        occupy(core, placement, core.clock.now, end, 1)
    return (
        core.slurm.rules.bf_max_job_start == 0
        or core.slurm.memory.started < core.slurm.rules.bf_max_job_start
    )


@part
def _fixed_slot(core: SlurmCore, row: int, placement: int, ahead: bool, earliest_s: int, delay: int) -> int:
    """The earliest start that Slurm finds, with its nodes in PICKED; INF without start or reservation.

    With a delay, that much is added to each start that is tried. What starts are found for one of a
    heterogeneous job is known to its others, so that all who run count, not only who has ended by the next
    try.
    """
    it, now = core.slurm.partition[core.slurm.way[placement].partition], core.clock.now
    start = max(first_try(core, placement) if ahead and delay == 0 else now, earliest_s) + delay
    record = record_at(core, start)
    counted, hopeful, together = core.slurm.rules.aligned == 0, False, is_member(core, row)
    while True:
        following = next_try(core, placement, record, start)
        later = _later(core, placement, start, following)
        time = INF
        if stay_free(core, placement, record, start, -1 if together else following):
            if not hopeful and earliest_s == now and delay == 0:
                note_front(core, placement, start)
            hopeful = True
            stop = core.slurm.seats.back[it.module, core.slurm.memory.ended]
            if clear_of_reserved(core, placement, start, stop):
                time = _slot_on_available(core, placement, ahead)
        if time == INF or time > later:  # other nodes come free before that
            if time < INF:
                note_start(core, row, max(time, start))
            if later > core.slurm.memory.window_end or not ahead:
                if not counted and core.slurm.memory.turns >= core.slurm.rules.bf_max_job_test:
                    core.slurm.memory.tested += would_do(core, placement, ahead)
                return INF
            start = later + delay
            at_boundary = delay == 0 and not somebody_is_expected(core)
            record = following if at_boundary else record_at(core, start)
            continue
        core.slurm.memory.tested += 0 if counted else 1
        counted = True
        pick(core, placement, core.slurm.sets.later)
        seat_picked(core, it)
        if time < start:
            core.slurm.memory.self_change = 1
            time = start
        if (
            time == now
            and count_common(core.slurm.sets.picked, core.slurm.sets.leaving, it.low, it.high) == 0
        ):
            note_start(core, row, now)
            return now
        time = max(time, now + 1)  # for the epilogs
        note_start(core, row, time)
        if not ahead:
            return INF
        core.slurm.memory.valid = min(core.slurm.memory.valid, time)
        if time > now + core.slurm.rules.bf_window:
            core.slurm.memory.valid = min(core.slurm.memory.valid, time - core.slurm.rules.bf_window)
            return INF
        begin, end = _span(core, placement, time)
        known = (
            start + core.placements[placement].limit
        )  # they are free until then, from the start that was tried
        if plan_is_full(core) or (
            is_free(core, begin, min(start, end)) and is_free(core, max(begin, known), end)
        ):
            return time
        if core.slurm.rules.aligned:
            start = (time if time > start else time + core.slurm.rules.bf_resolution) + delay
        elif core.slurm.memory.retried == begin:
            core.slurm.memory.retried = -INF
            return INF
        else:
            core.slurm.memory.retried, start = begin, time + delay
        record = record_at(core, start)


@part
def _later(core: SlurmCore, placement: int, start: int, following: int) -> int:
    """When to try next: where a record begins, or a second behind the end of an advance reservation."""
    later = core.slurm.plan.record[following].begin if following >= 0 else INF
    if somebody_is_expected(core):
        end = next_end(core, placement, start) + 1
        if end < core.slurm.memory.window_end:
            later = min(later, end)
    return later


@part
def _slot_on_available(core: SlurmCore, placement: int, ahead: bool) -> int:
    """When nodes in seats STAYING suffice, those in LATER, for the choice that comes first."""
    way = core.slurm.way[placement]
    way.choice = way.first
    if way.last - way.first == 1:
        return _slot_of_choice(core, placement, ahead)
    it = core.slurm.partition[way.partition]
    best, best_time = way.first, INF
    staying, either = core.slurm.sets.staying, core.slurm.sets.either_seats
    copy(either, staying, it.low, it.high)
    for choice in range(way.first, way.last):
        way.choice = choice
        copy(staying, either, it.low, it.high)
        keep_common(
            staying,
            core.slurm.seats.masks[seated(core, it, core.slurm.nodes.choice[choice].mask)],
            it.low,
            it.high,
        )
        time = _slot_of_choice(core, placement, ahead)
        if time < best_time:
            best, best_time = choice, time
            copy(core.slurm.sets.best, core.slurm.sets.later, it.low, it.high)
    way.choice = best
    copy(core.slurm.sets.later, core.slurm.sets.best, it.low, it.high)
    return best_time


@part
def _slot_of_choice(core: SlurmCore, placement: int, ahead: bool) -> int:
    """When nodes in seats STAYING suffice, by planned ends if it may plan ahead."""
    if ahead:
        return predicted_start(core, placement)
    return core.clock.now if fits_now(core, placement) else INF


@part
def _counted_slot(core: SlurmCore, row: int, placement: int, ahead: bool, earliest_s: int) -> int:
    """The earliest start by numbers of nodes; on any of them if it is now."""
    now = core.clock.now
    core.slurm.memory.tested += core.slurm.rules.aligned
    time = earliest(core, placement, earliest_s)
    if time == now and fits(core, placement):
        note_start(core, row, now)
        pick(core, placement, core.slurm.sets.idle)
        return now
    note_start(core, row, max(time, now + 1))
    if not ahead or time > now + core.slurm.rules.bf_window:
        return INF
    return max(time, now + 1)


@part
def _span(core: SlurmCore, placement: int, time: int) -> tuple[int, int]:
    """From when to when it reserves, rounded down."""
    begin = rounded_down(core, time)
    end = rounded_down(core, time + core.placements[placement].limit)
    return begin, max(end, begin + core.slurm.rules.bf_resolution)


@part
def _reserve(core: SlurmCore, row: int, placement: int, time: int) -> None:
    number = core.slurm.way[placement].partition
    it = core.slurm.partition[number]
    begin, end = _span(core, placement, time)
    if time == core.clock.now:  # of a heterogeneous job: what it holds moves on with the clock
        step, limit = core.slurm.rules.bf_resolution, core.placements[placement].limit
        moves = min(begin, rounded_down(core, time + limit) - limit) + step
        core.slurm.memory.valid = min(core.slurm.memory.valid, moves)
    if core.slurm.rules.fixed:
        idle = count_common(core.slurm.sets.picked, core.slurm.sets.idle, it.low, it.high)
        if idle > 0:
            core.slurm.memory.taken = 1
        if idle + count_common(core.slurm.sets.picked, core.slurm.sets.leaving, it.low, it.high) > 0:
            core.slurm.memory.self_change = 1
        reserve(core, it, begin, end)
    else:
        occupy(core, placement, max(begin, core.clock.now), end, 1)
    it.reserved += 1
    if core.holds.term[row].array >= 0:
        core.holds.array[core.holds.term[row].array].reserved += 1
    if core.jobs[row].promised < 0 or time < core.jobs[row].promise:
        promise(core, row, placement, time)
