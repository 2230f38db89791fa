"""Nodes that count already for a limit of nodes go first (node_scheduler.c, ``_find_grp_node_bitmap``).

When Slurm looks for nodes for a job under such a limit, those on which others run that count there weigh one
less than the rest of their kind. The weights stay until nodes are looked for again, for whichever job, and
all starts are predicted by what they are then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.bits import add, clear, copy, count_common, equal
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import started, stops
from scheduler_sim.engine.core.records import Ints, Record, Table, Words, one, table
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.backfill_pass import entries_end
from scheduler_sim.engine.rules.slurm.limit_questions import (
    main_has_looked,
    nodes_looked_for,
    start_tried,
    weights_stand,
    weights_stand_for_main,
)
from scheduler_sim.engine.rules.slurm.node_space import plan_opens
from scheduler_sim.engine.rules.slurm.nodes import keep_of_weight, weighed_anew
from scheduler_sim.engine.rules.slurm.resource_limits.state import LimitedCore
from scheduler_sim.engine.rules.slurm.slot_search import put_offered
from scheduler_sim.engine.rules.slurm.state import Partition


class Counting:
    """Who counts for the limits of nodes of a standing: entries first .. last - 1 of ``counting``."""

    first: int
    last: int


class WeighedSets(NamedTuple):
    """Sets of nodes: each [w] words."""

    heavy: Words  # they weigh one more than is stated
    counted: Words  # they count for the job at which is looked
    raised: Words  # ... and these are the others of their kind
    offered: Words  # a backfill pass looks among them
    found: Words  # heavy as the last backfill pass began
    left_by_main: Words  # ... and as the last pass of the main scheduler ended


class WeighingPasses(Record):
    """What passes did to weights."""

    unmoved: int  # 1 = the last backfill pass left them as it found them
    looked: int  # 1 = nodes have been looked for, and are to be weighed
    placement: int  # ... for this one


class NodeWeights(NamedTuple):
    """Which nodes count for limits of nodes; c counters count nodes so."""

    passes: WeighingPasses
    sets: WeighedSets
    kind: Words  # [kinds, w] the nodes of one kind
    standing: Table[Counting]
    counting: Ints  # rows of ``in_use``
    row: Ints  # of each counter of ``resource_limits``, -1 = nodes are not looked up there
    in_use: Words  # [c, w] the nodes on which its jobs run


class WeighedCore(LimitedCore):
    """A core in which some limit is one of nodes."""

    node_weights: NodeWeights


class WeightSizes(NamedTuple):
    """How much room there is."""

    words: int
    kinds: int


def blank_node_weights(sizes: WeightSizes) -> NodeWeights:
    """Return the part; nobody counts yet."""
    return NodeWeights(
        passes=one(WeighingPasses),
        sets=WeighedSets(*words(len(WeighedSets._fields), sizes.words)),
        kind=words(sizes.kinds, sizes.words),
        standing=table(Counting, 0),
        counting=np.zeros(0, dtype=np.int64),
        row=np.zeros(0, dtype=np.int64),
        in_use=words(0, sizes.words),
    )


# -- weights


@on(nodes_looked_for, "node_weights")
def note_look(core: WeighedCore, placement: int) -> None:
    """Nodes are weighed once it matters: most looks are followed by others of the same partition."""
    passes, way = core.node_weights.passes, core.slurm.way
    if passes.looked and way[passes.placement].partition != way[placement].partition:
        weigh_at_last(core)
    passes.looked, passes.placement = 1, placement


@part
def weigh_at_last(core: WeighedCore) -> None:
    """Weigh nodes for the last look, before anything goes by weights, or counts otherwise."""
    passes = core.node_weights.passes
    if passes.looked:
        passes.looked = 0
        it = core.slurm.partition[core.slurm.way[passes.placement].partition]
        _weigh(core, passes.placement, core.slurm.nodes.masks[it.members])


@part
def _weigh(core: WeighedCore, placement: int, among: Words) -> None:
    """Weigh nodes anew, for a job."""
    it, weights = core.slurm.partition[core.slurm.way[placement].partition], core.node_weights
    heavy, raised = weights.sets.heavy, weights.sets.raised
    _raise_others(core, it, placement, among)
    for word in range(it.low, it.high):
        heavy[word] = (heavy[word] & ~among[word]) | raised[word]


@on(start_tried, "node_weights")
def weigh_offered(core: WeighedCore, placement: int) -> None:
    """Nodes that are planned for others keep their weights."""
    offered = core.node_weights.sets.offered
    put_offered(core, placement, offered)
    weigh_at_last(core)
    _weigh(core, placement, offered)


@on(weighed_anew, "node_weights")
def weighs_in_between(core: WeighedCore) -> bool:
    """A plan goes by the weights before, a start by those after."""
    return True


@part
def _raise_others(core: WeighedCore, it: Partition, placement: int, among: Words) -> None:
    """RAISED are those among which some of their kind count for the job, and that do not."""
    weights, own = core.node_weights, core.node_weights.standing[core.resource_limits.of[placement]]
    counted, raised = weights.sets.counted, weights.sets.raised
    clear(raised, it.low, it.high)
    if own.first == own.last:
        return
    clear(counted, it.low, it.high)
    for i in range(own.first, own.last):
        add(counted, weights.in_use[weights.counting[i]], it.low, it.high)
    for word in range(it.low, it.high):
        counted[word] &= among[word]
    for number in range(len(weights.kind)):
        kind = weights.kind[number]
        if count_common(kind, counted, it.low, it.high) > 0:
            for word in range(it.low, it.high):
                raised[word] |= kind[word] & among[word] & ~counted[word]


@on(keep_of_weight, "node_weights")
def keep_of_present_weight(core: WeighedCore, it: Partition, nodes: Words, weight: int) -> None:
    """Behind the row of each weight stands that of one more."""
    weigh_at_last(core)
    masks, heavy = core.slurm.nodes.masks, core.node_weights.sets.heavy
    for word in range(it.low, it.high):
        of_weight = masks[weight, word] & ~heavy[word]
        if weight > it.lightest:
            of_weight |= masks[weight - 1, word] & heavy[word]
        nodes[word] &= of_weight


# -- which passes come out as before: none needs to be made that finds and leaves the same weights


@on(plan_opens, "node_weights")
def note_found(core: WeighedCore) -> None:
    """A backfill pass begins."""
    weigh_at_last(core)
    sets = core.node_weights.sets
    copy(sets.found, sets.heavy, 0, len(sets.heavy))


@on(entries_end, "node_weights")
def note_whether_left(core: WeighedCore) -> None:
    """It ends."""
    weigh_at_last(core)
    sets = core.node_weights.sets
    core.node_weights.passes.unmoved = int(equal(sets.found, sets.heavy, 0, len(sets.heavy)))


@on(weights_stand, "node_weights")
def found_again(core: WeighedCore) -> bool:
    """Whether nodes weigh what they did as the last backfill pass began, and as it ended."""
    weigh_at_last(core)
    sets = core.node_weights.sets
    return core.node_weights.passes.unmoved == 1 and equal(sets.found, sets.heavy, 0, len(sets.heavy))


@on(main_has_looked, "node_weights")
def note_left_by_main(core: WeighedCore) -> None:
    """What it leaves does not depend on what it finds."""
    weigh_at_last(core)
    sets = core.node_weights.sets
    copy(sets.left_by_main, sets.heavy, 0, len(sets.heavy))


@on(weights_stand_for_main, "node_weights")
def still_as_left_by_main(core: WeighedCore) -> bool:
    """Whether nobody has weighed nodes otherwise since."""
    weigh_at_last(core)
    sets = core.node_weights.sets
    return equal(sets.left_by_main, sets.heavy, 0, len(sets.heavy))


# -- which nodes count


@on(started, "node_weights", unless="cons_tres")
def use_nodes(core: WeighedCore, row: int) -> None:
    """Its nodes count from now on."""
    _use(core, row, True)


@on(stops, "node_weights", unless="cons_tres")
def use_nodes_no_longer(core: WeighedCore, row: int) -> None:
    """They count no more, though they may yet be completing."""
    _use(core, row, False)


@part
def _use(core: WeighedCore, row: int, begins: bool) -> None:
    weigh_at_last(core)
    limits, weights = core.resource_limits, core.node_weights
    standing = limits.standing[limits.of[core.jobs[row].placed]]
    for i in range(standing.counted, standing.counted_last):
        counter = weights.row[limits.counted[i]]
        if counter < 0:
            continue
        piece = core.slurm.job[row].piece
        while piece >= 0:
            word, bits = core.slurm.nodes.piece[piece].word, core.slurm.nodes.piece[piece].bits
            if begins:
                weights.in_use[counter, word] |= bits
            else:
                weights.in_use[counter, word] &= ~bits
            piece = core.slurm.nodes.piece[piece].next
