"""Which nodes advance reservations leave to an entry of the queue, and from when on."""

from __future__ import annotations

from typing import Any

from scheduler_sim.engine.core.bits import NONE, add, clear, copy, count, keep_common, take_out
from scheduler_sim.engine.core.hooks import event, on, only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import instant_opens, submitted
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.backfill_pass import beside_reservations, later_beside, start_beside
from scheduler_sim.engine.rules.slurm.change import holds_until, main_holds_until, note_passed_over
from scheduler_sim.engine.rules.slurm.het.het_jobs import picked_together
from scheduler_sim.engine.rules.slurm.lifecycle import turn_away
from scheduler_sim.engine.rules.slurm.main_pass import (
    main_begins,
    nodes_left,
    picked_among,
    picked_among_free,
    waits_behind,
    waits_for_nodes,
)
from scheduler_sim.engine.rules.slurm.node_space import gains_nodes, has_more, next_attempt, record_at
from scheduler_sim.engine.rules.slurm.nodes import add_best_fit, added_first
from scheduler_sim.engine.rules.slurm.reasons import ITS_TURN, NOT_AVAILABLE, RESERVATION, waits_for
from scheduler_sim.engine.rules.slurm.reservations.nodes import (
    waits_for_jobs_on,
    would_suffice_empty,
)
from scheduler_sim.engine.rules.slurm.reservations.state import (
    ALLOWED,
    DENIED,
    INVALID,
    NONE_NAMED,
    UNKNOWN,
    ReservationsCore,
)
from scheduler_sim.engine.rules.slurm.reservations.turns import move_on
from scheduler_sim.engine.rules.slurm.slot_search import are_unreserved, keep_open, would_suffice
from scheduler_sim.engine.rules.slurm.state import Partition

MOST_MOVES = 10  # of a job behind reservations of all its nodes


@part
def meets(core: ReservationsCore, number: int, start: int, end: int) -> bool:
    """Whether a reservation stands at some time in between; touching is allowed."""
    it = core.reservations.table[number]
    return bool(it.stands and it.start < end and it.end > start)


@only_with("reservations", otherwise=False)
def names_reservation(core: Any, row: int) -> bool:
    """Whether a job has a reservation."""
    return bool(core.reservations.claim[row].of >= 0)


@part
def keeps_off(core: ReservationsCore, own: int, other: int) -> bool:
    """Whether jobs of a reservation avoid another's nodes: not those of MAINT, of OVERLAP only MAINT's."""
    if own < 0:
        return True
    mine, theirs = core.reservations.table[own], core.reservations.table[other]
    return not mine.maint and not (mine.overlap and not theirs.maint)


@part
def put_open(core: ReservationsCore, placement: int, start: int) -> bool:
    """OPEN: the nodes of its partition that the entry may use from ``start`` to its limit, in service or not.

    False if its own reservation has not begun, or is over.
    """
    at, sets = core.reservations.at, core.reservations.sets
    it = core.slurm.partition[core.slurm.way[placement].partition]
    end, own = start + core.placements[placement].limit, at.inside
    at.took = 0
    clear(sets.open, 0, len(sets.open))
    copy(sets.open, core.slurm.nodes.masks[it.members], it.low, it.high)
    if own >= 0 and not core.reservations.table[own].flex:
        if not core.reservations.table[own].start <= start <= core.reservations.table[own].end:
            return False
        if not core.reservations.table[own].any_nodes:
            keep_common(sets.open, core.reservations.nodes[own], it.low, it.high)
    for i in range(len(core.reservations.table)):
        if i == own or not meets(core, i, start, end) or not keeps_off(core, own, i):
            continue
        for word in range(it.low, it.high):
            if sets.open[word] & core.reservations.nodes[i, word] != NONE:
                at.took = 1
        take_out(sets.open, core.reservations.nodes[i], it.low, it.high)
    return True


@part
def end_of_covering(core: ReservationsCore, placement: int, start: int) -> int:
    """The end of the first reservation that leaves nothing to an entry without one; -1 if none does."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if not meets(core, i, start, start + core.placements[placement].limit):
            continue
        whole = one.everything or one.of_partition == core.slurm.way[placement].partition
        if whole or (one.maint and has_all(core, it, i)):
            return one.end
    return -1


@part
def has_all(core: ReservationsCore, it: Partition, number: int) -> bool:
    """Whether a reservation has all nodes of a partition."""
    for word in range(it.low, it.high):
        if core.slurm.nodes.masks[it.members, word] & ~core.reservations.nodes[number, word] != NONE:
            return False
    return True


# -- at submission


@on(submitted, "reservations")
def refuse_without_access(core: ReservationsCore, row: int) -> None:
    """A job that may not have the reservation that it names is rejected."""
    claim, first = core.reservations.claim[row], core.jobs[row].first
    if claim.of == NONE_NAMED or first == core.jobs[row].last:
        return
    move_on(core)
    claim.refused = _reason_to_refuse(core, row)
    own = core.reservations.table[max(claim.of, 0)]
    if claim.refused != ALLOWED:
        turn_away(core, row)
    elif core.jobs[row].missing == 0 and core.clock.now < own.start and not own.flex:
        waits_for(core, row, RESERVATION)  # it is told at once that it waits for that to begin


@part
def _reason_to_refuse(core: ReservationsCore, row: int) -> int:
    """No such reservation, no access, over, or, while it stands, with too few nodes that are its own."""
    claim, placement, now = core.reservations.claim[row], core.jobs[row].first, core.clock.now
    if claim.of == UNKNOWN:
        return INVALID
    own = core.reservations.table[claim.of]
    if not own.stands:
        return INVALID
    if not claim.access:
        return DENIED
    if own.end < now and not own.flex:
        return INVALID
    core.reservations.at.inside = claim.of
    if not put_open(core, placement, now):
        return ALLOWED
    it, opened = core.slurm.partition[core.slurm.way[placement].partition], core.reservations.sets.open
    if core.reservations.at.took and count(opened, it.low, it.high) == 0:
        return ALLOWED
    return ALLOWED if would_suffice_empty(core, placement, opened) else INVALID


# -- its turn


@on(instant_opens, "reservations")
def look_at_none(core: ReservationsCore) -> None:
    """No entry has its turn."""
    core.reservations.at.inside = core.reservations.at.drawn = NONE_NAMED


# -- the main scheduler


@on(main_begins, "reservations")
def open_all(core: ReservationsCore) -> None:
    """No reservation's nodes are closed, and nobody waits in one."""
    clear(core.reservations.sets.closed, 0, len(core.reservations.sets.closed))
    core.reservations.at.passes += 1


@on(waits_behind, "reservations")
def waits_behind_another(core: ReservationsCore, row: int, it: Partition) -> bool:
    """In a reservation, one that waits there; else its partition is blocked."""
    own = core.reservations.at.inside
    if own >= 0:
        return core.reservations.table[own].failed == core.reservations.at.passes
    return bool(it.blocked)


@on(picked_among_free, "reservations")
def picked_among_open(core: ReservationsCore, placement: int) -> bool:
    """Choose the nodes of a placement among those that are FREE, and OPEN to it."""
    main_holds_until(core, next_in_the_way(core, core.placements[placement].limit))
    return _picked_open(core, placement)


@part
def _picked_open(core: ReservationsCore, placement: int) -> bool:
    now, sets = core.clock.now, core.reservations.sets
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if core.reservations.at.inside < 0 and end_of_covering(core, placement, now) >= 0:
        return False
    if not put_open(core, placement, now):
        return False
    keep_common(sets.open, core.slurm.sets.free, it.low, it.high)
    return picked_among(core, placement, sets.open)


@on(waits_for_nodes, "reservations")
def waits_for_open_nodes(core: ReservationsCore, row: int, placement: int) -> bool:
    """Whether the partition waits with one that did not start: one in a reservation blocks that alone.

    One whose nodes are reserved blocks nothing, but while its own reservation cannot be used yet, the rest of
    the pass does without the nodes of that. That some of its nodes are reserved it is told each time, which
    is a change; that all are, once.
    """
    it = core.slurm.partition[core.slurm.way[placement].partition]
    now, own = core.clock.now, core.reservations.at.inside
    some, opened = core.reservations.sets.some, core.reservations.sets.open
    _put_left(core, it)
    if own < 0 and end_of_covering(core, placement, now) >= 0:
        waits_for(core, row, NOT_AVAILABLE)
        return False
    usable = put_open(core, placement, now)
    if own >= 0 and not usable:
        waits_for(core, row, RESERVATION)
        if now < core.reservations.table[own].start:
            _close(core, own)
        return False
    if own >= 0 and not would_suffice_empty(core, placement, opened):
        waits_for(core, row, RESERVATION)
        if core.reservations.at.took:
            _close(core, own)
        return False
    keep_common(opened, some, it.low, it.high)
    waits = waits_for_jobs_on(core, placement, opened)
    waits_for(core, row, ITS_TURN if waits or own >= 0 else NOT_AVAILABLE)
    if own < 0 and not waits:
        note_passed_over(core)
    if own >= 0 and waits:
        core.reservations.table[own].failed = core.reservations.at.passes
    return bool(waits and own < 0)


@on(nodes_left, "reservations")
def left_beside_closed(core: ReservationsCore, it: Partition) -> int:
    """Neither a blocked partition nor a closed reservation takes them."""
    _put_left(core, it)
    return count(core.reservations.sets.some, it.low, it.high)


@part
def _put_left(core: ReservationsCore, it: Partition) -> None:
    """SOME: the nodes of a partition that neither a blocked one nor a closed reservation takes."""
    some = core.reservations.sets.some
    copy(some, core.slurm.nodes.masks[it.members], it.low, it.high)
    keep_common(some, core.slurm.sets.open, it.low, it.high)
    take_out(some, core.reservations.sets.closed, it.low, it.high)


@part
def _close(core: ReservationsCore, number: int) -> None:
    nodes = core.reservations.nodes[number]
    for word in range(len(nodes)):
        core.reservations.sets.closed[word] |= nodes[word]
        core.slurm.sets.free[word] &= ~nodes[word]


# -- the backfill scheduler


@on(start_beside, "reservations")
def start_beside_reservations(core: ReservationsCore, placement: int, start: int) -> int:
    """When to try, with OPEN and LATER for it: behind reservations of all nodes; INF if it is not to be."""
    at = core.reservations.at
    if start == core.clock.now:
        holds_until(core, next_in_the_way(core, core.placements[placement].limit))
    if at.inside < 0:
        moves = 0
        end = end_of_covering(core, placement, start)
        while end >= 0:
            moves += 1
            if moves > MOST_MOVES:
                return INF
            start = end
            end = end_of_covering(core, placement, start)
    if not put_open(core, placement, start):
        return INF
    at.later = INF
    if at.took:
        for i in range(len(core.reservations.table)):
            one = core.reservations.table[i]
            if one.stands and one.end >= start:
                at.later = min(at.later, _rounded_up(core, one.end) + 1)
    if core.slurm.memory.window_end <= at.later < INF:  # it will be in sight
        holds_until(core, _rounded_up(core, at.later + 1) - core.slurm.rules.bf_window)
    nodes_opened(core, placement, start)
    return start


@event
def nodes_opened(core: ReservationsCore, placement: int, start: int) -> None:
    """OPEN is what the entry may use from ``start`` on."""


@part
def next_in_the_way(core: ReservationsCore, length: int) -> int:
    """When the clock next brings a reservation into the way of what starts now, or one begins or ends.

    Until then the same ones are in the way of a start now, and those of later starts do not go by the clock.
    """
    now, time = core.clock.now, INF
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if one.stands:
            for moment in (one.start - length + 1, one.start, one.end, one.end + 1):
                if moment > now:
                    time = min(time, moment)
    return time


@part
def _rounded_up(core: ReservationsCore, time: int) -> int:
    return time + -(time + core.slurm.rules.epoch) % core.slurm.rules.bf_resolution


@on(later_beside, "reservations")
def second_behind_an_end(core: ReservationsCore) -> int:
    """A second behind the next end of any, if one was in the way."""
    return core.reservations.at.later


@on(beside_reservations, "reservations")
def suffices_beside(core: ReservationsCore, placement: int) -> bool:
    """Whether reservations leave enough of the nodes STAYING."""
    return stays_open(core, placement)


@question
def stays_open(core: ReservationsCore, placement: int) -> bool:
    """Whether the nodes STAYING that are OPEN suffice; what is not, counts as reserved."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    keep_common(core.slurm.sets.staying, core.reservations.sets.open, it.low, it.high)
    leave_open(core, it)
    return count(core.slurm.sets.staying, it.low, it.high) >= core.placements[placement].nodes


@on(keep_open, "reservations")
def leave_open(core: ReservationsCore, it: Partition) -> None:
    """Those that are OPEN."""
    keep_common(core.slurm.sets.unreserved, core.reservations.sets.open, it.low, it.high)


@on(gains_nodes, "reservations", unless=("accelerate", "cons_tres"))
def gains_open_nodes(core: ReservationsCore, number: int, record: int, mask: int) -> bool:
    """Whether the next record has nodes OPEN to the entry that this one, within the mask, has not."""
    plan, masks, it = core.slurm.plan, core.slurm.nodes.masks, core.slurm.partition[number]
    here, before = plan.space[plan.record[record + 1].row], plan.space[plan.record[record].row]
    return has_more(here, before, core.reservations.sets.open, masks[mask], it)


@on(would_suffice, "reservations")
def would_suffice_beside(core: ReservationsCore, placement: int, ahead: bool) -> bool:
    """Whether enough nodes are free of all reservations at some start that is tried."""
    start = core.clock.now
    while True:
        start = start_beside(core, placement, start)
        if start == INF:
            return False
        record = record_at(core, start)
        if are_unreserved(core, placement, record, start) and stays_open(core, placement):
            return True
        following = next_attempt(core, placement, record, start)
        later = core.slurm.plan.record[following].begin if following >= 0 else INF
        if core.reservations.at.later < core.slurm.memory.window_end:
            later = min(later, core.reservations.at.later)
        if not ahead or later == INF:
            return False
        start = later


@on(picked_together, "reservations")
def picked_open_together(core: ReservationsCore, row: int, placement: int) -> bool:
    """Choose the nodes of a component among those FREE that are OPEN to it."""
    core.reservations.at.inside = core.reservations.claim[row].of
    return _picked_open(core, placement)


# -- nodes


@on(added_first, "reservations")
def added_inside(core: ReservationsCore, it: Partition, source: Words, mask: int, wanted: int) -> int:
    """With FLEX the nodes of its reservation come first."""
    own, some = core.reservations.at.inside, core.reservations.sets.some
    if own < 0 or not core.reservations.table[own].flex:
        return 0
    copy(some, source, it.low, it.high)
    keep_common(some, core.slurm.nodes.masks[mask], it.low, it.high)
    keep_common(some, core.reservations.nodes[own], it.low, it.high)
    take_out(some, core.slurm.sets.picked, it.low, it.high)
    there = count(some, it.low, it.high)
    if there <= wanted:
        add(core.slurm.sets.picked, some, it.low, it.high)
        return there
    add_best_fit(core.slurm.sets.picked, some, core.slurm.nodes.run, it.low, it.high, wanted)
    return wanted
