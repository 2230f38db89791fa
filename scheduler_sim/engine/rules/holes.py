"""Advance reservations under all policies but Slurm's: nodes that leave a module for a time.

A reservation has a pool of its own in each module of which it has nodes: its jobs are placed there, as if it
were a module. What is known to come stands among the planned ends of both pools, as returns, negative where
nodes go; so every plan sees it. Here nodes change pools. Those that a job still has go once it ends.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.jit import entry, part
from scheduler_sim.engine.core.lifecycle import free_nodes, give_back, plan_anew
from scheduler_sim.engine.core.moments import nodes_idle, submitted
from scheduler_sim.engine.core.operations import put_back, take_out
from scheduler_sim.engine.core.placement import module_of
from scheduler_sim.engine.core.profile import leaving_next
from scheduler_sim.engine.core.records import Table, one, table
from scheduler_sim.engine.core.state import Core

ALLOWED = 0
"""Nothing is said against a job because of the reservation that it names."""


class Hole:
    """What a reservation has of a module: a pool, the first of which is FIRST."""

    module: int
    owed: int  # nodes that it is to get as they become idle; below 0: that it is to give back


class Claim:
    """What a job has to do with reservations."""

    refused: int  # why it is rejected at its submission, or waits for ever; ALLOWED


class Present:
    """What all of them have in common."""

    first: int  # the pool of the first hole


class Holes(NamedTuple):
    """Reservations, by what they have of each module."""

    hole: Table[Hole]  # [h]
    claim: Table[Claim]  # [n]
    at: Present


class HolesCore(Core):
    """A core with advance reservations that are holes in the plan."""

    holes: Holes


class HoleSizes(NamedTuple):
    """How much room the part has."""

    rows: int
    holes: int


def blank_holes(sizes: HoleSizes) -> Holes:
    """Return the part; nothing is reserved, nobody names anything."""
    return Holes(hole=table(Hole, sizes.holes), claim=table(Claim, sizes.rows), at=one(Present))


@on(submitted, "holes")
def refuse(core: HolesCore, row: int) -> None:
    """A job that may not have the reservation that it names can never run."""
    if core.holes.claim[row].refused != ALLOWED:
        core.jobs[row].last = core.jobs[row].first


@on(module_of, "holes")
def module_of_pool(core: HolesCore, placement: int) -> int:
    """A job in a reservation counts in the module that the nodes are of."""
    pool = core.placements[placement].module
    return pool if pool < core.clock.modules else core.holes.hole[pool - core.holes.at.first].module


@only_with("holes", otherwise=False)
def is_reserved_pool(core: HolesCore, pool: int) -> bool:
    """Whether a pool is what some reservation has of a module."""
    return pool >= core.holes.at.first


@only_with("holes", otherwise=True)
def nodes_stay(core: Core, placement: int) -> bool:
    """Whether nodes that are idle now are not known to leave before a placement that starts now is over."""
    it = core.placements[placement]
    pool, end = core.pools[it.module], core.clock.now + it.limit
    free, leaving, last = pool.free, leaving_next(core, it.module), core.clock.now
    for i in range(pool.release_head, pool.release_tail):
        known = core.releases[it.module, i]
        time = max(known.time, core.clock.now + 1)
        if time > last and free < it.nodes:
            return False
        if time >= end:
            return True
        gone = min(leaving, max(known.nodes, 0))
        leaving -= gone
        free += known.nodes - gone
        last = time
    return free >= it.nodes


@on(leaving_next, "holes")
def leaving_or_owed(core: HolesCore, pool: int) -> int:
    """Nodes to be drained leave, and those that another pool is to get."""
    leaving = core.pools[pool].draining
    for i in range(len(core.holes.hole)):
        it = core.holes.hole[i]
        if it.owed > 0 and it.module == pool:
            leaving += it.owed
        elif it.owed < 0 and core.holes.at.first + i == pool:
            leaving -= it.owed
    return leaving


@on(nodes_idle, "holes")
def give_what_is_owed(core: HolesCore, module: int, nodes: int) -> None:
    """Nodes of a module are idle: a reservation may have waited for them, which no plan told."""
    if _pay(core) > 0:
        plan_anew(core)


@on(free_nodes, "holes")
def free_nodes_of_pool(core: HolesCore, placement: int) -> None:
    """Nodes of a reservation are idle: it may be over, or others may have a right to them."""
    give_back(core, core.placements[placement].module, core.placements[placement].nodes)
    if _pay(core) > 0:
        plan_anew(core)


@entry
def hand_over(core: HolesCore) -> None:
    """Some reservations are to have more nodes from now on, or fewer: what is OWED goes where it can."""
    _pay(core)
    core.clock.dirty = 1
    for i in range(len(core.holes.hole)):
        if core.holes.hole[i].owed != 0:  # plans counted on nodes that somebody still has
            core.clock.early = core.clock.lost = 1


@part
def _pay(core: HolesCore) -> int:
    """Idle nodes go where they are owed, first those that go back to modules; returns how many went."""
    paid = 0
    for i in range(len(core.holes.hole)):
        it, pool = core.holes.hole[i], core.pools[core.holes.at.first + i]
        nodes = min(-it.owed, pool.free)
        if nodes > 0:
            home = core.pools[it.module]
            leaving = min(nodes, home.draining)
            it.owed += nodes
            pool.free -= nodes
            home.draining -= leaving
            home.down += leaving
            home.free += nodes - leaving
            home.touched = 1
            paid += nodes
    for i in range(len(core.holes.hole)):
        it, pool = core.holes.hole[i], core.pools[core.holes.at.first + i]
        nodes = min(it.owed, core.pools[it.module].free)
        if nodes > 0:
            it.owed -= nodes
            core.pools[it.module].free -= nodes
            core.pools[it.module].touched = 1
            pool.free += nodes
            paid += nodes
    return paid


@entry
def leave_reservation(core: HolesCore, row: int) -> None:
    """A job goes on without its reservation, on nodes of the modules themselves."""
    waits = take_out(core, row)
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        core.placements[placement].module = module_of(core, placement)
    put_back(core, row, waits)
