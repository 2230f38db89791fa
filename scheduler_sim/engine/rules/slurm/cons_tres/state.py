"""What select/cons_tres keeps: what jobs need, who is on a node, and the notes of one choice of nodes.

Nodes are numbered as in ``shared_nodes``, where what is free on each is counted: a core there is what Slurm
calls a CPU. Of generic resources the first kind is GPUs; they are counted in whole pieces here. Where GPUs
are of several types, those of each are a kind, too, of which nothing is asked: see ``gpu_kind``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Record, Table, Tiny, Words, one, table
from scheduler_sim.engine.rules.shared_nodes.state import SharedCore
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.state import SlurmCore

AVAILABLE, ONE_ROW, RESERVED = 0, 1, 2
"""Which jobs a node takes beside a job: any of FORCE partitions, any with cores of their own, none."""

CLASSES = 3

MARKS = 32
"""Times for which it is kept which nodes are able by then."""

EVEN, AMONG_ABLE = 1, 2
"""Of a need that so many able nodes meet: others may be looked at when nodes are chosen, or are of no use."""

BOUNDS = 64
"""So many lower bounds on starts are kept."""

LEAVE_AT_MOST = 16384
"""So many running jobs at most are kept together by whom they leave (see ``leaving``)."""

NEVER, YET_UNKNOWN, SOMETIME = -1, 0, 1
"""Whether all nodes together, empty, have room for a need."""


class ConsTresRules(Record):
    """SelectTypeParameters."""

    memory: int  # 1 = memory is consumable
    whole_sockets: int  # 1 = sockets are, not single cores
    least_loaded: int  # 1 = CR_LLN
    cuts_off: int  # 1 = passes that can start nothing more are cut off
    bounds: int  # 1 = tries are left out that fail by lower bounds on starts


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
    known_from: int  # its later room is that once all have ended that are planned to by now ...
    known_to: int  # ... or at any later time before this one


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
    gpu_kind: int  # the kind in which its GPUs are free: 0 = of any type, else of the type that it names
    possible: int  # whether it ever fits: see above
    level: int
    per_cpu: Tiny  # 1 = its memory is for each CPU
    gpu_cpus_said: Tiny  # 1 = by the job, not by a default
    generic: Tiny  # 1 = it asks for generic resources
    in_all: Tiny  # 1 = ... of all nodes together
    even: Tiny  # it is met by so many nodes of its level, whichever they are: see below
    whole: Tiny  # 1 = nodes are for it alone
    kind: Tiny  # AVAILABLE, ONE_ROW, or RESERVED
    by_request: Tiny  # 1 = it may share cores, as it asks for that
    by_switches: Tiny  # 1 = its nodes are chosen by where they lie
    by_able: Tiny  # what ``even`` is, or were if it did not matter where nodes lie
    as_asked: Tiny  # 1 = it gets the cores and the memory that it asks for, on whichever nodes


class Asked:
    """The need of a placement, and whether it is a real one."""

    need: int


class Level:
    """What is asked of each node, by needs that are met as soon as enough nodes have it."""

    need: int  # one of them
    cpus: int  # of each node
    read: int  # how far the log of changed nodes was read
    alike: int  # 1 = all nodes that are able offer the same: all their CPUs
    marked: int  # ... when the marks were made
    family: int  # levels of one are alike but for the rest ...
    node_cpus: int  # ... of which more is harder to meet
    tasks: int
    memory: int


class Known(Record):
    """What is kept of the later room (see ``tenants``), and of who leaves (see ``leaving``)."""

    read: int  # how far the log of changed nodes was read
    listed: int  # ... as nodes of running jobs were listed


class Tenant:
    """A share of a node, in a list of those of the node by planned end."""

    placement: int  # of the job
    end: int  # when it is planned to end
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


TO_START, FOR_NOW, AHEAD = 0, 1, 2
"""``asks``: a start, a slot that would begin now, or one that lies ahead."""


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
    asks: int  # for what nodes are chosen: see above


class Cutoff(Record):
    """Up to where a pass may start something (see ``cutoff``)."""

    last: int  # the last queue entry whose job may start now
    taken: int  # 1 = since it was found, something was taken
    again: int  # the entry before which it is looked for again


class Bound:
    """From ``since`` to before ``start`` no job starts that asks for so much, for so long (s)."""

    since: int
    start: int
    limit: int
    nodes: int
    level: int


class Bounding(Record):
    """How many bounds are kept, and hold for the job that is tried (see ``bounds``)."""

    size: int
    held: int
    clear: int  # 1 = no reservation of an operator is in its way
    enough: int  # the planned end with which enough nodes are able at the last try, INF if too few are


class Window(Record):
    """From where to where records of the plan are kept in two parts (see ``windows``)."""

    middle: int  # the last record of the first part
    last: int  # of the second part; the same if that is empty


class Room(NamedTuple):
    """What is free, and who is there, n nodes: now, or once some jobs have ended."""

    free: Ints  # [c, n] as of ``shared_nodes``, which has that of now
    cores: Ints  # [sockets, n] of each socket
    jobs: Ints  # [classes + partitions, n] that run there, by class; then of each partition with several rows
    used: Ints  # [partitions, n] CPUs that jobs of those with MaxCPUsPerNode have
    taken: Words  # [rows, n, w] cores that the jobs of a row have; no rows where no core is shared
    row: Ints  # [slots] in which row a job is
    order: Ints  # [rows] those of each partition, the fullest first
    size: Ints  # [rows] how many cores its jobs have


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
    types: Ints  # [t, n] the kinds of the types of its GPUs, in the order of the node; 0 = no more
    holders: Words  # [needs, w] the nodes of its module that are large enough, whatever is given out
    level: Table[Level]
    known: Known
    mark: Ints  # [levels, MARKS] times: 0 is the first, and the last is behind all planned ends
    able_by: Words  # [levels, MARKS, w] the nodes that have what is asked for by then
    able_at: Ints  # [levels, n] 0 = now, else the planned end that makes a node able; INF = none does
    tenant: Table[Tenant]  # [slots]
    share: Ints  # [slots, c + s] what a job has of its nodes, then its cores of each socket
    now: Room
    later: Room
    attempt: Attempt
    cutoff: Cutoff
    window: Window
    bounding: Bounding
    bound: Table[Bound]  # [BOUNDS + 1] the last is that of the job that is tried
    holds: Table[Bound]  # [BOUNDS] those that hold for it
    leave_few: Words  # [.., w] the nodes of a few running jobs in the order of their planned ends
    leave_many: Words  # [.., w] ... of many
    gain: Ints  # [records, partitions] nodes that the next record has and this one has not
    from_record: Words  # [records, w] what is free from each record to the middle
    behind_middle: Words  # [w] ... and behind it, to the last
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
    records: int  # of the plan
    types: int  # of GPUs on a node, at most
    several: int = 0  # partitions with several rows
    rows: int = 0
    core_words: int = 0  # for the cores of a node


def _known() -> Known:
    made = one(Known)
    made.listed = -1
    return made


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
        return Room(
            free=zeros(kinds, n),
            cores=zeros(sockets, n),
            jobs=zeros(CLASSES + sizes.several, n),
            used=zeros(sizes.partitions, n),
            taken=np.zeros((sizes.rows, n if sizes.rows else 0, sizes.core_words), dtype=np.uint64),
            row=zeros(sizes.slots if sizes.rows else 0),
            order=zeros(sizes.rows),
            size=zeros(sizes.rows),
        )

    return ConsTres(
        rules=one(ConsTresRules),
        sharing=table(Sharing, sizes.partitions),
        machine=_machines(n),
        asked=table(Asked, sizes.placements),
        need=table(Need, sizes.needs),
        each=zeros(sizes.needs, generic),
        total=zeros(sizes.needs, generic),
        per_task=zeros(sizes.needs, generic),
        types=zeros(sizes.types, n),
        holders=words(sizes.needs, sizes.words),
        level=table(Level, sizes.levels),
        known=_known(),
        mark=zeros(sizes.levels, MARKS),
        able_by=np.zeros((sizes.levels, MARKS, sizes.words), dtype=np.uint64),
        able_at=zeros(sizes.levels, n),
        tenant=table(Tenant, sizes.slots),
        share=zeros(sizes.slots, sizes.kinds + sockets),
        now=room(0),
        later=room(sizes.kinds),
        attempt=one(Attempt),
        cutoff=one(Cutoff),
        window=one(Window),
        bounding=one(Bounding),
        bound=table(Bound, BOUNDS + 1),
        holds=table(Bound, BOUNDS),
        leave_few=words(min(sizes.placements, LEAVE_AT_MOST) // 8 + 1, sizes.words),
        leave_many=words(min(sizes.placements, LEAVE_AT_MOST) // 64 + 1, sizes.words),
        gain=zeros(sizes.records, sizes.partitions),
        from_record=words(sizes.records, sizes.words),
        behind_middle=words(1, sizes.words)[0],
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
