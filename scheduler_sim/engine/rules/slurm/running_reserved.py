"""bf_running_job_reserve: jobs that run on whole nodes are in the plan of each backfill pass.

They hold their nodes from the beginning of the plan to their limits, rounded down, unless they may be
preempted (backfill.c of 22.05, ``_bf_reserve_running``). So jobs are tried at these ends, too, and not only
where all that is predicted to end by then has ended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.bits import clear
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import time_granted
from scheduler_sim.engine.core.moments import started, stopped
from scheduler_sim.engine.core.records import Ints, Record, one
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.engine.rules.slurm.cons_tres.room import place_of
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.node_space import (
    has_whole_nodes,
    nodes_picked,
    plan_is_full,
    plan_opened,
    reserve,
    slot_end,
)
from scheduler_sim.engine.rules.slurm.state import SlurmCore


class RunningAt(Record):
    """How far the list reaches."""

    size: int


class RunningReserved(NamedTuple):
    """n jobs."""

    at: RunningAt
    row: Ints  # [n] those that run, in the order of the list of jobs


class RunningReservedCore(SlurmCore):
    """A core in whose plans running jobs stand."""

    running_reserved: RunningReserved


class RunningSharesCore(RunningReservedCore, ConsTresCore):
    """... where jobs share nodes."""


def blank_running_reserved(rows: int) -> RunningReserved:
    """Return the part; nothing runs."""
    return RunningReserved(one(RunningAt), np.zeros(rows, dtype=np.int64))


@part
def _place(core: RunningReservedCore, row: int) -> int:
    """Where a job is in the list, or would be."""
    it, low, high = core.running_reserved, 0, core.running_reserved.at.size
    while low < high:
        middle = (low + high) // 2
        if it.row[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@on(started, "running_reserved")
def list_running(core: RunningReservedCore, row: int) -> None:
    """It joins the list."""
    it, place = core.running_reserved, _place(core, row)
    for i in range(it.at.size, place, -1):
        it.row[i] = it.row[i - 1]
    it.row[place] = row
    it.at.size += 1


@on(stopped, "running_reserved")
def strike_stopped(core: RunningReservedCore, row: int) -> None:
    """It leaves the list."""
    it = core.running_reserved
    it.at.size -= 1
    for i in range(_place(core, row), it.at.size):
        it.row[i] = it.row[i + 1]


@on(plan_opened, "running_reserved")
def reserve_for_running(core: RunningReservedCore) -> None:
    """Each that has its nodes to itself, as long as the plan may have more records."""
    it, begin = core.running_reserved, core.slurm.plan.record[0].begin
    for i in range(it.at.size):
        row = it.row[i]
        placement = core.jobs[row].placed
        if core.jobs[row].state != RUNNING or not has_whole_nodes(core, placement):
            continue
        if plan_is_full(core):
            return
        partition = core.slurm.partition[core.slurm.way[placement].partition]
        clear(core.slurm.sets.picked, partition.low, partition.high)
        pick_nodes_of(core, row)
        nodes_picked(core, partition)
        end = slot_end(core, core.jobs[row].start + time_granted(core, row, placement))
        reserve(core, partition, begin, max(end, begin + core.slurm.rules.bf_resolution))


@question
def pick_nodes_of(core: RunningReservedCore, row: int) -> None:
    """PICKED has the nodes of a running job, too."""
    piece = core.slurm.job[row].piece
    while piece >= 0:
        core.slurm.sets.picked[core.slurm.nodes.piece[piece].word] |= core.slurm.nodes.piece[piece].bits
        piece = core.slurm.nodes.piece[piece].next


@on(pick_nodes_of, "cons_tres", "running_reserved")
def pick_shares_of(core: RunningSharesCore, row: int) -> None:
    """Those of which it has shares."""
    placement, shared = core.jobs[row].placed, core.shared_nodes
    it = core.slurm.partition[core.slurm.way[placement].partition]
    slot = shared.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        word, bit = place_of(core, it, shared.slots[i])
        core.slurm.sets.picked[word] |= bit
