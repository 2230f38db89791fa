"""Slurm's main scheduler: in order, until a partition's first component that cannot start."""

from __future__ import annotations

from scheduler_sim.engine.crew import is_complete, is_member
from scheduler_sim.engine.instant import untie_ready
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.queue import close_gaps, insert_newcomers
from scheduler_sim.engine.slurm.advance import has_reservation, picked_reserved
from scheduler_sim.engine.slurm.bits import copy, keep_common, take_out
from scheduler_sim.engine.slurm.nodes import picked_from
from scheduler_sim.engine.slurm.slots import (
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    BUILTIN,
    FREE,
    IDLE,
    IN_LIST_ORDER,
    PARTITION_JOB_DEPTH,
    UNLOOKED,
)
from scheduler_sim.engine.slurm.start import has_licences, may_run, start_on_picked
from scheduler_sim.engine.slurm.turns import turn, turns
from scheduler_sim.engine.state import CANDIDATES, NEW, NOW, READY, TAIL, WAITING, Core, Table


@part
def main_pass(core: Core, depth: int) -> bool:
    """Try ``depth`` turns (and one more, as Slurm counts); a partition that blocks takes its nodes away.

    Returns whether all turns were had, so that a longer pass could start nothing more. Where Slurm
    walks its list of jobs, who waits for a start can still have its turn in this pass.
    """
    open_partitions = len(core.partition)
    for i in range(len(core.partition)):
        core.partition[i].tried = core.partition[i].blocked = 0
    copy(core.sets[FREE], core.sets[IDLE], 0, core.sets.shape[1])
    most, tried, whole = core.slurm[PARTITION_JOB_DEPTH], 0, True
    i, size = -1, turns(core)
    while i + 1 < size:
        i += 1
        row, placement = turn(core, i)
        it = core.partition[core.way[placement].partition]
        if open_partitions == 0:
            break
        if core.comp[row].state != WAITING or not is_complete(core, row):
            continue
        if is_member(core, row):  # left to backfill before anything is counted or asked of it
            if not has_reservation(core, row):
                open_partitions -= _block(core, it)
            continue
        if not may_run(core, row):
            continue
        it.tried += 1
        if most and it.tried > most:
            continue
        if tried > depth:
            whole = False
            break
        tried += 1
        if (it.blocked and not has_reservation(core, row)) or not has_licences(core, placement):
            continue
        if _picked(core, row, placement):
            start_on_picked(core, row, placement, 0)
            keep_common(core.sets[FREE], core.sets[IDLE], it.low, it.high)
            if core.slurm[BUILTIN] == IN_LIST_ORDER and core.clock[READY] > 0:
                untie_ready(core)
                look_at_newcomers(core)
                insert_newcomers(core)
                core.clock[NEW] = 0
                size = turns(core)
        elif not has_reservation(core, row) and _blocks(core, row, placement):
            open_partitions -= _block(core, it)
    close_gaps(core, core.clock[TAIL])
    return whole


@part
def look_at_newcomers(core: Core) -> None:
    """To Slurm, one is eligible since the first pass that finds it so, or since its begin time."""
    for i in range(core.slurm[UNLOOKED]):
        row = core.lists[CANDIDATES, i]
        if core.term[row].begin < 0:
            core.term[row].begin = core.clock[NOW]
    core.slurm[UNLOOKED] = 0


@part
def _picked(core: Core, row: int, placement: int) -> bool:
    """Choose its nodes among those that are idle and not behind a blocked partition, if they suffice."""
    if has_reservation(core, row):
        return picked_reserved(core, row)
    way = core.way[placement]
    for choice in range(way.first, way.last):
        way.choice = choice
        if picked_from(core, placement, FREE):
            return True
    return False


@part
def _block(core: Core, it: Table) -> int:
    """Take a partition and its nodes out of this pass; returns how many partitions fewer are open."""
    if it.blocked:
        return 0
    it.blocked = 1
    take_out(core.sets[FREE], core.masks[it.members], it.low, it.high)
    return 1


@part
def _blocks(core: Core, row: int, placement: int) -> bool:
    """Whether its partition waits for it: not for those too young, or too low, to hold a reservation."""
    if core.slurm[BF_MIN_AGE] and core.clock[NOW] - core.term[row].begin < core.slurm[BF_MIN_AGE]:
        return False
    return not core.slurm[BF_MIN_PRIORITY] or -core.way[placement].key >= core.slurm[BF_MIN_PRIORITY]
