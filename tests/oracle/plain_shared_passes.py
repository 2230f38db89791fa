"""The passes over a queue of jobs that share nodes (R5 to R7 of docs/semantics.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.oracle.passes import duration
from tests.oracle.plain_shared_records import Request, Taken, request_of
from tests.oracle.plain_shared_space import Plan, State, in_both
from tests.oracle.records import Component

if TYPE_CHECKING:
    from tests.oracle.plain_shared import SharedClock


def make_pass(clock: SharedClock) -> None:
    """Give every module a pass of its own; what is promised for good concerns all."""
    rules = clock.rules
    queue = clock.in_order(clock.queue, rules.order)
    if rules.backfill == "conservative" and rules.replan == "keep":
        return keep_promises(clock, queue)
    for module in dict.fromkeys(node.module for node in clock.nodes):
        mine = [component for component in queue if request_of(component).module == module]
        if rules.backfill == "none":
            fcfs(clock, mine)
        elif rules.backfill == "first_fit":
            first_fit(clock, mine)
        elif rules.backfill == "easy" and rules.depth is None:
            easy(clock, mine)
        elif rules.backfill == "easy":
            easy_in_the_plan(clock, mine, rules.depth or 1)
        else:
            conservative(clock, mine)
    return None


def start_now(clock: SharedClock, component: Component) -> bool:
    """Start it on the nodes that it takes by R3, if it fits."""
    nodes = clock.state.choose(request_of(component))
    if nodes is None:
        return False
    clock.start_on(component, nodes)
    return True


# -------------------------------------------------------------------- R5
def fcfs(clock: SharedClock, queue: list[Component]) -> None:
    for component in queue:
        if not start_now(clock, component):
            return


def first_fit(clock: SharedClock, queue: list[Component]) -> None:
    failed = False
    candidates: list[Component] = []
    for component in queue:
        if failed and clock.rules.backfill_order:
            candidates.append(component)
        elif not start_now(clock, component):
            failed = True
    for component in clock.in_order(candidates, clock.rules.backfill_order or "fifo"):
        start_now(clock, component)


# -------------------------------------------------------------------- R6
@dataclass
class Front:
    """The first that does not fit, its shadow time, and what is on the nodes then."""

    request: Request
    time: float
    shadow: State


def easy(clock: SharedClock, queue: list[Component]) -> None:
    front: Front | None = None
    candidates: list[Component] = []
    for component in queue:
        if front is None:
            if not start_now(clock, component):
                front = front_of(clock, component)
        elif clock.rules.backfill_order:
            candidates.append(component)
        else:
            try_behind(clock, component, front)
    for component in clock.in_order(candidates, clock.rules.backfill_order or "fifo"):
        assert front is not None
        try_behind(clock, component, front)


def front_of(clock: SharedClock, component: Component) -> Front:
    """Let planned ends go by until it fits."""
    request = request_of(component)
    for time in sorted({clock.planned_end(row) for row in clock.running}):
        shadow = State(clock.nodes, clock.packing)
        for row in clock.running:
            if clock.planned_end(row) > time:
                shadow.put(request_of(clock.components[row]), clock.nodes_of[row])
        if shadow.fits(request):
            clock.promised.append((clock.now, component.row, time, 0))
            return Front(request, time, shadow)
    assert clock.out, "a job that fits on the empty machine fits once all has ended"
    return Front(request, math.inf, State(clock.nodes, clock.packing))  # as far as anybody knows, never


def try_behind(clock: SharedClock, component: Component, front: Front) -> None:
    """Start it where it goes now if the front loses nothing, else where the front leaves it room."""
    request = request_of(component)
    nodes = clock.state.choose(request)
    if nodes is None:
        return
    ends_in_time = clock.now + duration(clock, request) <= front.time
    if not ends_in_time and not clock.rules.extra_rule:
        return
    if not ends_in_time:
        with_it = front.shadow.copy()
        with_it.put(request, nodes)
        nodes = nodes if with_it.fits(front.request) else beside_the_front(clock, request, front)
        if nodes is None:
            return
        front.shadow.put(request, nodes)  # which has only what does not end in time
    clock.start_on(component, nodes)


def beside_the_front(clock: SharedClock, request: Request, front: Front) -> Taken | None:
    """The second choice: nodes that are able now, and then with the front on its nodes."""
    taken = front.shadow.choose(front.request)
    assert taken is not None
    shadow = front.shadow.copy()
    shadow.put(front.request, taken)
    return clock.state.choose(request, in_both(request, clock.state.able(request), shadow.able(request)))


# -------------------------------------------------------------------- depth k
@dataclass(frozen=True)
class Reservation:
    """A start that is fixed for this pass; its nodes are not."""

    request: Request
    start: int
    length: int


class Backfill:
    """What runs, and the reservations of the first few that cannot start, by nodes and time."""

    def __init__(self, clock: SharedClock, depth: int) -> None:
        self.clock, self.depth = clock, depth
        self.running = clock.plan_of_running()
        self.reserved: list[Reservation] = []

    def look_at(self, component: Component) -> None:
        clock, request = self.clock, request_of(component)
        length = duration(clock, request)
        if self.reserved and not clock.rules.extra_rule and clock.now + length > self.reserved[0].start:
            return
        if not self.reserved:
            self.start_on(component, clock.state.choose(request), request.limit)
        elif clock.state.fits(request) and not self.start_on(component, clock.state.choose(request), length):
            self.start_on(component, self.beside_reservations(request, length), length)
        if component in clock.queue and len(self.reserved) < self.depth:
            start, _ = self.whole().earliest(request, length, later=True)
            clock.promised.append((clock.now, component.row, start, len(self.reserved)))
            self.reserved.append(Reservation(request, start, length))

    def start_on(self, component: Component, nodes: Taken | None, length: int) -> bool:
        """Start it on these nodes if every reservation still finds some."""
        request, now = request_of(component), self.clock.now
        if nodes is None:
            return False
        with_it = self.running.copy()
        with_it.add(request, nodes, now, now + length)
        if not self.put_reservations(with_it.copy()):
            return False
        self.running = with_it
        self.clock.start_on(component, nodes)
        return True

    def beside_reservations(self, request: Request, length: int) -> list[int] | None:
        """The second choice: nodes that are able beside them all the time."""
        able = self.whole().able(request, self.clock.now, self.clock.now + length)
        return self.clock.state.choose(request, able)

    def whole(self) -> Plan:
        """Return the plan of what runs and of the reservations."""
        plan = self.running.copy()
        found = self.put_reservations(plan)
        assert found, "whatever starts leaves every reservation its nodes"
        return plan

    def put_reservations(self, plan: Plan) -> bool:
        """Put each in turn into the plan, at its time and on nodes by R3, if all of them find some."""
        for one in self.reserved:
            end = one.start + one.length
            nodes = plan.nodes_at(one.request, one.start, end)
            if nodes is None:
                return False
            plan.add(one.request, nodes, one.start, end)
        return True


def easy_in_the_plan(clock: SharedClock, queue: list[Component], depth: int) -> None:
    backfill = Backfill(clock, depth)
    candidates: list[Component] = []
    for component in queue:
        if clock.rules.backfill_order and len(backfill.reserved) == depth:
            candidates.append(component)
        else:
            backfill.look_at(component)
    for component in clock.in_order(candidates, clock.rules.backfill_order or "fifo"):
        backfill.look_at(component)


# -------------------------------------------------------------------- R7
def conservative(clock: SharedClock, queue: list[Component]) -> None:
    """replan: scratch."""
    plan = clock.plan_of_running()
    for place, component in enumerate(queue):
        request = request_of(component)
        if clock.out and not State(clock.nodes, clock.packing).fits(request):
            continue  # as far as anybody knows, it never starts
        start, nodes = plan.earliest(request, request.limit)
        plan.add(request, nodes, start, start + request.limit)
        if start == clock.now:
            clock.start_on(component, nodes)
        else:
            clock.promised.append((clock.now, component.row, start, place))


def keep_promises(clock: SharedClock, queue: list[Component]) -> None:
    """Newcomers plan behind all promises; only an unplanned end brings a sweep, an overrun a new plan."""
    promises = clock.promises_on
    plan = clock.plan_of_running()
    if clock.late_end or clock.anything_past_its_end():
        promises.clear()
    for row, (start, nodes) in promises.items():
        request = request_of(clock.components[row])
        plan.add(request, nodes, start, start + request.limit)

    def put(component: Component) -> None:
        request = request_of(component)
        start, nodes = promises[component.row] = plan.earliest(request, request.limit)
        plan.add(request, nodes, start, start + request.limit)

    newcomers = [component for component in queue if component.row not in promises]
    for component in queue if clock.unplanned_end else []:
        if component not in newcomers:
            request, (start, nodes) = request_of(component), promises[component.row]
            plan.remove(request, nodes, start, start + request.limit)
            put(component)
            assert promises[component.row][0] <= start
    for component in newcomers:
        put(component)
    for component in queue:
        start, nodes = promises[component.row]
        clock.promised.append((clock.now, component.row, start, 0))
        if start == clock.now:
            del promises[component.row]
            clock.start_on(component, nodes)
