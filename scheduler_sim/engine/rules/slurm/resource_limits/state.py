"""What limits of QOS and associations keep: which limits bind a job, and what counts against them.

Which limit applies, of those that two QOS and all associations above a user set, does not change during a
run. So it is worked out before: jobs of one association and QOS, in one partition, share a ``Standing``,
which lists the limits that apply, in Slurm's order, and the counters that its jobs are added to. A counter
that no limit looks at does not exist.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Floats, Ints, Record, Table, one, table
from scheduler_sim.engine.rules.slurm.state import SlurmCore

# fmt: off
(GRP_JOBS, GRP_WALL, MAX_JOBS, MAX_WALL,  # asked before nodes are looked for
 GRP_MINUTES, GRP_AMOUNT, GRP_RUN_MINUTES, MAX_MINUTES, MAX_AMOUNT, MAX_PER_NODE, MIN_AMOUNT,  # ... and after
 SUBMIT) = range(12)
# fmt: on
"""Kinds of limits. A limit of a user's or an account's jobs in a QOS is one of a counter of theirs."""

DENIED = 1
"""Number of the word for what a QOS denies at submission."""

BELOW = 2
"""Number of the word for a fair share below what a QOS asks for."""

NOT_IN_LINE, IN_LINE = -2, -1
"""Of a job that does not wait, and of one that accrues no age yet."""

NO_RESOURCE = -1
NOT_DEALT, NODES = -1, -2
"""Resources that are as asked for, and the number of nodes."""
NO_CAP = 1 << 40  # nodes


class LimitRules(Record):
    """How limits are enforced."""

    safe: int  # 1 = a job starts only if its minutes suffice to its limit
    stop: int  # 1 = assoc_limit_stop: one that waits for a limit holds up others
    minutes: int  # 1 = some limit is one of minutes that computations change
    accrual: int  # 1 = it is limited how many jobs accrue age
    in_line: int  # how many have no place among them
    thresholds: int  # 1 = some QOS asks for a least fair share
    moving: int  # computations that fair shares may yet change in, though nothing runs
    brief: int  # 1 = what is not planned is tried as if it took a minute: it may be preempted
    whole: int  # s, the limit of the job that is tried so
    exact: int  # 1 = a job has what it asks for, whichever nodes it gets
    resets_done: int  # how often usage has been forgotten
    chosen: int  # 1 = what a job WOULD HAVE is of nodes that were chosen
    check_due: int  # when jobs are looked for whose minutes are used up, 0 = no such look is due


class Limit:
    """A limit that applies."""

    kind: int
    counter: int  # what counts against it, -1 = the job alone
    resource: int  # column of the amounts, NO_RESOURCE = jobs, or time
    most: int  # jobs, amount, minutes, resource-minutes
    reason: int  # number of the word that Slurm has for it
    group: int  # 1 = of the jobs of a QOS all together
    qos: int  # the QOS whose limit it is, -1 = of an association


class Standing:
    """Jobs of one association and QOS in a partition: what they are held to, and where they count."""

    before: int  # limits that are asked before nodes are looked for: before .. after - 1
    after: int  # ... and once it is known what they would get: after .. at_submission - 1
    at_submission: int  # ... and when they are submitted: at_submission .. last - 1
    last: int
    counted: int  # its counters: rows counted .. counted_last - 1 of ``counted``
    counted_last: int
    accruing: int  # ... and where it counts while it accrues age: rows accruing .. accruing_last - 1
    accruing_last: int
    accrual: int  # the counter of those that do with it, -1 = they are not limited
    most_accrue: int
    most_nodes: int  # more are never allowed
    nodes_reason: int
    least_priority: int  # that reserves, -1 = as for all
    forgoes: int  # 1 = NoReserve: its jobs are not planned for later
    strict: int  # 1 = what it can never have is refused when it is submitted
    refused: int  # number of the word for why its association may not have its QOS, 0 = it may
    qos: int  # the QOS that hold it up, with assoc_limit_stop, -1 = none
    other_qos: int
    least_share: float  # weighted, below which its jobs wait; 0 = any will do
    safe_factor: float  # its time limits count so many times
    factor: float  # ... and so does what it uses


class Counter:
    """What counts of a QOS, an association, or a user or an account in a QOS."""

    jobs: int  # that run
    submitted: int  # that wait or run
    accruing: int  # that wait, and accrue age
    wall: float  # s used up to the last computation, decayed
    nodes: int  # row of ``on_node``, where nodes that jobs share are counted once; -1 = none
    decays: int  # 0 = its usage does not decay


class LimitedJob:
    """What limits keep of a job."""

    charged: int  # up to when what it used is charged
    reason: int  # number of the word for the limit that it waits for, 0 = none
    since: int  # ... and since when
    last_reason: int  # the last one that there was
    head: int  # the first task of its array, itself if it has none
    tasks: int  # jobs that are submitted with that one, itself counted
    counts: int  # 1 = it counts as submitted
    blocking: int  # the QOS whose limit stood last against the nodes that it would have, -1 = none
    accrues: int  # since when its age counts; IN_LINE, NOT_IN_LINE
    fresh: int  # 1 = no pass has found it eligible yet
    below: int  # 1 = its fair share was below what its QOS asks for at the last computation
    share: float  # ... and what it was
    short: int  # in which partitions it was short of minutes before they were computed, a bit for each


class ResourceLimits(NamedTuple):
    """r resources that are limited, p placements, n jobs, c counters."""

    rules: LimitRules
    standing: Table[Standing]
    limit: Table[Limit]
    counter: Table[Counter]
    counted: Ints  # rows of ``counter``, by standing
    of: Ints  # [p] the standing of a placement
    asks: Ints  # [p, r] what it asks for, as far as that is known before it has nodes
    job: Table[LimitedJob]  # [n]
    waited: Ints  # [n, words] s that it waited for each limit before that, by the number of the word for it
    line: Ints  # [n] those that accrue no age yet, in the order of the list of jobs
    has: Ints  # [n, r] what it has since its start
    would_have: Ints  # [r] of the job that is looked at
    amount: Ints  # [c, r] in use
    used: Floats  # [c, r] resource-s up to the last computation, decayed
    may_use: Floats  # [c, r] resource-s that running jobs may yet use, by the last computation
    on_node: Ints  # [.., nodes] jobs of a counter on each node
    node_has: Ints  # [nodes, r] what there is on a node, by its place in sets of nodes
    by_node: Ints  # [r] 1 = how much a job has of it depends on which nodes it has
    unlike: Ints  # [modules] 1 = its nodes have not all the same
    held_up: Ints  # [qos] until when jobs of a QOS are planned no earlier, in this pass
    resets: Ints  # when usage is forgotten
    dealt_as: Ints  # [r] the kind under which shares of it are dealt; or NODES, or NOT_DEALT
    unit: Ints  # [r] ... and how many of its units are one


class LimitedCore(SlurmCore):
    """A core whose jobs are held to limits of QOS and associations."""

    resource_limits: ResourceLimits


class LimitSizes(NamedTuple):
    """How much room there is."""

    rows: int
    placements: int
    resources: int
    qos: int
    modules: int
    words: int  # for limits


def blank_resource_limits(sizes: LimitSizes) -> ResourceLimits:
    """Return the part; there is no standing, and nothing counts, yet."""

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    r, job = sizes.resources, table(LimitedJob, sizes.rows)
    job["accrues"], job["blocking"] = NOT_IN_LINE, -1
    return ResourceLimits(
        rules=one(LimitRules),
        standing=table(Standing, 0),
        limit=table(Limit, 0),
        counter=table(Counter, 0),
        counted=zeros(0),
        of=zeros(sizes.placements),
        asks=zeros(sizes.placements, r),
        job=job,
        waited=zeros(sizes.rows, sizes.words),
        line=zeros(sizes.rows),
        has=zeros(sizes.rows, r),
        would_have=zeros(r),
        amount=zeros(0, r),
        used=np.zeros((0, r)),
        may_use=np.zeros((0, r)),
        on_node=zeros(0, 0),
        node_has=zeros(0, r),
        by_node=zeros(r),
        unlike=zeros(sizes.modules),
        held_up=zeros(sizes.qos),
        resets=zeros(0),
        dealt_as=np.full(r, NOT_DEALT, dtype=np.int64),
        unit=np.ones(r, dtype=np.int64),
    )
