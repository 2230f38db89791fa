"""Preemption before passes, in the plain reference: running components make way for those in front.

Before a pass the queue is gone through in order, in each module up to the first that does not fit though all
that it may preempt were gone. Others are preempted one by one, the last in order first, until it fits; of
these whoever is not needed after all is spared. What is requeued waits in its old place; then comes the pass.

With a grace time they go on until it is over, and are planned to end then. Nodes that are planned to be free
by the end of a grace that began now count as if they were idle; whoever has them is not preempted for them.
Under ``first_fit`` nobody passes one that cannot start in a module where somebody is in grace.
"""

from __future__ import annotations

import math
from typing import Any

from tests.oracle.plain import Clock, trace_order
from tests.oracle.records import Component, Rules, priority


class MakingRoom(Clock):
    """``tiers``: the priority of the partition of each row."""

    def __init__(
        self,
        components: list[Component],
        capacity: dict[str, int],
        rules: Rules,
        tiers: dict[int, int],
        preempt: dict[str, Any],
    ) -> None:
        super().__init__(components, capacity, rules)
        self.tiers, self.by, self.how = tiers, preempt["by"], preempt["how"]
        self.grace: int = preempt.get("grace_s", 0)
        self.grace_end: dict[int, int] = {}
        self.lost = 0

    def next_instant(self) -> int | None:
        return min(
            (t for t in [super().next_instant(), *self.grace_end.values()] if t is not None), default=None
        )

    def due_ends(self) -> list[Component]:
        """Those that end by themselves, then those whose grace is over."""
        ends = super().due_ends()
        over = [self.components[row] for row, time in self.grace_end.items() if time == self.now]
        return ends + [c for c in sorted(over, key=trace_order) if c not in ends]

    def end(self, component: Component) -> None:
        if self.outcomes[component.row].end == self.now:
            super().end(component)
            self.grace_end.pop(component.row, None)
        else:
            self.preempt(component.row)

    def planned_end(self, row: int) -> int:
        return min(super().planned_end(row), self.grace_end.get(row, math.inf))  # type: ignore[return-value]

    def ends_soon(self, row: int) -> bool:
        return self.grace > 0 and self.planned_end(row) <= self.now + self.grace

    def in_order(self, components: list[Component], order: str) -> list[Component]:
        return sorted(super().in_order(components, order), key=lambda c: -self.tiers[c.row])

    def rank(self, row: int) -> tuple[float, ...]:
        """Smaller goes first: by tiers alone, or by the order, too."""
        key = priority(self.rules.order, self.components[row], self.now, self.first_submit)
        return (-self.tiers[row], key if self.by == "priority" else 0)

    def make_pass(self) -> None:
        self.make_room()
        aside = self.kept_behind() if self.rules.backfill == "first_fit" else []
        self.queue = [c for c in self.queue if c not in aside]
        super().make_pass()
        self.queue += aside

    def kept_behind(self) -> list[Component]:
        """In modules where somebody is in grace: the first that cannot start, and all behind it."""
        left = {self.placed(row).module: self.free(self.placed(row).module) for row in self.grace_end}
        kept: list[Component] = []
        for component in self.in_order(self.queue, self.rules.order):
            place = component.placements[0]
            if place.module not in left:
                continue
            if place.nodes > left[place.module]:
                left[place.module] = -1
                kept.append(component)
            else:
                left[place.module] -= place.nodes
        return kept

    def make_room(self) -> None:
        left = {module: self.free(module) for module in self.capacity}
        for row in self.running:
            left[self.placed(row).module] += self.placed(row).nodes if self.ends_soon(row) else 0
        stopped: set[str] = set()
        gone_through: list[int] = []
        while True:
            ahead = [c for c in self.in_order(self.queue, self.rules.order) if c.row not in gone_through]
            if not ahead:
                return
            component = ahead[0]
            gone_through.append(component.row)
            place = component.placements[0]
            if place.module in stopped:
                continue
            missing = place.nodes - left[place.module]
            victims = self.victims(component, place.module, missing) if missing > 0 else []
            if victims is None:
                stopped.add(place.module)
                continue
            for row in victims:
                left[place.module] += self.placed(row).nodes
                if self.grace:
                    self.grace_end[row] = self.now + self.grace
                else:
                    self.preempt(row)
            left[place.module] -= place.nodes

    def victims(self, component: Component, module: str, missing: int) -> list[int] | None:
        may_go = [
            row
            for row in self.running
            if self.placed(row).module == module
            and self.rank(component.row) < self.rank(row)
            and not self.ends_soon(row)
        ]
        may_go.sort(
            key=lambda row: (self.rank(row), self.outcomes[row].start, trace_order(self.components[row])),
            reverse=True,
        )
        chosen: list[int] = []
        while sum(self.placed(row).nodes for row in chosen) < missing:
            if not may_go:
                return None
            chosen.append(may_go.pop(0))
        for row in list(chosen):
            rest = [other for other in chosen if other != row]
            if sum(self.placed(other).nodes for other in rest) >= missing:
                chosen = rest
        return chosen

    def preempt(self, row: int) -> None:
        outcome = self.outcomes[row]
        self.running.remove(row)
        self.grace_end.pop(row, None)
        self.unplanned_end = True
        if self.how == "cancel":
            outcome.state, outcome.end = "PREEMPTED", self.now
            return
        self.lost += 1
        outcome.wait_resources += self.now - outcome.start
        outcome.state, outcome.start, outcome.end, outcome.placement = "PENDING", -1, -1, None
        self.queue.append(self.components[row])
