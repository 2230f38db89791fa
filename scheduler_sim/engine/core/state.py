"""What the core keeps: parts with named fields, and the codes that stand in them.

Rows are jobs in trace order (submit time, then place in the trace): what the documents call components.
Every job has one or more placements, stored one after the other; pools are the modules
followed by the shared resources. All times are int64 seconds. What a rule keeps is a part of its own,
declared where the rule is, and absent where the run does not need it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from scheduler_sim.engine.core.records import Floats, Ints, Record, Rows, Short, Table, Tiny

Filler = Callable[[int, Ints, Floats, Floats], None]
"""Writes the keys of an order that depends on time: see ``orders``."""

INF = 1 << 60
"""Later than any instant of any trace."""

# States of a job: not submitted yet, held, in the queue, with a reservation of its own, ...
UNSEEN, HELD, WAITING, RESERVED, RUNNING = range(5)
COMPLETED, TIMEOUT, FAILED, CANCELLED, REJECTED, PREEMPTED = range(5, 11)
STATE_NAMES = (
    *("NOT SUBMITTED", "HELD", "WAITING", "RESERVED", "RUNNING"),
    *("COMPLETED", "TIMEOUT", "FAILED", "CANCELLED", "REJECTED", "PREEMPTED"),
)

# Why the core returned
DONE, UNTIL, BUDGET, NOTICE, TIMELINE_FULL, BROKEN = 0, 1, 2, 3, 4, 5

ALL = -1
"""Depth of conservative backfill: every waiting job holds a reservation."""

# Placement strategies
PREFERRED, FIRST_AVAILABLE, EARLIEST_START, EARLIEST_END, LEAST_COST = 0, 1, 2, 3, 4

KEPT = 64
"""So many slots of each pool are kept while a plan is made."""

HOLD = 1 << 32
"""In ``missing``: whatever else holds a job; a dependency counts 1."""

# What ends a placement: its limit; itself, but past its limit; else itself in time.
BY_LIMIT, PAST_LIMIT = 1, 2


class Clock(Record):
    """Where the simulation stands."""

    now: int  # the instant being handled
    origin: int  # first submission: where orders that depend on time count from
    due: int  # when the clock has to stop next, beside events and submissions
    events: int  # entries of the event heap
    rows: int  # rows of the timeline
    steps: int  # steps taken
    status: int  # why the core returned
    modules: int  # modules of the system: the first pools
    jobs: int  # rows in use
    pass_requested: int  # an outside action wants a pass at this instant
    dirty: int  # something came free or vanished since the last pass
    early: int  # ... and not when it was planned to: plans must be made anew
    lost: int  # nodes were lost: kept reservations are void
    profiled: int  # the profiles hold a plan made by an earlier pass
    unplanned: int  # ... but for so many jobs at the end of the queue
    law: int  # the law that was broken, see ``laws``; 0 = none
    law_of: int  # ... whose
    law_count: int  # ... and what was found


class Rules:
    """The policy, in numbers; nothing changes them while the core is at work, but for ``complex``."""

    depth: int  # reservations a module: 0 fcfs, 1 easy, k, ALL conservative
    strategy: int  # how a placement is chosen
    extra: int  # 1 = candidates may outlast the shadow time on the extra nodes
    static_shadow: int  # 1 = the shadow time of a front is computed once
    by_run: int  # 1 = candidates are judged by their run time
    dynamic: int  # 1 = the order depends on time
    two_orders: int  # 1 = the candidates have an order of their own, 2 = and it depends on time
    complex: int  # 1 = some job has several placements or asks for shared resources
    first_fit: int  # 1 = no job blocks another
    named: int  # 1 = nodes are told apart: each waiting job is looked at, and each pass chooses nodes anew
    overrun: int  # s a job may run past its limit


class Job:
    """A job; its placements are rows first .. last - 1 of ``placements``."""

    submit: int
    eligible: int
    start: int
    end: int  # while it runs: when it will really end
    placed: int  # the placement it runs in
    reserved_start: int  # start of its reservation, INF without one
    reserved_placement: int  # ... and the placement, -1 without one
    wait_resources: int
    missing: int  # dependencies not yet satisfied, and what else holds it
    first: int
    last: int
    state: Tiny
    fails: Tiny  # 1 = a nonzero exit code
    measured: Tiny  # 1 = its wait for nodes is read off its module, see ``measure_wait``
    held: Tiny  # 1 = held by hand, until it is released
    watch: Tiny  # 1 = return to the caller when it starts or ends


class Rank:
    """What a job is ordered by, before its submission; all 0 where the first to come are the first served."""

    tier: int  # priority of the partition, larger first
    key: float  # the order, smaller first
    second_key: float  # the order of backfill candidates


class Placement:
    """One way to run a job."""

    module: int
    nodes: int
    limit: int
    duration: int  # what it really takes: min(run time, limit + overrun)
    killed: Tiny  # 0, BY_LIMIT or PAST_LIMIT


class Pool:
    """A module or a shared resource."""

    free: int  # idle and in service
    draining: int  # nodes that leave service as they become idle
    down: int
    release_head: int
    release_tail: int
    profile_size: int
    found: int  # the step of the profile at which the last slot was found
    found_last: int  # ... and the step in which it ends
    slots: int  # slots kept since the plan was begun
    blocked: int  # fcfs: nothing passes here
    front: int  # easy: the first job that cannot start, -1 = none
    shadow: int
    extra: int
    reserved: int  # reservations held; easy: the front of the pass before
    cost: float  # of a node for a second
    # what is recorded of a module
    busy: int  # of a shared resource, what jobs have of it
    queued: int  # waiting jobs
    queued_nodes: int
    touched: int
    short_free: int
    short_since: int
    written_busy: int
    written_down: int
    written_queued: int
    written_nodes: int
    written_held: int


class QueueAt:
    """How far the lists of the queue reach."""

    seen: int  # submissions handled so far
    head: int  # first place of the queue
    tail: int  # one behind its last place
    new: int  # newcomers of this step, not yet in the queue
    released: int  # jobs that nothing holds any more, not yet eligible
    told: int  # watched jobs that started or ended in this step


class Queue(NamedTuple):
    """Lists of jobs, each [n + 1]."""

    at: QueueAt
    arrivals: Ints  # jobs in order of submission
    waiting: Ints  # those that wait, in order, from head to tail
    newcomers: Ints  # at.new of them
    released: Ints  # at.released of them; below 0, arrays that have places to give
    candidates: Ints  # for backfill in an order of their own
    notices: Ints  # at.told of them


class Orders(NamedTuple):
    """What orders are made of."""

    columns: Floats  # [c, n] what a priority function that depends on time may read
    keys: Floats  # [n]
    fill: Filler  # writes the keys


class End:
    """What happens by itself: the end of a job, or what else ``events`` knows."""

    time: int
    row: int


class Release:
    """A planned end: nodes (or an amount) that come back."""

    time: int
    row: int
    nodes: int


class Step:
    """So many are free from a time to that of the next step."""

    time: int
    free: int


class Slots(NamedTuple):
    """The slots found last for a plan, of each pool: [k, KEPT] each."""

    nodes: Ints
    length: Ints  # s
    start: Ints


class Row:
    """A row of the timeline: a module from a time on."""

    time: int
    queued_nodes: int  # what the jobs ask for that wait in it
    module: Short
    busy: Short  # nodes
    down: Short  # nodes
    queued: Short  # jobs


class IdleRow:
    """Further columns of that row: nodes that are not busy, and cannot be had at once."""

    held: Short  # for a job
    off: Short
    booting: Short
    stopping: Short


class Core:
    """What every simulation has: n jobs, p placements, m modules, k pools. Rules add parts to it.

    A core is a named tuple, made by ``engine.blank``; this says what is in it.
    """

    clock: Clock
    rules: Rules
    scheme: Any  # which passes are made: see ``schemes``
    jobs: Table[Job]  # [n]
    ranks: Table[Rank]  # [n]
    placements: Table[Placement]  # [p]
    demand: Ints  # [p, k - m] of each shared resource
    pools: Table[Pool]  # [k]
    queue: Queue
    orders: Orders
    heap: Table[End]  # what runs, by its real end, and what else comes by itself (see events)
    releases: Rows[Release]  # [k, r] what runs, by planned end; absent where no pass looks ahead
    profile: Rows[Step]  # [k, q] free from one time to the next
    slots: Slots  # kept while a plan is made
    short: Ints  # [m, nodes + 2] Fenwick tree: seconds spent with so many nodes free
    timeline: Table[Row]  # [rows]
    idle_rows: Table[IdleRow]  # [rows]; absent where no idle nodes are held for a job, or switched off

    if TYPE_CHECKING:
        _fields: tuple[str, ...]

        def _replace(self, **parts: Any) -> Self: ...
