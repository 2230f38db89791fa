"""GRES that a node can give to a job, and what GPUs want of its cores and memory (gres_select_filter.c)."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.plain_cons_tres_needs import Needs, is_gpu
from tests.oracle.plain_cons_tres_records import Counts
from tests.oracle.plain_cons_tres_room import Room


def wanted_of_a_node(needs: Needs) -> Iterator[tuple[str, int, int]]:
    """Each kind that the job asks for, with the least and the most of one node."""
    yield from ((name, count, count) for name, count in needs.gres.items())
    yield from ((name, needs.task_gpus.get(name, 1), count) for name, count in needs.gpus.items())


def usable_gres(
    room: Room, needs: Needs, number: int, cpus: int, free_cpus: int
) -> tuple[Counts, Counts] | None:
    """Of each kind what there is, and what the job could have of it; None if that is not enough.

    `cpus` are those that the node could give, `free_cpus` all that are free.
    """
    there: Counts = {}
    most: Counts = {}
    for name, least, asked in wanted_of_a_node(needs):
        free = sum(room.free_gres(number, name).values())
        limits = [free] if needs.whole else [asked]
        needed = max(least, free) if needs.whole else least  # who has the node has all of them
        if is_gpu(name) and needs.gpu_memory and room.settings.memory:
            by_memory = room.free_memory(number) // needs.gpu_memory
            limits.append(by_memory)
            free = min(free, by_memory)
        if is_gpu(name) and needs.gpu_cpus:
            if cpus // needs.gpu_cpus < least:
                return None
            limits.append(free_cpus // needs.gpu_cpus)
        there[name], most[name] = free, min(limits)
        if free < needed or most[name] < needed:
            return None
    return there, most


def cpus_of_a_node(needs: Needs) -> int:
    """CPUs for the GPUs that it must have of each node."""
    counts = (
        needs.gres.get(name) or needs.task_gpus.get(name, 0) * needs.tasks_per_node
        if name in needs.gres or name in needs.task_gpus
        else 1
        for name in (*needs.gres, *needs.gpus)
        if is_gpu(name)
    )
    return needs.gpu_cpus * max(counts, default=0)


def cpus_of_all_nodes(needs: Needs, nodes: int) -> int:
    """CPUs for all its GPUs."""
    counts = [needs.gpus[name] for name in needs.gpus if is_gpu(name)]
    counts += [count * nodes for name, count in needs.gres.items() if is_gpu(name)]
    return needs.gpu_cpus * max(counts, default=0)
