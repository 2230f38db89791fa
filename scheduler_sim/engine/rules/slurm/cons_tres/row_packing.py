"""In which row a job is: the first that has room when it starts; all are put in anew when one ends.

Read in Slurm's source: ``job_res_add_job`` (job_resources.c), ``part_data_build_row_bitmaps`` and
``part_data_sort_res`` (part_data.c). Rows stand in order, the fullest first; Slurm puts them in order when a
test goes through them, here they always are.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, first_between, ones_in
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.rules.slurm.cons_tres.deal import cpus_to_deal
from scheduler_sim.engine.rules.slurm.cons_tres.row_state import RowsCore, RowsOf
from scheduler_sim.engine.rules.slurm.cons_tres.state import Room

NOWHERE = -1
"""The row of a job that is not there."""


@part
def put_in_row(core: RowsCore, room: Room, placement: int, slot: int) -> bool:
    """A job gets into the first row in which nobody has its cores; False if there is none."""
    it = core.rows.of[core.cons_tres.need[core.cons_tres.asked[placement].need].partition]
    for at in range(it.first, it.last):
        row = int(room.order[at])
        if _has_room(core, room, placement, slot, row):
            _enter(core, room, placement, slot, row)
            _put_in_order(room, it)
            return True
    return False


@part
def pack_anew(core: RowsCore, room: Room, partition: int) -> None:
    """Put in all jobs of a partition anew, by their first cores, then by their CPUs.

    If one is left without a row, all stay where they were.
    """
    rows, it = core.rows, core.rows.of[partition]
    if it.last - it.first == 1:
        return
    _put_in_order(room, it)
    count = _list_members(core, room, partition)
    for at in range(it.first, it.last):
        rows.order[at] = room.order[at]
    for i in range(count):
        rows.before[i] = room.row[rows.member[i]]
        leave_row(core, room, _placed(core, rows.member[i]), rows.member[i])
    for i in range(count):
        if not put_in_row(core, room, _placed(core, rows.member[i]), rows.member[i]):
            _put_back(core, room, it, i, count)
            return


@part
def _put_back(core: RowsCore, room: Room, it: RowsOf, moved: int, count: int) -> None:
    """All members are in the rows in which they were, though some have moved."""
    rows = core.rows
    for i in range(moved):
        leave_row(core, room, _placed(core, rows.member[i]), rows.member[i])
    for i in range(count):
        _enter(core, room, _placed(core, rows.member[i]), rows.member[i], int(rows.before[i]))
    for at in range(it.first, it.last):
        room.order[at] = rows.order[at]


# -- one job


@part
def leave_row(core: RowsCore, room: Room, placement: int, slot: int) -> None:
    """A job leaves its row, on all of its nodes."""
    for i in range(slot, slot + core.placements[placement].nodes):
        leave_row_on(core, room, i)


@inlined
def leave_row_on(core: RowsCore, room: Room, slot: int) -> None:
    """A job leaves its row, on one of its nodes."""
    row, node = room.row[slot], core.shared_nodes.slots[slot]
    for word in range(core.rows.names.shape[1]):
        room.taken[row, node, word] &= ~core.rows.names[slot, word]
        room.size[row] -= ones_in(core.rows.names[slot, word])
    room.row[slot] = NOWHERE


@part
def _enter(core: RowsCore, room: Room, placement: int, slot: int, row: int) -> None:
    for i in range(slot, slot + core.placements[placement].nodes):
        node = core.shared_nodes.slots[i]
        for word in range(core.rows.names.shape[1]):
            room.taken[row, node, word] |= core.rows.names[i, word]
            room.size[row] += ones_in(core.rows.names[i, word])
        room.row[i] = row


@part
def _has_room(core: RowsCore, room: Room, placement: int, slot: int, row: int) -> bool:
    if room.size[row] == 0:
        return True
    for i in range(slot, slot + core.placements[placement].nodes):
        node = core.shared_nodes.slots[i]
        for word in range(core.rows.names.shape[1]):
            if room.taken[row, node, word] & core.rows.names[i, word] != NONE:
                return False
    return True


@part
def _put_in_order(room: Room, it: RowsOf) -> None:
    """As Slurm does: rows change places, so that equal ones may come in another order."""
    order, size = room.order, room.size
    for i in range(it.first, it.last):
        for j in range(i + 1, it.last):
            if size[order[j]] > size[order[i]]:
                order[i], order[j] = order[j], order[i]


# -- all of a partition


@part
def _list_members(core: RowsCore, room: Room, partition: int) -> int:
    """List the jobs that are there, by first node, then by first core, CPUs, and row; returns how many."""
    shared, member, count = core.shared_nodes, core.rows.member, 0
    module = shared.module[core.slurm.partition[partition].module]
    for node in range(module.begin, module.end):
        begin, slot = count, core.cons_tres.machine[node].first
        while slot >= 0:
            placed = core.cons_tres.tenant[slot].placement
            need = core.cons_tres.need[core.cons_tres.asked[placed].need]
            first = need.partition == partition and shared.request[placed].slot == slot
            if first and room.row[slot] != NOWHERE:
                at = count
                while at > begin and _comes_before(core, room, slot, int(member[at - 1])):
                    member[at] = member[at - 1]
                    at -= 1
                member[at] = slot
                count += 1
            slot = core.cons_tres.tenant[slot].next
    return count


@part
def _comes_before(core: RowsCore, room: Room, one: int, other: int) -> bool:
    """Whether one job comes before another with the same first node."""
    mine, its = _first_core(core, one), _first_core(core, other)
    if mine != its:
        return mine < its
    mine, its = _cpus(core, one), _cpus(core, other)
    if mine != its:
        return mine < its
    return _position(core, room, one) < _position(core, room, other)


@inlined
def _first_core(core: RowsCore, slot: int) -> int:
    return int(first_between(core.rows.names[slot], 0, core.rows.names.shape[1] << 6))


@inlined
def _cpus(core: RowsCore, slot: int) -> int:
    placed = core.cons_tres.tenant[slot].placement
    return cpus_to_deal(core, int(core.cons_tres.asked[placed].need), int(core.placements[placed].nodes))


@part
def _position(core: RowsCore, room: Room, slot: int) -> int:
    """Where its row stands."""
    need = core.cons_tres.need[core.cons_tres.asked[_placed(core, slot)].need]
    at = core.rows.of[need.partition].first
    while room.order[at] != room.row[slot]:
        at += 1
    return at


@inlined
def _placed(core: RowsCore, slot: int) -> int:
    """The placement whose share that is."""
    return int(core.cons_tres.tenant[slot].placement)
