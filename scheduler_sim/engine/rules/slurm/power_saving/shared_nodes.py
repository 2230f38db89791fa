"""Power saving where jobs share nodes: one node may have jobs that have begun, and jobs that wait for others.

A node that any job has is not idle. One that is off, or boots, takes more jobs as long as there is room; each
begins once all of its nodes are up. Nodes that are off come behind all others also here, by their weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.bits import NONE, ONE, lowest_in
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import count_busy
from scheduler_sim.engine.rules.shared_nodes.lifecycle import end_use, share_of
from scheduler_sim.engine.rules.shared_nodes.service import in_use_by
from scheduler_sim.engine.rules.shared_nodes.state import CORES, GPUS, MEMORY, UP
from scheduler_sim.engine.rules.slurm.cons_tres.alike import weigh_alike
from scheduler_sim.engine.rules.slurm.cons_tres.lifecycle import hold_nothing, jobs_there_and_completing
from scheduler_sim.engine.rules.slurm.cons_tres.offers import stated_weight
from scheduler_sim.engine.rules.slurm.cons_tres.room import place_of
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore
from scheduler_sim.engine.rules.slurm.nodes import deallocate, nodes_given_back
from scheduler_sim.engine.rules.slurm.power_saving.jobs import count_at_work
from scheduler_sim.engine.rules.slurm.power_saving.nodes import at_work_in, count_nodes, is_back
from scheduler_sim.engine.rules.slurm.power_saving.state import PoweredNode, SlurmPowerCore
from scheduler_sim.engine.rules.slurm.resource_limits.shared_weights import WeighedSharesCore, present_weight
from scheduler_sim.engine.rules.slurm.state import Partition

OFF = 1 << 41
"""What a node weighs that is off: more than any that is up, also outside of a reservation."""


class SharedPowerCore(SlurmPowerCore, ConsTresCore):
    """A core whose jobs share nodes, and whose idle nodes are powered down."""


class WeighedSharedPowerCore(SharedPowerCore, WeighedSharesCore):
    """... and in which nodes that count for a limit weigh less."""


# -- which nodes a job takes


@on(stated_weight, "slurm_power_saving", "cons_tres", unless="node_weights")
def off_weigh_most(core: SharedPowerCore, need: int, node: int) -> int:
    """Those that are off stand behind all weights, and are alike there."""
    return OFF if _is_off(core, need, node) else int(core.cons_tres.machine[node].weight)


@on(stated_weight, "slurm_power_saving", "cons_tres", "node_weights")
def off_weigh_most_at_present(core: WeighedSharedPowerCore, need: int, node: int) -> int:
    """... also where weights change."""
    return OFF if _is_off(core, need, node) else present_weight(core, need, node)


@part
def _is_off(core: SharedPowerCore, need: int, node: int) -> bool:
    it = core.slurm.partition[core.cons_tres.need[need].partition]
    word, bit = place_of(core, it, node)
    return bool(core.slurm_power_saving.sets.off[word] & bit != NONE)


@on(weigh_alike, "slurm_power_saving", "cons_tres")
def none_is_off(core: SharedPowerCore) -> bool:
    """Not where some are off."""
    off = core.slurm_power_saving.sets.off
    for word in range(len(off)):
        if off[word] != NONE:
            return False
    return True


# -- which nodes there are


@on(in_use_by, "slurm_power_saving", "cons_tres")
def away_or_in_use(core: SharedPowerCore, node: int) -> int:
    """One that powers down, or boots for nobody, leaves service only when it could be had again."""
    sets, it = core.slurm_power_saving.sets, core.shared_nodes.node[node]
    for number in range(len(core.slurm.partition)):
        partition = core.slurm.partition[number]
        if partition.module == it.module:
            word, bit = place_of(core, partition, node)
            if (sets.leaving[word] | sets.unheld[word]) & bit != NONE:
                return 1
            break
    return jobs_there_and_completing(core, node)


@on(is_back, "slurm_power_saving", "cons_tres")
def is_back_or_leaves(core: SharedPowerCore, it: Partition, word: int, bit: Any) -> None:
    """A node is idle, or is the one that leaves service."""
    node = core.shared_nodes.module[it.module].begin + ((word - it.low) << 6) + lowest_in(bit)
    if core.shared_nodes.node[node].service == UP:
        core.slurm.sets.idle[word] |= bit
        core.slurm.sets.up[word] |= bit
    else:
        core.slurm_power_saving.sets.off[word] &= ~bit
    end_use(core, it.module, node)
    core.pools[it.module].touched = 1


@on(deallocate, "slurm_power_saving", "cons_tres")
def give_shares_back(core: SharedPowerCore, row: int) -> None:
    """A job holds no nodes any more; some may be idle now."""
    hold_nothing(core, row)
    nodes_given_back(core)


# -- who is at work there


@on(count_busy, "slurm_power_saving", "cons_tres")
def count_working(core: SharedPowerCore, placement: int, sign: int) -> None:
    """One more job has begun on its nodes, or one less; a node on which none has is held, not busy."""
    shared, module = core.shared_nodes, core.placements[placement].module
    it = core.slurm.partition[core.slurm.way[placement].partition]
    slot, changed = shared.request[placement].slot, False
    for at in range(slot, slot + core.placements[placement].nodes):
        node = _powered(core, it, shared.slots[at])
        node.working += sign
        held = int(shared.node[shared.slots[at]].jobs > 0 and node.working == 0)
        changed = changed or held != node.held
        core.pools[module].busy -= held - node.held
        node.held = held
    if changed:
        count_nodes(core)


@on(count_at_work, "slurm_power_saving", "cons_tres")
def count_shares_at_work(core: SharedPowerCore, row: int, sign: int) -> None:
    """What a job has of its nodes is not busy as long as it waits for some of them."""
    placement = core.jobs[row].placed
    count_busy(core, placement, sign)
    module = core.shared_nodes.module[core.placements[placement].module]
    slot = core.shared_nodes.request[placement].slot
    for at in range(slot, slot + core.placements[placement].nodes):
        module.cores += sign * share_of(core, placement, at, CORES)
        module.memory += sign * share_of(core, placement, at, MEMORY)
        module.gpus += sign * share_of(core, placement, at, GPUS)
    core.pools[core.placements[placement].module].touched = 1


@on(at_work_in, "slurm_power_saving", "cons_tres")
def those_at_work_in(core: SharedPowerCore, word: int) -> Any:
    """Those of a word on which a job has begun."""
    found = NONE
    for i in range(64):
        if core.slurm_power_saving.node[(word << 6) + i].working > 0:
            found |= ONE << np.uint64(i)
    return found


@part
def _powered(core: SharedPowerCore, it: Partition, node: int) -> PoweredNode:
    """What is kept of a node, by its place in sets of nodes."""
    number = node - core.shared_nodes.module[it.module].begin
    return core.slurm_power_saving.node[(it.low << 6) + number]
