"""The passes of the plain reference of units: what is planned is a list of rectangles, looked at afresh.

Where the rules are silent:

* delay = reserved: a unit whose later members find no place is planned at the earliest slot from the next
  second on, which is that second unless somebody's reservation stands in the way.
* A reservation counts in every module its unit asks for, those of later members too, under either delay.
* ``Simulator.look_again`` collects the slots of all entries that were planned: see plain_units.py.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from tests.oracle.plain_unit_records import Component, Unit

if TYPE_CHECKING:
    from tests.oracle.plain_units import Simulator

Rectangle = tuple[str, int, int, int]  # module, from, to, nodes
Shape = list[tuple[int, Component]]  # (offset, member)


# -------------------------------------------------------------------- the plan
def rectangles(shape: Shape, start: int) -> list[Rectangle]:
    return [(c.module, start + offset, start + offset + c.limit, c.nodes) for offset, c in shape]


def fits(plan: list[Rectangle], wanted: list[Rectangle], capacity: dict[str, int]) -> bool:
    """Whether no instant that ``wanted`` covers has too much; use grows only where something begins."""
    moments = {begin for _, begin, _, _ in plan + wanted}
    for module in {module for module, _, _, _ in wanted}:
        for moment in moments:
            if use([r for r in wanted if r[0] == module], moment) > 0:
                taken = use([r for r in plan + wanted if r[0] == module], moment)
                if taken > capacity.get(module, 0):
                    return False
    return True


def use(some: list[Rectangle], moment: int) -> int:
    return sum(nodes for _, begin, end, nodes in some if begin <= moment < end)


def earliest(plan: list[Rectangle], shape: Shape, capacity: dict[str, int], since: int) -> int:
    """Return the first slot from ``since`` on; a later one has a member that begins where something ends."""
    ends = {end - offset for _, _, end, _ in plan for offset, _ in shape}
    moments = sorted({since} | {moment for moment in ends if moment > since})
    return next(moment for moment in moments if fits(plan, rectangles(shape, moment), capacity))


def whole(unit: Unit) -> Shape:
    return [(unit.offsets[member.id], member) for member in unit.members]


# -------------------------------------------------------------------- a unit's slot
def planned_shape(sim: Simulator, unit: Unit) -> Shape:
    """What the slot regards: all members, or (delay = reserved) those that start with the unit."""
    return whole(unit) if sim.delay == "joint" else [(0, member) for member in unit.first]


def slot_of(sim: Simulator, unit: Unit, plan: list[Rectangle]) -> int:
    shape = planned_shape(sim, unit)
    slot = earliest(plan, shape, sim.capacity, sim.now)
    if slot == sim.now and sim.delay == "reserved" and not later_members_fit(sim, unit):
        slot = earliest(plan, shape, sim.capacity, sim.now + 1)
    sim.look_again.append(slot)
    return slot


def later_members_fit(sim: Simulator, unit: Unit) -> bool:
    """Each in turn beside what runs, what is appointed, and the members before it; no reservation counts."""
    plan = sim.plan_of_certain() + rectangles([(0, member) for member in unit.first], sim.now)
    for member in unit.later:
        wanted = rectangles([(unit.offsets[member.id], member)], sim.now)
        if not fits(plan, wanted, sim.capacity):
            return False
        plan += wanted
    return True


# -------------------------------------------------------------------- the policies
def make_pass(sim: Simulator) -> None:
    sim.look_again = []
    queue = sorted(sim.queue, key=lambda unit: (-unit.leader.tier, sim.rank[unit.leader.id]))
    if sim.policy in ("fcfs", "first_fit"):
        without_reservations(sim, queue)
    else:
        with_reservations(sim, queue)


def without_reservations(sim: Simulator, queue: list[Unit]) -> None:
    """Under fcfs nothing passes a blocked unit in any module it asks for; under first_fit nothing blocks."""
    blocked: set[str] = set()
    for unit in queue:
        if not blocked & unit.modules and slot_of(sim, unit, sim.plan_of_certain()) == sim.now:
            sim.start_unit(unit)
        elif sim.policy == "fcfs":
            blocked |= unit.modules


def with_reservations(sim: Simulator, queue: list[Unit]) -> None:
    """easy (1), depth (k), conservative (all): counted per module."""
    reservations = {"easy": 1, "depth": sim.k, "conservative": math.inf}[sim.policy]
    plan, reserved = sim.plan_of_certain(), Counter[str]()
    for unit in queue:
        slot = slot_of(sim, unit, plan)
        if slot == sim.now:
            sim.start_unit(unit)
            plan += rectangles(whole(unit), slot)
        elif all(reserved[module] < reservations for module in unit.modules):
            plan += rectangles(planned_shape(sim, unit), slot)
            reserved.update(unit.modules)
