"""Advance reservations as holes in the plan, in the plain reference scheduler.

Nodes have numbers here, but only to tell what two reservations have in common. A reservation is a pool of its
own, ``module@name``; how many nodes each pool should have is a function of time. A node that a job still has
when it should change pools does so once the job has ended. Plans know what should be at each time to come,
less what a pool is still owed now; that others owe it something is in no plan.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from tests.oracle import passes
from tests.oracle.plain import Clock
from tests.oracle.plan import Plan, Slot
from tests.oracle.records import Component, Placement, Rules

DAY_S = 86_400
FOR_EVER = 15 * DAY_S


@dataclass(frozen=True)
class Reserved:
    """A reservation: its nodes as (module, number), whose it is, and how far apart its turns are (0: one)."""

    name: str
    start: int
    end: int
    nodes: frozenset[tuple[str, int]]
    users: frozenset[str]
    maint: bool = False
    ignore_jobs: bool = False
    no_hold: bool = False
    every: int = 0

    def stands(self, time: int) -> bool:
        since = time - self.start
        return 0 <= (since % self.every if self.every and since >= 0 else since) < self.end - self.start

    def edges(self, after: int) -> list[int]:
        """Starts and ends of the turns that are, and of the next ones: cases here are shorter than a turn."""
        if not self.every:
            return [time for time in (self.start, self.end) if time > after]
        first = max(0, (after - self.end) // self.every)
        turns = range(first, first + 3)
        found = [edge + turn * self.every for turn in turns for edge in (self.start, self.end)]
        return [time for time in found if time > after]

    def is_over(self, now: int) -> bool:
        return not self.every and self.end <= now


@dataclass(frozen=True)
class Done:
    """What an operator does: ``make`` one, ``change`` it to another, or ``delete`` it."""

    time: int
    kind: str
    one: Reserved


class PlanAround(Plan):
    """A plan in which what a pool has is another at another time."""

    def __init__(self, clock: HoledClock) -> None:
        super().__init__(clock.capacity, clock.now)
        self.clock = clock
        self.edges = sorted({edge for one in clock.standing for edge in one.edges(clock.now)})

    def available(self, pool: str, time: int) -> int:
        taken = sum(demand.get(pool, 0) for begin, end, demand in self.rectangles if begin <= time < end)
        return self.clock.planned(pool, time) - taken

    def fits(self, demand: dict[str, int], begin: int, end: int) -> bool:
        moments = [begin, *(edge for edge in self.edges if begin < edge < end)]
        return super().fits(demand, begin, end) and all(
            self.available(pool, time) >= n for pool, n in demand.items() for time in moments
        )

    def earliest(self, demand: dict[str, int], length: int) -> float:
        ends = {end for _, end, _ in self.rectangles if self.now < end < math.inf}
        moments = sorted({self.now} | ends | set(self.edges))
        return next((time for time in moments if self.fits(demand, time, time + length)), math.inf)

    def add(self, begin: float, end: float, demand: dict[str, int]) -> None:
        if begin < math.inf:
            super().add(begin, end, demand)  # type: ignore[arg-type]

    def remove(self, begin: float, end: float, demand: dict[str, int]) -> None:
        if begin < math.inf:
            super().remove(begin, end, demand)  # type: ignore[arg-type]


class HoledClock(Clock):
    """``wanted`` names the reservation of each row that names one; ``user`` is whose each row is."""

    def __init__(
        self,
        components: list[Component],
        modules: dict[str, int],
        resources: dict[str, int],
        rules: Rules,
        standing: list[Reserved],
        done: list[Done],
        wanted: dict[int, str],
        user: dict[int, str],
    ) -> None:
        super().__init__(components, modules | resources, rules)
        self.modules, self.standing, self.done = modules, [], sorted(done, key=lambda act: act.time)
        self.numbers: dict[str, int] = {}
        for one in standing:
            self.stand(one)
        self.wanted, self.user = wanted, user
        self.has: dict[str, int] = {}  # nodes of each pool of a reservation
        self.left_behind: set[int] = set()  # rows whose reservation is gone
        self.free_again: set[int] = set()  # ... and which go on without
        self.last_news = self.first_submit
        self.edge_at: int | None = None
        self.all_simple = False

    def stand(self, one: Reserved) -> None:
        self.numbers.setdefault(one.name, len(self.numbers))
        self.standing = sorted(
            [*(other for other in self.standing if other.name != one.name), one],
            key=lambda other: self.numbers[other.name],
        )

    # ---------------------------------------------------------------- what should be, and what is
    def should(self, time: int) -> dict[str, int]:
        """How many nodes each reservation should have of each module, by pool."""
        there = [one for one in self.standing if one.stands(time)]
        taken: set[tuple[str, int]] = set()
        found: Counter[str] = Counter()
        for one in sorted(there, key=lambda one: not one.maint):
            for module, _ in one.nodes - taken:
                found[f"{module}@{one.name}"] += 1
            taken |= one.nodes
        return found

    def owed(self, pool: str) -> int:
        """Below 0: it has more than it should."""
        return self.should(self.now).get(pool, 0) - self.has.get(pool, 0)

    def pools(self, module: str) -> list[str]:
        names = sorted(self.numbers, key=lambda name: self.numbers[name])
        return [f"{module}@{name}" for name in names]

    def hand_over(self) -> bool:
        """Idle nodes go where they should be; True if any did."""
        went = False
        for module in self.modules:
            for pool in self.pools(module):
                nodes = min(-self.owed(pool), self.free(pool))
                if nodes > 0:
                    self.has[pool] -= nodes
                    went = True
            for pool in self.pools(module):
                nodes = min(self.owed(pool), self.free(module))
                if nodes > 0:
                    self.has[pool] = self.has.get(pool, 0) + nodes
                    went = True
        return went

    def in_use(self, pool: str) -> int:
        return sum(self.placed(row).demand.get(pool, 0) for row in self.running)

    def free(self, pool: str) -> int:
        if "@" in pool:
            return self.has.get(pool, 0) - self.in_use(pool)
        aside = sum(self.has.get(other, 0) for other in self.pools(pool)) if pool in self.modules else 0
        return self.capacity[pool] - aside - self.in_use(pool)

    def planned(self, pool: str, time: int) -> int:
        """How much a pool has at a time, as plans know it."""
        if pool not in self.modules and "@" not in pool:
            return self.capacity[pool]
        should = self.should(time)
        if "@" in pool:
            return should.get(pool, 0) - max(0, self.owed(pool))
        aside = sum(should.get(other, 0) + max(0, -self.owed(other)) for other in self.pools(pool))
        return self.capacity[pool] - aside

    # ---------------------------------------------------------------- instants
    def next_instant(self) -> int | None:
        times = [super().next_instant()]
        if self.to_submit or self.running or self.queue:
            times += [act.time for act in self.done[:1] if act.time > self.now]
            times += [min(one.edges(self.now), default=None) for one in self.standing]
        found = min((time for time in times if time is not None), default=None)
        idle = not self.to_submit and not self.running
        if idle and not self.done and all(one.every for one in self.standing):
            ends = [o.end for o in self.outcomes.values()] + [o.eligible for o in self.outcomes.values()]
            if found is not None and found >= max(*ends, self.last_news) + FOR_EVER - DAY_S:
                return None
        return found

    def handle_instant(self) -> None:
        if self.edge_at != self.now:
            self.edge_at = self.now
            for component in self.due_ends():
                self.end(component)
            self.edge()
        super().handle_instant()

    def edge(self) -> None:
        """What should be may be another now; what operators do; what is over."""
        before = dict(self.has)
        self.hand_over()
        self.settled(before)
        news = False
        while self.done and self.done[0].time <= self.now:
            news |= self.act(self.done.pop(0))
        for one in [one for one in self.standing if one.is_over(self.now)]:
            self.forget(one)
            self.last_news = self.now
        before = dict(self.has)
        self.hand_over()
        self.settled(before)
        if news:
            self.last_news = self.now
            self.lose_promises()

    def settled(self, before: dict[str, int]) -> None:
        turned = any(one.edges(self.now - 1)[:1] == [self.now] for one in self.standing)
        if (turned or self.has != before) and any(self.owed(p) for m in self.modules for p in self.pools(m)):
            self.lose_promises()

    def lose_promises(self) -> None:
        self.unplanned_end = self.late_end = True

    def forget(self, one: Reserved) -> None:
        self.standing.remove(one)
        for component in [*self.queue, *self.waiting_for_others]:
            row = component.row
            if self.wanted.get(row) == one.name and row not in self.free_again | self.left_behind:
                if one.no_hold:
                    self.free_again.add(row)
                    self.promises.pop(row, None)
                    self.unplanned_end = True
                else:
                    self.left_behind.add(row)

    def act(self, act: Done) -> bool:
        """Do what an operator does; False if he is refused."""
        one = act.one
        old = next((other for other in self.standing if other.name == one.name), None)
        if act.kind == "delete":
            if old is None or any(self.in_use(f"{module}@{one.name}") for module in self.modules):
                return False
            self.forget(old)
            return True
        if (act.kind == "make") != (old is None) or not self.may_stand(one):
            return False
        self.stand(one)
        return True

    def may_stand(self, one: Reserved) -> bool:
        others = [other for other in self.standing if other.name != one.name]
        times = sorted({max(one.start, self.now), *(e for o in others for e in o.edges(self.now))})
        times = [time for time in times if one.start <= time < one.end]
        for other in others:
            together = other.start < one.end and one.start < other.end
            if together and not (one.maint or other.maint) and one.nodes & other.nodes:
                return False
        if one.ignore_jobs:
            return True
        for time in times:
            taken = set(one.nodes).union(*(other.nodes for other in others if other.stands(time)))
            for module in {module for module, _ in one.nodes}:
                held = sum(
                    self.placed(row).nodes
                    for row in self.running
                    if self.placed(row).module == module
                    and self.outcomes[row].start + self.placed(row).limit > time
                )
                if held + sum(name == module for name, _ in taken) > self.modules[module]:
                    return False
        return True

    # ---------------------------------------------------------------- components
    def end(self, component: Component) -> None:
        super().end(component)
        if self.hand_over():
            self.unplanned_end = True

    def submit(self, component: Component) -> None:
        row = component.row
        name = self.wanted.get(row)
        if name is not None:
            one = next((one for one in self.standing if one.name == name), None)
            inside = [replace(place, module=f"{place.module}@{name}") for place in component.placements]
            other = replace(component, placements=tuple(inside))
            fits = one is not None and any(self.fits_in(one, place) for place in self.allowed(other))
            if one is None or self.user[row] not in one.users or not fits:
                self.to_submit.remove(component)
                self.outcomes[row].state = "REJECTED"
                return
            self.to_submit[self.to_submit.index(component)] = other
            self.components[row] = component = other
        super().submit(component)

    def fits_in(self, one: Reserved, place: Placement) -> bool:
        module = place.module.split("@")[0]
        room = math.inf if one.every and one.end - one.start >= one.every else one.end - one.start
        return place.nodes <= sum(name == module for name, _ in one.nodes) and place.limit <= room

    def ever_fits(self, place: Placement) -> bool:
        return all(n <= self.capacity[p.split("@")[0]] for p, n in place.demand.items())

    def allowed(self, component: Component) -> list[Placement]:
        places = super().allowed(component)
        if component.row in self.free_again:
            return [replace(place, module=place.module.split("@")[0]) for place in places]
        return places

    def fits_in_plan(self, place: Placement) -> bool:
        return plan_of_running(self).fits(place.demand, self.now, self.now + place.limit)

    def make_pass(self) -> None:
        make_pass(self)


def plan_of_running(clock: Clock) -> Plan:
    plan = PlanAround(clock)  # type: ignore[arg-type]
    for row in clock.running:
        plan.add(clock.now, clock.planned_end(row), clock.placed(row).demand)
    return plan


def make_pass(clock: HoledClock) -> None:
    """The passes of the reference, with plans around what is reserved."""
    old = passes.plan_of_running, passes.start_now
    passes.plan_of_running, passes.start_now = plan_of_running, start_now  # type: ignore[assignment]
    try:
        passes.make_pass(clock)
    finally:
        passes.plan_of_running, passes.start_now = old


def start_now(clock: HoledClock, component: Component, places: list[Placement]) -> bool:
    """Likewise, but that it has to fit for the whole of its limit."""
    fitting = [(i, place) for i, place in enumerate(places) if clock.fits_in_plan(place)]
    slots = [Slot(clock.now, i, place) for i, place in fitting if clock.fits_now(place)]
    slot = passes.best(clock.rules.placement, slots, clock.now)
    if slot is not None:
        clock.start(component, slot.placement)
    return slot is not None
