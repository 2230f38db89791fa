"""Nodes beside jobs: those that are off are taken last, those that power down or boot for nobody by none.

To the schedulers a node that is off is idle: a job may start on it, and then waits until it has booted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.bits import (
    NONE,
    ONE,
    add,
    clear,
    count,
    keep_common,
    lowest_in,
    ones_in,
    take_out,
)
from scheduler_sim.engine.core.hooks import on, only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import give_back
from scheduler_sim.engine.core.loop import held_idle
from scheduler_sim.engine.core.moments import write_more
from scheduler_sim.engine.core.record import has_more_to_write
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.slurm.change import expect_change
from scheduler_sim.engine.rules.slurm.nodes import (
    behind_heaviest,
    is_first_of_its_module,
    keep_of_weight,
    match_service,
    nodes_given_back,
    out_by_name,
    put_nodes_of,
)
from scheduler_sim.engine.rules.slurm.power_saving.power import follow_power
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore
from scheduler_sim.engine.rules.slurm.power_saving.timing import note_node_change
from scheduler_sim.engine.rules.slurm.resource_limits.weights import WeighedCore, keep_of_present_weight
from scheduler_sim.engine.rules.slurm.state import Partition


class WeighedPowerCore(SlurmPowerCore, WeighedCore):
    """A core in which nodes that count for a limit weigh less, too."""


# -- which nodes a job takes


@on(behind_heaviest, "slurm_power_saving")
def off_come_last(core: SlurmPowerCore, it: Partition) -> int:
    """Behind all weights stands one more: that of the nodes that are off, whatever weight is stated."""
    return it.heaviest + 1


@on(keep_of_weight, "slurm_power_saving", unless="node_weights")
def keep_up_of_weight(core: SlurmPowerCore, it: Partition, nodes: Words, weight: int) -> None:
    """Those of a stated weight are up."""
    if _keeps_off(core, it, nodes, weight):
        return
    if it.heaviest - it.lightest > 1:
        keep_common(nodes, core.slurm.nodes.masks[weight], it.low, it.high)


@on(keep_of_weight, "slurm_power_saving", "node_weights")
def keep_up_of_present_weight(core: WeighedPowerCore, it: Partition, nodes: Words, weight: int) -> None:
    """... also where weights change."""
    if not _keeps_off(core, it, nodes, weight):
        keep_of_present_weight(core, it, nodes, weight)


@part
def _keeps_off(core: SlurmPowerCore, it: Partition, nodes: Words, weight: int) -> bool:
    """Keep the nodes that are off, and tell so, if that is what is asked for; else those that are up."""
    off = core.slurm_power_saving.sets.off
    if weight == it.heaviest:
        keep_common(nodes, off, it.low, it.high)
        return True
    take_out(nodes, off, it.low, it.high)
    return False


# -- which nodes there are


@question
def out_of_service(core: SlurmPowerCore, word: int) -> Any:
    """The nodes of a word that are out of service by name."""
    return NONE


@on(out_of_service, "outages")
def named_out_of_service(core: SlurmPowerCore, word: int) -> Any:
    """Those of a word."""
    return core.outages.named[word]


@on(out_by_name, "slurm_power_saving")
def out_for_now(core: SlurmPowerCore, word: int) -> Any:
    """None comes back in their place: nor in that of those that power down, or boot for nobody."""
    sets = core.slurm_power_saving.sets
    return out_of_service(core, word) | sets.leaving[word] | sets.unheld[word]


@part
def leave(core: SlurmPowerCore, it: Partition, word: int, bits: Any) -> None:
    """Idle nodes of a word are none that a job could have."""
    core.slurm.sets.idle[word] &= ~bits
    core.slurm.sets.up[word] &= ~bits
    core.pools[it.module].free -= ones_in(bits)
    core.pools[it.module].touched = 1


@part
def come_back(core: SlurmPowerCore, it: Partition, word: int, bits: Any) -> None:
    """Jobs may have nodes of a word again, but for those that leave service; the schedulers see it."""
    while bits != NONE:
        bit = bits & (~bits + ONE)
        bits &= ~bit
        is_back(core, it, word, bit)
    nodes_given_back(core)
    expect_change(core)


@question
def is_back(core: SlurmPowerCore, it: Partition, word: int, bit: Any) -> None:
    """A node is idle, or leaves service."""
    gone = out_of_service(core, word)
    core.slurm_power_saving.sets.off[word] &= ~(bit & gone)
    core.slurm.sets.idle[word] |= bit
    core.slurm.sets.up[word] |= bit & ~gone
    give_back(core, it.module, 1)


@part
def idle_in(core: SlurmPowerCore, word: int) -> Any:
    """The idle nodes of a word: no job has anything of them, and none is completing there."""
    return core.slurm.sets.idle[word] & ~core.slurm.sets.leaving[word]


@on(nodes_given_back, "slurm_power_saving")
def note_given_back(core: SlurmPowerCore) -> None:
    """Those that still boot are idle when they are up."""
    power = core.slurm_power_saving
    note_node_change(core)
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        if not _any_boots(core, it):
            continue
        match_service(core, it.module, it.low, it.high)  # those that leave service are none of them
        for word in range(it.low, it.high):
            early = idle_in(core, word) & power.sets.booting[word]
            if early != NONE:
                power.sets.unheld[word] |= early
                leave(core, it, word, early)
    note_idle(core)


@part
def _any_boots(core: SlurmPowerCore, it: Partition) -> bool:
    """Whether a node boots that no job has any more."""
    for word in range(it.low, it.high):
        if idle_in(core, word) & core.slurm_power_saving.sets.booting[word] != NONE:
            return True
    return False


@part
def note_idle(core: SlurmPowerCore) -> None:
    """Nodes that were not idle before are so from now on."""
    power = core.slurm_power_saving
    for word in range(len(power.sets.known)):
        new = idle_in(core, word) & ~power.sets.known[word]
        power.sets.known[word] = idle_in(core, word)
        while new != NONE:
            power.node[(word << 6) + lowest_in(new)].idle = core.clock.now - power.looks.late
            new &= new - ONE


@part
def match_outages(core: SlurmPowerCore) -> None:
    """Nodes that left service are neither off nor booting, but for a job that has them.

    Those that came back, and power down or boot for nobody, are not to be had yet.
    """
    sets, up = core.slurm_power_saving.sets, core.slurm.sets.up
    _put_awaited(core)
    for word in range(len(up)):
        up[word] &= ~(sets.leaving[word] | sets.unheld[word])
        core.slurm.sets.idle[word] &= ~(sets.leaving[word] | sets.unheld[word])
        sets.off[word] &= up[word] | sets.leaving[word] | sets.awaited[word]
        sets.booting[word] &= up[word] | sets.unheld[word] | sets.awaited[word]


@only_with("slurm_power_saving")
def service_matched(core: SlurmPowerCore) -> None:
    """Nodes have left service, or come back."""
    match_outages(core)
    note_idle(core)
    count_nodes(core)


# -- what is written down


@part
def count_nodes(core: SlurmPowerCore) -> None:
    """Count the nodes of each module that are off, boot, shut down, and wait for others."""
    power = core.slurm_power_saving
    sets = power.sets
    _put_waiting(core)
    for number in range(len(core.slurm.partition)):
        if not is_first_of_its_module(core, number):
            continue
        it = core.slurm.partition[number]
        module, low, high = power.module[it.module], it.low, it.high
        off, booting = count(sets.off, low, high), count(sets.booting, low, high)
        stopping, held = count(sets.stopping, low, high), count(sets.waiting, low, high)
        module.wanted = count(sets.wanted, low, high)
        if off != module.off or booting != module.booting or stopping != module.stopping:
            core.pools[it.module].touched = 1
        if held != module.held:
            core.pools[it.module].touched = 1
        module.off, module.booting, module.stopping, module.held = off, booting, stopping, held
    follow_power(core)


@part
def _put_awaited(core: SlurmPowerCore) -> None:
    """AWAITED become the nodes of jobs that wait until all of theirs are up."""
    power = core.slurm_power_saving
    sets = power.sets
    clear(sets.awaited, 0, len(sets.awaited))
    for i in range(power.looks.configuring):
        put_nodes_of(core, power.rows[i], sets.mine)
        add(sets.awaited, sets.mine, 0, len(sets.awaited))


@part
def _put_waiting(core: SlurmPowerCore) -> None:
    """WAITING become those of them that are up, and on which no job has begun; WANTED those that are off."""
    sets = core.slurm_power_saving.sets
    _put_awaited(core)
    for word in range(len(sets.awaited)):
        sets.wanted[word] = sets.awaited[word] & sets.off[word]
        sets.waiting[word] = sets.awaited[word] & ~(sets.off[word] | sets.booting[word])
        if sets.waiting[word] != NONE:
            sets.waiting[word] &= ~at_work_in(core, word)


@question
def at_work_in(core: SlurmPowerCore, word: int) -> Any:
    """The nodes of a word that jobs share, and on which any of them has begun."""
    return NONE


@on(held_idle, "slurm_power_saving")
def waiting_nodes(core: SlurmPowerCore, module: int) -> int:
    """Those that are up, of jobs that wait for others to boot."""
    return int(core.slurm_power_saving.module[module].held)


@on(has_more_to_write, "slurm_power_saving")
def has_switched(core: SlurmPowerCore, module: int) -> bool:
    """Whether nodes are off, boot, shut down or wait that did not when the last row was written."""
    it = core.slurm_power_saving.module[module]
    if it.written_off != it.off or it.written_booting != it.booting:
        return True
    return bool(it.written_stopping != it.stopping or core.pools[module].written_held != it.held)


@on(write_more, "slurm_power_saving")
def write_switched(core: SlurmPowerCore, module: int, row: int) -> None:
    """Write how many nodes are off, booting and shutting down, and wait for those that boot."""
    it, written = core.slurm_power_saving.module[module], core.idle_rows[row]
    it.written_off, it.written_booting, it.written_stopping = it.off, it.booting, it.stopping
    core.pools[module].written_held = written.held = it.held
    written.off, written.booting, written.stopping = it.off, it.booting, it.stopping


@part
def first_of(word: int, bits: Any) -> int:
    """The lowest node of a word."""
    return (word << 6) + lowest_in(bits)


@part
def bit_of(node: int) -> Any:
    """A node in its word."""
    return ONE << np.uint64(node & 63)
