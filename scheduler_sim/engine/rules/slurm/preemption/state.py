"""What preemption keeps beside Slurm's schedulers: who may preempt whom, how, and whom a pass looks at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Table, Words, one, table
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.lost_runs import Log, LostRun
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.state import SlurmCore

OFF, REQUEUE, CANCEL, SUSPEND = range(4)
"""What becomes of the jobs of a group that are preempted."""


class PreemptRules:
    """slurm.conf's words, times in seconds."""

    youngest_first: int
    strict_order: int
    reorder_count: int
    pause: int  # KillWait and MessageTimeout: so long nobody more is preempted for the same job


class Group:
    """The jobs of a partition, or of a QOS."""

    mode: int
    rank: int  # those of the lowest are preempted first
    exempt: int  # s from a start
    grace: int  # s from being told to being ended


class Preemptor:
    """What preemption adds to a job."""

    requeue: int  # 1 = it may be requeued
    tried_at: int  # when others were last preempted for it
    grace_end: int  # by when it has to end, as it is preempted; INF = it is not


class Preemption(NamedTuple):
    """The groups, and the candidates for one job, in the order in which they are tried."""

    rules: PreemptRules
    log: Log
    lost: Table[LostRun]  # [3 n]
    group: Table[Group]  # [g]
    may: Ints  # [g * g] 1 = the first preempts the second
    of: Ints  # [p] group of a placement
    job: Table[Preemptor]  # [n]
    order: Ints  # [n] rows
    key: Ints  # [n]
    room: Words  # [w] idle nodes, and those of candidates that are thought away
    usable: Words  # [w] nodes that the job may have at all


class PreemptionCore(SlurmCore):
    """A core with Slurm's schedulers, and preemption."""

    preemption: Preemption


class PreemptionSizes(NamedTuple):
    """How much room it has."""

    rows: int
    placements: int
    groups: int
    words: int


def blank_preemption(sizes: PreemptionSizes) -> Preemption:
    """Return the part; nobody may preempt anybody yet."""
    room, usable = words(2, sizes.words)
    made = Preemption(
        rules=one(PreemptRules),
        log=one(Log),
        lost=table(LostRun, 3 * sizes.rows),
        group=table(Group, sizes.groups),
        may=np.zeros(sizes.groups**2, dtype=np.int64),
        of=np.zeros(sizes.placements, dtype=np.int64),
        job=table(Preemptor, sizes.rows),
        order=np.zeros(sizes.rows, dtype=np.int64),
        key=np.zeros(sizes.rows, dtype=np.int64),
        room=room,
        usable=usable,
    )
    made.job["tried_at"] = -INF
    made.job["requeue"] = 1
    made.job["grace_end"] = INF
    return made
