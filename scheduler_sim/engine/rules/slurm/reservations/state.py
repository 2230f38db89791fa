"""What is kept of advance reservations: a table, a set of nodes for each, and which jobs name which."""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.records import Ints, Table, Words, one, table
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.state import SlurmCore


class Reservation:
    """An advance reservation. Times in s."""

    start: int
    end: int
    everything: int  # 1 = of all nodes: who may not use it finds nothing
    maint: int
    overlap: int
    flex: int
    any_nodes: int
    no_hold: int
    purge: int  # s without jobs until it ends, -1 = it stays
    stands: int  # 1 = it is there
    begun: int  # 1 = a look has found its start past
    over: int  # ... and its end
    idle_since: int  # -1 = it has jobs
    failed: int  # number of the main pass in which a job waits for nodes in it


class Present:
    """What is looked at now."""

    inside: int  # the reservation of the entry, -1 = none
    later: int  # when to try again beside reservations, INF = they are not in the way
    took: int  # 1 = nodes were left out
    passes: int  # number of the main pass
    awaits: int  # 1 = the next look is among the events


class Kept(NamedTuple):
    """Sets of nodes while the schedulers look."""

    open: Words  # of the partition, that the entry may use
    closed: Words  # of reservations that cannot be used yet: not in this pass of the main scheduler
    some: Words


class Reservations(NamedTuple):
    """Advance reservations."""

    of: Ints  # [n] of each job, -1 = it names none
    table: Table[Reservation]  # [r]
    nodes: Words  # [r, w]
    at: Present
    sets: Kept


class ReservationsCore(SlurmCore):
    """A core with advance reservations."""

    reservations: Reservations


def blank_reservations(room: tuple[int, int, int]) -> Reservations:
    """Return a part for so many jobs and reservations, of nodes in so many words."""
    import numpy as np

    rows, reservations, size = room
    made = Reservations(
        of=np.full(rows, -1, dtype=np.int64),
        table=table(Reservation, reservations),
        nodes=words(reservations, size),
        at=one(Present),
        sets=Kept(*words(len(Kept._fields), size)),
    )
    made.at.inside = made.table["idle_since"] = -1
    made.table["stands"] = 1
    return made
