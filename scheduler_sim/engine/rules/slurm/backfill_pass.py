"""Slurm's backfill scheduler: every job in order is started, or reserves, up to the depths.

Conservative backfill, planned anew in each pass, with the limits and the rounding that
Slurm has (its manual page slurm.conf, SchedulerParameters; the rules as they were read and
measured are in docs/reference/slurm.md).
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count_common, take_out
from scheduler_sim.engine.core.hooks import agreement, event, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.laws import advances
from scheduler_sim.engine.core.profile import build_profiles, earliest, occupy
from scheduler_sim.engine.core.queue import close_gaps
from scheduler_sim.engine.core.record import fits
from scheduler_sim.engine.core.state import INF, WAITING
from scheduler_sim.engine.core.waiting import reserve_start, withdraw
from scheduler_sim.engine.rules.coscheduling.members import is_member, reservation_is_ahead, whole_job_waits
from scheduler_sim.engine.rules.slurm.advance_reservations import (
    has_reservation,
    next_end,
    picked_reserved,
    stands_until,
)
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.het.delays import occupy_advance_reservations, replaced_lost
from scheduler_sim.engine.rules.slurm.het.het_jobs import (
    come_to,
    delay_of,
    forget_plans,
    not_before,
    note_start,
    start_jobs,
    waits_for_window,
    would_block,
)
from scheduler_sim.engine.rules.slurm.job_partition_queue import build_queue, entry
from scheduler_sim.engine.rules.slurm.limit_questions import (
    forgoes_plan,
    held_up_until,
    limited_before_choice,
    limited_by_choice,
    may_plan,
    passed_over,
    start_or_plan,
    trial_begins,
    trial_ends,
)
from scheduler_sim.engine.rules.slurm.limits import array_is_planned, may_reserve, over_a_limit
from scheduler_sim.engine.rules.slurm.node_space import (
    is_free,
    keep_masked,
    next_attempt,
    nodes_picked,
    open_plan,
    plan_is_full,
    plan_started,
    record_at,
    record_of,
    reserve,
    rounded_down,
    span,
)
from scheduler_sim.engine.rules.slurm.nodes import pick, weighed_anew
from scheduler_sim.engine.rules.slurm.power_cap import keep_power, lacks_power, power_delay
from scheduler_sim.engine.rules.slurm.predicted import fits_now, predicted_start
from scheduler_sim.engine.rules.slurm.slot_search import clear_of_reserved, stay_free, would_suffice
from scheduler_sim.engine.rules.slurm.start import has_licences, may_run, may_run_there, start_on_picked
from scheduler_sim.engine.rules.slurm.state import Partition, SlurmCore

# -- what may be left out (see ``accelerate``)


@event
def entries_begin(core: SlurmCore, size: int) -> None:
    """So many entries of the queue are about to be tried, or the last of them."""


@question
def is_cut_off(core: SlurmCore, i: int) -> bool:
    """Whether the pass may end before the ``i``-th entry, as it makes no difference."""
    return False


@event
def entries_end(core: SlurmCore) -> None:
    """No more entries are tried in this pass."""


@event
def idle_taken(core: SlurmCore) -> None:
    """Idle nodes are reserved, or a job has started on them."""


@event
def started_beside_plan(core: SlurmCore, row: int, placement: int) -> None:
    """A job has started while a plan names the nodes of others, which does not name its own yet."""


@question
def outcome_until(core: SlurmCore) -> int:
    """Until when passes would come out as this one, if nothing changes: not known."""
    return core.clock.now


@question
def continues_last_pass(core: SlurmCore) -> bool:
    """Whether it was enough to go on with the plan of the last pass."""
    return False


@question
def first_attempt(core: SlurmCore, placement: int) -> int:
    """When a job is tried first."""
    return core.clock.now


@event
def attempts_failed_before(core: SlurmCore, placement: int, start: int) -> None:
    """All attempts of a job before ``start`` found too few nodes."""


# -- beside reservations of operators


@question
def start_beside(core: SlurmCore, placement: int, start: int) -> int:
    """When a start is tried that should be at ``start``; INF if not at all."""
    return start


@question
def later_beside(core: SlurmCore) -> int:
    """When to try next for them, INF if they are not in the way."""
    return INF


@question
def is_extra(core: SlurmCore) -> bool:
    """Whether the entry is one more of a job that has its own: it counts for no limit, and is not planned."""
    return False


@agreement
def beside_reservations(core: SlurmCore, placement: int) -> bool:
    """Whether they leave enough of the nodes STAYING."""
    return True


# -- the pass


@part
def backfill_pass(core: SlurmCore) -> None:
    """Start or reserve for the jobs that wait, in order."""
    memory = core.slurm.memory
    memory.pass_number += 1
    memory.started = memory.tested = memory.self_change = 0
    memory.valid, memory.retried = INF, -INF
    holds_until(core, stands_until(core))
    for i in range(len(core.slurm.partition)):
        core.slurm.partition[i].tried = core.slurm.partition[i].reserved = 0
    if core.slurm.rules.fixed_nodes:
        open_plan(core)
    else:
        build_profiles(core, False)
        occupy_advance_reservations(core)
    size = build_queue(core)
    for i in range(size):
        row, _ = entry(core, i)
        withdraw(core, row)
        forget_plans(core, row)
    try_entries(core, 0, size)


@part
def try_entries(core: SlurmCore, first: int, size: int) -> None:
    """Try the entries of the queue from ``first`` on, until a limit ends the pass."""
    memory = core.slurm.memory
    memory.entries, memory.broken_off = size, 0
    entries_begin(core, size)
    for i in range(first, size):
        if is_cut_off(core, i):
            break
        if not _tried_entry(core, i):
            memory.broken_off = 1
            break
    start_jobs(core)
    close_gaps(core, core.queue.at.tail)
    entries_end(core)
    # where nothing runs and nothing comes, a job that could not start now never will
    nothing_comes = core.clock.events == 0 and core.queue.at.seen == core.clock.jobs
    memory.valid = INF if nothing_comes else outcome_until(core)


@part
def _tried_entry(core: SlurmCore, i: int) -> bool:
    """Try an entry of the queue, if its job may be tried; False ends the pass."""
    row, placement = entry(core, i)
    if core.slurm.memory.tested >= core.slurm.rules.bf_max_job_test:
        return False
    come_to(core, row)
    if core.jobs[row].state != WAITING or not may_run(core, row) or not whole_job_waits(core, row):
        return True
    if waits_for_window(core, row) or not may_run_there(core, placement) or array_is_planned(core, row):
        return True
    if not core.slurm.rules.aligned:
        core.slurm.memory.tested += 1
    if not is_extra(core) and over_a_limit(core, row, placement):
        return True
    if not has_licences(core, placement):
        return True
    if passed_over(core, row, placement):
        return True
    return _tried(core, row, placement)


@part
def _tried(core: SlurmCore, row: int, placement: int) -> bool:
    """Start or reserve; False ends the pass."""
    if has_reservation(core, row):
        if not (picked_reserved(core, row) or (replaced_lost(core, row) and picked_reserved(core, row))):
            return True
        if not is_member(core, row) and _limited_in_reservation(core, row, placement):
            return True
        return _started(core, row, placement)
    ahead, delay = may_reserve(core, row, placement), delay_of(core, row)
    first = max(not_before(core, row), held_up_until(core, placement))
    trial_begins(core, placement)
    if core.slurm.rules.fixed_nodes:
        time = fixed_slot(core, row, placement, ahead, first, delay)
    else:
        time = _counted_slot(core, row, placement, ahead, first + delay)
    if delay > 0:  # its start moves on with the clock
        holds_until(core, core.clock.now)
    may_start = time == core.clock.now and not is_member(core, row)
    starts = may_start and starts_on_picked(core, row, placement) and not lacks_power(core, placement)
    trial_ends(core, placement)
    if starts:
        return _started(core, row, placement)
    if time < INF and (is_member(core, row) or not forgoes_plan(core, placement)):
        if core.slurm.rules.fixed_nodes and plan_is_full(core):
            return False
        if is_member(core, row) and would_block(core, row, time):
            reserve_start(core, row, placement, time)
            return True
        _reserve(core, row, placement, time)
    return True


@part
def _limited_in_reservation(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether limits stand against a start on the nodes PICKED, which stay held for it."""
    return limited_before_choice(core, row, placement) or limited_by_choice(core, row, placement, True)


@part
def _started(core: SlurmCore, row: int, placement: int) -> bool:
    """Start on the nodes PICKED, or after the pass with the others of its job; False ends the pass."""
    if is_member(core, row):
        note_start(core, row, core.clock.now)
        reserve_start(core, row, placement, core.clock.now)
        return True
    start_on_picked(core, row, placement, core.slurm.rules.launch_s)
    keep_power(core, placement, core.clock.now)
    core.slurm.memory.started += 1
    idle_taken(core)
    if core.slurm.rules.fixed_nodes:
        started_beside_plan(core, row, placement)
        plan_started(core, placement)
    else:
        _, end = span(core, placement, core.clock.now)
        occupy(core, placement, core.clock.now, end, 1)
    return (
        core.slurm.rules.bf_max_job_start == 0
        or core.slurm.memory.started < core.slurm.rules.bf_max_job_start
    )


@question
def fixed_slot(core: SlurmCore, row: int, placement: int, ahead: bool, earliest_s: int, delay: int) -> int:
    """The earliest start that Slurm finds, with its nodes in PICKED; INF without start or reservation.

    With a delay, that much is added to each start that is tried. What starts are found for one of a
    heterogeneous job is known to its others, so that all jobs that run count, not only those that have ended
    by the next try.
    """
    it, now = core.slurm.partition[core.slurm.way[placement].partition], core.clock.now
    start = max(first_attempt(core, placement) if ahead and delay == 0 else now, earliest_s) + delay
    record = record_at(core, start)
    counted, found_free, together = core.slurm.rules.aligned == 0, False, is_member(core, row)
    counted = counted or is_extra(core)
    tried = start - 1
    while advances(core, row, tried, start):
        tried = start
        moved = start_beside(core, placement, start)
        if moved != start:
            if moved == INF:
                return INF
            start, record = moved, record_at(core, moved)
        following = next_attempt(core, placement, record, start)
        later = next_try(core, placement, start, following)
        time = INF
        if stay_free(core, placement, record, start, -1 if together else following):
            if not found_free and earliest_s == now and delay == 0:
                attempts_failed_before(core, placement, start)
            found_free = True
            if beside_reservations(core, placement) and clear_of_reserved(core, placement, start):
                time = _slot_on_available(core, placement, ahead)
        if time == INF or time > later:  # other nodes come free before that
            if time < INF:
                note_start(core, row, max(time, start))
            if later > core.slurm.memory.window_end or not ahead:
                if not counted and core.slurm.memory.entries >= core.slurm.rules.bf_max_job_test:
                    core.slurm.memory.tested += would_suffice(core, placement, ahead)
                return INF
            start = later + delay
            record = record_of(core, start, following)
            continue
        pick(core, placement, core.slurm.sets.later)
        wait = power_delay(core, placement, max(time, start))
        if wait > 0:
            if not ahead or wait == INF:
                return INF
            start = max(time, start) + wait
            if start > core.slurm.memory.window_end:
                return INF
            record = record_at(core, start)
            continue
        core.slurm.memory.tested += 0 if counted else 1
        counted = True
        nodes_picked(core, it)
        if time < start:
            core.slurm.memory.self_change = 1
            time = start
        at_once = time == now and none_leave(core, it)
        if at_once:
            time = now if together else start_or_plan(core, row, placement, later)
            if time in (now, INF):
                note_start(core, row, now)
                return time
        time = max(time, now + 1)  # for the epilogs
        note_start(core, row, time)
        if not ahead or is_extra(core):
            return INF
        if is_out_of_sight(core, time) or not (at_once or may_plan(core, row, placement)):
            return INF
        full = plan_is_full(core) and not forgoes_plan(core, placement)
        if full or not overlaps_plan(core, placement, start, time):
            return time
        begin, _ = span(core, placement, time)
        if core.slurm.rules.aligned:
            start = (time if time > start else time + core.slurm.rules.bf_resolution) + delay
        elif core.slurm.memory.retried == begin:
            core.slurm.memory.retried = -INF
            return INF
        else:
            core.slurm.memory.retried, start = begin, time + delay
            tried = start - 1  # once more from the same start at most
        record = record_at(core, start)
    return INF


@part
def none_leave(core: SlurmCore, it: Partition) -> bool:
    """Whether none of the nodes PICKED is completing."""
    return count_common(core.slurm.sets.picked, core.slurm.sets.leaving, it.low, it.high) == 0


@part
def overlaps_plan(core: SlurmCore, placement: int, start: int, time: int) -> bool:
    """Whether the slot at a time overlaps a reservation of the plan on the nodes PICKED.

    They are free for as long as the job may run from the start that was tried.
    """
    it = core.slurm.partition[core.slurm.way[placement].partition]
    begin, end = span(core, placement, time)
    before, behind = min(start, end), max(begin, start + core.placements[placement].limit)
    return not (is_free(core, it, begin, before) and is_free(core, it, behind, end))


@part
def is_behind_window(core: SlurmCore, start: int) -> bool:
    """Whether a start lies behind the window of the plan, where since 23.11 nothing is tried."""
    return bool(core.slurm.rules.window_kept and start > core.slurm.memory.window_end)


@part
def is_out_of_sight(core: SlurmCore, time: int) -> bool:
    """Whether a start is too late to be planned; as the clock moves on, it will be in sight."""
    holds_until(core, time)
    if time <= core.clock.now + core.slurm.rules.bf_window:
        return False
    holds_until(core, time - core.slurm.rules.bf_window)
    return True


@question
def starts_on_picked(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether a job whose slot is now starts on the nodes PICKED; else they are reserved for it.

    They are chosen anew, among all that it could be planned on but those that are completing.
    """
    it, sets = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets
    leaving = core.slurm.rules.fixed_nodes and count_common(sets.later, sets.leaving, it.low, it.high) > 0
    if leaving or weighed_anew(core):
        take_out(sets.later, sets.leaving, it.low, it.high)
        pick(core, placement, sets.later)
    return True


@question
def any_unallocated(core: SlurmCore, it: Partition) -> bool:
    """Whether any of the nodes PICKED runs no job: it is marked as planned, which is a change."""
    sets = core.slurm.sets
    idle = count_common(sets.picked, sets.idle, it.low, it.high)
    return idle + count_common(sets.picked, sets.leaving, it.low, it.high) > 0


@part
def next_try(core: SlurmCore, placement: int, start: int, following: int) -> int:
    """When to try next: where a record begins, or a second behind the end of an advance reservation."""
    later = core.slurm.plan.record[following].begin if following >= 0 else INF
    if reservation_is_ahead(core):
        end = next_end(core, placement, start) + 1
        if end < core.slurm.memory.window_end:
            later = min(later, end)
    beside = later_beside(core)
    return min(later, beside) if beside < core.slurm.memory.window_end else later


@part
def _slot_on_available(core: SlurmCore, placement: int, ahead: bool) -> int:
    """When nodes STAYING suffice, those in LATER, for the choice that comes first."""
    way = core.slurm.way[placement]
    way.choice = way.first
    if way.last - way.first == 1:
        return slot_of_choice(core, placement, ahead)
    it = core.slurm.partition[way.partition]
    best, best_time = way.first, INF
    staying, either = core.slurm.sets.staying, core.slurm.sets.either
    copy(either, staying, it.low, it.high)
    for choice in range(way.first, way.last):
        way.choice = choice
        copy(staying, either, it.low, it.high)
        keep_masked(core, it, staying, core.slurm.nodes.choice[choice].mask)
        time = slot_of_choice(core, placement, ahead)
        if time < best_time:
            best, best_time = choice, time
            copy(core.slurm.sets.best, core.slurm.sets.later, it.low, it.high)
    way.choice = best
    copy(core.slurm.sets.later, core.slurm.sets.best, it.low, it.high)
    return best_time


@question
def slot_of_choice(core: SlurmCore, placement: int, ahead: bool) -> int:
    """When nodes STAYING suffice, those in LATER, whatever has to be done for that."""
    return slot_by_ends(core, placement, ahead)


@question
def slot_by_ends(core: SlurmCore, placement: int, ahead: bool) -> int:
    """When they suffice by themselves, by planned ends if it may plan ahead."""
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
def _reserve(core: SlurmCore, row: int, placement: int, time: int) -> None:
    number = core.slurm.way[placement].partition
    it = core.slurm.partition[number]
    begin, end = span(core, placement, time)
    if time == core.clock.now:  # of a heterogeneous job: what it holds moves on with the clock
        step, limit = core.slurm.rules.bf_resolution, core.placements[placement].limit
        moves = min(begin, rounded_down(core, time + limit) - limit) + step
        holds_until(core, moves)
    if core.slurm.rules.fixed_nodes:
        if count_common(core.slurm.sets.picked, core.slurm.sets.idle, it.low, it.high) > 0:
            idle_taken(core)
        if any_unallocated(core, it):
            core.slurm.memory.self_change = 1
        reserve(core, it, begin, end)
        keep_power(core, placement, time)
    else:
        occupy(core, placement, max(begin, core.clock.now), end, 1)
    it.reserved += 1
    if core.holds.term[row].array >= 0:
        core.holds.array[core.holds.term[row].array].reserved += 1
    if core.jobs[row].reserved_placement < 0 or time < core.jobs[row].reserved_start:
        reserve_start(core, row, placement, time)
