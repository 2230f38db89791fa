"""What a node can give to a job, and how much of that its tasks can use.

Read in `can_job_run_on_node` and `_select_cores` (job_test.c of cons_tres), `_allocate_sc` (cons_common.c)
and gres_select_filter.c. Left out: sockets and cores that GRES are bound to, specialised cores,
--ntasks-per-core and --ntasks-per-socket.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.plain_cons_tres_gres import usable_gres, wanted_of_a_node
from tests.oracle.plain_cons_tres_needs import Needs, is_gpu
from tests.oracle.plain_cons_tres_records import Counts, Node
from tests.oracle.plain_cons_tres_room import Room


@dataclass
class Offer:
    """Of one node. CPUs and GPUs are cut down as the job takes nodes, and stay cut if it then tries again."""

    node: Node
    cores: frozenset[int]
    cpus: int
    free_cpus: int  # before memory and tasks: by these the least loaded node is told
    gres: Counts  # what there is of each kind that is asked for
    most: Counts  # what the job could have of it

    def __post_init__(self) -> None:
        self.all_gpus = sum(count for name, count in self.gres.items() if is_gpu(name))
        self.size = self.cpus + self.all_gpus  # nodes of which this is small are left out first

    @property
    def near_gpus(self) -> int:
        """By which nodes that are alike otherwise are told apart."""
        return min(255, sum(min(self.gres[name], self.most[name]) for name in self.most if is_gpu(name)))


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
    gres = usable_gres(room, needs, number, cpus, free)
    if gres is None:
        return None
    if room.settings.memory and not needs.gpu_memory:
        cpus = _by_memory(needs, cpus, room.free_memory(number), node.threads)
    return Offer(node, cores, cpus, free, *gres) if cpus > 0 else None


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


def usable_cpus(needs: Needs, offer: Offer, wanted: Counts) -> tuple[int, frozenset[int]]:
    """CPUs that the job's tasks can use of the offer, and the cores that it is left with.

    Only a job with GRES is held to its tasks: of a node that can hold more it has no more CPUs than they use,
    or than its GPUs want. `wanted` are the GPUs in all that are still to be found.
    """
    least, most = _tasks_here(needs)
    fitting = offer.cpus // needs.cpus_per_task
    if fitting < least:
        return 0, offer.cores
    if not needs.gres and not needs.gpus:
        return offer.cpus, offer.cores
    gpus = _gpus_here(needs, offer, wanted)
    limits = [fitting if most is None else min(fitting, most)]
    limits += [gpus[name] // count for name, count in needs.task_gpus.items()]
    tasks = _tasks_on_cores(needs, offer, min(limits) // least * least)
    count = _cores_for(offer, max(tasks * needs.cpus_per_task, _cpus_for_gpus(needs, gpus, tasks)))
    if tasks < least or count > len(offer.cores):
        return 0, offer.cores
    cores = _spread(offer, count)
    cpus = min(offer.cpus, len(cores) * offer.node.threads)
    if needs.gpu_cpus:
        return cpus if _has_gpus_left(needs, offer, cpus) else 0, cores
    return min(cpus, tasks * needs.cpus_per_task), cores


def _cores_for(offer: Offer, cpus: int) -> int:
    return -(-cpus // offer.node.threads)


def _tasks_on_cores(needs: Needs, offer: Offer, tasks: int) -> int:
    """As many of them as the cores hold."""
    while tasks > 0 and _cores_for(offer, tasks * needs.cpus_per_task) > len(offer.cores):
        tasks -= 1
    return tasks


def _has_gpus_left(needs: Needs, offer: Offer, cpus: int) -> bool:
    """Cut the GPUs down to those that there are CPUs for."""
    for name in filter(is_gpu, offer.gres):
        offer.gres[name] = min(offer.gres[name], cpus // needs.gpu_cpus)
    return all(offer.gres[name] >= few for name, few, _ in wanted_of_a_node(needs))


def _gpus_here(needs: Needs, offer: Offer, wanted: Counts) -> Counts:
    """Of each kind what the CPUs of the offer are enough for; of those in all no more than still wanted."""
    gpus = dict(offer.gres)
    if needs.gpu_cpus:
        for name in filter(is_gpu, gpus):
            most = min(offer.most[name], wanted.get(name) or offer.most[name])
            gpus[name] = min(gpus[name], most, offer.cpus // needs.gpu_cpus)
    return gpus


def _cpus_for_gpus(needs: Needs, gpus: Counts, tasks: int) -> int:
    counts = (
        needs.gres.get(name) or needs.task_gpus.get(name, 0) * tasks or gpus[name]
        for name in filter(is_gpu, gpus)
    )
    return needs.gpu_cpus * max(counts, default=0)


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
