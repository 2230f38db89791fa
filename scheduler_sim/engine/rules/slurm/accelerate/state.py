"""What is kept for the speed of Slurm's passes alone: nothing of it is there with ``accelerate: false``.

The release order has the nodes of each module in the order in which they come free; the place of a node
there is its rank. The sets of the plan, and all that a try reads of it, are sets of ranks then.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from scheduler_sim.engine.core.hooks import is_absent
from scheduler_sim.engine.core.records import Ints, Rows, Table, Words, one, rows, table
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.state import Slurm, SlurmCore

INTERVALS_AT_MOST = 128  # a power of 2
INTERVAL_ROWS = 2 * INTERVALS_AT_MOST
"""Rows of ``space`` for intervals: those of the records come behind."""

BOUNDS = 8
NOTES = 2  # for each record of the plan and partition


class Progress:
    """Where a pass, and its release order, stand."""

    ends: int  # jobs that run, by planned end, in the release order
    ordering: int  # number of the release order
    spots: int  # words of the ranks PICKED that are not empty
    rows: int  # sets listed for a try: those of the plan from its start on
    stop: int  # the first rank that the try does not look at
    intervals: int  # of the plan
    last: int  # the last queue entry whose job may start something in the pass
    taken: int  # 1 = since it was found, idle nodes were taken
    needed: int  # entries that the pass needs
    planned: int  # first of those in the queue that the last pass has not come to
    begun: int  # nodes of jobs that started in the pass


class Interval:
    """A stretch of several records (see ``interval_tree``)."""

    begin: int


class Listed:
    """A row of ``space``, and up to where all so far reach."""

    row: int
    reach: int


class Mark:
    """What is known of where a record of the plan begins."""

    interval: int  # the first that begins then or later
    ended: int  # how many jobs are planned to have ended by then ...
    ordering: int  # ... in this release order


class Bound:
    """No start before this one for so many nodes for so long (see ``start_lower_bounds``)."""

    start: int
    partition: int
    nodes: int
    limit: int


class Note:
    """What failed attempts found, for jobs that need about as many nodes (see ``slot_search``)."""

    start: int  # a try to start then ...
    later: int  # ... and to have all nodes by then
    most: int  # ... finds at most so many
    reach: int  # and to hold them beyond this time
    left: int  # ... at most so many


class Ranks(NamedTuple):
    """Nodes in the release order."""

    node_at: Ints  # int32[64 w] the node of each rank
    rank_of: Ints  # int32[64 w] the rank of each node
    moved: Ints  # int32[64] nodes on the way to other ranks
    idle_end: Ints  # [m, nodes + 2] the rank behind those that are idle once so many jobs have ended
    masks: Words  # [.., w] the masks, as ranks
    ordered_in: Ints  # ... and the number of the release order in which they are
    up: Words  # [w] the ranks of the nodes in service
    picked: Words  # [w] ... and of those PICKED
    spots: Ints  # [w] the words of these that are not empty


class Accelerate(NamedTuple):
    """What is there for speed alone; r rows of records of the plan."""

    progress: Progress
    ranks: Ranks
    space: Words  # [INTERVAL_ROWS + r, w] ranks that intervals, and records of the plan, have free
    interval: Table[Interval]
    listed: Table[Listed]  # rows of ``space``
    mark: Table[Mark]  # [r]
    gain: Ints  # [r, partitions] nodes that the next record has and this one has not
    bound: Table[Bound]  # [BOUNDS]
    note: Rows[Note]  # [r, partitions, NOTES]


class AcceleratedCore(SlurmCore):
    """A core with Slurm's schedulers, and what makes them fast."""

    accelerate: Accelerate


C = TypeVar("C", bound=AcceleratedCore)


def with_masks(core: C, masks: int) -> C:
    """Return the core with room for so many masks, if it has this part."""
    if is_absent(core.accelerate):
        return core
    ranks = core.accelerate.ranks
    size = ranks.masks.shape[1]
    ranks = ranks._replace(masks=words(masks, size), ordered_in=np.zeros(masks, dtype=np.int64))
    return core._replace(accelerate=core.accelerate._replace(ranks=ranks))


def accelerated(slurm: Slurm, modules: int) -> tuple[Slurm, Accelerate]:
    """Return Slurm's part of a core, its plan in rows that are shared with the intervals, and this part."""
    records, size = slurm.plan.space.shape
    masks, pieces, partitions = len(slurm.nodes.masks), len(slurm.nodes.piece), len(slurm.partition)
    space = words(INTERVAL_ROWS + records, size)
    up, picked = words(2, size)
    ranks = Ranks(
        node_at=np.zeros(64 * size, dtype=np.int32),
        rank_of=np.zeros(64 * size, dtype=np.int32),
        moved=np.zeros(64, dtype=np.int32),
        idle_end=np.zeros((modules, pieces + 1), dtype=np.int64),
        masks=words(masks, size),
        ordered_in=np.zeros(masks, dtype=np.int64),
        up=up,
        picked=picked,
        spots=np.zeros(size, dtype=np.int64),
    )
    made = Accelerate(
        progress=one(Progress),
        ranks=ranks,
        space=space,
        interval=table(Interval, INTERVALS_AT_MOST + 1),
        listed=table(Listed, INTERVAL_ROWS + records),
        mark=table(Mark, records),
        gain=np.zeros((records, partitions), dtype=np.int64),
        bound=table(Bound, BOUNDS),
        note=rows(Note, records, partitions, NOTES),
    )
    return slurm._replace(plan=slurm.plan._replace(space=space[INTERVAL_ROWS:])), made
