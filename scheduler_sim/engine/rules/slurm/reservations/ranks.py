"""What reservations leave, in the release order: a try goes by ranks beside them, too.

Notes hold as they are: they say how many nodes no plan holds, and reservations only take more away. Lower
bounds on starts are kept up to where no reservation is in the way, and asked for no further.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count, keep_common, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.node_space import gains_ranks
from scheduler_sim.engine.rules.slurm.accelerate.release_order import put_ranks, ranked
from scheduler_sim.engine.rules.slurm.accelerate.slot_search import (
    any_left_behind,
    put_ranks_offered,
    ranks_left_behind,
)
from scheduler_sim.engine.rules.slurm.accelerate.start_lower_bounds import first_that_may_do, note_bound
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore
from scheduler_sim.engine.rules.slurm.backfill_pass import attempts_failed_before, first_attempt
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.limit_questions import is_surely_tried
from scheduler_sim.engine.rules.slurm.node_space import gains_nodes, has_more
from scheduler_sim.engine.rules.slurm.reservations.access import (
    keeps_off,
    meets,
    next_in_the_way,
    nodes_opened,
    stays_open,
)
from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore
from scheduler_sim.engine.rules.slurm.slot_search import others_leave, put_offered
from scheduler_sim.engine.rules.slurm.state import Partition


class RankedReservationsCore(AcceleratedCore, ReservationsCore):
    """A core with reservations, and what makes its schedulers fast."""


@part
def _is_narrowed(core: RankedReservationsCore) -> bool:
    """Whether OPEN may be less than the whole partition."""
    return bool(core.reservations.at.took or core.reservations.at.inside >= 0)


@on(nodes_opened, "accelerate", "reservations")
def open_ranks(core: RankedReservationsCore, placement: int, start: int) -> None:
    """RANKS are those of OPEN, which is put together likewise."""
    if not _is_narrowed(core):
        return
    own, opened = core.reservations.at.inside, core.reservations.sets.ranks
    it, end = core.slurm.partition[core.slurm.way[placement].partition], start + core.placements[placement].limit
    copy(opened, core.accelerate.ranks.masks[ranked(core, it, it.members)], it.low, it.high)
    if own >= 0 and not core.reservations.table[own].flex and not core.reservations.table[own].any_nodes:
        keep_common(opened, core.reservations.ranked[_ranked(core, it, own)], it.low, it.high)
    for i in range(len(core.reservations.table)):
        if i != own and meets(core, i, start, end) and keeps_off(core, own, i):
            take_out(opened, core.reservations.ranked[_ranked(core, it, i)], it.low, it.high)


@part
def _ranked(core: RankedReservationsCore, it: Partition, number: int) -> int:
    """The row of a reservation in ``ranked``, with its ranks in a module: made once for each release order."""
    reservations, ordering = core.reservations, core.accelerate.progress.ordering
    if reservations.ranked_in[number, it.low] != ordering:
        reservations.ranked_in[number, it.low] = ordering
        put_ranks(core, reservations.ranked[number], reservations.nodes[number], it.low, it.high)
    return number


# -- a try


@on(gains_nodes, "accelerate", "reservations")
def gains_open_ranks(core: RankedReservationsCore, number: int, record: int, mask: int) -> bool:
    """What is open is part of the partition, so that what that does not gain is none."""
    if not _is_narrowed(core):
        return gains_ranks(core, number, record, mask)
    it, plan = core.slurm.partition[number], core.slurm.plan
    if mask == it.members and core.accelerate.gain[plan.record[record].row, number] == 0:
        return False
    here, before = plan.space[plan.record[record + 1].row], plan.space[plan.record[record].row]
    wanted = core.accelerate.ranks.masks[ranked(core, it, mask)]
    return has_more(here, before, core.reservations.sets.ranks, wanted, it)


@on(stays_open, "accelerate", "reservations")
def ranks_stay_open(core: RankedReservationsCore, placement: int) -> bool:
    """Whether the ranks STAYING that are OPEN suffice: without reservations in the way they do."""
    if not _is_narrowed(core):
        return True
    it, staying = core.slurm.partition[core.slurm.way[placement].partition], core.slurm.sets.staying
    keep_common(staying, core.reservations.sets.ranks, it.low, it.high)
    return count(staying, it.low, it.high) >= core.placements[placement].nodes


@on(others_leave, "accelerate", "reservations")
def open_ranks_left_behind(core: RankedReservationsCore, placement: int) -> bool:
    """Whether ranks OPEN that stay free for the try are behind those of jobs that have ended by its end."""
    if not _is_narrowed(core):
        return ranks_left_behind(core, placement)
    way, members = core.slurm.way[placement], core.reservations.sets.some
    it, mask = core.slurm.partition[way.partition], core.slurm.nodes.choice[way.choice].mask
    copy(members, core.accelerate.ranks.masks[ranked(core, it, mask)], it.low, it.high)
    keep_common(members, core.reservations.sets.ranks, it.low, it.high)
    return any_left_behind(core, it, members)


@on(put_offered, "accelerate", "reservations")
def put_open_offered(core: RankedReservationsCore, placement: int, target: Words) -> None:
    """... that are OPEN."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    put_ranks_offered(core, placement, target)
    keep_common(target, core.reservations.sets.open, it.low, it.high)


# -- lower bounds


@on(first_attempt, "accelerate", "reservations")
def first_beside(core: RankedReservationsCore, placement: int) -> int:
    """The bound, if no reservation is in the way up to there: the tries before it are as without any."""
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
    """Whether no reservation matters to an entry that starts up to then."""
    return core.reservations.at.inside < 0 and _next_begin(core) >= start + core.placements[placement].limit


@part
def _next_begin(core: RankedReservationsCore) -> int:
    """When the first of those begins, or has begun, that are not over."""
    time = INF
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if one.stands and one.end >= core.clock.now:
            time = min(time, one.start)
    return time


@on(is_surely_tried, "accelerate", "reservations")
def has_none_in_the_way(core: RankedReservationsCore, row: int, placement: int, until: int) -> bool:
    """Whether no reservation matters to a job before a time."""
    return bool(core.reservations.claim[row].of < 0 and _next_begin(core) >= until)
