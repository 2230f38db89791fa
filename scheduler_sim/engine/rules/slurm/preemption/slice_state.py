"""What time slices keep: the jobs of each partition in the order of their turns, and who is at work there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Table, Words, one, table
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.cons_tres.row_state import RowsCore
from scheduler_sim.engine.rules.slurm.preemption.gang_state import GangCore

NOBODY = -1

OUT, ACTIVE, FILLER = range(3)
"""Of a job: not at work, at work by its turn, at work as its cores were free."""


class SliceRules:
    """When turns end, in s."""

    every: int  # SchedulerTimeSlice
    awaited: int  # 1 = the end of a slice stands among the events
    over: int  # up to then slices that ended have been dealt with


class Turn:
    """A job in the list of its partition."""

    before: int
    after: int
    state: int
    casts: int  # 1 = nobody of a lower tier works on its cores


class TurnsOf:
    """A partition: its jobs in the order of their turns, and who was at work when that was last settled."""

    first: int
    last: int
    jobs: int
    active: int  # jobs at work, with those of higher tiers, whatever nodes they have


class TimeSlices(NamedTuple):
    """n nodes, p partitions, w words for the cores of a node."""

    rules: SliceRules
    turn: Table[Turn]  # [jobs]
    of: Table[TurnsOf]  # [p]
    had: Words  # [p, n, w] the cores of those who are at work there, and of higher tiers
    working: Ints  # [n] how many jobs are at work on a node
    held: Ints  # [n] 1 = all jobs that it has are suspended


class TimeSlicesCore(GangCore, RowsCore):
    """A core in which jobs that have the same cores take turns."""

    time_slices: TimeSlices


class SliceSizes(NamedTuple):
    """How much room it has."""

    rows: int
    nodes: int
    partitions: int
    words: int


def blank_time_slices(sizes: SliceSizes) -> TimeSlices:
    """Return the part; nobody is there."""
    made = TimeSlices(
        rules=one(SliceRules),
        turn=table(Turn, sizes.rows),
        of=table(TurnsOf, sizes.partitions),
        had=np.zeros((sizes.partitions, sizes.nodes, sizes.words), dtype=np.uint64),
        working=np.zeros(sizes.nodes, dtype=np.int64),
        held=np.zeros(sizes.nodes, dtype=np.int64),
    )
    made.rules.over = -INF
    made.turn["before"] = made.turn["after"] = made.of["first"] = made.of["last"] = NOBODY
    return made
