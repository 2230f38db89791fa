"""What the plain reference of units is given: components, and the units that start by one plan.

A unit holds the components of one modular job and those tied to it by DYNAMIC. Where the rules are silent:

* A component that waits by AFTER* for another of what would be its own unit (not only of its own job) waits
  alone, or the unit would wait for itself; its DYNAMIC has no effect. Those that name it by DYNAMIC follow
  it: they form a unit with it and have left their job's.
* Delays count from the first member of the job in the unit; its own delay means nothing unless it is tied by
  DYNAMIC. So no delay means: with the first member of the job. A circle of DYNAMIC is a ValueError.
* A component with both AFTER* and a DYNAMIC that counts has its delay from what it names: no think time.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Component:
    """One request. Times in seconds; ``depends`` holds (id, kind), ``calls`` (kind, seconds run)."""

    id: int
    job: int
    submit: int
    module: str
    nodes: int
    limit: int
    runtime: int
    delay: int = -1
    depends: tuple[tuple[int, str], ...] | list[tuple[int, str]] = ()
    calls: tuple[tuple[str, int], ...] | list[tuple[str, int]] = ()
    fails: bool = False
    tier: int = 0

    @property
    def names(self) -> list[int]:
        """Whom it is tied to by DYNAMIC."""
        return [other for other, kind in self.depends if kind.upper() == "DYNAMIC"]

    @property
    def waits_for(self) -> list[tuple[int, str]]:
        """Its dependencies in the usual sense."""
        return [(other, kind.upper()) for other, kind in self.depends if kind.upper() != "DYNAMIC"]


@dataclass
class Outcome:
    """What became of a component; -1 where it never happened. ``limit`` is what calls have made of it."""

    state: str = "PENDING"
    eligible: int = -1
    start: int = -1
    end: int = -1
    appointment: int = -1
    limit: int = -1


@dataclass
class Unit:
    """Members in trace order (the first is the leader), and when each starts after the unit's start."""

    members: list[Component]
    offsets: dict[int, int] = field(default_factory=dict)
    thinks: dict[int, int] = field(default_factory=dict)

    @property
    def leader(self) -> Component:
        return self.members[0]

    @property
    def modules(self) -> set[str]:
        return {member.module for member in self.members}

    @property
    def first(self) -> list[Component]:
        """Those that start with the unit."""
        return [member for member in self.members if self.offsets[member.id] == 0]

    @property
    def later(self) -> list[Component]:
        """The others, by offset, then in trace order."""
        return sorted(
            (member for member in self.members if self.offsets[member.id] > 0),
            key=lambda member: self.offsets[member.id],
        )


def in_trace_order(components: list[Component]) -> list[Component]:
    """By submission; those of one instant as they stand in the list."""
    return sorted(components, key=lambda component: component.submit)


def make_units(components: list[Component]) -> list[Unit]:
    components = in_trace_order(components)
    by_id = {component.id: component for component in components}

    def of_one_job(some: list[Component]) -> list[tuple[int, int]]:
        return [(a.id, b.id) for a in some for b in some if a.job == b.job]

    def tied(some: list[Component]) -> list[tuple[int, int]]:
        return [(a.id, other) for a in some for other in a.names]

    would_be = groups(list(by_id), of_one_job(components) + tied(components))
    alone = {c.id for c in components if any(other in group_of(c.id, would_be) for other, _ in c.waits_for)}
    followers: set[int] = set()
    while more := {c.id for c in components if (alone | followers) & set(c.names)} - alone - followers:
        followers |= more

    usual = [c for c in components if c.id not in alone | followers]
    ties = of_one_job(usual) + tied(usual)
    ties += [(f, other) for f in followers for other in by_id[f].names if other in alone | followers]
    units = [
        Unit([c for c in components if c.id in group]) for group in groups([c.id for c in components], ties)
    ]
    for unit in units:
        set_offsets(unit, alone)
    return units


def group_of(one: int, parts: list[set[int]]) -> set[int]:
    return next(part for part in parts if one in part)


def groups(ids: list[int], ties: list[tuple[int, int]]) -> list[set[int]]:
    """Join whatever is tied, one tie after the other."""
    parts = [{one} for one in ids]
    for a, b in ties:
        first, second = group_of(a, parts), group_of(b, parts)
        if first is not second:
            parts.remove(second)
            first |= second
    return parts


def set_offsets(unit: Unit, alone: set[int]) -> None:
    members = {member.id: member for member in unit.members}

    def named(member: Component) -> list[int]:
        return [] if member.id in alone else [other for other in member.names if other in members]

    def offset(member: Component, on_the_way: tuple[int, ...] = ()) -> int:
        if member.id in on_the_way:
            raise ValueError(f"a circle of DYNAMIC and delays through component {member.id}")
        way = (*on_the_way, member.id)
        delay = max(member.delay, 0)
        if named(member):
            return max(offset(members[other], way) for other in named(member)) + delay
        first = next(m for m in unit.members if m.job == member.job)
        if member is first:
            return 0
        return offset(first, way) + (0 if member.waits_for else delay)

    for member in unit.members:
        unit.offsets[member.id] = offset(member)
        thinks = member.waits_for and not named(member)
        unit.thinks[member.id] = max(member.delay, 0) if thinks else 0
