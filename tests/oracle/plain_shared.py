"""The plain reference scheduler on nodes that jobs share: R1 to R8 of docs/semantics.md, node by node.

The clock is that of ``plain``: instants, ends, overruns, orders, dependencies, waits. Every component has one
placement, a ``Request``. Where the text leaves room it is taken like this:

* A pass goes over the queue of one module after the other; they do not meet.
* GPUs are told apart where some component that fits asks for a part of one, the packing scores nodes, or some
  node has GPUs of several types.
* A sweep of ``replan: keep``, and what voids promises, concern those of all modules.
"""

from __future__ import annotations

from dataclasses import replace

from tests.oracle.plain import Clock
from tests.oracle.plain_leaves import Leaves
from tests.oracle.plain_packing import Draw, Packing
from tests.oracle.plain_shared_passes import make_pass
from tests.oracle.plain_shared_records import (
    WHOLE,
    Node,
    Request,
    Taken,
    ever_fits,
    pooled,
    pooled_request,
    request_of,
)
from tests.oracle.plain_shared_space import Plan, State
from tests.oracle.records import Component, Placement, Rules


def schedule(
    components: list[Component], nodes: list[Node], draw: Draw | None = None, **settings: object
) -> SharedClock:
    """Run the components to their end; ``.outcomes`` and ``.nodes_of`` hold what became of each row.

    The settings are keys of the policy. ``easy`` with a ``depth``, if only 1, plans reservations by nodes and
    time; without one it follows R6 to the word.
    """
    clock = SharedClock(components, nodes, Rules(**settings), draw)  # type: ignore[arg-type]
    clock.run()
    return clock


class SharedClock(Clock):
    """The reference clock, on nodes that are known one by one."""

    def __init__(
        self, components: list[Component], nodes: list[Node], rules: Rules, draw: Draw | None = None
    ) -> None:
        for key, allowed in (("shadow", "dynamic"), ("passes", "instant")):
            if getattr(rules, key) != allowed:
                raise ValueError(f"policy.{key}: only {allowed!r} on shared modules")
        scored = rules.packing not in ("first_fit", "best_fit", "worst_fit")
        several = any(len(set(node.types)) > 1 for node in nodes)
        self.tells_gpus_apart = (
            scored
            or several
            or any(
                request.part < WHOLE and ever_fits(nodes, request) for request in map(request_of, components)
            )
        )
        if not self.tells_gpus_apart:
            nodes, components = list(map(pooled, nodes)), list(map(pooled_request, components))
        super().__init__(components, {}, rules)
        self.nodes = nodes
        self.out: set[int] = set()  # of service: none here (but see plain_outages)
        self.packing = Packing(
            rules.packing, nodes, components, draw, Leaves(len(nodes), rules.leaves, *rules.spread)
        )
        self.state = State(nodes, self.packing)
        self.nodes_of: dict[int, Taken] = {}  # of each that runs or has ended
        self.promises_on: dict[int, tuple[int, Taken]] = {}  # replan: keep; start and nodes

    def next_instant(self) -> int | None:
        times = [start for start, _ in self.promises_on.values() if start > self.now]
        other = super().next_instant()
        return min(times if other is None else [*times, other], default=None)

    def make_pass(self) -> None:
        make_pass(self)

    def ever_fits(self, place: Placement) -> bool:
        assert isinstance(place, Request)
        return State(self.nodes, self.packing).fits(place)

    def fits_now(self, place: Placement) -> bool:
        assert isinstance(place, Request)
        return self.state.fits(place)

    def allowed(self, component: Component) -> list[Placement]:
        return [request_of(component)]

    def start_on(self, component: Component, nodes: Taken) -> None:
        request = request_of(component)
        self.state.put(request, nodes)
        self.nodes_of[component.row] = nodes
        self.start(component, replace(request, run=self.packing.leaves.run_time(request.run, set(nodes))))

    def end(self, component: Component) -> None:
        self.state.remove(request_of(component), self.nodes_of[component.row])
        super().end(component)

    def anything_past_its_end(self) -> bool:
        return any(self.outcomes[row].start + self.placed(row).limit <= self.now for row in self.running)

    def names(self, row: int) -> list[str]:
        """Return the names of the nodes on which it runs or ran."""
        return [self.nodes[i].name for i in self.nodes_of.get(row, [])]

    def plan_of_running(self) -> Plan:
        plan = Plan(self.nodes, self.packing, self.now)
        for row in self.running:
            request = request_of(self.components[row])
            plan.add(request, self.nodes_of[row], self.now, self.planned_end(row))
        return plan
