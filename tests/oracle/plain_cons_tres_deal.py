"""The shares that a job at last gets of its nodes (`dist_tasks` of cons_common and of cons_tres).

Left out: distributions other than the default, which deals cores cyclically over sockets.
"""

from __future__ import annotations

from math import inf

from tests.oracle.plain_cons_tres_choice import Offers
from tests.oracle.plain_cons_tres_gres import cpus_of_all_nodes
from tests.oracle.plain_cons_tres_needs import Needs, is_gpu
from tests.oracle.plain_cons_tres_offers import Offer
from tests.oracle.plain_cons_tres_records import Counts, Share
from tests.oracle.plain_cons_tres_room import Room


def deal(room: Room, needs: Needs, offers: Offers) -> dict[int, Share] | None:
    """A share of each node; None if there is not the memory for what rounding up has added."""
    cpus, tasks = _deal_cpus(needs, offers)
    gres = _deal_gres(room, needs, tasks, cpus)
    shares = {}
    for node, offer in offers.items():
        if needs.whole:
            cores = offer.node.all_cores
        else:
            cores = pick_cores(needs, offer, cpus[node], room.settings.whole_sockets)
        given = len(cores) * offer.node.threads
        memory = _memory(room, needs, node, given, gres[node])
        if memory > room.free_memory(node):
            return None
        shares[node] = Share(cores, given, memory, gres[node])
    return shares


def _deal_cpus(needs: Needs, offers: Offers) -> tuple[dict[int, int], dict[int, int]]:
    """CPUs and tasks of each node.

    A task to each, then one core's worth of tasks to each in turn, as long as they have room. What finds no
    room goes to nodes that have none: they give all they are meant to, and no more.
    """
    each = needs.cpus_per_task
    limits = {node: _most_tasks(needs, offer) for node, offer in offers.items()}
    cpus, tasks = dict.fromkeys(offers, 0), dict.fromkeys(offers, 0)
    left = _tasks_to_deal(needs, len(offers))

    def room_left(node: int) -> int:
        return offers[node].cpus - cpus[node]

    def full(node: int) -> bool:
        return tasks[node] >= limits[node]

    def give(node: int) -> None:
        tasks[node] += 1
        cpus[node] += min(each, room_left(node))

    for node in offers:
        if left > 0:
            left -= 1
            give(node)
    crowded = not any(room_left(node) for node in offers)
    for node, offer in offers.items():  # first what is left of the cores that it has
        for _ in range(cpus[node] % offer.node.threads // each):
            if left > 0 and room_left(node) >= each and not full(node):
                left -= 1
                give(node)
    while left > 0:
        more = False
        for node, offer in offers.items():
            for _ in range(max(1, offer.node.threads // each)):
                if left == 0 or (not crowded and (room_left(node) < each or full(node))):
                    break
                left -= 1
                give(node)
                more = more or room_left(node) >= each
        crowded = crowded or not more
    return cpus, tasks


def _most_tasks(needs: Needs, offer: Offer) -> float:
    by_gpus = (offer.gres[name] // count for name, count in needs.task_gpus.items())
    return min([needs.tasks_per_node or inf, *by_gpus])


def _tasks_to_deal(needs: Needs, nodes: int) -> int:
    """As many as the CPUs come to, not as many as there are."""
    if needs.cpus_per_task > 1 and needs.tasks_per_node:
        return needs.tasks_per_node * nodes
    return max(1, cpus_to_deal(needs, nodes) // needs.cpus_per_task)


def cpus_to_deal(needs: Needs, nodes: int) -> int:
    """CPUs that the job asks for on so many nodes."""
    return max(
        *(nodes * (needs.tasks_per_node or 1), needs.min_cpus, nodes * needs.node_cpus),
        cpus_of_all_nodes(needs, nodes),
    )


def pick_cores(needs: Needs, offer: Offer, cpus: int, whole_sockets: bool) -> frozenset[int]:
    """Cores for so many CPUs, the lowest free one of each socket in turn.

    With more than one CPU a task, as many whole tasks as it holds go to one socket before the next.
    """
    node = offer.node
    sockets = [
        [core for core in sorted(offer.cores) if core // node.cores == socket]
        for socket in range(node.sockets)
    ]
    picked: list[int] = []
    if needs.cpus_per_task > 1:
        for socket in sockets:
            tasks = len(socket) * node.threads // needs.cpus_per_task
            whole = min(cpus, tasks * needs.cpus_per_task)
            count = -(-whole // node.threads)
            picked += socket[:count]
            del socket[:count]
            cpus = max(0, cpus - count * node.threads)
    while cpus > 0 and any(sockets):
        for socket in sockets:
            if socket and cpus > 0:
                picked.append(socket.pop(0))
                cpus -= node.threads
    if whole_sockets:
        used = {core // node.cores for core in picked}
        picked = [core for core in node.all_cores if core // node.cores in used]
    return frozenset(picked)


def _memory(room: Room, needs: Needs, node: int, cpus: int, gres: Counts) -> int:
    if not room.settings.memory:
        return 0
    if needs.gpu_memory:
        return needs.gpu_memory * sum(count for name, count in gres.items() if is_gpu(name))
    if not needs.memory:
        return room.nodes[node].memory
    return needs.memory * (cpus if needs.per_cpu else 1)


def _deal_gres(room: Room, needs: Needs, tasks: dict[int, int], cpus: dict[int, int]) -> dict[int, Counts]:
    """Per node or task as asked; of those in all as many as it has, but one for each node to come."""
    nodes = list(tasks)
    given: dict[int, Counts] = {node: {} for node in nodes}
    for name, count in needs.gres.items():
        for node in nodes:
            _give(room, given[node], node, name, count)
    for name, count in needs.task_gpus.items():
        for node in nodes:
            _give(room, given[node], node, name, tasks[node] * count)
    in_all = {name: count for name, count in needs.gpus.items() if name not in needs.task_gpus}
    for name, left in in_all.items():
        for later, node in zip(range(len(nodes) - 1, -1, -1), nodes, strict=True):
            most = cpus[node] // needs.gpu_cpus if needs.gpu_cpus_said and is_gpu(name) else left
            left -= _give(room, given[node], node, name, max(0, min(most, left - later)))
        for node in nodes:
            left -= _give(room, given[node], node, name, left)
    if needs.whole:
        return {node: dict(room.nodes[node].gres) for node in nodes}
    return given


def _give(room: Room, given: Counts, node: int, name: str, count: int) -> int:
    """So many of a kind, of whichever types; how many there were."""
    before = count
    for kind, free in room.free_gres(node, name).items():
        taken = min(count, free - given.get(kind, 0))
        if taken:
            given[kind] = given.get(kind, 0) + taken
        count -= taken
    return before - count
