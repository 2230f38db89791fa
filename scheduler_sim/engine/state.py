"""What the core keeps: one named tuple of arrays, its slots and its codes.

Rows are components in trace order (submit time, then place in the trace). Every
component has one or more placements, stored one after the other; pools are the
modules followed by the shared resources. All times are int64 seconds. Tables are
arrays of records: a table is one argument to pass and a record one line of cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Table = Any
"""An array of records, or one record of it."""
Filler = Callable[[int, Ints, Floats, Floats], None]
"""Writes the keys of an order that depends on time: see ``orders``."""

INF = 1 << 60
"""Later than any instant of any trace."""

# States of a component: not submitted yet, held by a dependency, in the queue, with an appointment, ...
UNSEEN, HELD, WAITING, APPOINTED, RUNNING, COMPLETED, TIMEOUT, FAILED, CANCELLED, REJECTED = range(10)

# Dependency kinds
AFTER, AFTERANY, AFTEROK, AFTERNOTOK = 0, 1, 2, 3

# Slots of ``clock``: every scalar of the core
(
    NOW,  # the instant being handled
    SEEN,  # submissions handled so far
    HEAP,  # entries of the event heap
    HEAD,  # first place of the queue
    TAIL,  # one behind its last place
    NEW,  # newcomers of this step, not yet in the queue
    READY,  # components whose last dependency was satisfied, not yet eligible
    DIRTY,  # something came free or vanished since the last pass
    EARLY,  # ... and not when it was planned to: plans must be made anew
    LOST,  # nodes were lost: promises are void
    KICK,  # an outside action wants a pass at this instant
    ROWS,  # rows of the timeline
    STEPS,  # steps taken
    TOLD,  # watched components that started or ended in this step
    STATUS,  # why the core returned
    PROFILED,  # the profiles hold a plan made by an earlier pass
    MODULES,  # modules of the system: the first pools
    COMPONENTS,  # rows in use
    ORIGIN,  # first submission: where orders that depend on time count from
    DUE,  # the next promised start, where promises are kept
    APPOINTMENTS,  # components that have one
) = range(21)
CLOCK_SLOTS = 21

# Rows of ``lists``
(
    ARRIVALS,  # components in order of submission
    QUEUE,  # those that wait, in order, from HEAD to TAIL
    NEWCOMERS,  # NEW of them
    UNTIED,  # READY of them; below 0, arrays that have places to give
    CANDIDATES,  # for backfill in an order of their own
    NOTICES,  # TOLD of them
    EXPECTED,  # those with appointments, APPOINTMENTS of them, in order of time and trace
) = range(7)
LISTS = 7

# Why the core returned
DONE, UNTIL, BUDGET, NOTICE, TIMELINE_FULL = 0, 1, 2, 3, 4

# Slots of ``rules``: the policy, in numbers
(
    DEPTH,  # reservations a module: 0 fcfs, 1 easy, k, ALL conservative
    STRATEGY,  # how a placement is chosen
    ONE_EVENT,  # 1 = a pass after every single event
    EXTRA,  # 1 = candidates may outlast the shadow time on the extra nodes
    STATIC_SHADOW,  # 1 = the shadow time of a front is computed once
    BY_RUN,  # 1 = candidates are judged by their run time
    DYNAMIC,  # 1 = the order depends on time
    TWO_ORDERS,  # 1 = the candidates have an order of their own, 2 = and it depends on time
    COMPLEX,  # 1 = some component has several placements or asks for shared resources
    FIRST_FIT,  # 1 = nobody blocks anybody
    UNITS,  # 1 = there are units of several components, or calls: ``member`` is in use
    RESERVED,  # 1 = only who starts at once is planned, the others are appointed beside the plan
    EXTEND,  # 1 = who asks for more time gets it, if nobody has an appointment there
    OVERRUN,  # s a component may run past its limit
    SWITCHING,  # 1 = nodes that have been idle for long are switched off
) = range(15)
RULE_SLOTS = 15
ALL = -1
"""Depth of conservative backfill: every waiting component holds a reservation."""

# Placement strategies
PREFERRED, FIRST_AVAILABLE, EARLIEST_START, EARLIEST_END, LEAST_COST = 0, 1, 2, 3, 4


HOLD = 1 << 32
"""In ``missing``: whatever else holds a component; a dependency counts 1."""

# A component; its placements are rows first .. last - 1 of ``place``, those who
# depend on it after .. after_last - 1 of ``edge``.
COMPONENT = np.dtype(
    [
        ("submit", "i8"),
        ("tier", "i8"),  # priority of the partition, larger first
        ("key", "f8"),  # the order, smaller first
        ("second_key", "f8"),  # the order of backfill candidates
        ("fails", "i8"),  # 1 = a nonzero exit code
        ("state", "i8"),
        ("eligible", "i8"),
        ("start", "i8"),
        ("end", "i8"),  # while it runs: when it will really end
        ("placed", "i8"),  # the placement it runs in
        ("promise", "i8"),  # start of its reservation, INF without one
        ("promised", "i8"),  # ... and the placement, -1 without one
        ("wait_resources", "i8"),
        ("missing", "i8"),  # dependencies not yet satisfied, and what else holds it
        ("held", "i8"),  # 1 = held by hand, until it is released
        ("watch", "i8"),  # 1 = return to the caller when it starts or ends
        ("first", "i8"),
        ("last", "i8"),
        ("after", "i8"),
        ("after_last", "i8"),
    ]
)

# What ends a placement: its limit; itself, but past its limit; else itself in time.
BY_LIMIT, PAST_LIMIT = 1, 2

PLACEMENT = np.dtype(
    [
        ("module", "i8"),
        ("nodes", "i8"),
        ("limit", "i8"),
        ("test", "i8"),  # what a candidate is judged by: the limit, or in one dialect the run time
        ("duration", "i8"),  # what it really takes: min(run time, limit + overrun)
        ("killed", "i8"),  # 0, BY_LIMIT or PAST_LIMIT
        ("cost", "f8"),  # nodes x cost of a node x limit
    ]
)

# What holds a component besides its dependencies and hands; none where no component asks for any of it.
TERM = np.dtype(
    [
        (
            "begin",
            "i8",
        ),  # not before this time, -1 = any; Slurm: since when its age counts, once it waits
        ("group", "i8"),  # number of its user and name, if there are singletons among them; else -1
        ("following", "i8"),  # the next of them, -1 = none
        ("singleton", "i8"),  # 1 = it waits for those before it
        ("array", "i8"),  # number of its job array, -1 = none
        ("next_task", "i8"),  # the next of the array, -1 = none
        ("place", "i8"),  # whether it has a place among the tasks that may run at once; 0 = it needs none
    ]
)
LACKS_PLACE, HAS_PLACE = 1, 2
GROUP = np.dtype([("head", "i8"), ("first", "i8"), ("running", "i8")])
ARRAY = np.dtype(
    [
        ("limit", "i8"),  # tasks that may run at once, -1 = any number
        ("running", "i8"),  # tasks that do, or, but for Slurm, may
        ("head", "i8"),  # its first task, and the first that may have yet to run
        ("first", "i8"),
        ("asked", "i8"),  # 1 = it has a place to give with the next updates of dependencies
        ("made_in", "i8"),  # Slurm: the pass that last counted its reservations
        ("reserved", "i8"),
    ]
)

EDGE = np.dtype(
    [
        ("successor", "i8"),
        ("kind", "i8"),
        ("satisfied", "i8"),
        ("delay", "i8"),  # AFTER: s from the start to the moment it is satisfied
    ]
)
# What several components that start by one plan have in common (see ``units``): their rows are
# first .. last - 1 of ``crew``, what they need rows rect .. rect_last - 1 of ``rect``, and what those need
# who start at once, rows at_once .. at_once_last - 1.
UNIT = np.dtype(
    [
        ("leader", "i8"),  # the member that stands for all in the queue
        ("start", "i8"),  # -1 until it starts
        ("first", "i8"),
        ("last", "i8"),
        ("rect", "i8"),
        ("rect_last", "i8"),
        ("at_once", "i8"),
        ("at_once_last", "i8"),
        ("delayed", "i8"),  # 1 = not all start at once
    ]
)
RECT = np.dtype([("pool", "i8"), ("offset", "i8"), ("length", "i8"), ("nodes", "i8")])

# What a component has besides, where there are units or calls; its calls are rows call .. call_last - 1.
MEMBER = np.dtype(
    [
        ("unit", "i8"),  # -1 = none
        ("whole", "i8"),  # ... it was submitted in
        ("group", "i8"),  # under Slurm the unit of those with the same delay, once they are apart; -1 = alone
        ("offset", "i8"),  # s from the start of the unit to its own
        ("appointment", "i8"),  # -1 = none yet
        ("run", "i8"),  # s it would take without a limit
        ("limit", "i8"),  # s it asked for
        ("call", "i8"),
        ("call_last", "i8"),
        ("known", "i8"),  # Slurm: its earliest start known in this pass, INF = none yet, -1 = no turn yet
        ("planned", "i8"),  # ... and the one that came to the deadlock test, -1 = none
        ("until", "i8"),  # Slurm: end of its advance reservation, 0 = none
        ("booked", "i8"),  # ... whose nodes are in rows booked .. booked_last - 1 of ``booked``
        ("booked_last", "i8"),
    ]
)
BOOKED = np.dtype([("word", "i8"), ("bits", "u8")])
CALL = np.dtype([("row", "i8"), ("kind", "i8"), ("after", "i8")])  # s after the start of the component
WF_API, EXTEND_JOB = 0, 1  # kinds of calls
END = np.dtype([("time", "i8"), ("row", "i8")])
RELEASE = np.dtype([("time", "i8"), ("row", "i8"), ("nodes", "i8")])
STEP = np.dtype([("time", "i8"), ("free", "i8")])

POOL = np.dtype(
    [
        ("free", "i8"),  # idle and in service
        ("draining", "i8"),  # nodes that leave service as they become idle
        ("down", "i8"),
        ("release_head", "i8"),
        ("release_tail", "i8"),
        ("profile_size", "i8"),
        ("blocked", "i8"),  # fcfs: nothing passes here
        ("front", "i8"),  # easy: the first component that cannot start, -1 = none
        ("shadow", "i8"),
        ("extra", "i8"),
        ("reserved", "i8"),  # plan: reservations held; easy: the front of the pass before
        # what is recorded of a module
        ("busy", "i8"),
        ("queued", "i8"),  # waiting components
        ("queued_nodes", "i8"),
        ("touched", "i8"),
        ("short_free", "i8"),
        ("short_since", "i8"),
        ("written_busy", "i8"),
        ("written_down", "i8"),
        ("written_queued", "i8"),
        ("written_nodes", "i8"),
        ("written_held", "i8"),
    ]
)

TIMELINE_COLUMNS = ("time", "module", "busy", "down", "queued", "queued_nodes")
"""... and ``held``, where nodes can be held idle for somebody or switched off, and then SWITCHED_COLUMNS."""
SWITCHED_COLUMNS = ("off", "booting", "stopping")

# What switching nodes off needs: a record for each pool; each module has lines of batches (see ``idle``).
SWITCH = np.dtype(
    [
        ("timeout", "i8"),  # s a node is idle before it is switched off, INF = never
        ("awake", "i8"),  # idle nodes that are kept on
        ("boot_s", "i8"),
        ("stop_s", "i8"),
        ("off", "i8"),
        ("booting", "i8"),
        ("stopping", "i8"),
        ("planned", "i8"),  # when those that are off are planned to be up, 0 = there are none
        ("latest", "i8"),  # fcfs: the last start for which nodes are booted
        ("written_off", "i8"),
        ("written_booting", "i8"),
        ("written_stopping", "i8"),
    ]
)
IDLE, BOOTING, STOPPING = 0, 1, 2  # lines
LINES = 3
BATCH = np.dtype([("time", "i8"), ("nodes", "i8")])  # idle since, up or off at
WINDOW = np.dtype([("head", "i8"), ("tail", "i8")])


class Core(NamedTuple):
    """The whole state of a simulation: n components, p placements, m modules, k pools."""

    clock: Ints
    rules: Ints
    comp: Table  # COMPONENT [n]
    place: Table  # PLACEMENT [p]
    demand: Ints  # [p, k - m] of each shared resource
    edge: Table  # EDGE, by the component waited for
    term: Table  # TERM [n], or none
    group: Table  # GROUP
    array: Table  # ARRAY
    lists: Ints  # [LISTS, n + 1]
    columns: Floats  # [c, n] what a priority function that depends on time may read
    keys: Floats  # [n]
    heap: Table  # END: what runs, by its real end, and what else comes by itself (see events)
    pool: Table  # POOL [k]
    release: Table  # RELEASE [k, r]: what runs, by planned end
    profile: Table  # STEP [k, q]: free from one time to the next
    short: Ints  # [m, nodes + 2] Fenwick tree: seconds spent with so many nodes free
    timeline: Ints  # [rows, 6, 7 or 10], see TIMELINE_COLUMNS
    switch: Table  # SWITCH [k], or none
    batch: Table  # BATCH [m, LINES, nodes]
    window: Table  # WINDOW [m, LINES]: where in ``batch`` each line is
    unit: Table  # UNIT
    crew: Ints  # members of the units, by offset and trace order
    rect: Table  # RECT
    member: Table  # MEMBER [n], or none
    call: Table  # CALL, by component
    booked: Table  # BOOKED, by component
    # what Slurm's schedulers need besides: see slurm.slots; otherwise these are empty
    slurm: Ints  # parameters and scalars
    partition: Table  # PARTITION
    way: Table  # WAY [p]
    job: Table  # JOB [n]
    counter: Table  # COUNTER [users, 1 + partitions]
    masks: Words  # [.., w] the nodes of modules, partitions, weights and constraints
    choice: Table  # CHOICE
    need: Table  # NEED
    sets: Words  # [NODE_SETS, w]
    piece: Table  # PIECE
    record: Table  # RECORD [r + 1]
    space: Words  # [SPAN_ROWS + r, w] seats that spans, and records of the plan, have free
    listed: Table  # LISTED: rows of ``space``
    span: Table  # SPAN
    front: Table  # FRONT [FRONTS]
    mark: Table  # MARK [SPAN_ROWS + r]
    gain: Ints  # [SPAN_ROWS + r, partitions] nodes that the next record has and this one has not
    note: Table  # NOTE [SPAN_ROWS + r, partitions, NOTES]
    node_in: Ints  # int32[64 w] the node in each seat
    seat_of: Ints  # int32[64 w] the seat of each node
    moved: Ints  # int32[64] nodes on the way to other seats
    back: Ints  # [m, nodes + 2] the seat behind those that are idle once so many have ended
    seats_of: Words  # [.., w] the masks, in the order of seats
    seated_at: Ints  # ... of which number that was
    spots: Ints  # [w] the words of a set that are not empty
    run: Ints  # nodes of a set that stand side by side (see nodes)
    turn: Table  # TURN
    factor: Table  # FACTORS [p]
    assoc: Table  # ASSOC
    order: Table  # SORTED: the associations, by group
    weight: Floats  # what is not whole
    resets: Ints  # when usage is forgotten
