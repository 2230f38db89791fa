"""What suspension keeps: who holds which nodes, in the order of their starts, and who is suspended.

Nodes are numbered here, though the core counts them: a job goes on where it was. A node that several jobs
hold belongs to the last of them to start, which ranks above the others; these are suspended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Ints, Table, Words, one, table
from scheduler_sim.engine.rules.making_room import MakingRoomCore
from scheduler_sim.engine.rules.suspensions import NOT_SUSPENDED, Pause, SpanLog, Suspension

NOBODY = -1


class SuspendingAt:
    """How things stand; holders are places of ``holder``."""

    suspended: int  # so many jobs are
    first: int  # the holder that started before all others, NOBODY = there is none
    last: int  # ... and the one that started after them
    spare: int  # a place that is free again; the next one is its ``after``
    places: int  # so many places have been in use
    lent: int  # nodes of others that the job about to start gets
    back: int  # nodes of the job about to stop that nobody else holds


class Holder:
    """A job that holds nodes, at work or suspended."""

    row: int
    before: int  # the holder that started before it
    after: int


class Hold:
    """What a job holds."""

    place: int  # of its holder
    own: int  # nodes that nobody held before it: they come back at its planned end
    ahead: int  # s from when it was suspended to when it is planned to go on; 0 = it works


class Sets(NamedTuple):
    """Sets of nodes, each [words]; the nodes of a module begin with a word of their own."""

    there: Words  # those there are
    held: Words  # those that anybody holds
    lent: Words  # those of others that the job about to start gets
    covered: Words  # for a walk over the holders
    rest: Words


class Suspending(NamedTuple):
    """Jobs that are suspended for others."""

    at: SuspendingAt
    log: SpanLog
    spans: Table[Suspension]  # [2 n]
    pause: Table[Pause]  # [n]
    hold: Table[Hold]  # [n]
    holder: Table[Holder]  # [places]
    nodes_of: Words  # [places, words] the nodes of each holder
    sets: Sets
    low: Ints  # [m + 1] the first word of each module
    nodes: Ints  # [m] how many each module has
    clear: Ints  # [64 words] when those who hold a node above another are planned to leave it


class SuspendingCore(MakingRoomCore):
    """A core in which jobs are suspended for others."""

    suspending: Suspending


class SuspendingSizes(NamedTuple):
    """How much room the part has."""

    rows: int
    holders: int  # at once
    nodes: tuple[int, ...]  # of each module


def blank_suspending(sizes: SuspendingSizes) -> Suspending:
    """Return the part; nobody holds anything."""
    low = np.cumsum([0, *(-(-nodes // 64) for nodes in sizes.nodes)])
    words = int(low[-1])
    made = Suspending(
        at=one(SuspendingAt),
        log=one(SpanLog),
        spans=table(Suspension, 2 * sizes.rows),
        pause=table(Pause, sizes.rows),
        hold=table(Hold, sizes.rows),
        holder=table(Holder, sizes.holders),
        nodes_of=np.zeros((sizes.holders, words), dtype=np.uint64),
        sets=Sets(*(np.zeros(words, dtype=np.uint64) for _ in Sets._fields)),
        low=low.astype(np.int64),
        nodes=np.array(sizes.nodes, dtype=np.int64),
        clear=np.zeros(64 * words, dtype=np.int64),
    )
    made.at.first = made.at.last = made.at.spare = NOBODY
    made.pause["since"] = NOT_SUSPENDED
    for module, nodes in enumerate(sizes.nodes):
        bits = np.arange(64 * (low[module + 1] - low[module])) < nodes
        made.sets.there[low[module] : low[module + 1]] = np.packbits(bits, bitorder="little").view(np.uint64)
    return made


@part
def module_of_job(core: SuspendingCore, row: int) -> int:
    """The module in which a job runs."""
    return core.placements[core.jobs[row].placed].module


@part
def is_suspended(core: SuspendingCore, row: int) -> bool:
    """Whether a job that has started does nothing now."""
    return core.suspending.pause[row].since != NOT_SUSPENDED
