"""EASY with several reservations a module, on nodes that are told apart (depth k of shared nodes).

For components with one placement and no shared resources: every row is its own placement. The times of
reservations stand for a pass; their nodes are taken anew with whatever starts.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import start
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.profile import build_profiles, earliest_on_nodes, occupy_nodes
from scheduler_sim.engine.core.queue import close_gaps, refresh, sort_candidates
from scheduler_sim.engine.core.record import nodes_fit
from scheduler_sim.engine.core.scheme import pass_of
from scheduler_sim.engine.core.state import INF, WAITING
from scheduler_sim.engine.core.waiting import reserve_start, withdraw
from scheduler_sim.engine.rules.shared_nodes.packing import choose_nodes_now
from scheduler_sim.engine.rules.shared_nodes.plan import (
    NodePlanCore,
    choose_beside_plan,
    name_nodes,
    next_end,
)


@pass_of("reservations_by_nodes")
@part
def reserving_pass(core: NodePlanCore) -> None:
    """Each job in turn starts, or gets a reservation while depth is left in its module."""
    refresh(core)
    build_profiles(core, False)
    for module in range(core.clock.modules):
        core.pools[module].reserved = 0
    put_off = 0
    for place in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[place]
        withdraw(core, row)
        if core.rules.two_orders and not _has_depth(core, core.placements[row].module):
            core.queue.candidates[put_off] = row
            put_off += 1
        else:
            _look_at(core, row)
    if put_off > 0:
        sort_candidates(core, put_off)
        for i in range(put_off):
            _look_at(core, core.queue.candidates[i])
    close_gaps(core, core.queue.at.tail)


@part
def _has_depth(core: NodePlanCore, module: int) -> bool:
    return core.pools[module].reserved < core.rules.depth


@part
def _look_at(core: NodePlanCore, row: int) -> None:
    """Start a job on the nodes that it takes now, else beside the reservations; else reserve its start."""
    module, length = core.placements[row].module, judged_time(core, row)
    if nodes_fit(core, row):
        choose_nodes_now(core, row)
        if not _start_if_none_loses(core, row, length) and choose_beside_plan(core, row, length):
            _start_if_none_loses(core, row, length)
    if core.jobs[row].state == WAITING and _has_depth(core, module):
        time = earliest_on_nodes(core, row, next_end(core, module), length)
        core.node_plan.reserved[module, core.pools[module].reserved] = row
        core.pools[module].reserved += 1
        reserve_start(core, row, row, time)
        if time < INF:
            name_nodes(core, row, time)
            occupy_nodes(core, row, time, time + length, 1)


@part
def _start_if_none_loses(core: NodePlanCore, row: int, length: int) -> bool:
    """Start a job on the nodes chosen for it, if with it in the plan every reservation still finds nodes."""
    module, now = core.placements[row].module, core.clock.now
    planned = core.placements[row].limit if core.pools[module].reserved == 0 else length
    _lift(core, module, core.pools[module].reserved)
    occupy_nodes(core, row, now, now + planned, 1)
    if _put_back(core, module):
        start(core, row, row)
        return True
    occupy_nodes(core, row, now, now + planned, -1)
    _put_back(core, module)
    return False


@part
def _lift(core: NodePlanCore, module: int, count: int) -> None:
    """Take the first so many reservations of a module out of the plan."""
    for i in range(count):
        row = core.node_plan.reserved[module, i]
        time = core.jobs[row].reserved_start
        if time < INF:
            occupy_nodes(core, row, time, time + judged_time(core, row), -1)


@part
def _put_back(core: NodePlanCore, module: int) -> bool:
    """Put the reservations of a module back at their times, on nodes taken anew; none if one finds none."""
    for i in range(core.pools[module].reserved):
        row = core.node_plan.reserved[module, i]
        time, length = core.jobs[row].reserved_start, judged_time(core, row)
        if time == INF:
            continue
        if earliest_on_nodes(core, row, time, length) != time:
            _lift(core, module, i)
            return False
        name_nodes(core, row, time)
        occupy_nodes(core, row, time, time + length, 1)
    return True
