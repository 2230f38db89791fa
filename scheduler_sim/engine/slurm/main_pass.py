"""Slurm's main scheduler: in order, until a partition's first component that cannot start."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.queue import close_gaps
from scheduler_sim.engine.slurm.bits import copy, keep_common, take_out
from scheduler_sim.engine.slurm.nodes import pick, suffices
from scheduler_sim.engine.slurm.slots import (
    AVAILABLE,
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    FREE,
    IDLE,
    PARTITION_JOB_DEPTH,
)
from scheduler_sim.engine.slurm.start import has_licences, may_run, start_on_picked
from scheduler_sim.engine.slurm.turns import turn, turns
from scheduler_sim.engine.state import NOW, TAIL, WAITING, Core


@part
def main_pass(core: Core, depth: int) -> bool:
    """Try ``depth`` turns (and one more, as Slurm counts); a partition that blocks takes its nodes away.

    Returns whether all turns were had, so that a longer pass could start nothing more.
    """
    open_partitions = len(core.partition)
    for i in range(len(core.partition)):
        core.partition[i].tried = core.partition[i].blocked = 0
    copy(core.sets[FREE], core.sets[IDLE], 0, core.sets.shape[1])
    most, tried, whole = core.slurm[PARTITION_JOB_DEPTH], 0, True
    for i in range(turns(core)):
        row, placement = turn(core, i)
        it = core.partition[core.way[placement].partition]
        if open_partitions == 0:
            break
        if core.comp[row].state != WAITING or not may_run(core, row):
            continue
        it.tried += 1
        if most and it.tried > most:
            continue
        if tried > depth:
            whole = False
            break
        tried += 1
        if it.blocked or not has_licences(core, placement):
            continue
        if _picked(core, placement):
            start_on_picked(core, row, placement, 0)
            keep_common(core.sets[FREE], core.sets[IDLE], it.low, it.high)
        elif _blocks(core, row, placement):
            it.blocked = 1
            open_partitions -= 1
            take_out(core.sets[FREE], core.masks[it.members], it.low, it.high)
    close_gaps(core, core.clock[TAIL])
    return whole


@part
def _picked(core: Core, placement: int) -> bool:
    """Choose its nodes among those that are idle and not behind a blocked partition, if they suffice."""
    way = core.way[placement]
    it, available = core.partition[way.partition], core.sets[AVAILABLE]
    for choice in range(way.first, way.last):
        way.choice = choice
        copy(available, core.sets[FREE], it.low, it.high)
        keep_common(available, core.masks[core.choice[choice].mask], it.low, it.high)
        if suffices(core, placement, AVAILABLE):
            pick(core, placement, AVAILABLE)
            return True
    return False


@part
def _blocks(core: Core, row: int, placement: int) -> bool:
    """Whether its partition waits for it: not for those too young, or too low, to hold a reservation."""
    if core.slurm[BF_MIN_AGE] and core.clock[NOW] - core.comp[row].eligible < core.slurm[BF_MIN_AGE]:
        return False
    return not core.slurm[BF_MIN_PRIORITY] or -core.way[placement].key >= core.slurm[BF_MIN_PRIORITY]
