"""What select/cons_tres keeps: what jobs need, who is on a node, and the notes of one choice of nodes.

Nodes are numbered as in ``shared_nodes``, where what is free on each is counted: a core there is what Slurm
calls a CPU. Of generic resources the first kind is GPUs; they are counted in whole pieces here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Record, Table, Tiny, Words, one, table
from scheduler_sim.engine.rules.shared_nodes.state import SharedCore
from scheduler_sim.engine.rules.slurm.state import SlurmCore

AVAILABLE, ONE_ROW, RESERVED = 0, 1, 2
"""Which jobs a node takes beside a job: any of FORCE partitions, any with cores of their own, none."""

CLASSES = 3

EVEN, AMONG_ABLE = 1, 2
"""Of a need that so many able nodes meet: others may be looked at when nodes are chosen, or are of no use."""

NEVER, YET_UNKNOWN, SOMETIME = -1, 0, 1
"""Whether all nodes together, empty, have room for a need."""


class ConsTresRules(Record):
    """SelectTypeParameters."""

    memory: int  # 1 = memory is consumable
    whole_sockets: int  # 1 = sockets are, not single cores
    least_loaded: int  # 1 = CR_LLN
    accelerate: int  # 1 = passes that can start nothing more are cut off


class Sharing:
    """A partition."""

    most_cpus: int  # MaxCPUsPerNode, 0 = any number
    least_loaded: int  # LLN


class Machine:
    """A node: its cores stand in sockets, and have one CPU for each thread."""

    sockets: int
    cores: int  # of each socket
    threads: int
    weight: int
    completing: int  # jobs that have ended, and whose nodes are not back yet
    first: int  # slot of the share that is planned to end first, -1 = none


class Need:
    """What a job asks of select/cons_tres in a partition; many ask for the same."""

    partition: int
    min_nodes: int
    max_nodes: int  # that the job said; many if it did not
    limit: int  # the most that it may have in the partition
    asked_nodes: int  # the most that it said, which is tried for; else the least
    tasks: int  # 0 = not said
    cpus_per_task: int
    tasks_per_node: int  # 0 = not said
    min_cpus: int  # of all nodes
    node_cpus: int  # what each node must give at least
    memory: int  # KB, 0 = all of a node
    gpu_cpus: int  # for each GPU, 0 = any number
    gpu_memory: int  # KB for each GPU instead of the other memory, 0 = not so
    possible: int  # whether it ever fits: see above
    level: int
    per_cpu: Tiny  # 1 = its memory is for each CPU
    gpu_cpus_said: Tiny  # 1 = by the job, not by a default
    generic: Tiny  # 1 = it asks for generic resources
    in_all: Tiny  # 1 = ... of all nodes together
    even: Tiny  # it is met by so many nodes of its level, whichever they are: see below
    whole: Tiny  # 1 = nodes are for it alone
    kind: Tiny  # AVAILABLE, ONE_ROW, or RESERVED


class Asked:
    """The need of a placement, and whether it is a real one."""

    need: int


class Level:
    """What is asked of each node, by needs that are met as soon as enough nodes have it."""

    need: int  # one of them
    cpus: int  # of each node
    read: int  # how far the log of changed nodes was read


class Tenant:
    """A share of a node, in a list of those of the node by planned end."""

    row: int  # the job
    next: int  # the slot of the next one, -1 = none


class Offer:
    """What a node can give, cut down as a job takes nodes."""

    cpus: int
    free_cpus: int  # before memory and tasks: by these the least loaded node is told
    size: int  # CPUs and GPUs: nodes of which this is small are left out first
    all_gpus: int
    weight: int  # smaller first; then by GPUs that are near
    usable: int  # CPUs that the job's tasks can use
    taken: int  # 1 = taken by this attempt
    tasks: int  # dealt to it
    dealt: int  # CPUs dealt to it


class Run:
    """A set of nodes that stand side by side: those in the list from ``first`` up to before ``last``."""

    first: int
    last: int
    cpus: int
    weight: int
    gone: int  # 1 = looked at


class Attempt(Record):
    """What is still wanted, as node after node is taken."""

    least: int  # nodes that there must be
    most: int  # nodes it may yet take
    nodes: int
    least_left: int
    cpus: int
    most_cpus: int
    before: int  # node taken last, -1 = none
    left: int  # nodes on the list
    taken: int


class Cutoff(Record):
    """Up to where a pass may start something (see ``cutoff``)."""

    last: int  # the last queue entry whose job may start now
    taken: int  # 1 = since it was found, something was taken


class Room(NamedTuple):
    """What is free, and who is there, n nodes: now, or once some jobs have ended."""

    free: Ints  # [c, n] as of ``shared_nodes``, which has that of now
    cores: Ints  # [sockets, n] of each socket
    jobs: Ints  # [classes, n] that run there, by class
    used: Ints  # [partitions, n] CPUs that jobs of those with MaxCPUsPerNode have


class ConsTres(NamedTuple):
    """n nodes, p placements, k kinds of generic resources, s sockets."""

    rules: ConsTresRules
    sharing: Table[Sharing]  # by partition
    machine: Table[Machine]  # [n]
    asked: Table[Asked]  # [p]
    need: Table[Need]
    each: Ints  # [needs, k] generic resources of each node
    total: Ints  # [needs, k] ... of all nodes together
    per_task: Ints  # [needs, k] ... of each task
    level: Table[Level]
    able: Words  # [levels, w] the nodes that have what is asked for now
    able_at: Ints  # [levels, n] 0 = now, else the planned end that makes a node able; INF = none does
    tenant: Table[Tenant]  # [slots]
    share: Ints  # [slots, c + s] what a job has of its nodes, then its cores of each socket
    now: Room
    later: Room
    attempt: Attempt
    cutoff: Cutoff
    offer: Table[Offer]  # [n]
    run: Table[Run]  # [n]
    list: Ints  # [n] nodes that are left
    chosen: Ints  # [n] nodes that were taken, in order
    there: Ints  # [k, n] generic resources that a node offers
    most: Ints  # [k, n] ... and what the job could have of them
    cores: Ints  # [s, n] free cores of each socket that are offered
    usable: Ints  # [s, n] ... and those of them that the job's tasks can use
    wanted: Ints  # [k] of all nodes, still to be found
    picked: Ints  # [s] cores of each socket that are given
    given: Ints  # [k, n] generic resources that are dealt


class ConsTresCore(SlurmCore, SharedCore):
    """A core whose nodes are shared under Slurm."""

    cons_tres: ConsTres


class ConsTresSizes(NamedTuple):
    """How much room it has."""

    nodes: int
    partitions: int
    placements: int
    needs: int
    kinds: int  # that are counted, with cores and memory
    sockets: int
    slots: int
    levels: int
    words: int


def _machines(nodes: int) -> Table[Machine]:
    made = table(Machine, nodes)
    made["first"] = -1
    return made


def blank_cons_tres(sizes: ConsTresSizes) -> ConsTres:
    """Return a part in which nobody needs anything."""

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    n, generic, sockets = sizes.nodes, sizes.kinds - 2, sizes.sockets

    def room(kinds: int) -> Room:
        return Room(zeros(kinds, n), zeros(sockets, n), zeros(CLASSES, n), zeros(sizes.partitions, n))

    return ConsTres(
        rules=one(ConsTresRules),
        sharing=table(Sharing, sizes.partitions),
        machine=_machines(n),
        asked=table(Asked, sizes.placements),
        need=table(Need, sizes.needs),
        each=zeros(sizes.needs, generic),
        total=zeros(sizes.needs, generic),
        per_task=zeros(sizes.needs, generic),
        level=table(Level, sizes.levels),
        able=np.zeros((sizes.levels, sizes.words), dtype=np.uint64),
        able_at=zeros(sizes.levels, n),
        tenant=table(Tenant, sizes.slots),
        share=zeros(sizes.slots, sizes.kinds + sockets),
        now=room(0),
        later=room(sizes.kinds),
        attempt=one(Attempt),
        cutoff=one(Cutoff),
        offer=table(Offer, n),
        run=table(Run, n + 1),
        list=zeros(n),
        chosen=zeros(n),
        there=zeros(generic, n),
        most=zeros(generic, n),
        cores=zeros(sockets, n),
        usable=zeros(sockets, n),
        wanted=zeros(generic),
        picked=zeros(sockets),
        given=zeros(generic, n),
    )
