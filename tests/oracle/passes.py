"""The passes of the plain reference scheduler (design rules 4, 5, 6, 8 and 9).

Where the rules are silent it takes them like this:

* Without reservations (``none``, ``first_fit``) a component takes, of the placements that can start now
  in unblocked pools, the one its strategy ranks first.
* Depth counts reservations per module; resources have none of their own. A component may reserve only in
  a module that has depth left, and ranks those slots together with the placements that can start now;
  with no depth left anywhere it takes the best of those that can start now.
* ``backfill_order``: a component is a candidate when no module it asks for has depth left (``first_fit``:
  when each has a component that could not start). Candidates go last, in their own order.
* ``candidate_time: run`` is at least 1 s. What starts before its module has a front is planned by its limit.
* ``shadow: static``: the time is computed in the pass in which the component becomes front and kept while
  it is found to be front in each pass; the extra nodes are counted anew at each pass, at least 0.
* ``replan: keep``: a sweep goes before newcomers get their slots. It never moves a start back, so the
  strategy chooses among slots not later than the promise. It follows any end at another time than planned,
  that of an overrun too. A component that runs past its planned end voids every promise, at each pass as
  long as it does and in that of its end: a plan from scratch. Where ends of one instant bring a pass each,
  this is judged after the last of them; until then what is past its planned end is planned to end now, and
  what is promised its nodes starts in the pass that finds them free.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from tests.oracle.plan import Plan, Slot, best
from tests.oracle.records import Component, Placement

if TYPE_CHECKING:
    from tests.oracle.plain import Clock

FORCE_PLAN = False  # the tests of the reference itself compare rule 5 with its form as a plan


def make_pass(clock: Clock) -> None:
    rules = clock.rules
    queue = clock.in_order(clock.queue, rules.order)
    if rules.backfill == "none":
        fcfs(clock, queue)
    elif rules.backfill == "first_fit":
        first_fit(clock, queue)
    elif rules.backfill == "conservative" and rules.replan == "keep":
        keep_promises(clock, queue)
    elif rules.backfill == "easy" and rules.reservations == 1 and clock.all_simple and not FORCE_PLAN:
        shadow_and_extra(clock, queue)
    else:
        reserve(clock, queue)


# -------------------------------------------------------------------- rule 4
def fcfs(clock: Clock, queue: list[Component]) -> None:
    """Nothing passes a blocked component in any pool it asks for."""
    blocked: set[str] = set()
    for component in queue:
        open_places = [p for p in clock.allowed(component) if not blocked & set(p.demand)]
        if not start_now(clock, component, open_places):
            blocked |= {pool for place in clock.allowed(component) for pool in place.demand}


def first_fit(clock: Clock, queue: list[Component]) -> None:
    """Whatever fits starts."""
    failed: set[str] = set()
    candidates: list[Component] = []
    for component in queue:
        places = clock.allowed(component)
        modules = {place.module for place in places}
        if clock.rules.backfill_order and modules <= failed:
            candidates.append(component)
        elif not start_now(clock, component, places):
            failed |= modules
    for component in clock.in_order(candidates, clock.rules.backfill_order or "fifo"):
        start_now(clock, component, clock.allowed(component))


def start_now(clock: Clock, component: Component, places: list[Placement]) -> bool:
    """Start it in the place its strategy ranks first of those that fit now, if there is one."""
    slots = [Slot(clock.now, i, place) for i, place in enumerate(places) if clock.fits_now(place)]
    slot = best(clock.rules.placement, slots, clock.now)
    if slot is not None:
        clock.start(component, slot.placement)
    return slot is not None


# -------------------------------------------------------------------- rule 5
def shadow_and_extra(clock: Clock, queue: list[Component]) -> None:
    """EASY as it is usually told, for components with one placement and no shared resource."""
    rules, now = clock.rules, clock.now
    fronts: dict[str, list[int]] = {}  # module -> [row, shadow, extra]
    candidates: list[Component] = []

    def try_as_candidate(component: Component) -> None:
        place = component.placements[0]
        front = fronts[place.module]
        if not clock.fits_now(place):
            return
        if now + duration(clock, place) <= front[1]:
            clock.start(component, place)
        elif rules.extra_rule and place.nodes <= front[2]:
            front[2] -= place.nodes
            clock.start(component, place)

    for component in queue:
        place = component.placements[0]
        if place.module in fronts and rules.backfill_order:
            candidates.append(component)
        elif place.module in fronts:
            try_as_candidate(component)
        elif clock.fits_now(place):
            clock.start(component, place)
        else:
            shadow = shadow_time(clock, place)
            if rules.shadow == "static":
                row, kept = clock.static_shadow.get(place.module, (-1, -1))
                shadow = kept if row == component.row else shadow
            extra = max(0, free_by(clock, place.module, shadow) - place.nodes)
            fronts[place.module] = [component.row, shadow, extra]
            clock.promised.append((now, component.row, shadow, 0))
    for component in clock.in_order(candidates, rules.backfill_order or "fifo"):
        try_as_candidate(component)
    clock.static_shadow = {module: (row, shadow) for module, (row, shadow, _) in fronts.items()}


def shadow_time(clock: Clock, place: Placement) -> int:
    """Return the earliest time at which planned ends free enough nodes."""
    ends = sorted({end for end, _ in clock.held()})
    return next(time for time in ends if free_by(clock, place.module, time) >= place.nodes)


def free_by(clock: Clock, module: str, time: int) -> int:
    """Return the free nodes of a module once all that is planned to end by ``time`` has ended."""
    return clock.free(module) + sum(demand.get(module, 0) for end, demand in clock.held() if end <= time)


def duration(clock: Clock, place: Placement) -> int:
    """Return how long a pending component is taken to run: its limit, or what CQSim peeks at."""
    if clock.rules.candidate_time == "run":
        return max(1, min(place.run, place.limit + clock.rules.overrun_s))
    return place.limit


# -------------------------------------------------------------------- rules 5, 6, 8, 9: reservations
def plan_of_running(clock: Clock) -> Plan:
    plan = Plan(clock.capacity, clock.now)
    for end, demand in clock.held():
        plan.add(clock.now, end, demand)
    for rectangle in clock.asleep():
        plan.add(*rectangle)
    return plan


def reserve(clock: Clock, queue: list[Component]) -> None:
    """One walk: what can start without disturbing a reservation starts, the first few others reserve."""
    rules = clock.rules
    plan, reserved, shadows = plan_of_running(clock), Counter[str](), {}
    candidates: list[Component] = []

    def depth_left(module: str) -> bool:
        return reserved[module] < rules.reservations

    def start_or_reserve(component: Component) -> None:
        slots = []
        for i, place in enumerate(clock.allowed(component)):
            length = duration(clock, place)
            time = plan.earliest(place.demand, length)
            shadow = shadows.get(place.module)
            if time == clock.now and shadow is not None and not rules.extra_rule and time + length > shadow:
                continue
            if time == clock.now or depth_left(place.module):
                slots.append(Slot(time, i, place))
        slot = best(rules.placement, slots, clock.now)
        if slot is None:
            return
        place = slot.placement
        length = duration(clock, place) if reserved[place.module] or slot.start > clock.now else place.limit
        plan.add(slot.start, slot.start + length, place.demand)
        if slot.start == clock.now:
            clock.start(component, place)
        else:
            clock.promised.append((clock.now, component.row, slot.start, reserved[place.module]))
            shadows.setdefault(place.module, slot.start)
            reserved[place.module] += 1

    for component in queue:
        if rules.backfill_order and not any(depth_left(p.module) for p in clock.allowed(component)):
            candidates.append(component)
        else:
            start_or_reserve(component)
    for component in clock.in_order(candidates, rules.backfill_order or "fifo"):
        start_or_reserve(component)


# -------------------------------------------------------------------- rule 6, replan: keep
def keep_promises(clock: Clock, queue: list[Component]) -> None:
    """Newcomers plan behind all promises; only an unplanned end brings a sweep, an overrun a new plan."""
    promises, plan = clock.promises, plan_of_running(clock)
    past_its_end = [
        row for row in clock.running if clock.outcomes[row].start + clock.placed(row).limit <= clock.now
    ]
    if (past_its_end or clock.late_end) and not clock.due_ends():
        promises.clear()
    elif past_its_end:
        for row in past_its_end:
            plan.remove(clock.now, clock.now + 1, clock.placed(row).demand)
    for slot in promises.values():
        plan.add(slot.start, slot.start + slot.placement.limit, slot.placement.demand)

    def put(component: Component, latest: float) -> None:
        slots = []
        for i, place in enumerate(clock.allowed(component)):
            slot = Slot(plan.earliest(place.demand, place.limit), i, place)
            startable = slot.start > clock.now or clock.fits_now(place)
            if slot.start <= latest and (i == 0 or startable or clock.rules.placement != "first_available"):
                slots.append(slot)
        slot = best(clock.rules.placement, slots, clock.now)
        assert slot is not None
        promises[component.row] = slot
        plan.add(slot.start, slot.start + slot.placement.limit, slot.placement.demand)

    promised = [component for component in queue if component.row in promises]
    newcomers = [component for component in queue if component.row not in promises]
    for component in promised if clock.unplanned_end else []:
        old = promises[component.row]
        plan.remove(old.start, old.start + old.placement.limit, old.placement.demand)
        put(component, old.start)
    for component in newcomers:
        put(component, math.inf)
    for component in queue:
        slot = promises[component.row]
        clock.promised.append((clock.now, component.row, slot.start, 0))
        if slot.start == clock.now and clock.fits_now(slot.placement):
            del promises[component.row]
            clock.start(component, slot.placement)
