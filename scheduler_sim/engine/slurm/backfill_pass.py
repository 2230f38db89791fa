"""Slurm's backfill scheduler: every component in order is started, or reserves, up to the depths.

Conservative backfill, planned anew in each pass, with the limits and the rounding that
Slurm has (its manual page slurm.conf, SchedulerParameters; the rules as they were read and
measured are in docs/reference/slurm.md).
"""

from __future__ import annotations

from scheduler_sim.engine.crew import is_complete, is_member
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.queue import close_gaps
from scheduler_sim.engine.record import fits
from scheduler_sim.engine.slurm.advance import has_reservation, next_end, picked_reserved, stands_until
from scheduler_sim.engine.slurm.bits import copy, count_common, keep_common
from scheduler_sim.engine.slurm.fronts import first_try, note_front
from scheduler_sim.engine.slurm.het_jobs import (
    delay_of,
    forget_plans,
    have_turn,
    not_before,
    note_start,
    start_jobs,
    waits_for_window,
    would_block,
)
from scheduler_sim.engine.slurm.hopes import last_hope, last_in_reach
from scheduler_sim.engine.slurm.limits import may_reserve, over_a_limit
from scheduler_sim.engine.slurm.node_space import (
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
from scheduler_sim.engine.slurm.nodes import pick
from scheduler_sim.engine.slurm.predicted import fits_now, predicted_start
from scheduler_sim.engine.slurm.seats import seat_picked, seated, sit_with, take_seats
from scheduler_sim.engine.slurm.slots import (
    ALIGNED,
    BEST,
    BF_INTERVAL,
    BF_MAX_JOB_START,
    BF_MAX_JOB_TEST,
    BF_RESOLUTION,
    BF_WINDOW,
    BROKEN_OFF,
    EITHER_SEATS,
    ENDED,
    FIXED,
    IDLE,
    LATER,
    LAUNCH,
    LEAVING,
    PASS,
    PICKED,
    PLANNED,
    RETRIED,
    SELF,
    SKIP,
    STARTED,
    STAYING,
    TAKEN,
    TESTED,
    TURNS,
    VALID,
    WINDOW_END,
)
from scheduler_sim.engine.slurm.start import has_licences, may_run, start_on_picked
from scheduler_sim.engine.slurm.tries import clear_of_reserved, stay_free, would_do
from scheduler_sim.engine.slurm.turns import turn, turns
from scheduler_sim.engine.slurm.workflows import occupy_reservations, replaced_lost
from scheduler_sim.engine.state import (
    APPOINTMENTS,
    COMPLEX,
    COMPONENTS,
    HEAD,
    HEAP,
    INF,
    NOW,
    SEEN,
    TAIL,
    WAITING,
    Core,
)
from scheduler_sim.engine.waiting import promise, withdraw


@part
def backfill_pass(core: Core) -> None:
    """Start or reserve for the components that wait, in order."""
    core.slurm[PASS] += 1
    core.slurm[STARTED] = core.slurm[TESTED] = core.slurm[SELF] = 0
    core.slurm[VALID], core.slurm[RETRIED] = stands_until(core), -INF
    for i in range(len(core.partition)):
        core.partition[i].tried = core.partition[i].reserved = 0
    if core.slurm[FIXED]:
        take_seats(core)
        open_plan(core)
    else:
        build_profiles(core, False)
        occupy_reservations(core)
    size = turns(core)
    for i in range(size):
        row, _ = turn(core, i)
        withdraw(core, row)
        forget_plans(core, row)
    _have_turns(core, 0, size)


@part
def backfill_newcomers(core: Core) -> None:
    """The plan of the last pass stands, and newcomers are last in the queue: their turns are all there is."""
    if core.slurm[BROKEN_OFF]:
        return
    prolong_plan(core)
    _have_turns(core, core.slurm[PLANNED], turns(core))


@part
def _have_turns(core: Core, first: int, size: int) -> None:
    """Give the turns from ``first`` on, and note how long the outcome will be the same.

    Turns are not needed once nobody behind may start now, and the pass is known to bring the next.
    """
    core.slurm[BROKEN_OFF], core.slurm[TURNS], core.slurm[TAKEN] = 1, size, 1
    needed, hope = size, size - 1
    for i in range(first, size):
        if core.slurm[SELF] and core.slurm[SKIP] and not core.rules[COMPLEX]:
            if core.slurm[TAKEN]:
                hope = last_hope(core, i, last_in_reach(core, i, hope))
                core.slurm[TAKEN] = 0
            if hope < i:
                needed, core.slurm[BROKEN_OFF] = i, 0
                break
        row, placement = turn(core, i)
        if core.slurm[TESTED] >= core.slurm[BF_MAX_JOB_TEST]:
            break
        have_turn(core, row)
        if core.comp[row].state != WAITING or not may_run(core, row) or not is_complete(core, row):
            continue
        if waits_for_window(core, row):
            continue
        if not core.slurm[ALIGNED]:
            core.slurm[TESTED] += 1
        if over_a_limit(core, row, placement):
            continue
        if has_licences(core, placement) and not _tried(core, row, placement):
            break
    else:
        core.slurm[BROKEN_OFF] = 0
    start_jobs(core)
    close_gaps(core, core.clock[TAIL])
    core.slurm[PLANNED] = min(needed, core.clock[TAIL] - core.clock[HEAD])
    if core.clock[HEAP] == 0 and core.clock[SEEN] == core.clock[COMPONENTS]:
        core.slurm[VALID] = INF  # nobody runs, nobody comes: who could not start now never will
    elif core.slurm[FIXED]:
        core.slurm[VALID] = min(core.slurm[VALID], next_change(core), _next_planned_end(core))
    elif core.slurm[BF_INTERVAL] > 0:
        core.slurm[VALID] = core.clock[NOW]


@part
def _next_planned_end(core: Core) -> int:
    """When the next running component is past its planned end, and must be guessed at."""
    time = INF
    for module in range(len(core.pool)):
        for i in range(core.pool[module].release_head, core.pool[module].release_tail):
            if core.release[module, i].time > core.clock[NOW]:
                time = min(time, core.release[module, i].time)
                break
    return time


@part
def _tried(core: Core, row: int, placement: int) -> bool:
    """Start or reserve; False ends the pass."""
    if has_reservation(core, row):
        if picked_reserved(core, row) or (replaced_lost(core, row) and picked_reserved(core, row)):
            return _started(core, row, placement)
        return True
    ahead, first, delay = may_reserve(core, row, placement), not_before(core, row), delay_of(core, row)
    if core.slurm[FIXED]:
        time = _fixed_slot(core, row, placement, ahead, first, delay)
    else:
        time = _counted_slot(core, row, placement, ahead, first + delay)
    if delay > 0:  # its start moves on with the clock
        core.slurm[VALID] = core.clock[NOW]
    if time == core.clock[NOW] and not is_member(core, row):
        return _started(core, row, placement)
    if time < INF:
        if core.slurm[FIXED] and plan_is_full(core):
            return False
        if is_member(core, row) and would_block(core, row, time):
            promise(core, row, placement, time)
            return True
        _reserve(core, row, placement, time)
    return True


@part
def _started(core: Core, row: int, placement: int) -> bool:
    """Start on the nodes PICKED, or after the pass with the others of its job; False ends the pass."""
    if is_member(core, row):
        note_start(core, row, core.clock[NOW])
        promise(core, row, placement, core.clock[NOW])
        return True
    start_on_picked(core, row, placement, core.slurm[LAUNCH])
    core.slurm[STARTED] += 1
    core.slurm[TAKEN] = 1
    if core.slurm[FIXED]:
        sit_with(core, core.partition[core.way[placement].partition], row, list_plan(core))
    else:
        _, end = _span(core, placement, core.clock[NOW])
        occupy(core, placement, core.clock[NOW], end, 1)
    return core.slurm[BF_MAX_JOB_START] == 0 or core.slurm[STARTED] < core.slurm[BF_MAX_JOB_START]


@part
def _fixed_slot(core: Core, row: int, placement: int, ahead: bool, earliest_s: int, delay: int) -> int:
    """The earliest start that Slurm finds, with its nodes in PICKED; INF without start or reservation.

    With a delay, that much is added to each start that is tried. What starts are found for one of a
    heterogeneous job is known to its others, so that all who run count, not only who has ended by the next
    try.
    """
    it, now = core.partition[core.way[placement].partition], core.clock[NOW]
    start = max(first_try(core, placement) if ahead and delay == 0 else now, earliest_s) + delay
    record = record_at(core, start)
    counted, hopeful, together = core.slurm[ALIGNED] == 0, False, is_member(core, row)
    while True:
        following = next_try(core, placement, record, start)
        later = _later(core, placement, start, following)
        time = INF
        if stay_free(core, placement, record, start, -1 if together else following):
            if not hopeful and earliest_s == now and delay == 0:
                note_front(core, placement, start)
            hopeful = True
            stop = core.back[it.module, core.slurm[ENDED]]
            if clear_of_reserved(core, placement, start, stop):
                time = _slot_on_available(core, placement, ahead)
        if time == INF or time > later:  # other nodes come free before that
            if time < INF:
                note_start(core, row, max(time, start))
            if later > core.slurm[WINDOW_END] or not ahead:
                if not counted and core.slurm[TURNS] >= core.slurm[BF_MAX_JOB_TEST]:
                    core.slurm[TESTED] += would_do(core, placement, ahead)
                return INF
            start = later + delay
            at_boundary = delay == 0 and core.clock[APPOINTMENTS] == 0
            record = following if at_boundary else record_at(core, start)
            continue
        core.slurm[TESTED] += 0 if counted else 1
        counted = True
        pick(core, placement, LATER)
        seat_picked(core, it)
        if time < start:
            core.slurm[SELF] = 1
            time = start
        if time == now and count_common(core.sets[PICKED], core.sets[LEAVING], it.low, it.high) == 0:
            note_start(core, row, now)
            return now
        time = max(time, now + 1)  # for the epilogs
        note_start(core, row, time)
        if not ahead:
            return INF
        core.slurm[VALID] = min(core.slurm[VALID], time)
        if time > now + core.slurm[BF_WINDOW]:
            core.slurm[VALID] = min(core.slurm[VALID], time - core.slurm[BF_WINDOW])
            return INF
        begin, end = _span(core, placement, time)
        known = start + core.place[placement].limit  # they are free until then, from the start that was tried
        if plan_is_full(core) or (
            is_free(core, begin, min(start, end)) and is_free(core, max(begin, known), end)
        ):
            return time
        if core.slurm[ALIGNED]:
            start = (time if time > start else time + core.slurm[BF_RESOLUTION]) + delay
        elif core.slurm[RETRIED] == begin:
            core.slurm[RETRIED] = -INF
            return INF
        else:
            core.slurm[RETRIED], start = begin, time + delay
        record = record_at(core, start)


@part
def _later(core: Core, placement: int, start: int, following: int) -> int:
    """When to try next: where a record begins, or a second behind the end of an advance reservation."""
    later = core.record[following].begin if following >= 0 else INF
    if core.clock[APPOINTMENTS] > 0:
        end = next_end(core, placement, start) + 1
        if end < core.slurm[WINDOW_END]:
            later = min(later, end)
    return later


@part
def _slot_on_available(core: Core, placement: int, ahead: bool) -> int:
    """When nodes in seats STAYING suffice, those in LATER, for the choice that comes first."""
    way = core.way[placement]
    way.choice = way.first
    if way.last - way.first == 1:
        return _slot_of_choice(core, placement, ahead)
    it = core.partition[way.partition]
    best, best_time = way.first, INF
    staying, either = core.sets[STAYING], core.sets[EITHER_SEATS]
    copy(either, staying, it.low, it.high)
    for choice in range(way.first, way.last):
        way.choice = choice
        copy(staying, either, it.low, it.high)
        keep_common(staying, core.seats_of[seated(core, it, core.choice[choice].mask)], it.low, it.high)
        time = _slot_of_choice(core, placement, ahead)
        if time < best_time:
            best, best_time = choice, time
            copy(core.sets[BEST], core.sets[LATER], it.low, it.high)
    way.choice = best
    copy(core.sets[LATER], core.sets[BEST], it.low, it.high)
    return best_time


@part
def _slot_of_choice(core: Core, placement: int, ahead: bool) -> int:
    """When nodes in seats STAYING suffice, by planned ends if it may plan ahead."""
    if ahead:
        return predicted_start(core, placement)
    return core.clock[NOW] if fits_now(core, placement) else INF


@part
def _counted_slot(core: Core, row: int, placement: int, ahead: bool, earliest_s: int) -> int:
    """The earliest start by numbers of nodes; on any of them if it is now."""
    now = core.clock[NOW]
    core.slurm[TESTED] += core.slurm[ALIGNED]
    time = earliest(core, placement, earliest_s)
    if time == now and fits(core, placement):
        note_start(core, row, now)
        pick(core, placement, IDLE)
        return now
    note_start(core, row, max(time, now + 1))
    if not ahead or time > now + core.slurm[BF_WINDOW]:
        return INF
    return max(time, now + 1)


@part
def _span(core: Core, placement: int, time: int) -> tuple[int, int]:
    """From when to when it reserves, rounded down."""
    begin = rounded_down(core, time)
    end = rounded_down(core, time + core.place[placement].limit)
    return begin, max(end, begin + core.slurm[BF_RESOLUTION])


@part
def _reserve(core: Core, row: int, placement: int, time: int) -> None:
    number = core.way[placement].partition
    it = core.partition[number]
    begin, end = _span(core, placement, time)
    if time == core.clock[NOW]:  # of a heterogeneous job: what it holds moves on with the clock
        step, limit = core.slurm[BF_RESOLUTION], core.place[placement].limit
        moves = min(begin, rounded_down(core, time + limit) - limit) + step
        core.slurm[VALID] = min(core.slurm[VALID], moves)
    if core.slurm[FIXED]:
        idle = count_common(core.sets[PICKED], core.sets[IDLE], it.low, it.high)
        if idle > 0:
            core.slurm[TAKEN] = 1
        if idle + count_common(core.sets[PICKED], core.sets[LEAVING], it.low, it.high) > 0:
            core.slurm[SELF] = 1
        reserve(core, it, begin, end)
    else:
        occupy(core, placement, max(begin, core.clock[NOW]), end, 1)
    it.reserved += 1
    if core.term[row].array >= 0:
        core.array[core.term[row].array].reserved += 1
    if core.comp[row].promised < 0 or time < core.comp[row].promise:
        promise(core, row, placement, time)
