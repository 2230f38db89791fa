"""Whose turn it is: one turn for each partition a component asks for.

With one partition each, the queue is the list of turns. Else it is made for each pass:
partition tier first, then the priority in that partition, submission, trace order, list order.
Where Slurm walks its list of jobs, it is the queue with all partitions of each.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.slots import BUILTIN, IN_LIST_ORDER
from scheduler_sim.engine.state import COMPLEX, HEAD, QUEUE, TAIL, Core


@part
def turns(core: Core) -> int:
    """Make the list of turns and return how many there are."""
    head, tail = core.clock[HEAD], core.clock[TAIL]
    if not core.rules[COMPLEX]:
        return tail - head
    size = 0
    for i in range(head, tail):
        row = core.lists[QUEUE, i]
        for placement in range(core.comp[row].first, core.comp[row].last):
            core.turn[size].row, core.turn[size].placement = row, placement
            size += 1
    if core.slurm[BUILTIN] != IN_LIST_ORDER:
        _sort(core, size)
    return size


@part
def turn(core: Core, i: int) -> tuple[int, int]:
    """Row and placement of turn ``i``."""
    if core.rules[COMPLEX]:
        return core.turn[i].row, core.turn[i].placement
    row = core.lists[QUEUE, core.clock[HEAD] + i]
    return row, core.comp[row].first


@part
def _goes_before(core: Core, row: int, placement: int, other_row: int, other: int) -> bool:
    a, b = core.way[placement], core.way[other]
    if a.tier != b.tier:
        return a.tier > b.tier
    if a.key != b.key:
        return a.key < b.key
    if core.comp[row].submit != core.comp[other_row].submit:
        return core.comp[row].submit < core.comp[other_row].submit
    return placement < other if row == other_row else row < other_row


@part
def _sort(core: Core, size: int) -> None:
    """Insertion sort: the queue is in order already, but for partitions of another tier or priority."""
    turn = core.turn
    for i in range(1, size):
        row, placement = turn[i].row, turn[i].placement
        j = i
        while j > 0 and _goes_before(core, row, placement, turn[j - 1].row, turn[j - 1].placement):
            turn[j].row, turn[j].placement = turn[j - 1].row, turn[j - 1].placement
            j -= 1
        turn[j].row, turn[j].placement = row, placement
