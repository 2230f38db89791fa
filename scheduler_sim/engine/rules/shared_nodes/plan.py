"""A plan that names nodes: what is free on each, from one time to the next (rule 13a, conservative).

Each node has a list of steps in order of time; the last lasts for ever. All steps stand in one table, and are
made anew with the plan.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.moments import plan_begins
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.profile import earliest_in, earliest_on_nodes, occupy_nodes, take
from scheduler_sim.engine.core.records import Ints, Record, Table, Words, one, table
from scheduler_sim.engine.core.releases import ends_now
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.shared_nodes.able import set_bit, told_apart
from scheduler_sim.engine.rules.shared_nodes.device_state import NOTED
from scheduler_sim.engine.rules.shared_nodes.devices import asks_for_devices
from scheduler_sim.engine.rules.shared_nodes.lifecycle import taken_of
from scheduler_sim.engine.rules.shared_nodes.packing import choose
from scheduler_sim.engine.rules.shared_nodes.state import (
    AWAY,
    CORES,
    SharedCore,
    SharedSizes,
    steps_for,
)


class PlanSize(Record):
    """How many steps there are."""

    steps: int


class NodeStep:
    """What holds on a node from a time to that of the next step."""

    time: int
    after: int  # the next step of the node, -1 = none
    jobs: int  # planned to run there


class Window:
    """The starts at which a node is able for a placement, from the first that is looked at on."""

    opens: int
    closes: int  # the last such start, INF without end
    step: int  # the step of the node behind which it is not able, -1 = none


class NodePlan(NamedTuple):
    """n nodes, s steps, c kinds."""

    size: PlanSize
    step: Table[NodeStep]  # [s]; the first step of node i is step i
    free: Ints  # [s, c]
    window: Table[Window]  # [n]
    able: Words  # [n / 64] bits: the nodes that are able for what is planned
    at_start: Ints  # [c, n] free on them when it starts, of the kinds by which they are chosen
    reserved: Ints  # [m, k] under easy: the jobs that hold reservations, in order of the queue


class NodePlanCore(SharedCore):
    """A core whose plan names nodes."""

    node_plan: NodePlan


def blank_node_plan(sizes: SharedSizes) -> NodePlan:
    """Return a part with room for every placement."""
    steps = steps_for(sizes.nodes, sizes.depth, sizes.slots)
    return NodePlan(
        size=one(PlanSize),
        step=table(NodeStep, steps),
        free=np.zeros((steps, sizes.kinds), dtype=np.int64),
        window=table(Window, sizes.nodes),
        able=np.zeros((sizes.nodes + 63) >> 6, dtype=np.uint64),
        at_start=np.zeros((sizes.chosen_by, sizes.nodes), dtype=np.int64),
        reserved=np.zeros((sizes.modules, sizes.depth), dtype=np.int64),
    )


@on(plan_begins, "node_plan")
def lay_out_nodes(core: NodePlanCore, on_time: bool) -> None:
    """The plan begins with what is free now, and what comes free as jobs are planned to end."""
    part, plan, now = core.shared_nodes, core.node_plan, core.clock.now
    plan.size.steps = len(part.node)
    for node in range(len(part.node)):
        plan.step[node].time, plan.step[node].after = now, -1
        plan.step[node].jobs = 0
        for kind in range(len(part.capacity)):
            plan.free[node, kind] = part.free[kind, node]
    for module in range(core.clock.modules):
        if not told_apart(core, module):
            continue
        for i in range(core.pools[module].release_head, core.pools[module].release_tail):
            row, time = core.releases[module, i].row, core.releases[module, i].time
            if row < 0:
                _come_back(core, module, time, max(time, now + 1))
                continue
            if time <= now:
                time = now if on_time and ends_now(core, row) else now + 1
            _come_free(core, core.jobs[row].placed, time)


@part
def _come_free(core: NodePlanCore, placement: int, time: int) -> None:
    """What runs gives back its nodes at a time; until then it is on them."""
    part, plan = core.shared_nodes, core.node_plan
    slot, demand = part.request[placement].slot, part.request[placement].demand
    for i in range(slot, slot + core.placements[placement].nodes):
        node = part.slots[i]
        end = _cut(core, node, time)
        step = node
        while step != end:
            plan.step[step].jobs += 1
            step = plan.step[step].after
        while step >= 0:
            for kind in range(len(part.capacity)):
                plan.free[step, kind] += taken_of(core, demand, i, kind)
            step = plan.step[step].after


@part
def _come_back(core: NodePlanCore, module: int, announced: int, time: int) -> None:
    """The nodes that are announced to be back at a time take jobs again, in the plan from ``time`` on."""
    part, plan = core.shared_nodes, core.node_plan
    for node in range(part.module[module].begin, part.module[module].end):
        if part.node[node].back == announced:
            step = _cut(core, node, time)
            while step >= 0:
                plan.free[step, CORES] += AWAY
                step = plan.step[step].after


@part
def _cut(core: NodePlanCore, node: int, time: int) -> int:
    """The step of a node that begins at ``time``, made if there is none."""
    plan, step = core.node_plan, node
    while plan.step[step].after >= 0 and plan.step[plan.step[step].after].time <= time:
        step = plan.step[step].after
    if plan.step[step].time == time:
        return step
    made = plan.size.steps
    plan.size.steps = made + 1
    plan.step[made].time, plan.step[made].after = time, plan.step[step].after
    plan.step[made].jobs = plan.step[step].jobs
    plan.step[step].after = made
    for kind in range(plan.free.shape[1]):
        plan.free[made, kind] = plan.free[step, kind]
    return made


@on(occupy_nodes, "node_plan")
def occupy_named_nodes(core: NodePlanCore, placement: int, begin: int, end: int, sign: int) -> None:
    """Take a placement out of the plan on the nodes that it has (sign 1), or put them back (-1)."""
    it, part, plan = core.placements[placement], core.shared_nodes, core.node_plan
    if not told_apart(core, it.module):
        take(core, it.module, begin, end, sign * it.nodes)
        return
    slot, demand = part.request[placement].slot, part.request[placement].demand
    for i in range(slot, slot + it.nodes):
        node = part.slots[i]
        step, last = _cut(core, node, begin), _cut(core, node, end)
        while step != last:
            plan.step[step].jobs += sign
            for kind in range(len(part.capacity)):
                plan.free[step, kind] -= sign * taken_of(core, demand, i, kind)
            step = plan.step[step].after


@inlined
def _is_able(core: NodePlanCore, demand: int, step: int) -> bool:
    """Whether a node is able for a demand in one of its steps."""
    part, plan = core.shared_nodes, core.node_plan
    if part.demand[demand].exclusive and plan.step[step].jobs > 0:
        return False
    for kind in range(part.need.shape[1]):
        if part.need[demand, kind] > plan.free[step, kind]:
            return False
    return True


@part
def _open(core: NodePlanCore, demand: int, node: int, step: int, after: int, length: int) -> None:
    """Find the first starts, from ``after`` on, at which a node is able for ``length`` s, from a step on."""
    steps, window = core.node_plan.step, core.node_plan.window[node]
    window.opens = window.closes = INF
    window.step = -1
    if asks_for_devices(core, demand):
        _open_on_devices(core, demand, node, step, after, length)
        return
    begin = -1
    while step >= 0:
        following = steps[step].after
        until = steps[following].time if following >= 0 else INF
        if until > after:
            able = _is_able(core, demand, step)
            if able and begin < 0:
                begin = max(after, steps[step].time)
            elif not able and begin >= 0:
                if begin + length <= steps[step].time:
                    window.opens, window.closes = begin, steps[step].time - length
                    window.step = step
                    return
                begin = -1
        step = following
    if begin >= 0:
        window.opens = begin


@on(earliest_on_nodes, "node_plan")
def earliest_on_named_nodes(core: NodePlanCore, placement: int, after: int, length: int) -> int:
    """Earliest start at which enough nodes, the same ones throughout, are able for ``length`` s."""
    it, part = core.placements[placement], core.shared_nodes
    if not told_apart(core, it.module):
        return earliest_in(core, it.module, after, length, it.nodes)
    window, demand = core.node_plan.window, part.request[placement].demand
    first, last = part.demand[demand].first, part.demand[demand].last
    for i in range(first, last):
        for node in range(part.range[i].begin, part.range[i].end):
            _open(core, demand, node, node, after, length)
    time = after
    while time < INF:
        able, later = 0, INF
        for i in range(first, last):
            for node in range(part.range[i].begin, part.range[i].end):
                if window[node].closes < time:
                    _open(core, demand, node, window[node].step, time, length)
                if window[node].opens <= time:
                    able += 1
                elif window[node].opens < later:
                    later = window[node].opens
        if able >= it.nodes:
            break
        time = later
    return time


@only_with("node_plan")
def name_nodes(core: NodePlanCore, placement: int, time: int) -> None:
    """Choose the nodes on which a placement is planned to start at a time, by what is free on them then."""
    part, plan = core.shared_nodes, core.node_plan
    if not told_apart(core, core.placements[placement].module):
        return
    demand, end = part.request[placement].demand, time + judged_time(core, placement)
    for i in range(part.demand[demand].first, part.demand[demand].last):
        for node in range(part.range[i].begin, part.range[i].end):
            step = node
            while plan.step[step].after >= 0 and plan.step[plan.step[step].after].time <= time:
                step = plan.step[step].after
            for kind in range(len(plan.at_start)):
                plan.at_start[kind, node] = plan.free[step, kind]
            set_bit(plan.able, node, _is_able_until(core, demand, node, step, end))
    choose(core, placement, plan.able, plan.at_start, NOTED)


@part
def _is_able_until(core: NodePlanCore, demand: int, node: int, begin: int, end: int) -> bool:
    """Whether a node is able from a step on until ``end``."""
    steps, step = core.node_plan.step, begin
    while step >= 0 and steps[step].time < end:
        if not _is_able(core, demand, step):
            return False
        step = steps[step].after
    return _has_devices_until(core, demand, node, begin, end)


@only_with("devices", otherwise=True)
def _has_devices_until(core: NodePlanCore, demand: int, node: int, step: int, end: int) -> bool:
    """Whether enough devices of a node are free from a step on until ``end``; they are noted."""
    it, plan, found = core.devices, core.node_plan, 0
    asked, bits = it.demand[demand], 0
    if asked.count == 0:
        return True
    among = it.of_type[asked.type, node]
    for device in range(it.rules.devices):
        if not (among >> device) & 1:
            continue
        at = step
        while at >= 0 and plan.step[at].time < end and plan.free[at, it.rules.first + device] >= asked.part:
            at = plan.step[at].after
        if at < 0 or plan.step[at].time >= end:
            bits |= 1 << device
            found += 1
    it.noted[node] = bits
    return found >= asked.count


@only_with("devices")
def _open_on_devices(core: NodePlanCore, demand: int, node: int, first: int, after: int, length: int) -> None:
    """The same where a job keeps its devices: able at each moment is not enough."""
    steps, window, step = core.node_plan.step, core.node_plan.window[node], first
    while step >= 0:
        following = steps[step].after
        if following < 0 or steps[following].time > after:
            begin = max(after, steps[step].time)
            if _is_able_until(core, demand, node, step, begin + length):
                window.opens, window.step = begin, step
                window.closes = begin if following >= 0 else INF
                return
        step = following


@part
def choose_beside_plan(core: NodePlanCore, placement: int, length: int) -> bool:
    """Choose the nodes, by what is free on them now, that are able for a placement now and for ``length`` s.

    False if too few are, and where nodes are only counted.
    """
    part, plan = core.shared_nodes, core.node_plan
    if not told_apart(core, core.placements[placement].module):
        return False
    demand, end = part.request[placement].demand, core.clock.now + length
    for i in range(part.demand[demand].first, part.demand[demand].last):
        for node in range(part.range[i].begin, part.range[i].end):
            set_bit(plan.able, node, _is_able_until(core, demand, node, node, end))
    return choose(core, placement, plan.able, part.free, NOTED)


@part
def next_end(core: NodePlanCore, module: int) -> int:
    """When something ends next in the plan of a module, after now; INF if nothing does."""
    time, steps = INF, core.node_plan.step
    nodes = core.shared_nodes.module[module]
    if told_apart(core, module):
        for node in range(nodes.begin, nodes.end):
            if steps[node].after >= 0:
                time = min(time, steps[steps[node].after].time)
        return time
    for i in range(core.pools[module].profile_size):
        if core.profile[module, i].time > core.clock.now:
            time = min(time, core.profile[module, i].time)
    return time
