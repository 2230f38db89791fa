"""Slurm's power saving thread (power_save.c): which nodes are powered down, which are booted, and when.

It looks at all nodes a second after any has changed, else at intervals. It boots the nodes of jobs that wait
for them, in the order of their starts, and powers idle ones down in the order of their numbers. Of either it
switches so many a minute: what it has switched counts less and less from look to look.
"""

from __future__ import annotations

from typing import Any

from scheduler_sim.engine.core.bits import NONE, ONE, clear, lowest_in
from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.instant import is_over, no_job_is_left
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import instant_opens
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change
from scheduler_sim.engine.rules.slurm.moments import waits_for_time
from scheduler_sim.engine.rules.slurm.nodes import is_first_of_its_module, put_nodes_of
from scheduler_sim.engine.rules.slurm.power_saving.jobs import begin_those_ready, end_late_ones
from scheduler_sim.engine.rules.slurm.power_saving.nodes import (
    come_back,
    count_nodes,
    idle_in,
    leave,
    match_outages,
    note_idle,
)
from scheduler_sim.engine.rules.slurm.power_saving.power import may_stop
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore
from scheduler_sim.engine.rules.slurm.power_saving.timing import (
    begin_look,
    first_look,
    next_look,
    note_node_change,
    pass_looks_over,
)
from scheduler_sim.engine.rules.slurm.state import Partition
from scheduler_sim.engine.rules.slurm.topology.state import TopologyCore
from scheduler_sim.engine.rules.slurm.topology.waiting import waits_for_leaves


class PowerTopologyCore(SlurmPowerCore, TopologyCore):
    """A core with both."""


@on(instant_opens, "slurm_power_saving")
def switch_nodes(core: SlurmPowerCore) -> None:
    """Boots and shutdowns that are over by now, and a look if one is due: it comes first in its second."""
    end_late_ones(core)
    match_outages(core)
    note_idle(core)
    _switch_over(core)
    begin_those_ready(core)
    pass_looks_over(core, core.clock.now - 1)
    if next_look(core) == core.clock.now:
        _look(core)
    count_nodes(core)


# -- boots and shutdowns


@part
def _switch_over(core: SlurmPowerCore) -> None:
    """Nodes that are up, or off, by now."""
    sets, node = core.slurm_power_saving.sets, core.slurm_power_saving.node
    for number in range(len(core.slurm.partition)):
        it = core.slurm.partition[number]
        for word in range(it.low, it.high):
            bits = sets.booting[word] | sets.stopping[word]
            while bits != NONE:
                bit = bits & (~bits + ONE)
                bits &= ~bit
                if node[(word << 6) + lowest_in(bit)].until > core.clock.now:
                    continue
                if sets.stopping[word] & bit != NONE:
                    sets.stopping[word] &= ~bit
                    sets.off[word] |= bit
                else:
                    _is_up(core, it, word, bit)


@part
def _is_up(core: SlurmPowerCore, it: Partition, word: int, bit: Any) -> None:
    """A node has booted: for its job, or for nobody any more."""
    sets = core.slurm_power_saving.sets
    sets.booting[word] &= ~bit
    note_node_change(core)
    if sets.unheld[word] & bit != NONE:
        sets.unheld[word] &= ~bit
        come_back(core, it, word, bit)
        note_change(core, core.clock.now)


# -- a look


@part
def _look(core: SlurmPowerCore) -> None:
    """Boot what jobs wait for, power down what has been idle for long, and see what has powered down."""
    looks = core.slurm_power_saving.looks
    begin_look(core, core.clock.now)
    looks.held_back = looks.kept = 0
    _resume(core)
    _keep_on(core)
    suspended = int(looks.suspended + 0.5)
    for number in range(len(core.slurm.partition)):
        if is_first_of_its_module(core, number):
            suspended = _suspend(core, core.slurm.partition[number], suspended)
            _see_powered_down(core, core.slurm.partition[number])


@part
def _resume(core: SlurmPowerCore) -> None:
    """Boot the nodes of jobs that wait for them, up to the rate: a node of several jobs counts for each."""
    power = core.slurm_power_saving
    looks, sets, resumed = power.looks, power.sets, int(power.looks.resumed + 0.5)
    clear(sets.woken, 0, len(sets.woken))
    for i in range(looks.configuring):
        row = power.rows[i]
        module = core.placements[core.jobs[row].placed].module
        put_nodes_of(core, row, sets.mine)
        for word in range(len(sets.mine)):
            bits = sets.mine[word] & sets.off[word]
            while bits != NONE:
                if looks.resume_rate > 0 and resumed >= looks.resume_rate:
                    looks.held_back = 1
                    _wake(core)
                    return
                bit = bits & (~bits + ONE)
                bits &= ~bit
                sets.woken[word] |= bit
                power.node[(word << 6) + lowest_in(bit)].until = core.clock.now + power.module[module].boot_s
                looks.resumed += 1
                resumed += 1
    _wake(core)


@part
def _wake(core: SlurmPowerCore) -> None:
    """Nodes boot that were off, and came last as long as they were."""
    sets = core.slurm_power_saving.sets
    for word in range(len(sets.woken)):
        if sets.woken[word] != NONE:
            sets.off[word] &= ~sets.woken[word]
            sets.booting[word] |= sets.woken[word]
            expect_change(core)


@part
def _keep_on(core: SlurmPowerCore) -> None:
    """STAYING are those that are never powered down, and the first idle ones of those that count."""
    power = core.slurm_power_saving
    sets = power.sets
    for word in range(len(sets.staying)):
        sets.staying[word] = sets.never[word]
    for i in range(len(power.keeps)):
        count = power.keeps[i].count
        for word in range(len(sets.staying)):
            bits = power.kept[i, word] & idle_in(core, word) & ~sets.off[word]
            while bits != NONE and count > 0:
                bit = bits & (~bits + ONE)
                bits &= ~bit
                sets.staying[word] |= bit
                count -= 1


@part
def _suspend(core: SlurmPowerCore, it: Partition, suspended: int) -> int:
    """Power down idle nodes of a module, the first ones first, up to the rate; how many count then."""
    power, now = core.slurm_power_saving, core.clock.now
    looks, sets, module = power.looks, power.sets, power.module[it.module]
    for word in range(it.low, it.high):
        bits = idle_in(core, word) & core.slurm.sets.up[word] & ~(sets.off[word] | sets.never[word])
        while bits != NONE:
            bit = bits & (~bits + ONE)
            bits &= ~bit
            node = power.node[(word << 6) + lowest_in(bit)]
            if node.idle + module.suspend_time >= now:
                continue
            if sets.staying[word] & bit != NONE:
                looks.kept = 1
                continue
            if looks.suspend_rate > 0 and suspended >= looks.suspend_rate:
                looks.held_back = 1
                return suspended
            if not may_stop(core, it.module):
                looks.held_back = 1
                return suspended
            leave(core, it, word, bit)
            sets.known[word] &= ~bit
            sets.leaving[word] |= bit
            node.asked, node.until = now, now + module.stop_s
            if module.stop_s > 0:
                sets.stopping[word] |= bit
            else:
                sets.off[word] |= bit
            looks.suspended += 1
            suspended += 1
            expect_change(core)
            count_nodes(core)
    return suspended


@part
def _see_powered_down(core: SlurmPowerCore, it: Partition) -> None:
    """Nodes that were told to power down long enough ago can be had again: they are off."""
    power = core.slurm_power_saving
    suspend_timeout, changed = power.module[it.module].suspend_timeout, power.looks.changed
    for word in range(it.low, it.high):
        bits, back = power.sets.leaving[word], NONE
        while bits != NONE:
            bit = bits & (~bits + ONE)
            bits &= ~bit
            if power.node[(word << 6) + lowest_in(bit)].asked + suspend_timeout < core.clock.now:
                back |= bit
        if back != NONE:
            power.sets.leaving[word] &= ~back
            come_back(core, it, word, back)
            power.looks.changed = changed  # to the thread that is no change


# -- what comes next


@only_with("slurm_power_saving", otherwise=INF)
def next_switch(core: SlurmPowerCore) -> int:
    """When a boot or a shutdown is over, or a look finds something to do; INF if never."""
    power, time = core.slurm_power_saving, INF
    sets = power.sets
    for number in range(len(core.slurm.partition)):
        if not is_first_of_its_module(core, number):
            continue
        it = core.slurm.partition[number]
        for word in range(it.low, it.high):
            bits = sets.booting[word] | sets.stopping[word]
            while bits != NONE:
                time = min(time, power.node[(word << 6) + lowest_in(bits)].until)
                bits &= bits - ONE
        time = min(time, _next_powered_down(core, it), _next_to_suspend(core, it))
    waits_for_look = power.looks.held_back or (power.looks.kept and power.looks.changed >= power.looks.looked)
    if waits_for_look or _any_to_resume(core):
        time = min(time, first_look(core, core.clock.now + 1))
    return time


@part
def _next_powered_down(core: SlurmPowerCore, it: Partition) -> int:
    """The look that finds that a node has powered down."""
    power, first = core.slurm_power_saving, INF
    for word in range(it.low, it.high):
        bits = power.sets.leaving[word]
        while bits != NONE:
            first = min(first, power.node[(word << 6) + lowest_in(bits)].asked)
            bits &= bits - ONE
    if first == INF:
        return INF
    return first_look(core, max(first + power.module[it.module].suspend_timeout, core.clock.now) + 1)


@part
def _next_to_suspend(core: SlurmPowerCore, it: Partition) -> int:
    """The look at which more nodes have been idle for so long; those at which the last one looked stay on."""
    power, first = core.slurm_power_saving, INF
    suspend_time = power.module[it.module].suspend_time
    if suspend_time == INF:
        return INF
    for word in range(it.low, it.high):
        bits = idle_in(core, word) & core.slurm.sets.up[word]
        bits &= ~(power.sets.off[word] | power.sets.never[word])
        while bits != NONE:
            due = power.node[(word << 6) + lowest_in(bits)].idle + suspend_time + 1
            if due > power.looks.looked:
                first = min(first, due)
            bits &= bits - ONE
    return INF if first == INF else first_look(core, max(first, core.clock.now + 1))


@part
def _any_to_resume(core: SlurmPowerCore) -> bool:
    """Whether a job waits for a node that has yet to be booted."""
    power = core.slurm_power_saving
    for i in range(power.looks.configuring):
        put_nodes_of(core, power.rows[i], power.sets.mine)
        for word in range(len(power.sets.mine)):
            if power.sets.mine[word] & power.sets.off[word] != NONE:
                return True
    return False


@on(waits_for_time, "slurm_power_saving", unless="topology")
def nodes_come_back(core: SlurmPowerCore) -> bool:
    """Whether jobs may have more nodes later: some power down, or boot for nobody."""
    sets = core.slurm_power_saving.sets
    for word in range(len(sets.leaving)):
        if sets.leaving[word] | sets.unheld[word] != NONE:
            return True
    return False


@on(waits_for_time, "slurm_power_saving", "topology")
def nodes_come_back_or_leaves_are_waited_for(core: PowerTopologyCore) -> bool:
    """... or a job may have more leaves."""
    return bool(nodes_come_back(core) or waits_for_leaves(core))


@on(is_over, "slurm_power_saving")
def only_nodes_left(core: SlurmPowerCore) -> bool:
    """Whether no job runs, waits or is to come: all that may happen is that nodes are switched off."""
    return no_job_is_left(core)
