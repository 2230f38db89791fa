"""What Slurm's schedulers keep beside the rest of the core: parameters, partitions, nodes, the plan.

Nodes of a system are numbered through, each module from a new word of 64 on, so that sets
of nodes are rows of words (see ``bits``). What a running component holds is a chain of
pieces: a word each, with the bits it has there.
"""

from __future__ import annotations

import numpy as np

# Slots of ``core.slurm``: first the parameters, by Slurm's names and in seconds ...
(
    HOLDING,  # 1 = nodes are held by name: Slurm's schedulers are at work
    SCHED_INTERVAL,
    SCHED_MIN_INTERVAL,
    BATCH_SCHED_DELAY,
    QUEUE_DEPTH,
    PARTITION_JOB_DEPTH,
    BF_INTERVAL,
    BF_MAX_JOB_TEST,
    BF_RECORDS,
    BF_MAX_JOB_PART,
    BF_MAX_JOB_USER,
    BF_MAX_JOB_USER_PART,
    BF_MAX_JOB_START,
    BF_ARRAY_RESERVE,
    BF_WINDOW,
    BF_WINDOW_LINEAR,
    BF_RESOLUTION,
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    BF_PART_RESERVE,
    BF_ONE_RESERVATION,
    BUILTIN,  # 1 = no backfill scheduler, IN_LIST_ORDER = nor does the main one heed priorities
    KILL_INVALID,
    OVER_TIME,  # s a component may run past its limit
    KILL_WAIT,
    CHECK_PERIOD,  # s between two looks for components past their limit; 0 = at the second
    EPILOG,  # s from an end to the moment the nodes are idle
    LAUNCH,  # s from a start by the backfill scheduler to the first second of the run time
    KILLED,  # ... more after one that was killed
    MAIN_WAIT,  # ms from an end to the main scheduler's look at it, on average
    REQUEUE_DELAY,
    EPOCH,
    FIXED,  # 1 = reservations name their nodes
    INCLUSIVE,  # 1 = to end in the second in which a reservation begins is a conflict
    ALIGNED,  # 1 = later than 19.05: groups begin at half minutes of the epoch, tries where nodes are gained
    BACKFILL_FIRST,  # 1 = within a second the backfill scheduler looks before the main one
    GROUPED,  # 1 = ends of running components are predicted in groups
    SKIP,  # 1 = passes and turns that can change nothing are skipped
    BASIC,  # 1 = priority/basic: in order of submission
    AT_END,  # 1 = an end brings a pass at once
    ALWAYS_MORE,  # 1 = the backfill scheduler does not ask whether anything changed
    WEIGHT_AGE,
    WEIGHT_FAIR,
    MAX_AGE,
    ACCRUE_ALWAYS,
    INCREASE_ONLY,
    ALGORITHM,  # of fair share
    LONGEST,  # 1 = heterogeneous jobs end with their longest component, not with the first
    CHARGE_ENDS,  # 1 = what was used since the last computation is charged at an end
    CALC_PERIOD,  # s from one computation of the priorities to the next, 0 = never
    STARTS_AT,  # when the daemon started: its timers count from there
    # ... then what the schedulers remember
    LAST_MAIN,  # when the main scheduler last made a pass that was asked for
    ASKED_AT,  # ... and since when
    ASKED,  # 1 = an end, a submission or a change asks for a pass
    ENDED_HERE,  # 1 = something ended at this instant by itself, 2 = and did so behind an earlier look
    HEARS_AT,  # when the main scheduler hears of the last end
    WAITED,  # ms of such waits that whole seconds have yet to make up for
    UNSEEN_BY_FULL,  # 1 = a pass over the whole queue may start something
    LAST_BACKFILL,
    LAST_CHANGE,  # when something last changed that the backfill scheduler looks out for
    SEEN_FROM,  # ... and from when on it can see that
    LOOKED,  # when it last looked before the rest of a second happened
    CHANGED,  # 1 = newcomers joined the end of the queue since its last pass, 2 = something else changed
    VALID,  # until when it would come out as the last one, if nothing changes
    SELF,  # 1 = a pass like the last one is itself a change to look out for
    NEXT_CALC,  # when priorities are computed next
    STEADY_UNTIL,  # ... and until when that changes nothing, if nothing else does
    LAST_CALC,  # ... and were last
    UNRANKED,  # 1 = usage has changed since Fair Tree last ranked its users
    RESETS_DONE,  # how often usage has been forgotten
    SEEN_BEFORE,  # submissions handled up to the instant before
    SERIAL,  # of the next submission or release, under priority/basic
    SPARE,  # first free piece
    RECORDS,  # records of the plan
    RECORDS_MADE,  # ... and those joined to others, as Slurm counts them
    SPANS,  # of it
    WINDOW_END,  # where the plan ends
    PASS,  # number of the backfill pass, for counters that need no clearing
    PLANNED,  # first of those in the queue who have yet to have a turn in the last pass
    BROKEN_OFF,  # 1 = a limit ended it: there are no more turns
    STARTED,  # components started in this pass
    TURNS,  # turns there are in this pass
    TESTED,  # components tested in it
    RETRIED,  # 19.05: begin of the reservation for which a component was last tried once more, -INF = none
    ENDS,  # components that run, by planned end, as their nodes are seated
    SEATING,  # number of the order of seats
    SPOTS,  # words of PICKED_SEATS that are not empty
    ROWS,  # sets listed for a try: those of the plan from its start on
    ENDED,  # components that have ended by the end of a try
    TAKEN,  # 1 = since last asked who may start now, idle nodes were taken
    WAITS_FROM,  # since when somebody has waited in the queue
    PENDING,  # components submitted, not held by hand, that have yet to start
    UNLOOKED,  # of those in the queue, how many no pass has looked at: they stand in CANDIDATES
) = range(93)
SLURM_SLOTS = 93

IN_LIST_ORDER = 2  # Slurm's fifo: the main scheduler walks the list of jobs

# Slots of ``weight``: what is not whole
DECAY_RATE, DAMPING = range(2)
WEIGHTS = 2

# Rows of ``sets``
IDLE, LEAVING, FREE, AVAILABLE, LATER, PICKED, REST, UP, EITHER, BEST = range(10)
# ... in the order of seats (see ``seats``)
STAYING, EITHER_SEATS, PICKED_SEATS, UP_SEATS = range(10, 14)
NODE_SETS = 14

VECTOR = 8  # words the processor works on at once, at best: modules of many have whole ones
SPANS_AT_MOST = 128  # a power of 2
SPAN_ROWS = 2 * SPANS_AT_MOST  # of ``space``: those of the records come behind
FRONTS = 8
NOTES = 2  # for each record of the plan and partition

PARTITION = np.dtype(
    [
        ("module", "i8"),
        ("low", "i8"),  # words of its module: low .. high - 1
        ("high", "i8"),
        ("members", "i8"),  # row of ``masks``: its nodes
        ("lightest", "i8"),  # rows of ``masks``: the nodes of its module by weight, ascending
        ("heaviest", "i8"),  # ... up to the one before this
        ("tried", "i8"),  # components tried in this pass
        ("reserved", "i8"),  # reservations made in this pass
        ("blocked", "i8"),  # main scheduler: nothing more starts here in this pass
    ]
)

# What Slurm adds to a placement: one way to run a component is one partition.
WAY = np.dtype(
    [
        ("partition", "i8"),
        ("mask", "i8"),  # row of ``masks``: the nodes it may use, by any of its choices
        ("first", "i8"),  # its choices: first .. last - 1
        ("last", "i8"),
        ("choice", "i8"),  # the one that was tried last
        ("tier", "i8"),
        ("key", "f8"),  # minus its priority: smaller first, as in every queue
        ("run", "i8"),  # s it would take without a limit
    ]
)

# Nodes a placement may take: one choice, or one for each alternative of ``[a|b]``.
CHOICE = np.dtype(
    [
        ("mask", "i8"),  # row of ``masks``: those that will do
        ("first", "i8"),  # what it needs besides, counts of nodes: first .. last - 1
        ("last", "i8"),
    ]
)
NEED = np.dtype([("mask", "i8"), ("count", "i8")])  # at least so many of these nodes

# What Slurm adds to a component.
JOB = np.dtype(
    [
        ("piece", "i8"),  # first piece of the nodes it holds, -1 = none
        ("user", "i8"),
        ("association", "i8"),
        ("nice", "i8"),
        ("billing", "f8"),  # processors it is charged for
        ("hopes", "i8"),  # how many of its dependencies may yet fail: from 0 down it never starts
        ("last", "i8"),  # the placement it last ran in
        ("launch", "i8"),  # s from its start to the first second of its run time
        ("given", "i8"),  # 1 = its priority was set by hand, and stays
    ]
)

PIECE = np.dtype([("word", "i8"), ("bits", "u8"), ("next", "i8")])
LISTED = np.dtype([("row", "i8"), ("reach", "i8")])  # row of ``space``, and up to where all so far reach
TURN = np.dtype([("row", "i8"), ("placement", "i8")])
RECORD = np.dtype([("begin", "i8"), ("row", "i8")])  # row of ``space`` and ``note``

SPAN = np.dtype([("begin", "i8")])  # see ``spans``

# What is known of where a record of the plan begins.
MARK = np.dtype(
    [
        ("span", "i8"),  # the first that begins then or later
        ("ended", "i8"),  # who is planned to have ended by then ...
        ("seating", "i8"),  # ... in this order of seats
    ]
)

# No start before this one for so many nodes for so long (see ``fronts``).
FRONT = np.dtype([("start", "i8"), ("partition", "i8"), ("nodes", "i8"), ("limit", "i8")])

# What tries found that were in vain, for those who need about as many nodes (see ``tries``).
NOTE = np.dtype(
    [
        ("start", "i8"),  # a try to start then ...
        ("later", "i8"),  # ... and to have all nodes by then
        ("most", "i8"),  # ... finds at most so many
        ("reach", "i8"),  # and to hold them beyond this time
        ("left", "i8"),  # ... at most so many
    ]
)
COUNTER = np.dtype([("made_in", "i8"), ("tried", "i8")])

# The parts of a priority in one partition that time does not change (see ``priority``).
FACTORS = np.dtype(
    [
        ("association", "f8"),  # weighted, as all but nice
        ("job_size", "f8"),
        ("partition", "f8"),
        ("qos", "f8"),
        ("tres", "f8"),
        ("nice", "f8"),
        ("listed", "i8"),  # 1 = the component names several partitions
    ]
)

# An account or a user in the tree of shares (see ``fair_share``).
ASSOC = np.dtype(
    [
        ("parent", "i8"),  # who is charged, too; -1 of the root
        ("group", "i8"),  # the nearest ancestor with shares of its own: its children compete
        ("user", "i8"),  # 1 = a user, 0 = an account
        ("shares", "i8"),  # PARENT: those of the group
        ("level_shares", "i8"),  # of all in the group
        ("part", "f8"),  # ... and its part of them
        ("norm_shares", "f8"),  # classic: part of the whole machine
        ("first", "i8"),  # its group stands in ``order`` from first to last - 1
        ("last", "i8"),
        ("usage", "f8"),  # processor seconds, decayed
        ("before", "f8"),  # ... before the last computation
        ("effective", "f8"),
        ("factor", "f8"),
        ("place", "i8"),  # where the walk through the tree stands
        ("tied", "i8"),  # whether its first user shares the rank of the one before
    ]
)
SORTED = np.dtype(
    [("row", "i8"), ("level", "f8")]
)  # of ``assoc``; Fair Tree: shares over usage among siblings
