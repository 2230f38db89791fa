"""The engine as a whole: the parts that rules add to the core, the schemes, and the loop made of them.

To import this is to hang in all rules and schemes; what a run compiles, the parts of its core say.
"""

from __future__ import annotations

from collections import Counter, namedtuple
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
from scheduler_sim.engine.core.words import Words
from scheduler_sim.engine.rules import calls, dependencies, holds
from scheduler_sim.engine.rules.coscheduling import members, units
from scheduler_sim.engine.rules.coscheduling.state import UnitSizes, blank_coscheduling
from scheduler_sim.engine.rules.power_saving import switching
from scheduler_sim.engine.rules.power_saving.state import (
    PowerSavingCore,
    SwitchSizes,
    blank_power_saving,
)
from scheduler_sim.engine.rules.slurm import clock, lifecycle, operations
from scheduler_sim.engine.rules.slurm.accelerate import idle_passes, node_space, pass_cutoff
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore, accelerated
from scheduler_sim.engine.rules.slurm.allocation import SlurmSizes, blank_slurm
from scheduler_sim.engine.rules.slurm.het import lifecycle as het_lifecycle

Needs = Mapping[str, Any]
"""The room that a run needs of each rule, by the name of its part; what is not there is absent."""


class FullCore(het_lifecycle.SlurmCallsCore, AcceleratedCore, PowerSavingCore):
    """A core with all parts there are, some of them absent."""


class Rule(NamedTuple):
    """A rule: the part that it adds to the core, and the files that hang its hooks in.

    Attributes
    ----------
    part : the name of what it keeps, among the parts of the core
    files : to import them is to hang them in
    blank : makes the part, with all the room that a run needs and nothing in it
    beside : the more room of every core that goes with it, by the names of ``Sizes``
    """

    part: str
    files: tuple[ModuleType, ...]
    blank: Callable[[Any], Any]
    beside: Callable[[Any], Mapping[str, int]] = lambda need: {}


# fmt: off
RULES = (
    Rule("slurm", (clock, lifecycle, operations, het_lifecycle), blank_slurm,
         lambda need: {"more_events": 2 * need.rows, "more_pools": 1, "idle_rows": need.booked > 0}),
    Rule("accelerate", (idle_passes, node_space, pass_cutoff), lambda need: ABSENT),  # for speed alone
    Rule("power_saving", (switching,), blank_power_saving,
         lambda need: {"idle_rows": 1, "releases": need.nodes + 1, "profile": need.nodes + 1}),
    Rule("coscheduling", (members, units), blank_coscheduling,
         lambda need: {"more_events": need.members, "plans": 1}),  # reservations and calls look at plans
    Rule("calls", (calls,), lambda need: table(calls.Call, need), lambda need: {"more_events": need}),
    Rule("holds", (holds,), holds.blank_holds, lambda need: {"more_events": need}),
    Rule("dependencies", (dependencies,), lambda need: table(dependencies.Dependency, need),
         lambda need: {"more_events": 2 * need}),
)
# fmt: on
"""The rules there are; at a moment they come in this order."""

SCHEMES = tuple(import_module(f"{schemes.__name__}.{found.name}") for found in iter_modules(schemes.__path__))
"""The schemes, one a file. Slurm's two schedulers are a rule: they answer for the whole instant."""

PARTS = tuple(rule.part for rule in RULES)


class _Core(namedtuple("_Core", (*Core.__annotations__, *PARTS))):  # type: ignore[misc]
    """The tuple itself."""

    @cached_property
    def absent(self: Any) -> frozenset[str]:
        """The parts that this core lacks, by name."""
        return frozenset(name for name in self._fields if is_absent(getattr(self, name)))

    @cached_property
    def shape(self: Any) -> tuple[Any, ...]:
        """What its code depends on: the pass, and which parts are there."""
        return self.scheme.name, self.absent

    @cached_property
    def words(self: Any) -> Words:
        """The words that compiled code has of it."""
        return Words(self)


def blank(sizes: Sizes, needs: Needs, scheme: str) -> FullCore:
    """Return a core with the parts that are needed, with all their room and nothing in it."""
    more = Counter[str]()
    for rule in RULES:
        more.update(rule.beside(needs[rule.part]) if rule.part in needs else {})
    made = blank_core(sizes._replace(**{name: getattr(sizes, name) + more[name] for name in more}), scheme)
    parts: dict[str, Any] = dict.fromkeys(PARTS, ABSENT)
    parts |= {rule.part: rule.blank(needs[rule.part]) for rule in RULES if rule.part in needs}
    if "slurm" in needs and needs["slurm"].accelerate:
        parts["slurm"], parts["accelerate"] = accelerated(parts["slurm"], sizes.modules)
    return cast(FullCore, _Core(**made, **parts))


def has(core: Core, part: str) -> bool:
    """Tell whether a core has a part."""
    return not is_absent(getattr(core, part))


__all__ = ["PASSES", "FullCore", "Needs", "Sizes", "SlurmSizes", "SwitchSizes", "UnitSizes", "blank", "has"]
