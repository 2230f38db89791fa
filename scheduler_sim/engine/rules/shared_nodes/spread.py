"""Jobs take longer whose nodes lie apart: so many percent of their run time for each leaf, group or hop more.

That is known as they start. Their limits stay, and so do plans.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.events import drop_end, push_end
from scheduler_sim.engine.core.hooks import event, on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import set_run_time
from scheduler_sim.engine.core.moments import runs_once_more, started
from scheduler_sim.engine.core.records import Ints, Table, one, table
from scheduler_sim.engine.rules.shared_nodes.able import told_apart
from scheduler_sim.engine.rules.shared_nodes.state import SharedCore

NOWHERE = -1
NO_LAW, BY_LEAVES, BY_GROUPS, BY_HOPS = 0, 1, 2, 3
MILLION = 1_000_000


class SpreadLaw:
    """What counts for a placement, and how much."""

    by: int  # NO_LAW, BY_LEAVES, BY_GROUPS or BY_HOPS
    millionths: int  # of its run time, for each
    run: int  # s, on one leaf


class SpreadAt:
    """How links are counted, and the last mark."""

    in_groups: int  # 1 = the switches of a group have links to one another
    mark: int


class Spread(NamedTuple):
    """n nodes, p placements."""

    at: SpreadAt
    law: Table[SpreadLaw]  # [p]
    reached: Ints  # [levels, n] the switch above a node, of those up to a level; NOWHERE = none; whole nodes
    # under Slurm by their place in its sets
    seen: Ints  # [switches] the last mark of each


class SpreadCore(SharedCore):
    """A core in which jobs take longer whose nodes lie apart."""

    spread: Spread


class SpreadSizes(NamedTuple):
    """How much room it has."""

    placements: int
    levels: int
    switches: int
    nodes: int


def blank_spread(sizes: SpreadSizes) -> Spread:
    """Return the part; nobody has a law."""
    return Spread(
        one(SpreadAt),
        table(SpreadLaw, sizes.placements),
        np.full((sizes.levels, sizes.nodes), NOWHERE, dtype=np.int64),
        np.zeros(sizes.switches, dtype=np.int64),
    )


@on(started, "spread")
def take_longer(core: SpreadCore, row: int) -> None:
    """It starts on these nodes: it will end so much later, or be killed by its limit."""
    placement = core.jobs[row].placed
    law = core.spread.law[placement]
    if law.by == NO_LAW or not nodes_are_known(core, core.placements[placement].module):
        return
    more = _measured(core, row) * law.millionths
    if more == 0:
        return
    rest = law.run % MILLION * more
    set_run_time(core, placement, law.run + law.run // MILLION * more + (rest + MILLION - 1) // MILLION)
    end_known(core, row, placement)
    drop_end(core, row)
    core.jobs[row].end = core.jobs[row].start + core.placements[placement].duration
    push_end(core, core.jobs[row].end, row)


@question
def nodes_are_known(core: SpreadCore, module: int) -> bool:
    """Whether it is known which nodes of a module a job has."""
    return told_apart(core, module)


@event
def end_known(core: SpreadCore, row: int, placement: int) -> None:
    """Its run time is another than when its end was worked out."""


@on(runs_once_more, "spread")
def forget_nodes(core: SpreadCore, row: int) -> None:
    """Its next run may be on other nodes."""
    placement = core.jobs[row].placed
    if placement >= 0 and core.spread.law[placement].by != NO_LAW:
        set_run_time(core, placement, core.spread.law[placement].run)


@part
def _measured(core: SpreadCore, row: int) -> int:
    """How far the nodes of a job lie apart; 0 on one leaf, and on none."""
    by, levels = core.spread.law[core.jobs[row].placed].by, len(core.spread.reached)
    if by == BY_LEAVES:
        return _switches_beyond_one(core, row, 0)
    if by == BY_GROUPS:
        return _switches_beyond_one(core, row, 1) if levels > 1 else 0
    apart = 0
    while apart < levels and _switches_beyond_one(core, row, apart) > 0:
        apart += 1
    if apart > 0 and core.spread.at.in_groups:
        return 2 * apart - 1
    return 2 * apart


@part
def _switches_beyond_one(core: SpreadCore, row: int, level: int) -> int:
    """Under how many switches up to a level its nodes are, but the first."""
    core.spread.at.mark += 1
    return max(switches_marked(core, row, level) - 1, 0)


@question
def switches_marked(core: SpreadCore, row: int, level: int) -> int:
    """Mark the switches up to a level that are above the nodes of a job; returns how many they are."""
    part, placement, found = core.shared_nodes, core.jobs[row].placed, 0
    slot = part.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        found += mark_above(core, level, part.slots[i])
    return found


@part
def mark_above(core: SpreadCore, level: int, node: int) -> int:
    """Mark the switch above a node; 1 if that is a new one, else 0."""
    spread = core.spread
    switch = spread.reached[level, node]
    if switch == NOWHERE or spread.seen[switch] == spread.at.mark:
        return 0
    spread.seen[switch] = spread.at.mark
    return 1
