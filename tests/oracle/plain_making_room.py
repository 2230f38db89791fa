"""Preemption before passes, in the plain reference: running components make way for those in front.

Before a pass the queue is gone through in order, in each module up to the first that does not fit though all
that it may preempt were gone. Others are preempted one by one, the last in order first, until it fits; of
these whoever is not needed after all is spared. What is requeued waits in its old place; then comes the pass.
"""

from __future__ import annotations

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
        preempt: dict[str, str],
    ) -> None:
        super().__init__(components, capacity, rules)
        self.tiers, self.by, self.how = tiers, preempt["by"], preempt["how"]
        self.lost = 0

    def in_order(self, components: list[Component], order: str) -> list[Component]:
        return sorted(super().in_order(components, order), key=lambda c: -self.tiers[c.row])

    def rank(self, row: int) -> tuple[float, ...]:
        """Smaller goes first: by tiers alone, or by the order, too."""
        key = priority(self.rules.order, self.components[row], self.now, self.first_submit)
        return (-self.tiers[row], key if self.by == "priority" else 0)

    def make_pass(self) -> None:
        self.make_room()
        super().make_pass()

    def make_room(self) -> None:
        left = {module: self.free(module) for module in self.capacity}
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
                self.preempt(row)
            left[place.module] -= place.nodes

    def victims(self, component: Component, module: str, missing: int) -> list[int] | None:
        may_go = [
            row
            for row in self.running
            if self.placed(row).module == module and self.rank(component.row) < self.rank(row)
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
        self.unplanned_end = True
        if self.how == "cancel":
            outcome.state, outcome.end = "PREEMPTED", self.now
            return
        self.lost += 1
        outcome.wait_resources += self.now - outcome.start
        outcome.state, outcome.start, outcome.end, outcome.placement = "PENDING", -1, -1, None
        self.queue.append(self.components[row])
