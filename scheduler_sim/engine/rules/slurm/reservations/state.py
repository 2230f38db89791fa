"""What is kept of advance reservations: a table, a set of nodes for each, and which jobs name which."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Table, Words, one, table
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.state import SlurmCore

NONE_NAMED, UNKNOWN = -1, -2
"""Reservations of jobs that have none."""

BUSY = -INF
"""When a reservation with jobs has last been without."""

ALLOWED, DENIED, INVALID, DELETED = range(4)
"""What was said of the reservation that a job names."""

NEVER, HOURLY, DAILY, WEEKLY, WEEKDAY, WEEKEND = range(6)
"""When a reservation comes again."""

NOTHING, THOSE_DOWN, THOSE_TAKEN = range(3)
"""Which of its nodes a reservation exchanges for others: those that are down, or that jobs have, too."""


class Reservation:
    """An advance reservation. Times in s."""

    start: int
    end: int
    everything: int  # 1 = of all nodes: who may not use it finds nothing
    of_partition: int  # likewise of all nodes of that partition, -1 = not so
    maint: int
    overlap: int
    flex: int
    any_nodes: int
    magnetic: int  # 1 = it is tried for jobs that name none and may use it
    exchanges: int  # which of its nodes it exchanges: NOTHING, THOSE_DOWN, THOSE_TAKEN
    partition: int  # of which it has them
    ignore_jobs: int  # 1 = for nodes that jobs have, too
    no_hold: int  # 1 = jobs that wait for it when it goes are not held
    repeats: int  # how it moves on at its end: NEVER, HOURLY, ...
    purge: int  # s without jobs until it ends, -1 = it stays
    stands: int  # 1 = it is there
    begun: int  # 1 = a look has found its start past
    over: int  # ... and its end
    idle_since: int  # BUSY = it has jobs, or has not begun
    failed: int  # number of the main pass in which a job waits for nodes in it
    lasts: int  # 1 = all that a backfill pass looks at lies within it


class Claim:
    """What a job has to do with reservations."""

    of: int  # the reservation that it names; NONE_NAMED, or UNKNOWN: there is none of that name
    access: int  # 1 = it is one of those for whom that is
    refused: int  # why it was rejected, or is held: ALLOWED, DENIED, INVALID, DELETED
    drawn: int  # 1 + the number of the magnetic reservation in which it runs, or ran; 0 = none


class Entry:
    """An entry of the queue beside magnetic reservations."""

    row: int
    placement: int
    inside: int  # the magnetic reservation in which the job is tried; NONE_NAMED: as it is


class Present:
    """What is looked at now."""

    inside: int  # the reservation of the entry, -1 = none
    drawn: int  # likewise, if that is magnetic and the job names none
    magnetic: int  # so many may be magnetic
    later: int  # when to try again beside reservations, INF = they are not in the way
    took: int  # 1 = nodes were left out
    lasting: int  # so many last
    closed: int  # 1 = some nodes are not OPEN, though they do not all last others
    apart: int  # 1 = the entry may use nodes that last others
    passes: int  # number of the main pass
    awaits: int  # 1 = the next look is among the events
    seen: int  # when they were last looked at
    idle_turns: int  # turns of repeated ones since a job was last submitted, started or stopped
    repeated: int  # so many repeat
    epoch: int  # second 0 on the clock by which days of the week are told, s since 1970


class Kept(NamedTuple):
    """Sets of nodes while the schedulers look."""

    open: Words  # of the partition, that the entry may use
    closed: Words  # of reservations that cannot be used yet: not in this pass of the main scheduler
    some: Words
    ranks: Words  # OPEN in the release order, if nodes are not
    masked: Words  # ... and the mask of an entry that may use nodes which last others
    kept: Words  # of a reservation that exchanges the others
    kind: Words  # some of those that it may have for them
    came: Words  # those that it gets
    held: Words  # of a job


class Reservations(NamedTuple):
    """Advance reservations."""

    claim: Table[Claim]  # [n]
    table: Table[Reservation]  # [r]
    nodes: Words  # [r, w]
    ranked: Words  # [r, w] ... in the release order
    ranked_in: Ints  # [r, w] its number, at the first word of a module
    among: Words  # [r, w], of which it has them, if it is by number
    admits: Words  # [n, r], 1 = a job may use one that is magnetic; nothing without any
    entry: Table[Entry]  # the queue, likewise
    at: Present
    sets: Kept


class ReservationsCore(SlurmCore):
    """A core with advance reservations."""

    reservations: Reservations


class ReservationSizes(NamedTuple):
    """How much room the part has: jobs, reservations, words of nodes, and entries beside magnetic ones."""

    rows: int
    reservations: int
    words: int
    magnetic: int
    entries: int


def blank_reservations(room: ReservationSizes) -> Reservations:
    """Return the part; nothing is reserved."""
    rows, reservations, size, magnetic, entries = room
    made = Reservations(
        claim=table(Claim, rows),
        table=table(Reservation, reservations),
        nodes=words(reservations, size),
        ranked=words(reservations, size),
        ranked_in=np.zeros((reservations, size), dtype=np.int64),
        among=words(reservations, size),
        admits=words(rows if magnetic else 0, reservations),
        entry=table(Entry, entries),
        at=one(Present),
        sets=Kept(*words(len(Kept._fields), size)),
    )
    made.table["idle_since"] = BUSY
    made.at.seen = -INF
    made.at.magnetic = magnetic
    made.at.inside = made.at.drawn = made.table["of_partition"] = made.claim["of"] = NONE_NAMED
    return made
