"""What a node can give to a job, and how much of that its tasks can use.

Read in `can_job_run_on_node` and `_select_cores` (job_test.c of cons_tres), `_allocate_sc` (cons_common.c)
and gres_select_filter.c. Left out: sockets and cores that GRES are bound to, --cpus-per-gpu, --mem-per-gpu,
specialised cores, --ntasks-per-core and --ntasks-per-socket.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.plain_cons_tres_needs import Needs
from tests.oracle.plain_cons_tres_records import Node
from tests.oracle.plain_cons_tres_room import Room


@dataclass
class Offer:
    """Of one node. `cpus` is cut down as the job takes nodes, and stays cut if it then tries again."""

    node: Node
    cores: frozenset[int]
    cpus: int
    free_cpus: int  # before memory and tasks: by these the least loaded node is told
    gpus: dict[str, int] = field(default_factory=dict)  # free of each kind that is asked for in all

    size: int = 0  # CPUs and GPUs: nodes with few are left out first

    @property
    def all_gpus(self) -> int:
        return self.size - self.cpus


def offer_of(room: Room, needs: Needs, number: int, cores: frozenset[int]) -> Offer | None:
    """What of those cores the node can give, None if it cannot have the job."""
    node = room.nodes[number]
    cores = _whole_sockets(node, cores) if room.settings.whole_sockets else cores
    free = len(cores) * node.threads
    if not cores or free < needs.node_cpus:
        return None
    cpus = free
    most = needs.part.max_cpus_per_node
    if most is not None and free + room.cpus_of(needs.part, number) > most:
        cpus = 0 if needs.whole else most - room.cpus_of(needs.part, number)
    if cpus < needs.node_tasks * needs.cpus_per_task:
        return None
    if room.settings.memory:
        cpus = _by_memory(needs, cpus, room.free_memory(number), node.threads)
    if cpus < 1:
        return None
    free_gres = {name: sum(room.free_gres(number, name).values()) for name in (*needs.gres, *needs.gpus)}
    gpus = sum(count for name, count in free_gres.items() if name.split(":")[0] == "gpu")
    return Offer(node, cores, cpus, free, {name: free_gres[name] for name in needs.gpus}, cpus + gpus)


def near_gpus(room: Room, needs: Needs, number: int) -> int:
    """By which nodes that are alike otherwise are told apart: as many of the GPUs asked for as it has."""
    near = 0
    for name, count in (*needs.gres.items(), *needs.gpus.items()):
        if name.split(":")[0] == "gpu":
            free = sum(room.free_gres(number, name).values())
            near += free if needs.whole else min(free, count)
    return min(near, 255)


def _whole_sockets(node: Node, cores: frozenset[int]) -> frozenset[int]:
    """Those of sockets on which no core is taken."""
    sockets = (frozenset(range(s * node.cores, (s + 1) * node.cores)) for s in range(node.sockets))
    return frozenset().union(*(socket for socket in sockets if socket <= cores))


def _by_memory(needs: Needs, cpus: int, free: int, threads: int) -> int:
    """CPUs for which there is memory: those of one core after the other are taken away."""
    if not needs.per_cpu:
        return cpus if needs.memory <= free else 0
    if needs.whole and needs.memory * cpus > free:
        return 0
    while cpus > 0 and needs.memory * cpus > free:
        cpus = max(0, cpus - threads)
    cpus -= cpus % needs.cpus_per_task
    return cpus if cpus >= needs.tasks_per_node else 0


def usable_cpus(needs: Needs, offer: Offer) -> tuple[int, frozenset[int]]:
    """CPUs that the job's tasks can use of the offer, and the cores that it is left with.

    Only a job with GRES is held to its tasks: of a node that can hold more it has no more CPUs than they use.
    """
    least, most = _tasks_here(needs)
    fitting = offer.cpus // needs.cpus_per_task
    if fitting < least:
        return 0, offer.cores
    tasks = fitting if most is None else min(fitting, most)
    if not needs.gres and not needs.gpus:
        return offer.cpus, offer.cores
    tasks = min([tasks, *(offer.gpus[name] // count for name, count in needs.task_gpus.items())])
    tasks = tasks // least * least
    threads = offer.node.threads
    while tasks >= least and -(-tasks * needs.cpus_per_task // threads) > len(offer.cores):
        tasks -= 1
    if tasks < least:
        return 0, offer.cores
    cores = _spread(offer, -(-tasks * needs.cpus_per_task // threads))
    return min(offer.cpus, len(cores) * threads, tasks * needs.cpus_per_task), cores


def _tasks_here(needs: Needs) -> tuple[int, int | None]:
    """The least and the most tasks of one node."""
    if needs.tasks_per_node:
        return needs.tasks_per_node, needs.tasks_per_node
    if needs.max_nodes == 1:
        return (needs.tasks, needs.tasks) if needs.tasks else (1, None)
    if needs.tasks == 1 or needs.tasks == needs.min_nodes == needs.max_nodes:
        return 1, 1
    return 1, None


def _spread(offer: Offer, count: int) -> frozenset[int]:
    """So many of its cores: the last of the socket with most is taken away, again and again."""
    left = offer.cores
    while len(left) > count:
        sockets = [
            [core for core in sorted(left) if core // offer.node.cores == socket]
            for socket in range(offer.node.sockets)
        ]
        left -= {max(sockets, key=len)[-1]}
    return left
