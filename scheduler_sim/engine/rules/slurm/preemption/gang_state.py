"""What gang scheduling keeps: who is suspended, and sets of nodes that several jobs may hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Table, Words, one, table
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.preemption.state import PreemptionCore
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED, Pause, SpanLog, Suspension


class GangAt:
    """How things stand."""

    suspended: int  # so many jobs are
    taken: int  # idle nodes that the last job to start has taken
    late: int  # s that have passed since the job that has just ended did, behind the look of that second
    look: int  # the job that a look for those past their limit has just ended: behind those before; INF: all
    module: int  # of the last job to give nodes back


class GangSets(NamedTuple):
    """Sets of nodes that are in use while it is found out who works, and where a job fits."""

    source: Words
    without: Words
    others: Words
    working: Words


class Gang(NamedTuple):
    """Jobs that are suspended while others of higher tiers are on nodes of theirs."""

    at: GangAt
    log: SpanLog
    spans: Table[Suspension]  # [2 n]
    pause: Table[Pause]  # [n]
    away: Ints  # [n] 1 = thought away
    covered: Ints  # [n] 1 = another works on one of its nodes
    idle_held: Ints  # [m] nodes that suspended jobs hold and on which nobody works
    sets: GangSets


class GangCore(PreemptionCore):
    """A core in which jobs are suspended for others."""

    gang: Gang


class GangSizes(NamedTuple):
    """How much room it has."""

    rows: int
    modules: int
    words: int


def blank_gang(sizes: GangSizes) -> Gang:
    """Return the part; nobody is suspended."""
    made = Gang(
        at=one(GangAt),
        log=one(SpanLog),
        spans=table(Suspension, 2 * sizes.rows),
        pause=table(Pause, sizes.rows),
        away=np.zeros(sizes.rows, dtype=np.int64),
        covered=np.zeros(sizes.rows, dtype=np.int64),
        idle_held=np.zeros(sizes.modules, dtype=np.int64),
        sets=GangSets(*words(len(GangSets._fields), sizes.words)),
    )
    made.pause["since"] = NOT_SUSPENDED
    return made
