"""Slurm's main scheduler: in order, until a partition's first job that cannot start."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, count_common, keep_common, take_out
from scheduler_sim.engine.core.hooks import event, question
from scheduler_sim.engine.core.instant import untie_ready
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.queue import close_gaps, insert_newcomers
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF, WAITING
from scheduler_sim.engine.rules.coscheduling.members import is_member, whole_job_waits
from scheduler_sim.engine.rules.slurm.advance_reservations import has_reservation, picked_reserved
from scheduler_sim.engine.rules.slurm.change import NO_CHANGE, note_change, note_passed_over
from scheduler_sim.engine.rules.slurm.job_partition_queue import build_queue, entry
from scheduler_sim.engine.rules.slurm.limit_questions import (
    least_priority_that_reserves,
    limited_before_choice,
    limited_by_choice,
    limited_wherever,
    may_be_passed,
    nodes_looked_for,
    waits_for_known_limit,
)
from scheduler_sim.engine.rules.slurm.nodes import least_nodes, picked_from
from scheduler_sim.engine.rules.slurm.power_cap import keep_power, lacks_power
from scheduler_sim.engine.rules.slurm.reasons import (
    ITS_TURN,
    LICENCES,
    waits_for,
    waits_for_its_turn,
)
from scheduler_sim.engine.rules.slurm.start import has_licences, may_run, may_run_there, start_on_picked
from scheduler_sim.engine.rules.slurm.state import IN_LIST_ORDER, Partition, SlurmCore

NONE = -1


@part
def main_pass(core: SlurmCore, depth: int) -> bool:
    """Try ``depth`` entries (and one more, as Slurm counts); a partition that blocks takes its nodes away.

    Returns whether all were tried, so that a longer pass could start nothing more. Where Slurm
    walks its list of jobs, one that waits for the start of another can still be tried in this pass.
    """
    open_partitions = len(core.slurm.partition)
    for i in range(len(core.slurm.partition)):
        core.slurm.partition[i].tried_by_main = core.slurm.partition[i].blocked = 0
    core.slurm.memory.main_valid, core.slurm.memory.main_changes = INF, NO_CHANGE
    copy(core.slurm.sets.open, core.slurm.sets.up, 0, len(core.slurm.sets.up))
    main_begins(core)
    open_nodes(core)
    most, whole, core.slurm.memory.main_tried = core.slurm.rules.partition_job_depth, True, 0
    refused_array = refused_in = NONE
    i, size = -1, build_queue(core)
    while i + 1 < size:
        i += 1
        row, placement = entry(core, i)
        number = int(core.slurm.way[placement].partition)
        it = core.slurm.partition[number]
        if open_partitions == 0 and core.slurm.memory.main_changes != NO_CHANGE and not most:
            break  # nothing behind makes a difference
        if core.jobs[row].state != WAITING or not whole_job_waits(core, row):
            continue
        if is_member(core, row):  # left to backfill before anything is counted or asked of it
            if not has_reservation(core, row):
                open_partitions -= _block(core, it)
            continue
        if core.holds.term[row].array >= 0:  # to Slurm all tasks that wait are one entry
            if refused_in == number and refused_array == core.holds.term[row].array:
                continue
            refused_array, refused_in = core.holds.term[row].array, number
        if not may_run(core, row) or not may_run_there(core, placement):
            continue
        it.tried_by_main += 1
        if most and it.tried_by_main > most:
            if waits_for_its_turn(core, row):
                note_change(core, core.clock.now)
            continue
        core.slurm.memory.main_tried += 1
        if core.slurm.memory.main_tried > depth + 1:
            whole = open_partitions == 0
            if whole:
                note_passed_over(core)
            break
        if waits_behind(core, row, it):
            waits_for_its_turn(core, row)
            note_passed_over(core)
            continue
        if open_partitions == 0 or waits_for_known_limit(core, row, placement):
            continue
        if is_short_of_nodes(core, placement):
            waits_for(core, row, ITS_TURN)
            note_passed_over(core)
            open_partitions -= _block(core, it)
            continue
        if not has_licences(core, placement):
            waits_for(core, row, LICENCES)
            note_passed_over(core)
            continue
        limited = limited_before_choice(core, row, placement)
        if not limited:
            nodes_looked_for(core, placement)
            limited = limited_wherever(core, row, placement)
        picked = not limited and _picked(core, row, placement)
        limited = limited or limited_by_choice(core, row, placement, picked)
        if picked and not limited:
            if lacks_power(core, placement):
                break  # of what there is nobody behind it takes any
            start_on_picked(core, row, placement, 0)
            keep_power(core, placement, core.clock.now)
            close_taken(core, it)
            refused_array = refused_in = NONE
            if core.slurm.rules.builtin == IN_LIST_ORDER and core.queue.at.released > 0:
                untie_ready(core)
                look_at_newcomers(core)
                insert_newcomers(core)
                core.queue.at.new = 0
                size = build_queue(core)
        elif not has_reservation(core, row) and not (limited and may_be_passed(core)):
            if not limited:
                cannot_start(core, row, placement)
            if (limited or waits_for_nodes(core, row, placement)) and _blocks(core, row, placement):
                open_partitions -= _block(core, it)
    close_gaps(core, core.queue.at.tail)
    return whole


@part
def look_at_newcomers(core: SlurmCore) -> None:
    """To Slurm, one is eligible since the first pass that finds it so, or since its begin time."""
    for i in range(core.slurm.memory.unlooked):
        row = core.queue.candidates[i]
        if core.holds.term[row].begin < 0:
            core.holds.term[row].begin = core.clock.now
    core.slurm.memory.unlooked = 0


@part
def _picked(core: SlurmCore, row: int, placement: int) -> bool:
    """Choose its nodes among those that are idle and not behind a blocked partition, if they suffice."""
    if has_reservation(core, row):
        return picked_reserved(core, row)
    return picked_among_free(core, placement)


@event
def main_begins(core: SlurmCore) -> None:
    """A new pass begins: nobody waits in it yet."""


@event
def cannot_start(core: SlurmCore, row: int, placement: int) -> None:
    """The idle nodes do not suffice for one that is not behind a blocked partition."""


@question
def waits_behind(core: SlurmCore, row: int, it: Partition) -> bool:
    """Whether another that waits keeps it from its turn."""
    return bool(it.blocked and not has_reservation(core, row))


@question
def waits_for_nodes(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether one that did not start waits for nodes that its partition will have."""
    waits_for(core, row, ITS_TURN)
    return True


@question
def open_nodes(core: SlurmCore) -> None:
    """The nodes that a pass may give away become FREE: those that are idle."""
    copy(core.slurm.sets.free, core.slurm.sets.idle, 0, len(core.slurm.sets.idle))


@question
def close_taken(core: SlurmCore, it: Partition) -> None:
    """Of the nodes FREE stay those that are not taken now."""
    keep_common(core.slurm.sets.free, core.slurm.sets.idle, it.low, it.high)


@question
def picked_among_free(core: SlurmCore, placement: int) -> bool:
    """Choose the nodes of a placement among those that are FREE, if they suffice."""
    return picked_among(core, placement, core.slurm.sets.free)


@question
def picked_among(core: SlurmCore, placement: int, nodes: Words) -> bool:
    """Choose the nodes of a placement among some that may be given away, if they suffice."""
    way = core.slurm.way[placement]
    for choice in range(way.first, way.last):
        way.choice = choice
        if picked_from(core, placement, nodes):
            return True
    return False


@part
def is_short_of_nodes(core: SlurmCore, placement: int) -> bool:
    """Later than 19.05: whether too few nodes of its partition are in service, and in no blocked one."""
    if not core.slurm.rules.aligned:
        return False
    it = core.slurm.partition[core.slurm.way[placement].partition]
    return nodes_left(core, it) < least_nodes(core, placement)


@question
def nodes_left(core: SlurmCore, it: Partition) -> int:
    """How many nodes of a partition the rest of the pass may look at, whatever runs there."""
    return count_common(core.slurm.nodes.masks[it.members], core.slurm.sets.open, it.low, it.high)


@part
def _block(core: SlurmCore, it: Partition) -> int:
    """Take a partition and its nodes out of this pass; returns how many partitions fewer are open."""
    if it.blocked:
        return 0
    it.blocked = 1
    take_out(core.slurm.sets.free, core.slurm.nodes.masks[it.members], it.low, it.high)
    take_out(core.slurm.sets.open, core.slurm.nodes.masks[it.members], it.low, it.high)
    return 1


@part
def _blocks(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether its partition waits for it: not for those too young, or too low, to hold a reservation."""
    if (
        core.slurm.rules.bf_min_age_reserve
        and core.clock.now - core.holds.term[row].begin < core.slurm.rules.bf_min_age_reserve
    ):
        return False
    least = least_priority_that_reserves(core, placement)
    return least == 0 or -core.slurm.way[placement].key >= least
