"""The plain reference scheduler on nodes that are switched off when they have been idle for long.

Every node is followed by itself. Where docs/semantics.md leaves room it is taken like this:

* At an instant, boots and shutdowns that are over come first; switching off and booting follow the pass.
* One node after the other is switched off, the longest idle first, as long as the module keeps more idle
  nodes than it is to keep, and the plan can do without one more that is up until it could be up again.
* One node after the other is booted, as long as the plan uses one that is off a boot from now.
* When nobody runs, waits or is to come, the clock goes no further.
* The clock stops when a node has been idle for the timeout, where a module has more idle nodes than it is to
  keep; when a boot or shutdown is over; and a boot before the plan uses more nodes that are off.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from tests.oracle.passes import duration, keep_promises, plan_of_running
from tests.oracle.plain import Clock
from tests.oracle.plan import Plan, Slot, best
from tests.oracle.records import Component, Placement, Rules

IDLE, BUSY, BOOTING, STOPPING, OFF = "idle", "busy", "booting", "stopping", "off"


@dataclass(frozen=True)
class Switch:
    """When the nodes of a module are switched off, all in s."""

    timeout: float = math.inf
    awake: int = 0
    boot: int = 1
    stop: int = 0


@dataclass
class Node:
    """``since`` when it is idle, or ``until`` when it boots or shuts down; ``row`` runs on it."""

    state: str = IDLE
    since: int = -1
    until: int = -1
    row: int = -1


class SwitchingClock(Clock):
    """The reference clock, on single nodes."""

    def __init__(
        self,
        components: list[Component],
        modules: dict[str, int],
        resources: dict[str, int],
        rules: Rules,
        switches: dict[str, Switch],
    ) -> None:
        super().__init__(components, modules | resources, rules)
        self.switches = switches
        self.nodes = {
            name: [Node(since=self.first_submit) for _ in range(count)] for name, count in modules.items()
        }
        self.looks: set[int] = set()  # instants at which the clock stops for nodes
        self.history: list[tuple[int, dict[str, Counter[str]]]] = []

    # ---------------------------------------------------------------- instants
    def next_instant(self) -> int | None:
        if not (self.to_submit or self.running or self.queue):
            return None  # all that is left is that nodes are switched off
        times = [time for time in (super().next_instant(), min(self.looks, default=None)) if time is not None]
        return min(times, default=None)

    def handle_instant(self) -> None:
        for nodes in self.nodes.values():
            for node in nodes:
                if node.state == BOOTING and node.until == self.now:
                    node.state, node.since = IDLE, self.now
                elif node.state == STOPPING and node.until == self.now:
                    node.state = OFF
        super().handle_instant()

    def start(self, component: Component, place: Placement) -> None:
        idle = sorted(self.in_state(place.module, IDLE), key=lambda node: -node.since)
        assert len(idle) >= place.nodes, "a component starts on nodes that are not up"
        for node in idle[: place.nodes]:
            node.state, node.row = BUSY, component.row
        super().start(component, place)

    def end(self, component: Component) -> None:
        super().end(component)
        for nodes in self.nodes.values():
            for node in nodes:
                if node.state == BUSY and node.row == component.row:
                    node.state, node.since = IDLE, self.now

    def in_state(self, module: str, state: str) -> list[Node]:
        return [node for node in self.nodes[module] if node.state == state]

    def free(self, pool: str) -> int:
        return len(self.in_state(pool, IDLE)) if pool in self.nodes else super().free(pool)

    def asleep(self) -> list[tuple[int, int, dict[str, int]]]:
        """What the planner sees of nodes that are not up: each is free again when it could be."""
        found = []
        for module, nodes in self.nodes.items():
            boot = self.switches[module].boot
            for node in nodes:
                ready = {OFF: self.now + boot, BOOTING: node.until, STOPPING: node.until + boot}
                if node.state in ready:
                    found.append((self.now, ready[node.state], {module: 1}))
        return found

    # ---------------------------------------------------------------- passes
    def one_pass(self) -> None:
        self.count_waits()
        queue = self.in_order(self.queue, self.rules.order)
        if self.rules.backfill == "conservative" and self.rules.replan == "keep":
            keep_promises(self, queue)
            plan = self.plan_of_promises()
        else:
            plan = self.walk(queue)
        self.switch(plan)
        self.unplanned_end = self.late_end = False
        reasons = {
            c.row: "priority" if any(map(self.fits_now, self.allowed(c))) else "resources" for c in self.queue
        }
        self.last_pass = (self.now, reasons)
        self.history.append(
            (self.now, {name: Counter(n.state for n in nodes) for name, nodes in self.nodes.items()})
        )

    def is_called(self, place: Placement, time: int) -> bool:
        """Whether it waits for a boot at most, in a module where nodes are off or booting."""
        sleeping = self.in_state(place.module, OFF) + self.in_state(place.module, BOOTING)
        return bool(sleeping) and time <= self.now + self.switches[place.module].boot

    def walk(self, queue: list[Component]) -> Plan:
        """One walk: start, hold nodes for who waits for a boot, reserve for the first few others."""
        rules, plan = self.rules, plan_of_running(self)
        depth = {"none": 0.0, "first_fit": 0.0}.get(rules.backfill, rules.reservations)
        reserved, shadows = Counter[str](), dict[str, int]()
        failed: set[str] = set()  # pools that somebody waits for in vain
        latest: dict[str, int] = {}  # fcfs: the last start for which nodes are held, by pool
        candidates: list[Component] = []

        def is_candidate(component: Component) -> bool:
            modules = {place.module for place in self.allowed(component)}
            if rules.backfill == "first_fit":
                return modules <= failed
            return all(reserved[module] >= depth for module in modules)

        def look_at(component: Component) -> None:
            slots = []
            for i, place in enumerate(self.allowed(component)):
                if rules.backfill == "none" and failed & set(place.demand):
                    continue
                after = max(latest.get(pool, 0) for pool in place.demand)
                time = earliest(plan, place, duration(self, place), after)
                ahead = reserved[place.module] < depth
                if not (time == self.now or ahead or self.is_called(place, time)):
                    continue
                overlaps = time + duration(self, place) > shadows.get(place.module, math.inf)
                if overlaps and not rules.extra_rule and (time == self.now or not ahead):
                    continue
                slots.append(Slot(time, i, place))
            slot = best(rules.placement, slots, self.now)
            if slot is None:
                failed.update(pool for place in self.allowed(component) for pool in place.demand)
                return
            place, length = slot.placement, duration(self, slot.placement)
            if slot.start == self.now and not reserved[place.module]:
                length = place.limit
            plan.add(slot.start, slot.start + length, place.demand)
            if slot.start == self.now:
                self.start(component, place)
            elif self.is_called(place, slot.start):
                if rules.backfill == "none":
                    latest.update({pool: max(latest.get(pool, 0), slot.start) for pool in place.demand})
            else:
                shadows.setdefault(place.module, slot.start)
                reserved[place.module] += 1

        for component in queue:
            if rules.backfill_order and is_candidate(component):
                candidates.append(component)
            else:
                look_at(component)
        for component in self.in_order(candidates, rules.backfill_order or "fifo"):
            look_at(component)
        return plan

    def plan_of_promises(self) -> Plan:
        plan = plan_of_running(self)
        for row in self.running:
            if self.outcomes[row].end == self.now and self.planned_end(row) == self.now + 1:
                plan.remove(self.now, self.now + 1, self.placed(row).demand)
        for slot in self.promises.values():
            plan.add(slot.start, slot.start + slot.placement.limit, slot.placement.demand)
        return plan

    # ---------------------------------------------------------------- nodes
    def switch(self, plan: Plan) -> None:
        self.looks = set()
        for module, rule in self.switches.items():
            self.switch_off(module, rule, plan)
            self.boot(module, rule, plan)
            if self.free(module) > rule.awake:
                self.looks |= {node.since + rule.timeout for node in self.in_state(module, IDLE)}  # type: ignore[arg-type]
            self.looks |= {node.until for node in self.in_state(module, BOOTING)}
            self.looks |= {node.until for node in self.in_state(module, STOPPING)}
        self.looks = {time for time in self.looks if self.now < time < math.inf}

    def switch_off(self, module: str, rule: Switch, plan: Plan) -> None:
        back = self.now + rule.stop + rule.boot
        asleep = len(self.in_state(module, OFF))  # those that are off already help nobody here

        def spare(time: int) -> int:
            return plan.available(module, time) - (asleep if time >= self.now + rule.boot else 0)

        for node in sorted(self.in_state(module, IDLE), key=lambda node: node.since):
            late = self.now - node.since >= rule.timeout
            if not late or self.free(module) <= rule.awake:
                return
            if any(spare(time) < 1 for time in range(self.now, back)):
                return
            plan.add(self.now, back, {module: 1})
            node.state, node.until = (STOPPING, self.now + rule.stop) if rule.stop else (OFF, -1)

    def boot(self, module: str, rule: Switch, plan: Plan) -> None:
        off = self.in_state(module, OFF)
        ready = self.now + rule.boot
        while off and plan.available(module, ready) < len(off):
            node = off.pop()
            node.state, node.until = BOOTING, ready  # the plan has it from then on, as before
        later = sorted({begin for begin, _, _ in plan.rectangles if begin > ready})
        self.looks |= {time - rule.boot for time in later if plan.available(module, time) < len(off)}


def earliest(plan: Plan, place: Placement, length: int, after: int) -> int:
    """Return the earliest start in the plan that is not before ``after``."""
    moments = {max(plan.now, after)} | {end for _, end, _ in plan.rectangles if end > max(plan.now, after)}
    return next(time for time in sorted(moments) if plan.fits(place.demand, time, time + length))
