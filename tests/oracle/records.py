"""What the plain reference scheduler is given, and what it hands back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Placement:
    """One way to run a component. Times in seconds; ``run`` is unknown to the scheduler."""

    module: str
    nodes: int
    run: int
    limit: int
    cost: float = 1.0
    resources: dict[str, int] = field(default_factory=dict)

    @cached_property
    def demand(self) -> dict[str, int]:
        """How much of each pool it takes: nodes of its module, and shared resources."""
        return {self.module: self.nodes} | {name: n for name, n in self.resources.items() if n > 0}


@dataclass(frozen=True)
class Component:
    """One request. ``dependencies`` holds (row, kind); no placement left means REJECTED.

    What else may hold it, for ``plain_holds`` alone: ``begin``, an instant; ``held`` by hand; ``alone``, a
    singleton among those of one ``line`` (user and name); ``most`` tasks of its ``array`` at once.
    """

    row: int
    submit: int
    placements: tuple[Placement, ...]
    dependencies: tuple[tuple[int, str], ...] = ()
    fails: bool = False
    any_will_do: bool = False
    begin: int = -1
    held: bool = False
    alone: bool = False
    line: str = ""
    array: int = -1
    most: int = -1


@dataclass(frozen=True)
class Act:
    """What an operator does to a component at an instant: hold, release, cancel, requeue."""

    time: int
    kind: str
    row: int


@dataclass(frozen=True)
class Rules:
    """The policy, by the names of its keys."""

    order: str = "fifo"
    backfill: str = "none"
    depth: int | None = None
    replan: str = "scratch"
    placement: str = "earliest_start"
    backfill_order: str | None = None
    overrun_s: int = 0
    passes: str = "instant"
    extra_rule: bool = True
    candidate_time: str = "limit"
    shadow: str = "dynamic"
    packing: str = "best_fit"
    leaves: tuple[int, ...] = ()  # nodes of a switch of each level, where nodes are chosen by them
    spread: tuple[str, int, bool] = ("", 0, False)  # by what a run takes longer, percent, a dragonfly

    @property
    def reservations(self) -> float:
        """How many components of a module may hold a reservation at once."""
        if self.backfill == "conservative":
            return math.inf
        return self.depth or 1


@dataclass
class Outcome:
    """What became of a component; -1 where it never happened."""

    eligible: int = -1
    start: int = -1
    end: int = -1
    state: str = "PENDING"
    placement: Placement | None = None
    wait_resources: int = 0
    wait_priority: int = 0

    @property
    def waits(self) -> tuple[int, int]:
        """For resources, and for its turn."""
        return self.wait_resources, self.wait_priority


def priority(order: str, component: Component, now: int, first_submit: int) -> float:
    """Rule 3: smaller goes first."""
    first = component.placements[0]
    r, n = float(first.limit), float(first.nodes)
    s, w = component.submit - first_submit, now - component.submit
    age = math.log10(max(s, 1))
    formulas = {
        "fifo": lambda: 0.0,
        "sjf": lambda: r,
        "ljf": lambda: -r,
        "smallest": lambda: n,
        "largest": lambda: -n,
        "wfp3": lambda: -((w / r) ** 3) * n,
        "unicef": lambda: -w / (math.log2(max(n, 2)) * r),
        "f1": lambda: math.log10(r) * n + 870 * age,
        "f2": lambda: math.sqrt(r) * n + 25600 * age,
        "f3": lambda: r * n + 6.86e6 * age,
        "f4": lambda: r * math.sqrt(n) + 5.3e5 * age,
    }
    return formulas[order]()
