"""The engine as a whole: the parts that rules add to the core, the schemes, and the loop made of them.

To import this is to hang in all rules and schemes; what a run compiles, the parts of its core say.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple, cast

from scheduler_sim.engine import schemes
from scheduler_sim.engine.core.allocation import Sizes, blank_core
from scheduler_sim.engine.core.hooks import ABSENT, is_absent
from scheduler_sim.engine.core.records import table
from scheduler_sim.engine.core.scheme import PASSES
from scheduler_sim.engine.core.state import Core
from scheduler_sim.engine.needs import FullCore, HoldSizes, has, more_holds, more_slurm, more_units
from scheduler_sim.engine.rules import calls, dependencies, holds
from scheduler_sim.engine.rules.coscheduling import members, units
from scheduler_sim.engine.rules.coscheduling.state import UnitSizes, blank_coscheduling
from scheduler_sim.engine.rules.power_saving import switching
from scheduler_sim.engine.rules.power_saving.state import SWITCHED_COLUMNS, blank_power_saving
from scheduler_sim.engine.rules.slurm import clock, lifecycle, operations
from scheduler_sim.engine.rules.slurm.accelerate import idle_passes, node_space, pass_cutoff
from scheduler_sim.engine.rules.slurm.accelerate.state import accelerated
from scheduler_sim.engine.rules.slurm.allocation import SlurmSizes, blank_slurm
from scheduler_sim.engine.rules.slurm.het import lifecycle as het_lifecycle

Needs = Mapping[str, Any]
"""What a run needs of each rule, by the name of its part; nothing, or none of it: the part is absent."""


class Rule(NamedTuple):
    """A rule: the part that it adds to the core, and the files that hang its hooks in.

    Attributes
    ----------
    part : the name of what it keeps, among the parts of the core
    files : to import them is to hang them in
    blank : makes the part, with all its room and nothing in it, where a run needs it
    more : what a core that has it needs of it, for more jobs
    events : room that it needs among the events
    """

    part: str
    files: tuple[ModuleType, ...]
    blank: Callable[[Sizes, Needs], Any]
    more: Callable[[Any, Sizes], Any]
    events: Callable[[Any], int] = lambda need: 0


def _slurm(sizes: Sizes, needs: Needs) -> Any:
    units: UnitSizes = needs.get("coscheduling", UnitSizes())
    return blank_slurm(needs["slurm"], units.members, units.booked)


# fmt: off
RULES = (
    Rule("slurm", (clock, lifecycle, operations, het_lifecycle), _slurm, more_slurm,
         lambda need: 2 * need.rows),
    Rule("accelerate", (idle_passes, node_space, pass_cutoff),  # for speed alone
         lambda sizes, needs: ABSENT, lambda core, sizes: None),
    Rule("power_saving", (switching,),
         lambda sizes, needs: blank_power_saving(sizes.pools, sizes.modules, sizes.nodes),
         lambda core, sizes: True),
    Rule("coscheduling", (members, units),
         lambda sizes, needs: blank_coscheduling(needs["coscheduling"]), more_units,
         lambda need: need.members),
    Rule("calls", (calls,),
         lambda sizes, needs: table(calls.Call, needs["calls"]),
         lambda core, sizes: len(core.calls), lambda need: need),
    Rule("holds", (holds,),
         lambda sizes, needs: holds.blank_holds(*needs["holds"]), more_holds, lambda need: need.terms),
    Rule("dependencies", (dependencies,),
         lambda sizes, needs: table(dependencies.Dependency, needs["dependencies"]),
         lambda core, sizes: len(core.dependencies), lambda need: 2 * need),
)
# fmt: on
"""The rules there are; at a moment they come in this order."""

SCHEMES = tuple(import_module(f"{schemes.__name__}.{found.name}") for found in iter_modules(schemes.__path__))
"""The schemes, one a file. Slurm's two schedulers are a rule: they answer for the whole instant."""

PARTS = tuple(rule.part for rule in RULES)


class _Core(namedtuple("_Core", (*Core.__annotations__, *PARTS))):  # type: ignore[misc]
    """The tuple itself; ``kind`` is its type to the compiler, once that has been asked for."""

    kind: Any = None

    @cached_property
    def absent(self: Any) -> frozenset[str]:
        """The parts that this core lacks, by name."""
        return frozenset(name for name in self._fields if is_absent(getattr(self, name)))

    @property
    def shape(self: Any) -> tuple[Any, ...]:
        """What its type depends on: the pass, what writes the keys of orders, and which parts are there."""
        return self.scheme.name, type(self.orders.fill), type(self.orders.fill_second), self.absent


def blank(sizes: Sizes, needs: Needs, scheme: str, more_events: int = 0) -> FullCore:
    """Return a core with the parts that are needed, with all their room and nothing in it."""
    needs = {part: need for part, need in needs.items() if need}
    booked = needs["coscheduling"].booked if "coscheduling" in needs else 0
    made = blank_core(
        sizes._replace(
            more_events=more_events
            + sum(rule.events(needs[rule.part]) for rule in RULES if rule.part in needs),
            more_columns=1 + len(SWITCHED_COLUMNS) if "power_saving" in needs else int(booked > 0),
            more_pools=int("slurm" in needs),
            plans="coscheduling" in needs,  # reservations of members, and calls for more time, look at them
        ),
        scheme,
    )
    parts: dict[str, Any] = {
        rule.part: rule.blank(sizes, needs) if rule.part in needs else ABSENT for rule in RULES
    }
    if "slurm" in needs and needs["slurm"].accelerate:
        parts["slurm"], parts["accelerate"] = accelerated(parts["slurm"], sizes.modules)
    return cast(FullCore, _Core(**made, **parts))


def more(core: FullCore, sizes: Sizes) -> Needs:
    """Return what a core needs of its rules, for more jobs."""
    return {rule.part: rule.more(core, sizes) for rule in RULES if has(core, rule.part)}


__all__ = ["PASSES", "FullCore", "HoldSizes", "Needs", "Sizes", "SlurmSizes", "blank", "has", "more"]
