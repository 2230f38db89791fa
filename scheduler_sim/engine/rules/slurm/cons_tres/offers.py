"""What a node can give to a job, and how much of that its tasks can use.

Read in Slurm's source: ``_verify_node_state`` (cons_common/job_test.c) for which nodes may be used,
``can_job_run_on_node`` and ``_allocate_sc`` for CPUs and memory, gres_select_filter.c for generic resources.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.state import AWAY, CORES, GPUS, MEMORY, THOUSANDTHS
from scheduler_sim.engine.rules.slurm.cons_tres.state import (
    AVAILABLE,
    FOR_NOW,
    ONE_ROW,
    RESERVED,
    ConsTresCore,
    Need,
    Room,
)

NEAR_GPUS = 255
"""So many GPUs at most tell nodes apart, and so many weights are between two of Slurm's."""


OUT = -(AWAY >> 1)
"""Of a node out of service fewer cores are free; of one whose cores jobs share it may be less than none."""


@inlined
def free_pieces(it: Need, free: Ints, generic: int, node: int) -> int:
    """How many pieces of a generic resource are free on a node; of GPUs, of the type that a job wants."""
    kind = it.gpu_kind if generic == 0 else generic
    return int(free[GPUS + kind, node]) // THOUSANDTHS


@inlined
def tasks_of_a_node(it: Need) -> int:
    """Tasks that one node must be able to hold: all of them if there is but one node."""
    return it.tasks_per_node or (it.tasks if it.max_nodes == 1 else 0) or 1


@question
def weight_beside(core: ConsTresCore, it: Need, node: int) -> int:
    """What a node weighs for the entry besides its own weight: smaller comes first."""
    return 0


# -- which nodes may be used at all


@inlined
def may_use(core: ConsTresCore, need: int, room: Room, node: int) -> bool:
    """Whether a job may be on a node, by memory, generic resources, and who is there; not yet by cores."""
    it, jobs = core.cons_tres.need[need], room.jobs
    if it.kind == RESERVED:
        if jobs[AVAILABLE, node] + jobs[ONE_ROW, node] + jobs[RESERVED, node] > 0:
            return False
    elif jobs[RESERVED, node] > 0 or not _may_be_beside(core, it, room, node):
        return False
    if core.cons_tres.rules.memory and not _has_memory(core, it, room, node):
        return False
    if not (it.generic or it.whole):
        return True
    each, total, per_task = core.cons_tres.each, core.cons_tres.total, core.cons_tres.per_task
    for kind in range(each.shape[1]):
        free = free_pieces(it, room.free, kind, node)
        if it.whole and room.free[GPUS + kind, node] < core.shared_nodes.capacity[GPUS + kind, node]:
            return False
        if free < each[need, kind] or (total[need, kind] > 0 and free < (per_task[need, kind] or 1)):
            return False
    return True


@inlined
def _may_be_beside(core: ConsTresCore, it: Need, room: Room, node: int) -> bool:
    if it.kind == AVAILABLE:
        return bool(room.jobs[ONE_ROW, node] == 0)
    return not keeps_off(core, it, room, node)


@question
def keeps_off(core: ConsTresCore, it: Need, room: Room, node: int) -> bool:
    """Whether cores are shared on a node in such a way that a job with cores of its own may not be there."""
    return False


@inlined
def _has_memory(core: ConsTresCore, it: Need, room: Room, node: int) -> bool:
    free = room.free[MEMORY, node]
    if it.gpu_memory:
        return bool(free >= it.gpu_memory)
    if not it.memory:
        return bool(free == core.shared_nodes.capacity[MEMORY, node])
    cpus = max(it.tasks_per_node, it.node_cpus, it.cpus_per_task) if it.per_cpu else 1
    return bool(free >= it.memory * cpus)


# -- what it can give


@inlined
def make_offer(core: ConsTresCore, need: int, room: Room, node: int, all_cores: bool) -> bool:
    """Note what a node can give, with its free cores or with all of them; False if it cannot have the job."""
    part, it = core.cons_tres, core.cons_tres.need[need]
    machine, offer = part.machine[node], part.offer[node]
    count = _offer_cores(core, room, node, all_cores)
    if count == 0 or (it.whole and count < machine.sockets * machine.cores):
        return False
    cpus = offer.free_cpus = count * machine.threads
    if cpus < it.node_cpus:
        return False
    most = part.sharing[it.partition].most_cpus
    if most > 0 and cpus + room.used[it.partition, node] > most:
        cpus = 0 if it.whole else most - room.used[it.partition, node]
    if cpus < tasks_of_a_node(it) * it.cpus_per_task:
        return False
    offer.all_gpus = near = 0
    if it.generic:
        near = _offer_generic(core, need, room, node, cpus, offer.free_cpus)
        if near < 0:
            return False
    if part.rules.memory and not it.gpu_memory:
        cpus = _by_memory(it, cpus, int(room.free[MEMORY, node]), machine.threads)
    offer.cpus = cpus
    offer.size = cpus + offer.all_gpus
    stated = stated_weight(core, need, node)
    if core.slurm.rules.completing_last:
        late = part.attempt.asks == FOR_NOW and machine.completing > 0
        stated = 2 * stated + (1 if late else 0)
    offer.weight = stated * (NEAR_GPUS + 1) + NEAR_GPUS - near + weight_beside(core, it, node)
    offer.taken = 0
    return cpus > 0


@question
def stated_weight(core: ConsTresCore, need: int, node: int) -> int:
    """How much a node weighs to a job, its GPUs aside."""
    return core.cons_tres.machine[node].weight


@inlined
def _offer_cores(core: ConsTresCore, room: Room, node: int, all_cores: bool) -> int:
    """Note the free cores of each socket, or all; of whole sockets those of which none is taken."""
    part, machine, count = core.cons_tres, core.cons_tres.machine[node], 0
    if room.free[CORES, node] < OUT:
        return 0
    for socket in range(machine.sockets):
        free = machine.cores if all_cores else room.cores[socket, node]
        if part.rules.whole_sockets and free < machine.cores:
            free = 0
        part.cores[socket, node] = free
        count += free
    return count


@part
def _offer_generic(core: ConsTresCore, need: int, room: Room, node: int, cpus: int, free_cpus: int) -> int:
    """Note what there is of each kind and what the job could have; returns the GPUs near, -1 if too few.

    ``cpus`` are those that the node could give, ``free_cpus`` all that are free.
    """
    part, it, near = core.cons_tres, core.cons_tres.need[need], 0
    for kind in range(part.each.shape[1]):
        part.there[kind, node] = part.most[kind, node] = 0
        for asked, least in (
            (part.each[need, kind], part.each[need, kind]),
            (part.total[need, kind], part.per_task[need, kind] or 1),
        ):
            if asked == 0:
                continue
            free = free_pieces(it, room.free, kind, node)
            most, needed = (free, max(least, free)) if it.whole else (asked, least)
            if kind == 0 and it.gpu_memory and part.rules.memory:
                by_memory = room.free[MEMORY, node] // it.gpu_memory
                most, free = min(most, by_memory), min(free, by_memory)
            if kind == 0 and it.gpu_cpus:
                if cpus // it.gpu_cpus < least:
                    return -1
                most = min(most, free_cpus // it.gpu_cpus)
            part.there[kind, node], part.most[kind, node] = free, most
            if free < needed or most < needed:
                return -1
    part.offer[node].all_gpus = part.there[0, node]
    near = min(part.there[0, node], part.most[0, node])
    return int(min(NEAR_GPUS, near))


@part
def _by_memory(it: Need, cpus: int, free: int, threads: int) -> int:
    """CPUs for which there is memory: those of one core after the other are taken away."""
    if not it.per_cpu:
        return cpus if it.memory <= free else 0
    if it.whole and it.memory * cpus > free:
        return 0
    over = cpus - free // it.memory
    if over > 0:
        cpus = max(0, cpus - (over + threads - 1) // threads * threads)
    cpus -= cpus % it.cpus_per_task
    return cpus if cpus >= it.tasks_per_node else 0


# -- what its tasks can use of that


@inlined
def look(core: ConsTresCore, need: int, node: int) -> int:
    """Note the CPUs that the job's tasks can use of an offer, and return them.

    Only a job with generic resources is held to its tasks: of a node that can hold more it has no more CPUs
    than they use, or than its GPUs want.
    """
    part, it, offer = core.cons_tres, core.cons_tres.need[need], core.cons_tres.offer[node]
    offer.usable = 0
    least, most = _tasks_here(it)
    fitting = offer.cpus // it.cpus_per_task
    if fitting < least:
        return 0
    if not it.generic:
        offer.usable = offer.cpus
        return offer.usable
    gpus = _gpus_here(core, need, node)
    tasks = min(fitting, most)
    for kind in range(part.each.shape[1]):
        if part.per_task[need, kind] > 0:
            pieces = gpus if kind == 0 else part.there[kind, node]
            tasks = min(tasks, pieces // part.per_task[need, kind])
    threads, sockets = part.machine[node].threads, part.machine[node].sockets
    tasks = tasks // least * least
    there = 0
    for socket in range(sockets):
        there += part.cores[socket, node]
    while tasks > 0 and _cores_for(tasks * it.cpus_per_task, threads) > there:
        tasks -= 1
    count = _cores_for(max(tasks * it.cpus_per_task, _cpus_for_gpus(core, need, gpus, tasks)), threads)
    if tasks < least or count > there:
        return 0
    _spread(core, node, there, count)
    cpus = min(offer.cpus, min(count, there) * threads)
    if it.gpu_cpus:
        offer.usable = cpus if _has_gpus_left(core, need, node, cpus) else 0
    else:
        offer.usable = min(cpus, tasks * it.cpus_per_task)
    return offer.usable


@inlined
def _tasks_here(it: Need) -> tuple[int, int]:
    """The least and the most tasks of one node."""
    if it.tasks_per_node:
        return it.tasks_per_node, it.tasks_per_node
    if it.max_nodes == 1:
        return (it.tasks, it.tasks) if it.tasks else (1, INF)
    if it.tasks == 1 or (it.tasks == it.min_nodes and it.tasks == it.max_nodes):
        return 1, 1
    return 1, INF


@inlined
def _gpus_here(core: ConsTresCore, need: int, node: int) -> int:
    """GPUs for which the CPUs of the offer are enough; of those in all no more than still wanted."""
    part, it = core.cons_tres, core.cons_tres.need[need]
    gpus = part.there[0, node]
    if it.gpu_cpus:
        most = part.most[0, node]
        if part.total[need, 0] > 0 and part.wanted[0] != 0:
            most = min(most, part.wanted[0])
        gpus = min(gpus, most, part.offer[node].cpus // it.gpu_cpus)
    return int(gpus)


@inlined
def _cores_for(cpus: int, threads: int) -> int:
    return -(-cpus // threads)


@inlined
def _cpus_for_gpus(core: ConsTresCore, need: int, gpus: int, tasks: int) -> int:
    part = core.cons_tres
    if part.each[need, 0] + part.total[need, 0] == 0:
        return 0
    return int(part.need[need].gpu_cpus * (part.each[need, 0] or part.per_task[need, 0] * tasks or gpus))


@part
def _spread(core: ConsTresCore, node: int, there: int, count: int) -> None:
    """Note so many of its cores: the last of the socket with most is taken away, again and again."""
    part, sockets = core.cons_tres, core.cons_tres.machine[node].sockets
    for socket in range(sockets):
        part.usable[socket, node] = part.cores[socket, node]
    while there > count:
        largest = 0
        for socket in range(1, sockets):
            if part.usable[socket, node] > part.usable[largest, node]:
                largest = socket
        part.usable[largest, node] -= 1
        there -= 1


@part
def _has_gpus_left(core: ConsTresCore, need: int, node: int, cpus: int) -> bool:
    """Cut the GPUs down to those that there are CPUs for."""
    part = core.cons_tres
    if part.each[need, 0] + part.total[need, 0] > 0:
        part.there[0, node] = min(part.there[0, node], cpus // part.need[need].gpu_cpus)
    for kind in range(part.each.shape[1]):
        there = part.there[kind, node]
        if there < part.each[need, kind]:
            return False
        if part.total[need, kind] > 0 and there < (part.per_task[need, kind] or 1):
            return False
    return True
