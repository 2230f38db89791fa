"""The clock of the plain reference of units: heterogeneous jobs, delays, DYNAMIC and calls while they run.

Where the rules are silent:

* Passes under delay = joint are made as if each second had one: the clock stops, besides at what happens, at
  the slot the last pass found for each entry it planned (a member with an offset may make that an instant
  at which nothing ends). Under delay = reserved it stops only where something happens: an end, a call,
  a submission, the end of a think time, an appointment.
* Members are rejected each at its own submission; so is a unit whose members never fit together.
* Think time counts from the last of its dependencies, even one satisfied before the submission.
* The next ones, which a call moves, are the members with the smallest offset larger than the caller's,
  whatever has become of them: once they have started (or are due now) the call does not go on to those after.
* ``extend_job`` adds the original limit at each call that is granted. A known call without effect is a pass,
  too; one of an unknown kind is not even an instant.
* Larger tiers go first.
"""

from __future__ import annotations

from tests.oracle.plain_unit_passes import Rectangle, earliest, fits, make_pass, rectangles, whole
from tests.oracle.plain_unit_records import Component, Outcome, Unit, in_trace_order, make_units

KNOWN = ("WF_API", "EXTEND_JOB")


def simulate(components: list[Component], modules: dict[str, int], **settings: object) -> Simulator:
    """Run to the end: ``.outcomes`` by component id. ``settings`` as of Simulator."""
    simulator = Simulator(components, modules, **settings)  # type: ignore[arg-type]
    simulator.run()
    return simulator


class Simulator:
    """Everything that changes while time goes on."""

    def __init__(
        self,
        components: list[Component],
        modules: dict[str, int],
        policy: str = "fcfs",
        k: int = 1,
        delay: str = "joint",
        extend: str = "refuse",
        calls: bool = True,
        every_second: bool = False,
    ) -> None:
        self.capacity, self.policy, self.k, self.delay = modules, policy, k, delay
        self.extend, self.calls, self.every_second = extend, calls, every_second
        self.components = {c.id: c for c in in_trace_order(components)}
        self.rank = {id: rank for rank, id in enumerate(self.components)}
        self.outcomes = {c.id: Outcome(limit=c.limit) for c in components}
        self.units = make_units(components)
        self.unit_of = {member.id: unit for unit in self.units for member in unit.members}
        self.to_come = list(self.units)  # not yet eligible
        self.to_submit = list(self.components.values())
        self.queue: list[Unit] = []
        self.look_again: list[int] = []  # slots the last pass found
        self.asked: dict[int, int] = {}  # when a component made its first WF_API call
        self.made: set[tuple[int, int]] = set()  # calls: (id, number in its list)
        said = [kind for c in components for kind, _ in c.calls if calls]
        self.unknown_calls = sum(kind.upper() not in KNOWN for kind in said)
        self.now = min((c.submit for c in components), default=0) - 1

    # ---------------------------------------------------------------- instants
    def run(self) -> None:
        while (instant := self.next_instant()) is not None:
            self.now = instant
            self.handle_instant()
            while self.due_ends() or self.due_calls() or self.due_submissions() or self.due_units():
                self.handle_instant()

    def next_instant(self) -> int | None:
        times = [c.submit for c in self.to_submit[:1]]
        times += [self.outcomes[c.id].end for c in self.running()]
        times += [
            self.outcomes[c.id].start + seconds for c in self.running() for _, _, seconds in self.calls_of(c)
        ]
        times += [time for unit in self.to_come if (time := self.eligible_from(unit)) is not None]
        times += [self.outcomes[c.id].appointment for c in self.appointed()]
        times += self.look_again if self.delay == "joint" else []
        times = [time for time in times if time > self.now]
        return self.now + 1 if self.every_second and times else min(times, default=None)

    def handle_instant(self) -> None:
        for component in self.due_ends():
            self.end(component)
        for component, number, kind in self.due_calls():
            self.made.add((component.id, number))
            self.call(component, kind)
        for component in self.due_submissions():
            self.submit(component)
        for unit in self.due_units():
            self.become_eligible(unit)
        self.keep_appointments()
        make_pass(self)

    def running(self) -> list[Component]:
        return [c for c in self.components.values() if self.outcomes[c.id].state == "RUNNING"]

    def appointed(self) -> list[Component]:
        """Those that are awaited, by appointment, then in trace order."""
        waiting = [
            c
            for c in self.components.values()
            if self.outcomes[c.id].appointment >= 0 and self.outcomes[c.id].start < 0
        ]
        return sorted(waiting, key=lambda c: self.outcomes[c.id].appointment)

    # ---------------------------------------------------------------- starts and ends
    def due_ends(self) -> list[Component]:
        return [c for c in self.running() if self.outcomes[c.id].end == self.now]

    def end(self, component: Component) -> None:
        outcome = self.outcomes[component.id]
        if component.runtime > outcome.limit:
            outcome.state = "TIMEOUT"
        else:
            outcome.state = "FAILED" if component.fails else "COMPLETED"

    def start(self, component: Component) -> None:
        wanted = rectangles([(0, component)], self.now)
        assert fits(
            [r for r in self.plan_of_certain(besides=component) if r[1] <= self.now], wanted, self.capacity
        )
        outcome = self.outcomes[component.id]
        outcome.state, outcome.start = "RUNNING", self.now
        outcome.end = self.now + min(component.runtime, component.limit)

    def start_unit(self, unit: Unit) -> None:
        """Members of offset 0 start, the others get an appointment."""
        self.queue.remove(unit)
        for member in unit.first:
            self.start(member)
        for member in unit.later:
            outcome = self.outcomes[member.id]
            outcome.appointment = outcome.eligible = self.now + unit.offsets[member.id]

    def keep_appointments(self) -> None:
        for component in self.appointed():
            if self.outcomes[component.id].appointment == self.now:
                self.start(component)

    def plan_of_certain(self, besides: Component | None = None) -> list[Rectangle]:
        """What runs, by its limit, and what is appointed."""
        plan = []
        for c in self.running():
            outcome = self.outcomes[c.id]
            plan.append((c.module, self.now, outcome.start + outcome.limit, c.nodes))
        for c in self.appointed():
            if c is not besides:
                plan += rectangles([(0, c)], self.outcomes[c.id].appointment)
        return plan

    # ---------------------------------------------------------------- submissions and dependencies
    def due_submissions(self) -> list[Component]:
        return [c for c in self.to_submit if c.submit == self.now]

    def submit(self, component: Component) -> None:
        self.to_submit.remove(component)
        unit = self.unit_of[component.id]
        if not fits([], rectangles(whole(unit), 0), self.capacity):
            self.outcomes[component.id].state = "REJECTED"
            if unit in self.to_come:
                self.to_come.remove(unit)

    def due_units(self) -> list[Unit]:
        times = [(unit, self.eligible_from(unit)) for unit in self.to_come]
        return [unit for unit, time in times if time is not None and time <= self.now]

    def become_eligible(self, unit: Unit) -> None:
        self.to_come.remove(unit)
        self.queue.append(unit)
        for member in unit.members:
            self.outcomes[member.id].eligible = self.now

    def eligible_from(self, unit: Unit) -> int | None:
        """Return when all its members are submitted and free; None if that is not known yet."""
        times = []
        for member in unit.members:
            satisfied = [self.satisfied_at(other, kind) for other, kind in member.waits_for]
            if member in self.to_submit or None in satisfied:
                return None
            known = [time for time in satisfied if time is not None]
            times += [member.submit, *([max(known) + unit.thinks[member.id]] if known else [])]
        return max(times)

    def satisfied_at(self, other: int, kind: str) -> int | None:
        """Return when a dependency was satisfied, None if it is not. A rejection is a start and an end."""
        outcome = self.outcomes[other]
        rejected = outcome.state == "REJECTED"
        ended = outcome.state not in ("PENDING", "RUNNING")
        start, end = (self.components[other].submit,) * 2 if rejected else (outcome.start, outcome.end)
        if kind == "AFTER":
            return start if outcome.state != "PENDING" else None
        if kind == "AFTEROK" and other in self.asked:
            return self.asked[other]
        wanted = {
            "AFTERANY": ended,
            "AFTEROK": outcome.state == "COMPLETED",
            "AFTERNOTOK": ended and outcome.state != "COMPLETED",
        }
        return end if wanted[kind] else None

    # ---------------------------------------------------------------- calls
    def calls_of(self, component: Component) -> list[tuple[int, str, int]]:
        """Those it has still to make: (number, kind, seconds after its start)."""
        return [
            (number, kind.upper(), seconds)
            for number, (kind, seconds) in enumerate(component.calls)
            if kind.upper() in KNOWN and self.calls and (component.id, number) not in self.made
        ]

    def due_calls(self) -> list[tuple[Component, int, str]]:
        """Of those that still run: what ends now has ended before."""
        return [
            (c, number, kind)
            for c in self.running()
            for number, kind, seconds in self.calls_of(c)
            if self.outcomes[c.id].start + seconds == self.now
        ]

    def call(self, component: Component, kind: str) -> None:
        if kind == "WF_API":
            self.asked.setdefault(component.id, self.now)
            self.move_next(component)
        else:
            self.extend_limit(component)

    def move_next(self, caller: Component) -> None:
        """Give the next members of its unit the earliest appointment there is."""
        unit = self.unit_of[caller.id]
        after = [m for m in unit.members if unit.offsets[m.id] > unit.offsets[caller.id]]
        smallest = min((unit.offsets[m.id] for m in after), default=None)
        for member in after:
            outcome = self.outcomes[member.id]
            if unit.offsets[member.id] == smallest and outcome.start < 0:
                plan = self.plan_of_certain(besides=member)
                moved = earliest(plan, [(0, member)], self.capacity, self.now)
                assert moved <= outcome.appointment
                outcome.appointment = outcome.eligible = moved

    def extend_limit(self, component: Component) -> None:
        outcome = self.outcomes[component.id]
        planned_end = outcome.start + outcome.limit
        more = (component.module, planned_end, planned_end + component.limit, component.nodes)
        if self.extend == "grant" and fits(self.plan_of_certain(), [more], self.capacity):
            outcome.limit += component.limit
            outcome.end = outcome.start + min(component.runtime, outcome.limit)
