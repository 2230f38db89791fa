"""What Slurm's schedulers keep beside the rest of the core: parameters, partitions, nodes, the plan.

Nodes of a system are numbered through, each module from a new word of 64 on, so that sets
of nodes are rows of words (see ``bits``). What a running job holds is a chain of
pieces: a word each, with the bits it has there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Rows, Table, Words
from scheduler_sim.engine.rules.coscheduling.state import UnitsCore
from scheduler_sim.engine.rules.dependencies import DependenciesCore
from scheduler_sim.engine.rules.holds import HoldsCore
from scheduler_sim.engine.rules.slurm.power_budget import CappedCore

IN_LIST_ORDER = 2
"""``builtin``: Slurm's fifo, the main scheduler walks the list of jobs."""

VECTOR = 8
"""Words the processor works on at once, at best: modules of many have whole ones."""


class SlurmRules:
    """The parameters, by Slurm's names, times in seconds."""

    sched_interval: int
    sched_min_interval: int
    batch_sched_delay: int
    default_queue_depth: int
    partition_job_depth: int
    bf_interval: int
    bf_max_job_test: int
    bf_node_space_size: int
    bf_max_job_part: int
    bf_max_job_user: int
    bf_max_job_user_part: int
    bf_max_job_start: int
    bf_max_job_array_resv: int
    bf_window: int
    bf_window_linear: int
    bf_resolution: int
    bf_min_age_reserve: int
    bf_min_prio_reserve: int
    bf_job_part_count_reserve: int
    bf_one_resv_per_job: int
    builtin: int  # 1 = no backfill scheduler, IN_LIST_ORDER = nor does the main one heed priorities
    kill_invalid_depend: int
    over_time: int  # s a component may run past its limit
    KillWait: int
    limit_check_s: int  # s between two looks for components past their limit; 0 = at the second
    epilog_s: int  # s from an end to the moment the nodes are idle
    launch_s: int  # s from a start by the backfill scheduler to the first second of the run time
    killed_epilog_s: int  # ... more after one that was killed
    killed_epilog_ms: int  # ... and ms that add up from one second with kills to the next
    script_alone: int  # 1 = killed jobs have processes on their first nodes only
    defer: int  # 1 = that nodes are clean brings no pass at once
    main_wait_ms: int  # ms from an end to the main scheduler's look at it, on average
    requeue_delay_s: int
    epoch: int
    fixed_nodes: int  # 1 = reservations name their nodes
    inclusive_end: int  # 1 = to end in the second in which a reservation begins is a conflict
    aligned: int  # 1 = later than 19.05: groups begin at half minutes; starts where nodes are gained
    plans_started: int  # 1 = that, and not linear: what the backfill scheduler starts stands in its plan
    main_on_seconds: int  # 1 = the main scheduler looks before anything else of a second
    array_limit_planned: int  # 1 = no more tasks of an array are planned than may run
    completing_last: int  # 1 = slots that begin now have completing nodes last
    leaves_by_cpus: int  # 1 = whether a leaf holds a job goes by its CPUs, too
    near_leaves_first: int  # 1 = a nearer leaf that suffices comes first
    window_kept: int  # 1 = no job is tried behind the window
    preempted_in_grace: int  # 1 = so is a job that ends by itself in its grace
    ends_rounded_up: int  # 1 = the end of a slot in the plan is rounded up
    plans_know_nodes: int  # 1 = limits count a node of a plan once that counts already
    ranked_at_requeue: int  # 1 = a job that is requeued gets a priority as if it were submitted
    overlap_first: int  # 1 = whether a slot ahead overlaps the plan is asked first
    future_starts: int  # 1 = at a start ahead counts what will have ended by then
    next_slot_tried: int  # 1 = where no nodes are gained the end of the next slot is tried
    end_of_chosen: int  # 1 = the predicted start is the end of the last that leaves the nodes chosen
    first_that_fits: int  # 1 = of single nodes the first that fits is taken
    backfill_first: int  # 1 = within a second the backfill scheduler looks before the main one
    grouped: int  # 1 = ends of running components are predicted in groups
    basic: int  # 1 = priority/basic: in order of submission
    at_end: int  # 1 = an end brings a pass at once
    always_more: int  # 1 = the backfill scheduler does not ask whether anything changed
    weight_age: int
    weight_fair: int
    max_age: int
    accrue_always: int
    increase_only: int
    algorithm: int  # of fair share
    longest: int  # 1 = heterogeneous jobs end with their longest component, not with the first
    charge_ends: int  # 1 = what was used since the last computation is charged at an end
    calc_period: int  # s from one computation of the priorities to the next, 0 = never
    starts_at: int  # when the daemon started: its timers count from there
    decay_rate: float  # what is left of usage after a second
    damping: float  # FairShareDampeningFactor


class Memory:
    """What the schedulers remember."""

    last_main: int  # when the main scheduler last made a pass that was asked for
    asked_at: int  # ... and since when
    asked: int  # 1 = an end, a submission or a change asks for a pass
    ended_here: int  # 1 = something ended at this instant by itself, 2 = and did so behind an earlier look
    hears_at: int  # when the main scheduler hears of the last end
    at_once: (
        int  # 1 = nodes are clean of what was killed, or an epilog is over: the main scheduler passes now
    )
    cleaned: int  # ms of such cleaning that whole seconds have yet to make up for
    killed_at: int  # when jobs were last killed
    cleans_for: int  # ... and how many s of those ms their nodes take
    waited: int  # ms of such waits that whole seconds have yet to make up for
    unseen_by_full: int  # 1 = a pass over the whole queue may start something
    main_changes: int  # 1 = to backfill its last pass is a change whenever it is made: see ``change``
    main_tried: int  # entries that it has tried in this pass
    main_valid: int  # until when the main scheduler's last pass would come out as it did, if nothing changes
    last_backfill: int
    last_change: int  # when something last changed that the backfill scheduler looks out for
    seen_from: int  # ... and from when on it can see that
    looked: int  # when it last looked before the rest of a second happened
    changed: int  # 1 = newcomers joined the end of the queue since its last pass, 2 = something else changed
    valid: int  # until when it would come out as the last one, if nothing changes
    self_change: int  # 1 = a pass like the last one is itself a change to look out for
    next_calc: int  # when priorities are computed next
    steady_until: int  # ... and until when that changes nothing, if nothing else does
    last_calc: int  # ... and were last
    unranked: int  # 1 = usage has changed since Fair Tree last ranked its users
    resets_done: int  # how often usage has been forgotten
    seen_before: int  # submissions handled up to the instant before
    serial: int  # of the next submission or release, under priority/basic
    spare: int  # first free piece
    records: int  # records of the plan
    records_made: int  # ... and those joined to others, as Slurm counts them
    window_end: int  # where the plan ends
    pass_number: int  # number of the backfill pass, for counters that need no clearing
    broken_off: int  # 1 = a limit ended it
    started: int  # jobs started in this pass
    entries: int  # entries of the queue in this pass
    tested: int  # jobs tested in it
    retried: int  # 19.05: begin of the reservation for which a job was last tried once more, or -INF
    ended: int  # components that have ended by the end of a try
    waits_from: int  # since when a job has waited in the queue
    pending: int  # components submitted, not held by hand, that have yet to start
    retold: int  # 1 = a pass has given a job another reason
    main_again: int  # ... so that the main scheduler's next pass may give it yet another
    backfill_again: int  # ... or backfill's
    without: int  # how many stand in WITHOUT
    unnoted: int  # how many stand in UNNOTED
    unlooked: int  # of those in the queue, how many no pass has looked at: they stand in CANDIDATES


class Partition:
    """A partition, its nodes, and what a pass counts of it."""

    module: int
    low: int  # words of its module: low .. high - 1
    high: int
    members: int  # row of ``masks``: its nodes
    lightest: int  # rows of ``masks``: the nodes of its module by weight, ascending
    heaviest: int  # ... up to the one before this
    tried: int  # backfill: jobs tried in this pass, which newcomers may go on with
    reserved: int  # reservations made in this pass
    tried_by_main: int  # main scheduler: jobs tried in this pass
    blocked: int  # main scheduler: nothing more starts here in this pass


class Way:
    """What Slurm adds to a placement: one way to run a job is one partition."""

    partition: int
    mask: int  # row of ``masks``: the nodes it may use, by any of its choices
    first: int  # its choices: first .. last - 1
    last: int
    choice: int  # the one that was tried last
    tier: int
    key: float  # minus its priority: smaller first, as in every queue
    run: int  # s it would take without a limit


class Choice:
    """Nodes a placement may take: one choice, or one for each alternative of ``[a|b]``."""

    mask: int  # row of ``masks``: those that will do
    first: int  # what it needs besides, counts of nodes: first .. last - 1
    last: int


class Need:
    """At least so many of these nodes."""

    mask: int
    count: int


class SlurmJob:
    """What Slurm adds to a job."""

    piece: int  # first piece of the nodes it holds, -1 = none
    user: int
    association: int
    nice: int
    billing: float  # processors it is charged for
    satisfiable: int  # dependencies that can yet be satisfied, 1 if all must be; at 0 it never starts
    last: int  # the placement it last ran in
    launch: int  # s from its start to the first second of its run time
    reason: int  # why it waits, but for limits: see ``reasons``
    limited: int  # the reason of the limit for which it waits, 0 = none
    noted: int  # the reason that was noted last
    listed: int  # 1 = it stands in UNNOTED
    on_first: int  # 1 = of its nodes only the first is not idle again
    cleans: int  # 1 = its nodes are being cleaned of it: once they are the main scheduler passes at once
    given: int  # 1 = its priority was set by hand, and stays


class HetMember:
    """What Slurm adds to a member of a heterogeneous job."""

    group: int  # the unit of those with the same delay, once they are apart; -1 = alone
    known: int  # its earliest start known in this pass, INF = none yet, -1 = not tried yet
    planned: int  # ... and the one that came to the deadlock test, -1 = none
    until: int  # end of its advance reservation, 0 = none
    booked: int  # ... whose nodes are in rows booked .. booked_last - 1 of ``booked``
    booked_last: int


class Booked:
    """A word of the nodes that are reserved for a job."""

    word: int
    bits: np.uint64


class Piece:
    """A word of the nodes that a job holds."""

    word: int
    bits: np.uint64
    next: int


class Entry:
    """An entry of the job-partition queue."""

    row: int
    placement: int


class Record:
    """A stretch of the plan, and the row of ``space`` with what is free in it."""

    begin: int
    row: int


class Counter:
    """Jobs of a user that were tried in a pass."""

    made_in: int
    tried: int


class Factors:
    """The parts of a priority in one partition that time does not change (see ``priority``)."""

    association: float  # weighted, as all but nice
    job_size: float
    partition: float
    qos: float
    tres: float
    nice: float
    listed: int  # 1 = the job names several partitions


class Assoc:
    """An account or a user in the tree of shares (see ``fair_share``)."""

    parent: int  # charged, too; -1 of the root
    group: int  # the nearest ancestor with shares of its own: its children compete
    user: int  # 1 = a user, 0 = an account
    shares: int  # PARENT: those of the group
    level_shares: int  # of all in the group
    part: float  # ... and its part of them
    norm_shares: float  # classic: part of the whole machine
    first: int  # its group stands in ``order`` from first to last - 1
    last: int
    usage: float  # processor seconds, decayed
    before: float  # ... before the last computation
    effective: float
    factor: float
    place: int  # where the walk through the tree stands
    tied: int  # whether its first user shares the rank of the one before


class Sorted:
    """A row of ``assoc``; Fair Tree: shares over usage among siblings."""

    row: int
    level: float


class Sets(NamedTuple):
    """Sets of nodes that are in use while the schedulers look: each [w] words."""

    idle: Words
    leaving: Words  # about to be idle
    free: Words
    available: Words
    later: Words
    picked: Words
    rest: Words
    up: Words
    open: Words  # main scheduler: ... and in no partition that is blocked
    either: Words
    best: Words
    nothing: Words  # always empty
    unreserved: Words  # of a try: no reservation holds them
    staying: Words  # ... and they are idle by the next


class Nodes(NamedTuple):
    """Which nodes there are, which may be used, and which are held."""

    masks: Words  # [.., w] the nodes of modules, partitions, weights and constraints
    choice: Table[Choice]
    need: Table[Need]
    piece: Table[Piece]
    run: Ints  # nodes of a set that stand side by side (see ``nodes``)


class Plan(NamedTuple):
    """The plan of a backfill pass, of r records."""

    record: Table[Record]  # [r + 1]
    space: Words  # [r, w] nodes that are free of reservations


class Accounts(NamedTuple):
    """What priorities are made of."""

    factor: Table[Factors]  # [p]
    assoc: Table[Assoc]
    order: Table[Sorted]  # the associations, by group
    resets: Ints  # when usage is forgotten


class Slurm(NamedTuple):
    """Slurm's schedulers."""

    rules: SlurmRules
    memory: Memory
    partition: Table[Partition]
    way: Table[Way]  # [p]
    job: Table[SlurmJob]  # [n]
    without: Ints  # [n] jobs just killed that have no process on nodes but the first
    unnoted: Ints  # [n] jobs whose reasons the next pass looks at
    counter: Rows[Counter]  # [users, 1 + partitions]
    entry: Table[Entry]
    sets: Sets
    nodes: Nodes
    plan: Plan
    accounts: Accounts
    het: Table[HetMember]  # [n], or none
    booked: Table[Booked]  # by job


class SlurmCore(UnitsCore, DependenciesCore, HoldsCore, CappedCore):
    """A core with Slurm's schedulers; the list of planned ends has one more row, for all modules together."""

    slurm: Slurm
