"""Which nodes a job may have where those of lower tiers make way: idle ones, else theirs, too.

Slurm's ``_job_test`` (cons_common): if the idle nodes do not suffice, those of lower tiers count as free,
but for the highest of these that are not needed.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, keep_common, take_out
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.backfill_pass import slot_of_choice, starts_on_picked
from scheduler_sim.engine.rules.slurm.main_pass import picked_among_free
from scheduler_sim.engine.rules.slurm.nodes import pick, suffices
from scheduler_sim.engine.rules.slurm.planned_ends import running
from scheduler_sim.engine.rules.slurm.preemption.candidates import open_room, think_away
from scheduler_sim.engine.rules.slurm.preemption.gang import tier_of
from scheduler_sim.engine.rules.slurm.preemption.gang_nodes import running_row
from scheduler_sim.engine.rules.slurm.preemption.gang_state import GangCore
from scheduler_sim.engine.rules.slurm.preemption.slots import (
    add_completing,
    candidates_leave,
    fits_in_room,
    when_others_leave,
)
from scheduler_sim.engine.rules.slurm.preemption.state import OFF
from scheduler_sim.engine.rules.slurm.preemption.victims import put_usable
from scheduler_sim.engine.rules.slurm.state import Partition

ANY = -1
"""Of whatever tier."""


@part
def fits_on(core: GangCore, placement: int, it: Partition, source: Words) -> bool:
    """Whether a job fits on nodes of a set, by all that are not thought away; LATER it may choose from."""
    later, without = core.slurm.sets.later, core.gang.sets.without
    copy(later, source, it.low, it.high)
    _take_out_of(core, placement, later, True, ANY)
    if suffices(core, placement, later):
        return True
    copy(later, source, it.low, it.high)
    _take_out_of(core, placement, later, False, ANY)
    if not suffices(core, placement, later):
        return False
    tier = core.slurm.way[placement].tier
    while True:
        tier = _next_that_makes_way(core, placement, tier)
        if tier < 0:
            return True
        copy(without, later, it.low, it.high)
        _take_out_of(core, placement, without, True, tier)
        if not suffices(core, placement, without):
            return True
        copy(later, without, it.low, it.high)


@part
def _take_out_of(core: GangCore, placement: int, nodes: Words, whoever: bool, tier: int) -> None:
    """Take the nodes of jobs of a tier out of a set: of all, or of those that would not make way."""
    for i in range(running(core)):
        row = running_row(core, i)
        if core.gang.away[row] or tier not in (ANY, tier_of(core, row)):
            continue
        if whoever or not _makes_way(core, placement, row):
            piece = core.slurm.job[row].piece
            while piece >= 0:
                nodes[core.slurm.nodes.piece[piece].word] &= ~core.slurm.nodes.piece[piece].bits
                piece = core.slurm.nodes.piece[piece].next


@part
def _makes_way(core: GangCore, placement: int, row: int) -> bool:
    """Whether a job that runs is suspended if another takes its nodes."""
    group = core.preemption.group[core.preemption.of[core.jobs[row].placed]]
    return group.mode != OFF and tier_of(core, row) < core.slurm.way[placement].tier


@part
def _next_that_makes_way(core: GangCore, placement: int, below: int) -> int:
    """The highest tier of such jobs, below another; -1 = there is none."""
    highest = -1
    for i in range(running(core)):
        row = running_row(core, i)
        if highest < tier_of(core, row) < below and not core.gang.away[row]:
            highest = tier_of(core, row) if _makes_way(core, placement, row) else highest
    return highest


# -- the main scheduler


@on(picked_among_free, "gang", unless="time_slices")
def picked_where_others_make_way(core: GangCore, placement: int) -> bool:
    """Choose nodes that are not COMPLETING, nor behind a partition that is blocked."""
    way, source = core.slurm.way[placement], core.gang.sets.source
    it = core.slurm.partition[way.partition]
    core.gang.away[:] = 0
    put_usable(core, placement)
    for choice in range(way.first, way.last):
        way.choice = choice
        copy(source, core.preemption.usable, it.low, it.high)
        keep_common(source, core.slurm.nodes.masks[core.slurm.nodes.choice[choice].mask], it.low, it.high)
        if fits_on(core, placement, it, source):
            pick(core, placement, core.slurm.sets.later)
            return True
    return False


# -- the backfill scheduler


@on(open_room, "gang", unless="time_slices")
def all_are_there(core: GangCore, placement: int, it: Partition) -> None:
    """Nobody is thought away."""
    core.gang.away[:] = 0


@on(add_completing, "gang", unless="time_slices")
def completing_are_there(core: GangCore, it: Partition) -> None:
    """What is about to be idle is held by no job that runs."""


@on(think_away, "gang", unless="time_slices")
def go_away(core: GangCore, row: int) -> None:
    """It holds nothing any more."""
    core.gang.away[row] = 1


@on(fits_in_room, "gang", unless="time_slices")
def fits_on_staying(core: GangCore, placement: int, it: Partition) -> bool:
    """Whether nodes STAYING suffice with those that are away thought away."""
    return fits_on(core, placement, it, core.slurm.sets.staying)


@on(slot_of_choice, "gang", unless="time_slices")
def slot_where_others_make_way(core: GangCore, placement: int, ahead: bool) -> int:
    """Now, if it fits where others make way; else when those leave that do not."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    open_room(core, placement, it)
    if fits_in_room(core, placement, it):
        return core.clock.now
    if not ahead:
        return INF
    candidates_leave(core, placement, it)
    return when_others_leave(core, placement, it, core.clock.now, INF)


@on(starts_on_picked, "gang", unless="time_slices")
def start_where_others_make_way(core: GangCore, row: int, placement: int) -> bool:
    """It starts, on nodes chosen anew: none that are COMPLETING."""
    way, source = core.slurm.way[placement], core.gang.sets.source
    it = core.slurm.partition[way.partition]
    copy(source, core.slurm.sets.unreserved, it.low, it.high)
    keep_common(source, core.slurm.nodes.masks[core.slurm.nodes.choice[way.choice].mask], it.low, it.high)
    take_out(source, core.slurm.sets.leaving, it.low, it.high)
    core.gang.away[:] = 0
    fits_on(core, placement, it, source)
    pick(core, placement, core.slurm.sets.later)
    return True
