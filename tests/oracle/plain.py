"""The clock and the states of the plain reference scheduler (design rules 1 to 3 and 13).

Where the rules are silent it takes them like this:

* A submission is an event even when it is rejected or waits for a dependency: it brings a pass.
* AFTER is satisfied when the predecessor starts (or is rejected); AFTERANY when it ends in any way,
  rejection included; AFTEROK only by COMPLETED; AFTERNOTOK by any other end. All of several must be
  satisfied. A dependency that is satisfied already when its component is submitted costs nothing;
  one that is satisfied by a start at t makes it eligible at t, in a repeat of the instant.
* A component that cannot ever fit is rejected at its submission and was never eligible.
* ``s`` of f1 to f4 counts from the first submission of all components, rejected ones too.
* ``passes: event``: one pass after each single end, submission and dependency update, then what is due
  next in the order of the instant: an end that a pass brings about at once goes before further submissions.
  Updates that are due when their turn comes go one after the other; what their passes satisfy comes after.
* Trace order is by submission, ties in row order, as rule 11 has it for SWF.
* With ``replan: keep`` the clock also stops at each promised start: it need not be the end of anything
  any more when a promise planned before it has been moved (see passes.py).
"""

from __future__ import annotations

from itertools import takewhile

from tests.oracle.passes import make_pass
from tests.oracle.plan import Slot
from tests.oracle.records import Component, Outcome, Placement, Rules, priority


def schedule(
    components: list[Component],
    modules: dict[str, int],
    resources: dict[str, int] | None = None,
    rules: Rules | None = None,
    **settings: object,
) -> Clock:
    """Run the components to their end; ``.outcomes`` holds what became of each row."""
    clock = Clock(components, modules | (resources or {}), rules or Rules(**settings))  # type: ignore[arg-type]
    clock.run()
    return clock


def trace_order(component: Component) -> tuple[int, int]:
    return component.submit, component.row


class Clock:
    """Everything that changes while time goes on."""

    def __init__(self, components: list[Component], capacity: dict[str, int], rules: Rules) -> None:
        self.components = {component.row: component for component in components}
        self.capacity, self.rules, self.now = capacity, rules, -1
        self.outcomes = {row: Outcome() for row in self.components}
        self.first_submit = min((component.submit for component in components), default=0)
        self.all_simple = all(
            len(c.placements) <= 1 and all(len(place.demand) == 1 for place in c.placements)
            for c in components
        )
        self.to_submit = sorted(components, key=trace_order)
        self.waiting_for_others: list[Component] = []
        self.queue: list[Component] = []
        self.running: list[int] = []
        self.promises: dict[int, Slot] = {}  # replan: keep
        self.static_shadow: dict[str, tuple[int, int]] = {}  # shadow: static; module -> (row, time)
        self.unplanned_end = False  # since the last pass
        self.late_end = False  # ... and after it was planned
        self.last_pass: tuple[int, dict[int, str]] = (-1, {})  # when, and why each one waits since
        self.promised: list[tuple[int, int, int, int]] = []  # (now, row, promised start, reservation number)

    # ---------------------------------------------------------------- rule 1: instants
    def run(self) -> None:
        while (instant := self.next_instant()) is not None:
            self.now = instant
            self.handle_instant()
            while self.something_new():
                self.handle_instant()

    def next_instant(self) -> int | None:
        times = [component.submit for component in self.to_submit[:1]]
        times += [self.outcomes[row].end for row in self.running]
        times += [slot.start for slot in self.promises.values() if slot.start > self.now]
        return min(times, default=None)

    def something_new(self) -> bool:
        return bool(self.due_ends() or self.due_submissions() or self.satisfied())

    def handle_instant(self) -> None:
        """Handle all that is due and make one pass; or one thing at a time, each with its pass."""
        each = self.rules.passes == "event"
        for due, handle in ((self.due_ends, self.end), (self.due_submissions, self.submit)):
            for component in due():
                handle(component)
                if each:
                    return self.one_pass()
        updates = self.satisfied()
        for component in updates:
            self.become_eligible(component)
            if each:
                self.one_pass()
        if not each or not updates:
            self.one_pass()
        return None

    def due_ends(self) -> list[Component]:
        due = [self.components[row] for row in self.running if self.outcomes[row].end == self.now]
        return sorted(due, key=trace_order)

    def due_submissions(self) -> list[Component]:
        return list(takewhile(lambda component: component.submit == self.now, self.to_submit))

    def satisfied(self) -> list[Component]:
        return [component for component in self.waiting_for_others if self.may_go(component)]

    # ---------------------------------------------------------------- rule 2: starts and ends
    def submit(self, component: Component) -> None:
        self.to_submit.remove(component)
        if not any(self.ever_fits(place) for place in component.placements):
            self.outcomes[component.row].state = "REJECTED"
        elif self.may_go(component):
            self.become_eligible(component)
        else:
            self.waiting_for_others = sorted([*self.waiting_for_others, component], key=trace_order)

    def ever_fits(self, place: Placement) -> bool:
        return all(n <= self.capacity[pool] for pool, n in place.demand.items())

    def become_eligible(self, component: Component) -> None:
        if component in self.waiting_for_others:
            self.waiting_for_others.remove(component)
        self.outcomes[component.row].eligible = self.now
        self.queue.append(component)

    def start(self, component: Component, place: Placement) -> None:
        outcome = self.outcomes[component.row]
        outcome.start, outcome.placement, outcome.state = self.now, place, "RUNNING"
        outcome.end = self.now + min(place.run, place.limit + self.rules.overrun_s)
        self.queue.remove(component)
        self.running.append(component.row)

    def end(self, component: Component) -> None:
        outcome = self.outcomes[component.row]
        assert outcome.placement is not None
        self.running.remove(component.row)
        self.unplanned_end |= self.now != outcome.start + outcome.placement.limit
        self.late_end |= self.now > outcome.start + outcome.placement.limit
        if outcome.placement.run > outcome.placement.limit + self.rules.overrun_s:
            outcome.state = "TIMEOUT"
        else:
            outcome.state = "FAILED" if component.fails else "COMPLETED"

    def planned_end(self, row: int) -> int:
        outcome = self.outcomes[row]
        assert outcome.placement is not None
        return max(outcome.start + outcome.placement.limit, self.now + 1)

    def held(self) -> list[tuple[int, dict[str, int]]]:
        """What is in use, as plans see it: until when, and how much of which pool."""
        return [(self.planned_end(row), self.placed(row).demand) for row in self.running]

    def asleep(self) -> list[tuple[int, int, dict[str, int]]]:
        """Nodes that nobody can have yet, as the plan sees them: none here (but see plain_switching)."""
        return []

    def free(self, pool: str) -> int:
        return self.capacity[pool] - sum(self.placed(row).demand.get(pool, 0) for row in self.running)

    def fits_now(self, place: Placement) -> bool:
        return all(n <= self.free(pool) for pool, n in place.demand.items())

    def placed(self, row: int) -> Placement:
        place = self.outcomes[row].placement
        assert place is not None
        return place

    # ---------------------------------------------------------------- rule 13: dependencies
    def may_go(self, component: Component) -> bool:
        return all(self.is_satisfied(row, kind) for row, kind in component.dependencies)

    def is_satisfied(self, row: int, kind: str) -> bool:
        state = self.outcomes[row].state
        if kind == "AFTER":
            return state != "PENDING"
        ended = state not in ("PENDING", "RUNNING")
        if kind == "AFTERANY":
            return ended
        return ended and (state == "COMPLETED") == (kind == "AFTEROK")

    # ---------------------------------------------------------------- passes and waits
    def one_pass(self) -> None:
        self.count_waits()
        self.make_pass()
        self.unplanned_end = self.late_end = False
        reasons = {
            c.row: "priority" if any(map(self.fits_now, self.allowed(c))) else "resources" for c in self.queue
        }
        self.last_pass = (self.now, reasons)

    def make_pass(self) -> None:
        make_pass(self)

    def count_waits(self) -> None:
        time, reasons = self.last_pass
        for row, reason in reasons.items():
            if reason == "resources":
                self.outcomes[row].wait_resources += self.now - time
            else:
                self.outcomes[row].wait_priority += self.now - time

    def allowed(self, component: Component) -> list[Placement]:
        """Rule 9: those that can ever fit; of these ``preferred`` looks at the first alone."""
        possible = [place for place in component.placements if self.ever_fits(place)]
        return possible[:1] if self.rules.placement == "preferred" else possible

    def in_order(self, components: list[Component], order: str) -> list[Component]:
        """Rule 3: priority, submit time, trace order."""
        return sorted(
            components, key=lambda c: (priority(order, c, self.now, self.first_submit), c.submit, c.row)
        )
