"""Shares of nodes in the life of a job under Slurm."""

from __future__ import annotations

from scheduler_sim.engine.core.bits import clear
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.laws import NODE_JOBS, keep_count
from scheduler_sim.engine.core.lifecycle import free_nodes, take_nodes
from scheduler_sim.engine.core.moments import submitted
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.shared_nodes.lifecycle import (
    change_free,
    end_use,
    has_to_itself,
    share_of,
    take_parts,
)
from scheduler_sim.engine.rules.shared_nodes.service import in_use_by, service_changed
from scheduler_sim.engine.rules.shared_nodes.state import UP
from scheduler_sim.engine.rules.slurm.cons_tres.choice import choose_nodes
from scheduler_sim.engine.rules.slurm.cons_tres.room import (
    change_room,
    empty_room,
    entering,
    has_left,
    place_of,
    room_later,
    room_now,
)
from scheduler_sim.engine.rules.slurm.cons_tres.state import NEVER, SOMETIME, YET_UNKNOWN, ConsTresCore
from scheduler_sim.engine.rules.slurm.cons_tres.tenants import strike_shares
from scheduler_sim.engine.rules.slurm.lifecycle import room_is_left
from scheduler_sim.engine.rules.slurm.nodes import (
    allocate,
    deallocate,
    give_back_all_but_first,
    give_back_first,
    least_nodes,
    match_service,
    put_nodes_of,
    set_leaving,
)
from scheduler_sim.engine.rules.slurm.state import Partition

NOTHING, SHARES = -1, 0
"""Of a job: whether it holds shares of nodes."""


# -- to its start


@on(submitted, "cons_tres")
def refuse_what_never_fits(core: ConsTresCore, row: int) -> None:
    """A job for which no partition that it names has room, were all idle, is rejected."""
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        if may_fit(core, placement):
            return
    core.jobs[row].last = core.jobs[row].first


@part
def may_fit(core: ConsTresCore, placement: int) -> bool:
    """Whether a placement fits on nodes on which nothing runs; the same for all with that need."""
    number = core.cons_tres.asked[placement].need
    need, way = core.cons_tres.need[number], core.slurm.way[placement]
    if need.possible == YET_UNKNOWN:
        empty_room(core, core.slurm.partition[way.partition].module)
        mask = core.slurm.nodes.masks[way.mask]
        fitting = choose_nodes(core, number, room_later(core), mask, True)
        need.possible = SOMETIME if fitting else NEVER
    return need.possible == SOMETIME


@on(least_nodes, "cons_tres")
def least_of_need(core: ConsTresCore, placement: int) -> int:
    """What it asks for; a job that has run may have had more."""
    return int(core.cons_tres.need[core.cons_tres.asked[placement].need].min_nodes)


@on(share_of, "cons_tres")
def dealt_share(core: ConsTresCore, placement: int, at: int, kind: int) -> int:
    """Nodes are shared by what was dealt."""
    return int(core.cons_tres.share[at, kind])


@on(has_to_itself, "cons_tres")
def shares_say_it_all(core: ConsTresCore, placement: int) -> bool:
    """A job that has its nodes to itself has all cores of them."""
    return False


@on(allocate, "cons_tres")
def allocate_shares(core: ConsTresCore, row: int, placement: int) -> None:
    """The nodes CHOSEN run the job from now on, with the shares that were dealt."""
    part, it = core.cons_tres, core.slurm.partition[core.slurm.way[placement].partition]
    core.slurm.job[row].piece = SHARES
    for i in range(part.attempt.taken):
        word, bit = place_of(core, it, part.chosen[i])
        core.slurm.sets.idle[word] &= ~bit


@on(take_nodes, "cons_tres")
def take_shares(core: ConsTresCore, placement: int) -> None:
    """From now on it is known how many nodes they are: it may be more than were asked for."""
    core.placements[placement].nodes = core.cons_tres.attempt.taken
    entering(core, placement)
    change_room(core, placement, room_now(core), -1)
    take_parts(core, placement)


# -- to its end


@on(room_is_left, "cons_tres")
def leave_room(core: ConsTresCore, row: int) -> None:
    """What it had of nodes may be promised to others at once, though the nodes may be completing."""
    placement, shared = core.jobs[row].placed, core.shared_nodes
    it = core.slurm.partition[core.slurm.way[placement].partition]
    change_room(core, placement, room_now(core), 1)
    strike_shares(core, row)
    has_left(core, placement)
    first = shared.request[placement].slot
    for slot in range(first, first + core.placements[placement].nodes):
        change_free(core, placement, slot, 1)
        node = shared.slots[slot]
        shared.node[node].jobs -= 1
        keep_count(core, NODE_JOBS, node, shared.node[node].jobs)
        core.cons_tres.machine[node].completing += 1
        if shared.node[node].jobs == 0:
            core.pools[it.module].busy -= 1
            _mark_idle(core, it, node)


@part
def _mark_idle(core: ConsTresCore, it: Partition, node: int) -> None:
    """A node without jobs is idle, if it is in service."""
    word, bit = place_of(core, it, node)
    core.slurm.sets.idle[word] |= bit & core.slurm.sets.up[word]


@on(set_leaving, "cons_tres")
def set_completing(core: ConsTresCore, row: int, leaving: bool) -> None:
    """The nodes of a job are COMPLETING, or no longer because of it."""
    placement, shared = core.slurm.job[row].last, core.shared_nodes
    if leaving:
        placement = core.jobs[row].placed
    it = core.slurm.partition[core.slurm.way[placement].partition]
    slot = shared.request[placement].slot
    first = _first_slot(core, row) if core.slurm.job[row].on_first else -1
    for i in range(slot, slot + core.placements[placement].nodes):
        if first >= 0 and i != first:
            continue
        node = shared.slots[i]
        word, bit = place_of(core, it, node)
        if leaving:
            core.slurm.sets.leaving[word] |= bit
        elif core.cons_tres.machine[node].completing == 1:
            core.slurm.sets.leaving[word] &= ~bit


@on(free_nodes, "cons_tres")
def free_shared_nodes(core: ConsTresCore, placement: int) -> None:
    """The nodes of a job that has left their room are back."""
    slot = core.shared_nodes.request[placement].slot
    for i in range(slot, slot + core.placements[placement].nodes):
        _end_completing(core, placement, i)


@on(give_back_all_but_first, "cons_tres")
def give_back_shares_but_first(core: ConsTresCore, row: int) -> None:
    """A node is COMPLETING as long as it is for any job."""
    slot = core.shared_nodes.request[core.slurm.job[row].last].slot
    first = _first_slot(core, row)
    for i in range(slot, slot + core.placements[core.slurm.job[row].last].nodes):
        if i != first:
            _clean(core, row, i)


@on(give_back_first, "cons_tres")
def give_back_first_share(core: ConsTresCore, row: int) -> None:
    """The mark was taken from it before."""
    _end_completing(core, core.slurm.job[row].last, _first_slot(core, row))


@part
def _first_slot(core: ConsTresCore, row: int) -> int:
    """Where the first of its nodes stands."""
    slot = core.shared_nodes.request[core.slurm.job[row].last].slot
    first = slot
    for i in range(slot, slot + core.placements[core.slurm.job[row].last].nodes):
        if core.shared_nodes.slots[i] < core.shared_nodes.slots[first]:
            first = i
    return first


@part
def _clean(core: ConsTresCore, row: int, slot: int) -> None:
    """A node is not COMPLETING because of a job any more."""
    node = core.shared_nodes.slots[slot]
    it = core.slurm.partition[core.slurm.way[core.slurm.job[row].last].partition]
    word, bit = place_of(core, it, node)
    if core.cons_tres.machine[node].completing == 1:
        core.slurm.sets.leaving[word] &= ~bit
    _end_completing(core, core.slurm.job[row].last, slot)


@part
def _end_completing(core: ConsTresCore, placement: int, slot: int) -> None:
    """A job that has left the room of a node does not keep it from being idle any more."""
    node, module = core.shared_nodes.slots[slot], core.placements[placement].module
    core.cons_tres.machine[node].completing -= 1
    keep_count(core, NODE_JOBS, node, core.cons_tres.machine[node].completing)
    if core.cons_tres.machine[node].completing == 0 and core.shared_nodes.node[node].jobs == 0:
        end_use(core, module, node)
    core.pools[module].touched = 1


@on(deallocate, "cons_tres")
def hold_nothing(core: ConsTresCore, row: int) -> None:
    """A job holds no nodes any more."""
    core.slurm.job[row].piece = NOTHING


@on(put_nodes_of, "cons_tres")
def put_shared_nodes_of(core: ConsTresCore, row: int, target: Words) -> None:
    """Those of which it has shares."""
    clear(target, 0, len(target))
    placement = core.jobs[row].placed
    first = core.shared_nodes.request[placement].slot
    it = core.slurm.partition[core.slurm.way[placement].partition]
    for slot in range(first, first + core.placements[placement].nodes):
        word, bit = place_of(core, it, core.shared_nodes.slots[slot])
        target[word] |= bit


# -- nodes in service


@on(match_service, "cons_tres")
def know_service(core: ConsTresCore, module: int, low: int, high: int) -> None:
    """Which nodes are in service is known of each."""


@on(in_use_by, "cons_tres")
def jobs_there_and_completing(core: ConsTresCore, node: int) -> int:
    """A node where jobs are completing is not idle yet."""
    return int(core.shared_nodes.node[node].jobs + core.cons_tres.machine[node].completing)


@on(service_changed, "cons_tres")
def set_up(core: ConsTresCore, node: int) -> None:
    """A node is up, and idle if nothing runs there, or it is down or on its way to that."""
    it, sets = core.shared_nodes.node[node], core.slurm.sets
    for number in range(len(core.slurm.partition)):
        partition = core.slurm.partition[number]
        if partition.module == it.module:
            word, bit = place_of(core, partition, node)
            sets.up[word] &= ~bit
            sets.idle[word] &= ~bit
            if it.service == UP:
                sets.up[word] |= bit
                if it.jobs == 0:
                    sets.idle[word] |= bit
            return
