"""The plain reference scheduler with all that may hold a component, and operators.

Where docs/semantics.md leaves room it is taken like this:

* At an instant come the begin times and the minutes that are over, the ends, what operators do, submissions,
  dependency updates, the pass. What was satisfied once stays so, whatever happens to the other later.
* A singleton is looked at whenever anything has happened: it is let go once no component of its line runs and
  none that was submitted before it waits, if it is not held by hand; once let go, it stays so.
* A task of an array becomes eligible in the dependency updates, never in its submission: in trace order, as
  long as fewer than so many tasks of its array are in the queue or run.
* ``passes: event``: after the pass of one update comes what is due next in the order of the instant, also an
  update that this pass brought about.
* The clock stops at every begin time and at the end of every AFTER's minutes.
"""

from __future__ import annotations

from tests.oracle.plain import Clock, trace_order
from tests.oracle.records import Act, Component, Outcome, Placement, Rules

MINUTE = 60


class HoldingClock(Clock):
    """The reference clock; ``acts`` are carried out in their order."""

    def __init__(
        self, components: list[Component], capacity: dict[str, int], rules: Rules, acts: list[Act]
    ) -> None:
        super().__init__(components, capacity, rules)
        self.acts = sorted(acts, key=lambda act: act.time)
        self.by_hand = {component.row for component in components if component.held}
        self.begins = {c.begin for c in components if c.begin > c.submit}
        self.expiries: list[tuple[int, int, int]] = []  # time, row, number of its dependency
        self.met: set[tuple[int, int]] = set()
        self.let_go: set[int] = set()
        self.submitted: list[Component] = []

    # ---------------------------------------------------------------- instants
    def next_instant(self) -> int | None:
        times = [act.time for act in self.acts[:1]]
        times += [time for time in self.begins if time > self.now]
        times += [time for time, *_ in self.expiries if time > self.now]
        others = super().next_instant()
        return min(times if others is None else [*times, others], default=None)

    def handle_instant(self) -> None:
        self.met |= {(row, number) for time, row, number in self.expiries if time == self.now}
        if self.acts and self.acts[0].time == self.now:
            for component in self.due_ends():
                self.end(component)
            while self.acts and self.acts[0].time == self.now:
                act = self.acts.pop(0)
                getattr(self, act.kind)(self.components[act.row])
                self.look()
        super().handle_instant()

    def submit(self, component: Component) -> None:
        self.submitted.append(component)
        self.look()
        super().submit(component)
        self.passed_over(component)
        self.look()

    def start(self, component: Component, place: Placement) -> None:
        super().start(component, place)
        self.expect(component.row)
        self.look()

    def end(self, component: Component) -> None:
        super().end(component)
        self.look()

    # ---------------------------------------------------------------- what holds a component
    def may_go(self, component: Component) -> bool:
        return component.most < 1 and self.is_free(component)

    def satisfied(self) -> list[Component]:
        """Who becomes eligible now; tasks as long as there is room for them."""
        going: list[Component] = []
        for component in sorted(filter(self.is_free, self.waiting_for_others), key=trace_order):
            mates = [other for other in self.submitted if other.array == component.array]
            out = [other for other in mates if other in self.queue or other.row in self.running]
            if component.most < 1 or len(out) + sum(other in mates for other in going) < component.most:
                going.append(component)
        return going[:1] if self.rules.passes == "event" else going

    def is_free(self, component: Component) -> bool:
        """Nothing holds it but, maybe, the other tasks of its array."""
        if component.row in self.by_hand or component.begin > self.now:
            return False
        verdicts = [(component.row, number) in self.met for number in range(len(component.dependencies))]
        if component.alone:
            verdicts.append(component.row in self.let_go)
        return any(verdicts) if component.any_will_do and verdicts else all(verdicts)

    def look(self) -> None:
        """Note what is satisfied by now."""
        for component in self.components.values():
            for number, (row, kind) in enumerate(component.dependencies):
                if "+" not in kind and self.is_satisfied(row, kind):
                    self.met.add((component.row, number))
        for component in self.submitted:
            line = [other for other in self.submitted if other.line == component.line]
            states = {other.row: self.outcomes[other.row].state for other in line}
            before = [other.row for other in line if trace_order(other) < trace_order(component)]
            if (
                component.alone
                and component.row not in self.by_hand
                and states[component.row] == "PENDING"
                and "RUNNING" not in states.values()
                and not any(states[row] == "PENDING" for row in before)
            ):
                self.let_go.add(component.row)

    def expect(self, row: int) -> None:
        """Those who come so many minutes after ``row`` do so from now on."""
        for component in self.components.values():
            for number, (other, kind) in enumerate(component.dependencies):
                if other == row and "+" in kind:
                    later = self.now + MINUTE * int(kind.partition("+")[2])
                    self.expiries.append((later, component.row, number))

    def passed_over(self, component: Component) -> None:
        """One that has ended without having started counts as started then."""
        outcome = self.outcomes[component.row]
        if outcome.state in ("REJECTED", "CANCELLED") and outcome.start < 0:
            self.expect(component.row)

    # ---------------------------------------------------------------- what operators do
    def hold(self, component: Component) -> None:
        if self.outcomes[component.row].state != "PENDING":
            return
        self.by_hand.add(component.row)
        if component in self.queue:
            self.leave(component)
            self.outcomes[component.row] = Outcome()
            self.waiting_for_others.append(component)

    def release(self, component: Component) -> None:
        if self.outcomes[component.row].state == "PENDING":
            self.by_hand.discard(component.row)

    def cancel(self, component: Component) -> None:
        outcome = self.outcomes[component.row]
        if outcome.state == "RUNNING":
            self.stop(component)
        elif outcome.state == "PENDING":
            if component in self.to_submit:
                self.to_submit.remove(component)
            else:
                outcome.end = self.now
            if component in self.queue:
                self.leave(component)
            if component in self.waiting_for_others:
                self.waiting_for_others.remove(component)
        else:
            return
        outcome.state = "CANCELLED"
        self.passed_over(component)

    def requeue(self, component: Component) -> None:
        outcome = self.outcomes[component.row]
        if outcome.state == "RUNNING":
            self.stop(component)
            self.outcomes[component.row] = Outcome(
                eligible=outcome.eligible,
                wait_priority=outcome.wait_priority,
                wait_resources=outcome.wait_resources + self.now - outcome.start,
            )
            self.queue.append(component)
        elif outcome.state != "PENDING" and outcome.end >= 0:
            self.outcomes[component.row] = Outcome()
            self.waiting_for_others.append(component)

    def stop(self, component: Component) -> None:
        """It runs no longer."""
        outcome = self.outcomes[component.row]
        assert outcome.placement is not None
        self.running.remove(component.row)
        self.unplanned_end |= self.now != outcome.start + outcome.placement.limit
        self.late_end |= self.now > outcome.start + outcome.placement.limit
        outcome.end = self.now

    def leave(self, component: Component) -> None:
        """Out of the queue, with its promise; the time since the last pass is not counted."""
        self.queue.remove(component)
        self.promises.pop(component.row, None)
        self.last_pass[1].pop(component.row, None)
        self.unplanned_end = True
