"""Advance reservations: nodes held by name for one component, from a time on.

No other job may start on them unless its limit ends before. Here only components with a delay have
them (see ``workflows``); one lasts until its component has ended.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, clear, copy, count, keep_common, ones_in
from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.core.state import INF, RUNNING, WAITING
from scheduler_sim.engine.rules.coscheduling.reservations import expect, forget_reservation
from scheduler_sim.engine.rules.slurm.state import SlurmCore

FIRST_OF_ALL = 1 << 40  # added to its tier: in Slurm's order a reservation comes before all else


@only_with("coscheduling", otherwise=False)
def has_reservation(core: SlurmCore, row: int) -> bool:
    """Whether nodes are held for ``row``, and it may have no others."""
    return core.slurm.het[row].until > 0


@part
def note_reservation(core: SlurmCore, row: int, placement: int, begin: int, end: int) -> None:
    """The nodes PICKED are held for ``row`` from ``begin`` to ``end``."""
    write_reserved(core, row)
    core.slurm.het[row].until = end
    core.ranks[row].tier += FIRST_OF_ALL
    core.slurm.way[placement].tier += FIRST_OF_ALL
    expect(core, row, begin)


@part
def write_reserved(core: SlurmCore, row: int) -> None:
    """The nodes PICKED are those that are held for ``row``."""
    it, at = core.slurm.partition[core.slurm.way[core.jobs[row].first].partition], core.slurm.het[row].booked
    for word in range(it.low, it.high):
        if core.slurm.sets.picked[word] != NONE:
            core.slurm.booked[at].word, core.slurm.booked[at].bits = word, core.slurm.sets.picked[word]
            at += 1
    core.slurm.het[row].booked_last = at


@part
def end_reservation(core: SlurmCore, row: int) -> None:
    """Its nodes are not held any more."""
    forget_reservation(core, row)
    core.slurm.het[row].until = 0
    core.ranks[row].tier -= FIRST_OF_ALL
    core.slurm.way[core.jobs[row].first].tier -= FIRST_OF_ALL


@part
def reserved_until(core: SlurmCore, row: int) -> int:
    """When it ends; while its component waits, it goes on."""
    until, now = core.slurm.het[row].until, core.clock.now
    if until > now or core.jobs[row].state == RUNNING:
        return until
    return now + core.placements[core.jobs[row].first].limit + core.slurm.rules.KillWait


@part
def put_reserved(core: SlurmCore, row: int, target: Words) -> None:
    """Make a set, within its partition, the nodes that are held for ``row``."""
    it = core.slurm.partition[core.slurm.way[core.jobs[row].first].partition]
    clear(target, it.low, it.high)
    for at in range(core.slurm.het[row].booked, core.slurm.het[row].booked_last):
        target[core.slurm.booked[at].word] = core.slurm.booked[at].bits


@part
def idle_and_reserved(core: SlurmCore, module: int) -> int:
    """Idle nodes of a module that are held for components whose reservations have begun, but that wait."""
    total = 0
    for i in range(core.coscheduling.at.expected):
        row = core.coscheduling.expected[i]
        if core.jobs[row].state == WAITING and core.placements[core.jobs[row].first].module == module:
            for at in range(core.slurm.het[row].booked, core.slurm.het[row].booked_last):
                total += ones_in(
                    core.slurm.booked[at].bits & core.slurm.sets.idle[core.slurm.booked[at].word]
                )
    return total


@only_with("coscheduling")
def leave_out_reserved(core: SlurmCore, target: Words, begin: int, end: int) -> None:
    """Take the nodes out of a set that are held at some time between ``begin`` and ``end``."""
    for i in range(core.coscheduling.at.expected):
        row = core.coscheduling.expected[i]
        if core.coscheduling.member[row].reserved_from >= end:
            break
        if reserved_until(core, row) > begin:
            for at in range(core.slurm.het[row].booked, core.slurm.het[row].booked_last):
                target[core.slurm.booked[at].word] &= ~core.slurm.booked[at].bits


@only_with("coscheduling", otherwise=INF)
def next_begin(core: SlurmCore, time: int) -> int:
    """When the next advance reservation begins, at ``time`` or later; INF if none does."""
    for i in range(core.coscheduling.at.expected):
        begin: int = core.coscheduling.member[core.coscheduling.expected[i]].reserved_from
        if begin >= time:
            return begin
    return INF


@only_with("coscheduling", otherwise=INF)
def next_end(core: SlurmCore, placement: int, start: int) -> int:
    """When the first of all advance reservations ends, from ``start`` on; INF if none is in the way.

    One is in the way of a placement if it has nodes of its partition before the limit.
    """
    members, end = (
        core.slurm.partition[core.slurm.way[placement].partition].members,
        start + core.placements[placement].limit,
    )
    first, in_the_way = INF, False
    for i in range(core.coscheduling.at.expected):
        row = core.coscheduling.expected[i]
        until = reserved_until(core, row)
        if until >= start:
            first = min(first, until)
        if core.coscheduling.member[row].reserved_from < end and until > start:
            for at in range(core.slurm.het[row].booked, core.slurm.het[row].booked_last):
                in_the_way |= (
                    core.slurm.booked[at].bits & core.slurm.nodes.masks[members, core.slurm.booked[at].word]
                    != NONE
                )
    return first if in_the_way else INF


@only_with("coscheduling", otherwise=INF)
def stands_until(core: SlurmCore) -> int:
    """When the next advance reservation begins or ends; now if one outlasts its time."""
    now, time = core.clock.now, next_begin(core, core.clock.now + 1)
    for i in range(core.coscheduling.at.expected):
        until = core.slurm.het[core.coscheduling.expected[i]].until
        if until > now:
            time = min(time, until)
        elif core.jobs[core.coscheduling.expected[i]].state == WAITING:
            return now
    return time


@only_with("coscheduling", otherwise=False)
def picked_reserved(core: SlurmCore, row: int) -> bool:
    """Choose the nodes that are held for ``row``, if all are idle."""
    placement = core.jobs[row].first
    it = core.slurm.partition[core.slurm.way[placement].partition]
    put_reserved(core, row, core.slurm.sets.picked)
    copy(core.slurm.sets.available, core.slurm.sets.picked, it.low, it.high)
    keep_common(core.slurm.sets.available, core.slurm.sets.idle, it.low, it.high)
    return count(core.slurm.sets.available, it.low, it.high) == core.placements[placement].nodes


@part
def keeps_its_nodes(core: SlurmCore, row: int, end: int) -> bool:
    """Whether nodes on which ``row`` runs are held for no other component before ``end``."""
    for i in range(core.coscheduling.at.expected):
        other = core.coscheduling.expected[i]
        if core.coscheduling.member[other].reserved_from >= end:
            break
        if other != row and _shares_nodes(core, row, other):
            return False
    return True


@part
def _shares_nodes(core: SlurmCore, row: int, other: int) -> bool:
    """Whether ``row`` runs on nodes that are held for another."""
    piece = core.slurm.job[row].piece
    while piece >= 0:
        for at in range(core.slurm.het[other].booked, core.slurm.het[other].booked_last):
            if (
                core.slurm.booked[at].word == core.slurm.nodes.piece[piece].word
                and core.slurm.booked[at].bits & core.slurm.nodes.piece[piece].bits
            ):
                return True
        piece = core.slurm.nodes.piece[piece].next
    return False
