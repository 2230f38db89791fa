"""What reservations leave, in the release order: a try goes by ranks beside them, too.

A reservation LASTS if it stands from now to behind the plan. As long as a pass takes, its nodes are no nodes
to all without a reservation: the members of partitions, as ranks, are without them, so that notes, gains and
bounds are of what is left. What other reservations take is taken from what a try has found: a note of too few
nodes holds for them, too. Bounds are kept, and asked for, up to where no other reservation is in the way: the
tries before are as without it. An entry with a reservation of its own, APART, goes by nothing of all that.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count, keep_common, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.node_space import gains_ranks
from scheduler_sim.engine.rules.slurm.accelerate.release_order import (
    keep_ranks_masked,
    put_ranks,
    ranked,
    words_before,
)
from scheduler_sim.engine.rules.slurm.accelerate.slot_search import (
    any_left_behind,
    left_free,
    put_ranks_offered,
    ranks_are_unreserved,
    ranks_left_behind,
    ranks_stay_free,
)
from scheduler_sim.engine.rules.slurm.accelerate.start_lower_bounds import first_that_may_do, note_bound
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore
from scheduler_sim.engine.rules.slurm.backfill_pass import (
    attempts_failed_before,
    first_attempt,
    started_beside_plan,
)
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.limit_questions import is_surely_tried
from scheduler_sim.engine.rules.slurm.node_space import gains_nodes, has_more, keep_masked, plan_opens
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by
from scheduler_sim.engine.rules.slurm.reservations.access import (
    has_all,
    meets,
    names_reservation,
    next_in_the_way,
    nodes_opened,
    stays_open,
)
from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore
from scheduler_sim.engine.rules.slurm.slot_search import (
    are_unreserved,
    others_leave,
    put_offered,
    stay_free,
)
from scheduler_sim.engine.rules.slurm.state import Partition


class RankedReservationsCore(AcceleratedCore, ReservationsCore):
    """A core with reservations, and what makes its schedulers fast."""


# -- those that last


@on(plan_opens, "accelerate", "reservations")
def find_lasting(core: RankedReservationsCore) -> None:
    """Those with some of the nodes, from now to behind the window."""
    reservations, window = core.reservations, core.slurm.rules.bf_window
    reservations.at.lasting = 0
    for i in range(len(reservations.table)):
        one = reservations.table[i]
        whole = one.everything or one.of_partition >= 0 or (one.maint and _has_a_partition(core, i))
        lasts = one.stands and one.start <= core.clock.now and one.end > core.clock.now + window
        one.lasts = int(lasts and not whole)
        if one.lasts:
            reservations.at.lasting += 1
            holds_until(core, one.end - window)
    _leave_lasting_out(core)


@part
def _has_a_partition(core: RankedReservationsCore, number: int) -> bool:
    for i in range(len(core.slurm.partition)):
        if has_all(core, core.slurm.partition[i], number):
            return True
    return False


@on(started_beside_plan, "accelerate", "reservations")
def leave_lasting_out_anew(core: RankedReservationsCore, row: int, placement: int) -> None:
    """Nodes have other ranks."""
    _leave_lasting_out(core)


@part
def _leave_lasting_out(core: RankedReservationsCore) -> None:
    """The members of partitions, as ranks, are those that are left."""
    reservations, ranks, left = core.reservations, core.accelerate.ranks, core.reservations.sets.some
    if reservations.at.lasting == 0:
        return
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        copy(left, core.slurm.nodes.masks[it.members], it.low, it.high)
        for i in range(len(reservations.table)):
            if reservations.table[i].lasts:
                take_out(left, reservations.nodes[i], it.low, it.high)
        ranks.ordered_in[it.members] = core.accelerate.progress.ordering
        put_ranks(core, ranks.masks[it.members], left, it.low, it.high)


# -- what an entry may use


@on(nodes_opened, "accelerate", "reservations")
def open_ranks(core: RankedReservationsCore, placement: int, start: int) -> None:
    """RANKS are those of OPEN."""
    reservations, at = core.reservations, core.reservations.at
    it, way = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.way[placement]
    opened, end = reservations.sets.ranks, start + core.placements[placement].limit
    at.closed, at.apart = 0, int(at.inside >= 0)
    for i in range(len(reservations.table)):
        there, lasts = meets(core, i, start, end), reservations.table[i].lasts
        at.closed |= int(there and not lasts)
        at.apart |= int(lasts and not there)
    if at.apart:
        put_ranks(core, opened, reservations.sets.open, it.low, it.high)
        put_ranks(core, reservations.sets.masked, core.slurm.nodes.masks[way.mask], it.low, it.high)
        return
    if at.closed or at.lasting:
        copy(opened, core.accelerate.ranks.masks[ranked(core, it, it.members)], it.low, it.high)
        for i in range(len(reservations.table)):
            if not reservations.table[i].lasts and meets(core, i, start, end):
                take_out(opened, reservations.ranked[_ranked(core, it, i)], it.low, it.high)


@part
def _ranked(core: RankedReservationsCore, it: Partition, number: int) -> int:
    """The row of a reservation in ``ranked``, with its ranks in a module, made once for a release order."""
    reservations, ordering = core.reservations, core.accelerate.progress.ordering
    if reservations.ranked_in[number, it.low] != ordering:
        reservations.ranked_in[number, it.low] = ordering
        put_ranks(core, reservations.ranked[number], reservations.nodes[number], it.low, it.high)
    return number


@part
def _is_narrowed(core: RankedReservationsCore) -> bool:
    """Whether OPEN may be less than the whole partition."""
    at = core.reservations.at
    return bool(at.lasting or at.closed or at.apart)


@part
def _change_masks(core: RankedReservationsCore, placement: int) -> None:
    """The mask of an entry APART takes the place of what stands for it; done twice, all is as before."""
    it, mask = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.way[placement].mask
    ranks, masked = core.accelerate.ranks.masks[ranked(core, it, mask)], core.reservations.sets.masked
    for word in range(it.low, it.high):
        ranks[word], masked[word] = masked[word], ranks[word]


# -- a try


@on(gains_nodes, "accelerate", "reservations")
def gains_open_ranks(core: RankedReservationsCore, number: int, record: int, mask: int) -> bool:
    """Known if all is open that is left; else it is part of that, and gains nothing where that does not."""
    it, plan, at = core.slurm.partition[number], core.slurm.plan, core.reservations.at
    here, before = plan.space[plan.record[record + 1].row], plan.space[plan.record[record].row]
    if at.apart:
        return has_more(here, before, core.reservations.sets.ranks, core.reservations.sets.masked, it)
    if mask == it.members:
        if not at.closed or not gains_ranks(core, number, record, mask):
            return gains_ranks(core, number, record, mask)
    elif not _is_narrowed(core):
        return gains_ranks(core, number, record, mask)
    wanted = core.accelerate.ranks.masks[ranked(core, it, mask)]
    return has_more(here, before, core.reservations.sets.ranks, wanted, it)


@on(stay_free, "accelerate", "reservations")
def left_stay_free(
    core: RankedReservationsCore, placement: int, record: int, start: int, following: int
) -> bool:
    """Notes say nothing of an entry APART."""
    if not core.reservations.at.apart:
        return ranks_stay_free(core, placement, record, start, following)
    core.slurm.memory.ended = core.accelerate.progress.ends
    if following >= 0:
        core.slurm.memory.ended = ended_by(core, core.slurm.plan.record[following].begin)
    it = core.slurm.partition[core.slurm.way[placement].partition]
    stop = core.accelerate.ranks.idle_end[it.module, core.slurm.memory.ended]
    _change_masks(core, placement)
    found, _ = left_free(core, placement, record, start, stop)
    _change_masks(core, placement)
    return found >= core.placements[placement].nodes


@on(are_unreserved, "accelerate", "reservations")
def left_are_unreserved(core: RankedReservationsCore, placement: int, record: int, start: int) -> bool:
    """Whether enough of all ranks are."""
    if not core.reservations.at.apart:
        return ranks_are_unreserved(core, placement, record, start)
    _change_masks(core, placement)
    enough = ranks_are_unreserved(core, placement, record, start)
    _change_masks(core, placement)
    return enough


@on(stays_open, "accelerate", "reservations")
def ranks_stay_open(core: RankedReservationsCore, placement: int) -> bool:
    """Whether the ranks STAYING that are OPEN suffice, as far as the try has looked."""
    if not _is_narrowed(core):
        return True
    it, staying = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets.staying
    high = words_before(it, core.accelerate.progress.stop)
    keep_common(staying, core.reservations.sets.ranks, it.low, high)
    return count(staying, it.low, high) >= core.placements[placement].nodes


@on(keep_masked, "accelerate", "reservations")
def keep_true_mask(core: RankedReservationsCore, it: Partition, target: Words, mask: int) -> None:
    """Of a set of ranks stays what is in a mask."""
    if not core.reservations.at.apart:
        keep_ranks_masked(core, it, target, mask)
        return
    put_ranks(core, core.slurm.sets.rest, core.slurm.nodes.masks[mask], it.low, it.high)
    keep_common(target, core.slurm.sets.rest, it.low, it.high)


@on(others_leave, "accelerate", "reservations")
def open_ranks_left_behind(core: RankedReservationsCore, placement: int) -> bool:
    """Whether ranks OPEN that stay free for the try are behind those of jobs that have ended by its end."""
    if not _is_narrowed(core):
        return ranks_left_behind(core, placement)
    way, members = core.slurm.way[placement], core.reservations.sets.some
    it = core.slurm.partition[way.partition]
    copy(members, core.reservations.sets.ranks, it.low, it.high)
    keep_true_mask(core, it, members, core.slurm.nodes.choice[way.choice].mask)
    return any_left_behind(core, it, members)


@on(put_offered, "accelerate", "reservations")
def put_open_offered(core: RankedReservationsCore, placement: int, target: Words) -> None:
    """... that are OPEN."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    if core.reservations.at.apart:
        _change_masks(core, placement)
    put_ranks_offered(core, placement, target)
    if core.reservations.at.apart:
        _change_masks(core, placement)
    keep_common(target, core.reservations.sets.open, it.low, it.high)


# -- lower bounds, and where a pass may stop


@on(first_attempt, "accelerate", "reservations")
def first_beside(core: RankedReservationsCore, placement: int) -> int:
    """The bound, if no reservation but those that last is in the way up to there."""
    start = first_that_may_do(core, placement)
    if start == core.clock.now or not _is_clear(core, placement, start):
        return core.clock.now
    holds_until(core, next_in_the_way(core, core.placements[placement].limit))
    return start


@on(attempts_failed_before, "accelerate", "reservations")
def note_bound_beside(core: RankedReservationsCore, placement: int, start: int) -> None:
    """Likewise."""
    if _is_clear(core, placement, start):
        note_bound(core, placement, start)


@part
def _is_clear(core: RankedReservationsCore, placement: int, start: int) -> bool:
    """Whether only those that last matter to an entry that starts up to then."""
    return core.reservations.at.inside < 0 and _next_begin(core) >= start + core.placements[placement].limit


@part
def _next_begin(core: RankedReservationsCore) -> int:
    """When the first of the others begins, or has begun, that are not over."""
    time = INF
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if one.stands and not one.lasts and one.end >= core.clock.now:
            time = min(time, one.start)
    return time


@on(is_surely_tried, "accelerate", "reservations")
def has_none_in_the_way(core: RankedReservationsCore, row: int, placement: int, until: int) -> bool:
    """Whether no reservation matters to a job before a time."""
    at = core.reservations.at
    return bool(not names_reservation(core, row) and at.lasting == 0 and _next_begin(core) >= until)
