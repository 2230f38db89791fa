"""Reservations of nodes that jobs share: they take whole nodes away, and their own jobs share those.

Read in node_scheduler.c (``_pick_best_nodes``): which of its answers blocks a partition.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, lowest_in
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Words
from scheduler_sim.engine.rules.shared_nodes.state import MEMORY
from scheduler_sim.engine.rules.slurm.cons_tres.alike import weigh_alike
from scheduler_sim.engine.rules.slurm.cons_tres.bounds import is_clear
from scheduler_sim.engine.rules.slurm.cons_tres.choice import choose_nodes
from scheduler_sim.engine.rules.slurm.cons_tres.cutoff import has_nodes_of_its_own
from scheduler_sim.engine.rules.slurm.cons_tres.gains import gains_any
from scheduler_sim.engine.rules.slurm.cons_tres.lifecycle import may_fit
from scheduler_sim.engine.rules.slurm.cons_tres.offers import weight_beside
from scheduler_sim.engine.rules.slurm.cons_tres.room import empty_node, place_of, room_later
from scheduler_sim.engine.rules.slurm.cons_tres.state import AVAILABLE, ConsTresCore, Need
from scheduler_sim.engine.rules.slurm.reservations.access import gains_open_nodes, names_reservation
from scheduler_sim.engine.rules.slurm.reservations.nodes import (
    waits_for_jobs_on,
    would_suffice_empty,
)
from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore

OUTSIDE = 1 << 48
"""So much more a node weighs that is not of the entry's reservation, if that lets it use others."""


class ReservedSharesCore(ConsTresCore, ReservationsCore):
    """A core with nodes that jobs share, and reservations of some."""


@on(would_suffice_empty, "cons_tres", "reservations")
def would_fit_empty(core: ReservedSharesCore, placement: int, nodes: Words) -> bool:
    """By cores, memory and generic resources, too."""
    it = core.slurm.partition[core.slurm.way[placement].partition]
    begin = core.shared_nodes.module[it.module].begin
    for word in range(it.low, it.high):
        bits = nodes[word]
        while bits != NONE:
            empty_node(core, begin + ((word - it.low) << 6) + lowest_in(bits))
            bits &= bits - ONE
    return choose_nodes(core, core.cons_tres.asked[placement].need, room_later(core), nodes, True)


@on(waits_for_jobs_on, "cons_tres", "reservations")
def waits_for_shares_on(core: ReservedSharesCore, placement: int, nodes: Words) -> bool:
    """Where nodes are out of the question for now, or the others would suffice if nothing ran on them."""
    if core.reservations.at.inside < 0 and not may_fit(core, placement):
        return False
    need = core.cons_tres.need[core.cons_tres.asked[placement].need]
    it = core.slurm.partition[core.slurm.way[placement].partition]
    begin = core.shared_nodes.module[it.module].begin
    for word in range(it.low, it.high):
        bits = nodes[word]
        while bits != NONE:
            node = begin + ((word - it.low) << 6) + lowest_in(bits)
            bits &= bits - ONE
            if _is_of_its_size(core, need, node) and _is_out_of_question(core, need, node):
                return True
    return would_fit_empty(core, placement, nodes)


@part
def _is_of_its_size(core: ReservedSharesCore, need: Need, node: int) -> bool:
    """Whether a node is as large as each must be; others are not looked at."""
    machine = core.cons_tres.machine[node]
    if need.node_cpus > machine.sockets * machine.cores * machine.threads:
        return False
    asks = core.cons_tres.rules.memory and not need.gpu_memory
    return not asks or need.memory <= core.shared_nodes.capacity[MEMORY, node]


@part
def _is_out_of_question(core: ReservedSharesCore, need: Need, node: int) -> bool:
    """Whether a node is completing; whether anybody is there, for one alone; or one alone is, for others."""
    it = core.slurm.partition[need.partition]
    word, bit = place_of(core, it, node)
    if core.slurm.sets.leaving[word] & bit != NONE:
        return True
    if _is_alone(need):
        return bool(core.slurm.sets.idle[word] & bit == NONE)
    part = core.cons_tres
    slot = part.machine[node].first
    while slot >= 0:
        if _is_alone(part.need[part.asked[part.tenant[slot].placement].need]):
            return True
        slot = part.tenant[slot].next
    return False


@part
def _is_alone(need: Need) -> bool:
    """Whether a job has its nodes to itself; not where cores are shared by force."""
    return bool(need.whole and need.kind != AVAILABLE)


# -- FLEX


@part
def _may_use_others(core: ReservedSharesCore) -> bool:
    """Whether the entry's reservation lets it use other nodes, too."""
    own = core.reservations.at.inside
    return bool(own >= 0 and core.reservations.table[own].flex)


@on(weight_beside, "cons_tres", "reservations")
def weight_outside(core: ReservedSharesCore, it: Need, node: int) -> int:
    """Nodes of its reservation come first."""
    if not _may_use_others(core):
        return 0
    word, bit = place_of(core, core.slurm.partition[it.partition], node)
    return 0 if core.reservations.nodes[core.reservations.at.inside, word] & bit != NONE else OUTSIDE


@on(weigh_alike, "cons_tres", "reservations")
def weigh_alike_inside(core: ReservedSharesCore) -> bool:
    """Not where those of its reservation come first."""
    return not _may_use_others(core)


@on(has_nodes_of_its_own, "reservations", "cons_tres")
def names_its_own(core: ReservedSharesCore, row: int) -> bool:
    """Those of the reservation that it names."""
    return bool(names_reservation(core, row))


@on(is_clear, "reservations", "cons_tres")
def none_is_in_the_way(core: ReservedSharesCore, placement: int) -> bool:
    """Whether none stands for which the job could be late, and its turn is not in one."""
    if core.reservations.at.inside >= 0:
        return False
    behind = core.slurm.memory.window_end + core.placements[placement].limit
    for i in range(len(core.reservations.table)):
        one = core.reservations.table[i]
        if one.stands and one.start <= behind and one.end >= core.clock.now:
            return False
    return True


@on(gains_any, "reservations", "cons_tres")
def gains_any_open(core: ReservedSharesCore, number: int, record: int, mask: int) -> bool:
    """Among those that are OPEN."""
    return gains_open_nodes(core, number, record, mask)
