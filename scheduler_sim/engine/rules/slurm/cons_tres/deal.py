"""The shares that a job gets of its nodes at last: ``dist_tasks`` of select/cons_tres.

Tasks are dealt to the nodes that were chosen, cores cyclically over sockets, then generic resources, memory.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import event
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.state import CORES, GPUS, MEMORY, THOUSANDTHS
from scheduler_sim.engine.rules.slurm.cons_tres.offers import free_pieces
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore


@part
def deal(core: ConsTresCore, need: int, slot: int) -> bool:
    """Write the shares of the nodes CHOSEN, from ``slot`` on; False if rounding up takes too much memory."""
    part, it, nodes = core.cons_tres, core.cons_tres.need[need], core.cons_tres.attempt.taken
    _deal_tasks(core, need, nodes)
    _deal_generic(core, need, nodes)
    for i in range(nodes):
        node, share = part.chosen[i], part.share[slot + i]
        cores = _pick_cores(core, need, node)
        cores_given(core, need, node, slot + i)
        cpus = cores * part.machine[node].threads
        memory = _memory(core, need, node, cpus)
        if memory > core.shared_nodes.free[MEMORY, node]:
            return False
        core.shared_nodes.slots[slot + i] = node
        share[CORES], share[MEMORY] = cpus * THOUSANDTHS, memory
        for kind in range(part.each.shape[1]):
            if it.whole:
                share[GPUS + kind] = core.shared_nodes.capacity[GPUS + kind, node]
            else:
                share[GPUS + kind] = part.given[kind, node] * THOUSANDTHS
        for socket in range(len(part.picked)):
            share[GPUS + part.each.shape[1] + socket] = part.picked[socket]
    return True


@event
def cores_given(core: ConsTresCore, need: int, node: int, slot: int) -> None:
    """So many cores of each socket as PICKED are for the job of a slot."""


# -- tasks


@part
def _deal_tasks(core: ConsTresCore, need: int, nodes: int) -> None:
    """A task to each node, then one core's worth of tasks to each in turn, as long as they have room.

    What finds no room goes to nodes that have none: they give all they are meant to, and no more.
    """
    part, it = core.cons_tres, core.cons_tres.need[need]
    each, left, crowded = it.cpus_per_task, _tasks_to_deal(core, need, nodes), True
    for i in range(nodes):
        offer = part.offer[part.chosen[i]]
        offer.tasks = offer.dealt = 0
        if left > 0:
            left -= 1
            _give_task(core, need, part.chosen[i])
        crowded = crowded and offer.cpus == offer.dealt
    for i in range(nodes):  # first what is left of the cores that it has
        node = part.chosen[i]
        for _ in range(part.offer[node].dealt % part.machine[node].threads // each):
            if left > 0 and _has_room(core, need, node):
                left -= 1
                _give_task(core, need, node)
    while left > 0:
        more = False
        for i in range(nodes):
            node = part.chosen[i]
            for _ in range(max(1, part.machine[node].threads // each)):
                if left == 0 or (not crowded and not _has_room(core, need, node)):
                    break
                left -= 1
                _give_task(core, need, node)
                more = more or part.offer[node].cpus - part.offer[node].dealt >= each
        crowded = crowded or not more


@inlined
def _give_task(core: ConsTresCore, need: int, node: int) -> None:
    offer = core.cons_tres.offer[node]
    offer.tasks += 1
    offer.dealt += min(core.cons_tres.need[need].cpus_per_task, offer.cpus - offer.dealt)


@inlined
def _has_room(core: ConsTresCore, need: int, node: int) -> bool:
    """Whether a node has the CPUs for one more task, and may have one."""
    part, offer = core.cons_tres, core.cons_tres.offer[node]
    most = part.need[need].tasks_per_node or INF
    for kind in range(part.each.shape[1]):
        if part.per_task[need, kind] > 0:
            most = min(most, part.there[kind, node] // part.per_task[need, kind])
    return bool(offer.cpus - offer.dealt >= part.need[need].cpus_per_task and offer.tasks < most)


@part
def _tasks_to_deal(core: ConsTresCore, need: int, nodes: int) -> int:
    """As many as the CPUs come to, not as many as there are."""
    it = core.cons_tres.need[need]
    if it.cpus_per_task > 1 and it.tasks_per_node:
        return int(it.tasks_per_node * nodes)
    return int(max(1, cpus_to_deal(core, need, nodes) // it.cpus_per_task))


@part
def cpus_to_deal(core: ConsTresCore, need: int, nodes: int) -> int:
    """CPUs that are asked for on so many nodes."""
    part, it = core.cons_tres, core.cons_tres.need[need]
    for_gpus = it.gpu_cpus * max(part.total[need, 0], part.each[need, 0] * nodes)
    return int(max(nodes * (it.tasks_per_node or 1), it.min_cpus, nodes * it.node_cpus, for_gpus))


# -- cores


@part
def _pick_cores(core: ConsTresCore, need: int, node: int) -> int:
    """Note how many cores of each socket are given for the CPUs that were dealt; returns how many in all.

    One of each socket in turn; with several CPUs a task, as many whole tasks as it holds go to one socket
    before the next.
    """
    part, it, machine = core.cons_tres, core.cons_tres.need[need], core.cons_tres.machine[node]
    threads, cpus, picked = machine.threads, part.offer[node].dealt, part.picked
    for socket in range(len(picked)):
        picked[socket] = 0
    if it.whole:
        for socket in range(machine.sockets):
            picked[socket] = machine.cores
        return int(machine.sockets * machine.cores)
    if it.cpus_per_task > 1:
        for socket in range(machine.sockets):
            tasks = part.cores[socket, node] * threads // it.cpus_per_task
            picked[socket] = -(-min(cpus, tasks * it.cpus_per_task) // threads)
            cpus = max(0, cpus - picked[socket] * threads)
    more = True
    while cpus > 0 and more:
        more = False
        for socket in range(machine.sockets):
            if cpus > 0 and picked[socket] < part.cores[socket, node]:
                picked[socket] += 1
                cpus -= threads
                more = True
    count = 0
    for socket in range(machine.sockets):
        if part.rules.whole_sockets and picked[socket] > 0:
            picked[socket] = machine.cores
        count += picked[socket]
    return int(count)


# -- memory and generic resources


@inlined
def _memory(core: ConsTresCore, need: int, node: int, cpus: int) -> int:
    part, it = core.cons_tres, core.cons_tres.need[need]
    if not part.rules.memory:
        return 0
    if it.gpu_memory:
        gpus = part.given[0, node]
        if it.whole:
            gpus = core.shared_nodes.capacity[GPUS, node] // THOUSANDTHS
        return int(it.gpu_memory * gpus)
    if not it.memory:
        return int(core.shared_nodes.capacity[MEMORY, node])
    return int(it.memory * (cpus if it.per_cpu else 1))


@part
def _deal_generic(core: ConsTresCore, need: int, nodes: int) -> None:
    """Per node or task as asked; of those in all as many as a node has, but one for each node to come."""
    part, it = core.cons_tres, core.cons_tres.need[need]
    for kind in range(part.each.shape[1]):
        for i in range(nodes):
            node = part.chosen[i]
            part.given[kind, node] = 0
            _give(core, need, kind, node, part.each[need, kind])
            _give(core, need, kind, node, part.per_task[need, kind] * part.offer[node].tasks)
        left = 0 if part.per_task[need, kind] > 0 else part.total[need, kind]
        if left == 0:
            continue
        for i in range(nodes):
            node, most = part.chosen[i], left
            if it.gpu_cpus_said and kind == 0:
                most = part.offer[node].dealt // it.gpu_cpus
            left -= _give(core, need, kind, node, max(0, min(most, left - (nodes - 1 - i))))
        for i in range(nodes):
            left -= _give(core, need, kind, part.chosen[i], left)
    for i in range(nodes if len(part.types) else 0):
        _deal_types(core, need, part.chosen[i])


@inlined
def _give(core: ConsTresCore, need: int, kind: int, node: int, count: int) -> int:
    """So many pieces, if there are so many; how many there were."""
    part = core.cons_tres
    free = free_pieces(part.need[need], core.shared_nodes.free, kind, node)
    taken = max(0, min(count, free - part.given[kind, node]))
    part.given[kind, node] += taken
    return int(taken)


@part
def _deal_types(core: ConsTresCore, need: int, node: int) -> None:
    """The GPUs that are given are of the type that is wanted, else of the first types that are free."""
    part, wanted, left = core.cons_tres, core.cons_tres.need[need].gpu_kind, core.cons_tres.given[0, node]
    for i in range(len(part.types)):
        kind = part.types[i, node]
        if kind > 0 and (wanted == 0 or wanted == kind):
            part.given[kind, node] = min(left, core.shared_nodes.free[GPUS + kind, node] // THOUSANDTHS)
            left -= part.given[kind, node]
