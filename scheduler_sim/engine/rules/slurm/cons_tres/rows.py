"""Cores that several jobs have at once: what OverSubscribe=FORCE and YES add to select/cons_tres.

A job that may share cores is tried on cores that nobody has; then on those that no job of a partition of its
tier has, and nobody of lower tiers as far as that works out; then beside one row of its partition after the
other, whoever of other partitions is there (``_job_test`` of cons_common/job_test.c). Memory and generic
resources are never shared.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.bits import NONE, ONE, count_between, first_between, lowest_in
from scheduler_sim.engine.core.hooks import event, on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.cons_tres.choice import choose_nodes
from scheduler_sim.engine.rules.slurm.cons_tres.deal import cores_given
from scheduler_sim.engine.rules.slurm.cons_tres.foreseen import (
    fits_in,
    fits_now,
    fits_on_free,
    group_has_ended,
)
from scheduler_sim.engine.rules.slurm.cons_tres.offers import keeps_off
from scheduler_sim.engine.rules.slurm.cons_tres.room import (
    change_cores,
    entering,
    has_left,
    node_copied,
    room_copied,
    room_later,
    room_now,
)
from scheduler_sim.engine.rules.slurm.cons_tres.row_packing import leave_row_on, pack_anew, put_in_row
from scheduler_sim.engine.rules.slurm.cons_tres.row_state import RowsCore
from scheduler_sim.engine.rules.slurm.cons_tres.slots import fits_in_slot
from scheduler_sim.engine.rules.slurm.cons_tres.state import AVAILABLE, CLASSES, ONE_ROW, Need, Room

# -- whether a job fits


@on(keeps_off, "rows")
def keeps_off_shared_cores(core: RowsCore, it: Need, room: Room, node: int) -> bool:
    """With cores of its own a job is not on nodes with jobs of another partition of several rows."""
    own = core.rows.of[it.partition].counted
    for line in range(CLASSES, len(room.jobs)):
        if line != own and room.jobs[line, node] > 0:
            return True
    return False


@on(fits_in, "rows")
def fits_beside(core: RowsCore, need: int, room: Room, nodes: Words) -> bool:
    """Whether it fits, on cores of its own or on those of others."""
    if not meets_others(core, need):
        return fits_on_free(core, need, room, nodes)
    if not choose_nodes(core, need, room, nodes, True):
        return False
    core.rows.blocks[:] = 1
    if _fits_on_open(core, need, room, nodes):
        return True
    return _fits_beside_other_tiers(core, need, room, nodes) or _fits_in_a_row(core, need, room, nodes)


@question
def meets_others(core: RowsCore, need: int) -> bool:
    """Whether a job may have cores that others have, where none are free."""
    return bool(core.cons_tres.need[need].kind == AVAILABLE)


@event
def blocks_for_good(core: RowsCore, need: int) -> None:
    """Rows are blocked whose jobs a job may not meet in any attempt but the first."""


@part
def _fits_beside_other_tiers(core: RowsCore, need: int, room: Room, nodes: Words) -> bool:
    """On cores that no job of the same tier has; nor jobs of lower tiers, partition by partition."""
    rows = core.rows
    own = rows.of[core.cons_tres.need[need].partition].tier
    for partition in range(len(rows.of)):
        block_rows(core, partition, int(rows.of[partition].tier == own))
    blocks_for_good(core, need)
    if not _fits_on_open(core, need, room, nodes):
        return False
    for at in range(len(rows.by_tier)):
        partition = int(rows.by_tier[at])
        if rows.of[partition].tier >= own or not _any_there(core, room, partition):
            continue
        block_rows(core, partition, 1)
        if not _fits_on_open(core, need, room, nodes):
            block_rows(core, partition, 0)
            return _fits_on_open(core, need, room, nodes)
    return True


@part
def _fits_in_a_row(core: RowsCore, need: int, room: Room, nodes: Words) -> bool:
    """Beside one row of its partition after the other, the fullest first; an empty one is the last."""
    rows = core.rows
    it = rows.of[core.cons_tres.need[need].partition]
    for at in range(it.first, it.last):
        row = int(room.order[at])
        rows.blocks[:] = 0
        rows.blocks[row] = 1
        blocks_for_good(core, need)
        if _fits_on_open(core, need, room, nodes):
            return True
        if room.size[row] == 0:
            return False
    return False


@part
def block_rows(core: RowsCore, partition: int, value: int) -> None:
    """In this attempt nobody gets what the jobs of a partition have (1), or it does not matter (0)."""
    for row in range(core.rows.of[partition].first, core.rows.of[partition].last):
        core.rows.blocks[row] = value


@part
def _any_there(core: RowsCore, room: Room, partition: int) -> bool:
    for row in range(core.rows.of[partition].first, core.rows.of[partition].last):
        if room.size[row] > 0:
            return True
    return False


@part
def _fits_on_open(core: RowsCore, need: int, room: Room, nodes: Words) -> bool:
    """Whether it fits on cores that no row has of those that BLOCK: these are OPEN."""
    rows, shared = core.rows, core.shared_nodes
    it = core.slurm.partition[core.cons_tres.need[need].partition]
    begin = shared.module[it.module].begin
    for word in range(it.low, it.high):
        bits = nodes[word]
        while bits != NONE:
            node = begin + ((word - it.low) << 6) + lowest_in(bits)
            bits &= bits - ONE
            rows.open[node, :] = NONE
            for row in range(len(rows.blocks)):
                if rows.blocks[row] and room.size[row] > 0:
                    for i in range(len(rows.had)):
                        rows.open[node, i] |= room.taken[row, node, i]
            for i in range(len(rows.had)):
                rows.open[node, i] = ~rows.open[node, i]
            cores = core.cons_tres.machine[node].cores
            for socket in range(core.cons_tres.machine[node].sockets):
                rows.cores[socket, node] = count_between(
                    rows.open[node], socket * cores, (socket + 1) * cores
                )
    trial = Room(room.free, rows.cores, room.jobs, room.used, room.taken, room.row, room.order, room.size)
    return choose_nodes(core, need, trial, nodes, False)


@on(fits_in_slot, "rows")
def fits_alone_or_beside(core: RowsCore, placement: int, nodes: Words) -> bool:
    """Who asks to share cores is first tried on cores of its own (``_try_sched`` of backfill.c)."""
    it = core.cons_tres.need[core.cons_tres.asked[placement].need]
    if it.by_request:
        it.kind = ONE_ROW
        fits = fits_now(core, placement, nodes)
        it.kind = AVAILABLE
        if fits:
            return True
    return fits_now(core, placement, nodes)


# -- which cores it gets


@on(cores_given, "rows")
def name_cores(core: RowsCore, need: int, node: int, slot: int) -> None:
    """It gets the first of each socket that may be had, as many as were dealt."""
    rows, part, machine = core.rows, core.cons_tres, core.cons_tres.machine[node]
    if not meets_others(core, need):
        _note_had(core, room_now(core), node, 0, len(rows.blocks))
        for i in range(len(rows.had)):
            rows.open[node, i] = ~rows.had[i]
    rows.names[slot, :] = NONE
    for socket in range(machine.sockets):
        at, end = socket * machine.cores, (socket + 1) * machine.cores
        for _ in range(part.picked[socket]):
            at = first_between(rows.open[node], at, end)
            rows.names[slot, at >> 6] |= ONE << np.uint64(at & 63)
            at += 1


# -- who is where


@on(entering, "rows")
def enter_a_row(core: RowsCore, placement: int) -> None:
    """A job that starts gets into a row."""
    put_in_row(core, room_now(core), placement, core.shared_nodes.request[placement].slot)


@on(change_cores, "rows")
def change_named_cores(core: RowsCore, placement: int, slot: int, room: Room, sign: int) -> None:
    """A job has a node in its row, or leaves it; what is free is what nobody has any more."""
    part, node = core.cons_tres, core.shared_nodes.slots[slot]
    partition = part.need[part.asked[placement].need].partition
    it, machine = core.rows.of[partition], part.machine[node]
    if sign > 0:
        leave_row_on(core, room, slot)
    if it.counted:
        room.jobs[it.counted, node] -= sign
    _note_had(core, room, node, 0, len(core.rows.blocks))
    for socket in range(machine.sockets):
        first, last = socket * machine.cores, (socket + 1) * machine.cores
        room.cores[socket, node] = machine.cores - count_between(core.rows.had, first, last)
    if part.sharing[partition].most_cpus > 0:
        _note_had(core, room, node, it.first, it.last)
        had = count_between(core.rows.had, 0, machine.sockets * machine.cores)
        room.used[partition, node] = had * machine.threads


@on(has_left, "rows")
def pack_without(core: RowsCore, placement: int) -> None:
    """The jobs of its partition are put into rows anew."""
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    pack_anew(core, room_now(core), need.partition)


@on(group_has_ended, "rows")
def pack_later(core: RowsCore, need: int) -> None:
    """In a prediction that is done once for all that are gone, where Slurm does it for each."""
    if meets_others(core, need):
        pack_anew(core, room_later(core), core.cons_tres.need[need].partition)


@part
def _note_had(core: RowsCore, room: Room, node: int, first: int, last: int) -> None:
    """HAD become the cores of a node that jobs in some rows have."""
    had = core.rows.had
    had[:] = NONE
    for row in range(first, last):
        for i in range(len(had)):
            had[i] |= room.taken[row, node, i]


@on(node_copied, "rows")
def copy_rows_on(core: RowsCore, node: int) -> None:
    """In the later room the same jobs are on a node, in the same rows."""
    now, later = core.cons_tres.now, core.cons_tres.later
    for row in range(len(now.taken)):
        for i in range(len(core.rows.had)):
            later.taken[row, node, i] = now.taken[row, node, i]
    slot = core.cons_tres.machine[node].first
    while slot >= 0:
        later.row[slot] = now.row[slot]
        slot = core.cons_tres.tenant[slot].next


@on(room_copied, "rows")
def copy_order(core: RowsCore) -> None:
    """The rows stand in the same order."""
    now, later = core.cons_tres.now, core.cons_tres.later
    for row in range(len(now.order)):
        later.order[row], later.size[row] = now.order[row], now.size[row]
