"""The job-partition queue: one entry for each partition a job asks for.

With one partition each, it is the queue of jobs. Else it is made for each pass:
partition tier first, then the priority in that partition, submission, trace order, list order.
Where Slurm walks its list of jobs, it is the queue with all partitions of each.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.state import IN_LIST_ORDER, SlurmCore


@question
def build_queue(core: SlurmCore) -> int:
    """Make the list of entries and return how many there are."""
    return build_by_partition(core)


@question
def entry(core: SlurmCore, i: int) -> tuple[int, int]:
    """Job and placement of the ``i``-th entry."""
    return entry_by_partition(core, i)


@part
def build_by_partition(core: SlurmCore) -> int:
    """Make one entry for each partition that a job asks for."""
    head, tail = core.queue.at.head, core.queue.at.tail
    if not core.rules.complex:
        return tail - head
    size = 0
    for i in range(head, tail):
        row = core.queue.waiting[i]
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            core.slurm.entry[size].row, core.slurm.entry[size].placement = row, placement
            size += 1
    if core.slurm.rules.builtin != IN_LIST_ORDER:
        _sort(core, size)
    return size


@part
def entry_by_partition(core: SlurmCore, i: int) -> tuple[int, int]:
    """Job and placement of the ``i``-th of these."""
    if core.rules.complex:
        return core.slurm.entry[i].row, core.slurm.entry[i].placement
    row = core.queue.waiting[core.queue.at.head + i]
    return row, core.jobs[row].first


@part
def goes_before(core: SlurmCore, row: int, placement: int, other_row: int, other: int) -> bool:
    """Whether an entry comes before another."""
    a, b = core.slurm.way[placement], core.slurm.way[other]
    if a.tier != b.tier:
        return a.tier > b.tier
    if a.key != b.key:
        return a.key < b.key
    if core.jobs[row].submit != core.jobs[other_row].submit:
        return core.jobs[row].submit < core.jobs[other_row].submit
    return placement < other if row == other_row else row < other_row


@part
def _sort(core: SlurmCore, size: int) -> None:
    """Insertion sort: the queue is in order already, but for partitions of another tier or priority."""
    entries = core.slurm.entry
    for i in range(1, size):
        row, placement = entries[i].row, entries[i].placement
        j = i
        while j > 0 and goes_before(core, row, placement, entries[j - 1].row, entries[j - 1].placement):
            entries[j].row, entries[j].placement = entries[j - 1].row, entries[j - 1].placement
            j -= 1
        entries[j].row, entries[j].placement = row, placement
