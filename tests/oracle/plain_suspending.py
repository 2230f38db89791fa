"""Suspension before passes, in the plain reference: who makes way goes on later, on its own nodes.

Every node is known by its number and has a pile of jobs: those that hold it, the last to start on top. A job
works if it is on top of all its piles. Before a pass the queue is gone through as by ``plain_making_room``;
one that does not fit on the idle nodes starts at once: on idle nodes, then on piles whose top is suspended
and ranks below it, those that started last first, then on those of jobs that are suspended for it. Then all
that are on top of all their piles go on.
"""

from __future__ import annotations

from collections import Counter

from tests.oracle.plain_making_room import MakingRoom
from tests.oracle.records import Component, Placement

Node = tuple[str, int]


class Suspending(MakingRoom):
    """``piles``: who holds each node; ``spans``: from when until when each row was suspended."""

    def __init__(self, *case: object) -> None:
        super().__init__(*case)  # type: ignore[arg-type]
        self.piles: dict[Node, list[int]] = {
            (module, i): [] for module, nodes in self.capacity.items() for i in range(nodes)
        }
        self.started: list[int] = []
        self.suspended: dict[int, int] = {}  # since when
        self.spans: dict[int, list[tuple[int, int]]] = {row: [] for row in self.components}

    # -- nodes
    def nodes_of(self, row: int) -> list[Node]:
        return [node for node, pile in self.piles.items() if row in pile]

    def idle(self, module: str) -> list[Node]:
        return [node for node, pile in self.piles.items() if node[0] == module and not pile]

    def free(self, pool: str) -> int:
        return len(self.idle(pool))

    def start(self, component: Component, place: Placement) -> None:
        self.start_on(component, place, self.idle(place.module)[: place.nodes])

    def start_on(self, component: Component, place: Placement, nodes: list[Node]) -> None:
        assert len(nodes) == place.nodes
        super().start(component, place)
        self.started.append(component.row)
        for node in nodes:
            self.piles[node].append(component.row)

    def end(self, component: Component) -> None:
        super().end(component)
        self.started.remove(component.row)
        for node in self.nodes_of(component.row):
            self.piles[node].remove(component.row)

    # -- plans
    def above(self, row: int) -> list[int]:
        piles = [self.piles[node] for node in self.nodes_of(row)]
        return [other for pile in piles for other in pile[pile.index(row) + 1 :]]

    def planned_end(self, row: int) -> int:
        since = self.suspended.get(row, self.now)
        goes_on = max([self.now, *(self.planned_end(other) for other in self.above(row))])
        away = sum(until - begin for begin, until in self.spans[row])
        return self.outcomes[row].start + self.placed(row).limit + away + goes_on - since

    def held(self) -> list[tuple[int, dict[str, int]]]:
        """Each node until the planned end of the lowest of its pile."""
        piles = Counter((node[0], pile[0]) for node, pile in self.piles.items() if pile)
        return [(self.planned_end(row), {module: nodes}) for (module, row), nodes in piles.items()]

    # -- making way
    def make_pass(self) -> None:
        self.make_room()
        for row in list(self.suspended):
            if not self.above(row):
                self.go_on(row)
        super(MakingRoom, self).make_pass()

    def go_on(self, row: int) -> None:
        since = self.suspended.pop(row)
        if since < self.now:
            self.spans[row].append((since, self.now))
        self.outcomes[row].end += self.now - since
        self.running.append(row)

    def make_room(self) -> None:
        left = {module: self.free(module) for module in self.capacity}
        for component in self.in_order(self.queue, self.rules.order):
            place = component.placements[0]
            if place.module not in left:
                continue
            missing = place.nodes - left[place.module]
            if missing > 0 and not self.takes_over(component, place, left[place.module]):
                del left[place.module]
            else:
                left[place.module] = max(-missing, 0)

    def takes_over(self, component: Component, place: Placement, idle: int) -> bool:
        nodes = [
            node
            for row in reversed(self.started)
            for node, pile in self.piles.items()
            if node[0] == place.module and pile and pile[-1] == row
            if row in self.suspended and self.rank(component.row) < self.rank(row)
        ]
        missing = place.nodes - idle - len(nodes)
        victims = self.victims(component, place.module, missing) if missing > 0 else []
        if victims is None:
            return False
        nodes += [node for row in victims for node in self.nodes_of(row)]
        for row in victims:
            self.running.remove(row)
            self.suspended[row] = self.now
        taken = nodes[: place.nodes - idle]
        self.start_on(component, place, self.idle(place.module)[:idle] + taken)
        return True
