"""The engine as a whole: the parts that rules add to the core, the schemes, and the loop made of them.

A rule is imported when a core has its part; all rules and schemes, when something is compiled or run as plain
Python. What a run compiles, the parts of its core say.
"""

from __future__ import annotations

from collections import Counter, namedtuple
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from scheduler_sim.engine import rules, schemes
from scheduler_sim.engine.core import records
from scheduler_sim.engine.core.allocation import Sizes, blank_core
from scheduler_sim.engine.core.hooks import ABSENT, is_absent
from scheduler_sim.engine.core.jit import COMPILED, before_compiling
from scheduler_sim.engine.core.scheme import PASSES
from scheduler_sim.engine.core.state import Core
from scheduler_sim.engine.core.words import Words

if TYPE_CHECKING:
    from scheduler_sim.engine.rules.checkpoints import CheckpointsCore
    from scheduler_sim.engine.rules.grace import GraceCore
    from scheduler_sim.engine.rules.holes import HolesCore
    from scheduler_sim.engine.rules.own_scheduler.asking import AskingCore
    from scheduler_sim.engine.rules.placement_ranks import RanksCore
    from scheduler_sim.engine.rules.power_saving.state import PowerSavingCore
    from scheduler_sim.engine.rules.second_order import SecondOrderCore
    from scheduler_sim.engine.rules.shared_nodes.by_leaf import LeavesCore
    from scheduler_sim.engine.rules.shared_nodes.plan import NodePlanCore
    from scheduler_sim.engine.rules.shared_nodes.shadow import ShadowCore
    from scheduler_sim.engine.rules.shared_nodes.spread import SpreadCore
    from scheduler_sim.engine.rules.slowing import SlowingCore
    from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore
    from scheduler_sim.engine.rules.slurm.het.lifecycle import SlurmCallsCore
    from scheduler_sim.engine.rules.slurm.named_nodes import NamedNodesCore
    from scheduler_sim.engine.rules.slurm.outages import OutagesCore
    from scheduler_sim.engine.rules.slurm.power_saving.nodes import WeighedPowerCore
    from scheduler_sim.engine.rules.slurm.preemption.slice_sharing import SuspendingSharesCore
    from scheduler_sim.engine.rules.slurm.reservations.state import ReservationsCore
    from scheduler_sim.engine.rules.slurm.resource_limits.shared_weights import WeighedSharesCore
    from scheduler_sim.engine.rules.slurm.running_reserved import RunningReservedCore
    from scheduler_sim.engine.rules.slurm.topology.state import TopologyCore
    from scheduler_sim.engine.rules.suspending.state import SuspendingCore
    from scheduler_sim.engine.rules.vetoes import VetoesCore

    class SlurmsCore(
        SlurmCallsCore,
        AcceleratedCore,
        SuspendingSharesCore,
        WeighedPowerCore,
        OutagesCore,
        TopologyCore,
        NamedNodesCore,
        ReservationsCore,
        RunningReservedCore,
        WeighedSharesCore,
    ):
        """A core with all of Slurm."""

    class FullCore(
        SlurmsCore,
        SecondOrderCore,
        AskingCore,
        VetoesCore,
        RanksCore,
        CheckpointsCore,
        HolesCore,
        GraceCore,
        SuspendingCore,
        SlowingCore,
        PowerSavingCore,
        LeavesCore,
        SpreadCore,
        ShadowCore,
        NodePlanCore,
    ):
        """A core with all parts there are, some of them absent."""
else:
    FullCore = Core

Needs = Mapping[str, Any]
"""The room that a run needs of each rule, by the name of its part; what is not there is absent."""


class Rule(NamedTuple):
    """A rule: the part that it adds to the core, and the files that hang its hooks in.

    Attributes
    ----------
    part : the name of what it keeps, among the parts of the core
    files : in ``rules``; to import them is to hang them in
    blank : a function in ``rules`` that makes the part, with all the room that a run needs, nothing in it
    beside : the more room of every core that goes with it, by the names of ``Sizes``
    """

    part: str
    files: tuple[str, ...]
    blank: str = ""
    beside: Callable[[Any], Mapping[str, int]] = lambda need: {}


# fmt: off
RULES = (
    Rule("slurm",
         ("slurm.clock", "slurm.lifecycle", "slurm.operations", "slurm.het.lifecycle", "slurm.slowed"),
         "slurm.allocation.blank_slurm",
         lambda need: {"more_events": 2 * need.rows, "more_pools": 1, "idle_rows": need.booked > 0}),
    Rule("accelerate",  # for speed alone, and made of slurm's part
         ("slurm.accelerate.idle_passes", "slurm.accelerate.node_space", "slurm.accelerate.pass_cutoff",
          "slurm.accelerate.reservations")),
    Rule("gang",
         ("slurm.preemption.gang", "slurm.preemption.gang_times", "slurm.preemption.gang_nodes",
          "slurm.preemption.gang_choice"),
         "slurm.preemption.gang_state.blank_gang",
         lambda need: {"idle_rows": 1, "releases": need.rows}),  # more jobs than nodes
    Rule("preemption",
         ("slurm.preemption.slots", "slurm.preemption.victims", "slurm.preemption.shared_nodes",
          "slurm.preemption.reserved"),
         "slurm.preemption.state.blank_preemption"),
    Rule("slurm_power_saving",
         ("slurm.power_saving.nodes", "slurm.power_saving.jobs", "slurm.power_saving.looks",
          "slurm.power_saving.power", "slurm.power_saving.shared_nodes", "slurm.power_saving.slowed",
          "slurm.power_saving.het_jobs"),
         "slurm.power_saving.state.blank_slurm_power_saving", lambda need: {"idle_rows": 1}),
    Rule("power_budget", ("slurm.power_cap", "slurm.power_plan"), "slurm.power_budget.blank_power_budget"),
    Rule("outages", ("slurm.outages",), "slurm.outages.blank_outages"),
    Rule("topology", ("slurm.topology.nodes", "slurm.topology.slots", "slurm.topology.shares"),
         "slurm.topology.state.blank_topology"),
    Rule("named_nodes", ("slurm.named_nodes",), "slurm.named_nodes.blank_named_nodes"),
    Rule("cons_tres",
         ("slurm.cons_tres.lifecycle", "slurm.cons_tres.slots", "slurm.cons_tres.cutoff",
          "slurm.cons_tres.gains"),
         "slurm.cons_tres.state.blank_cons_tres"),
    Rule("reservations",
         ("slurm.reservations.access", "slurm.reservations.listing", "slurm.reservations.looks",
          "slurm.reservations.magnetic", "slurm.reservations.shared_nodes"),
         "slurm.reservations.state.blank_reservations", lambda need: {"more_events": 3}),
    Rule("running_reserved", ("slurm.running_reserved",), "slurm.running_reserved.blank_running_reserved"),
    Rule("rows", ("slurm.cons_tres.rows",), "slurm.cons_tres.row_state.blank_rows"),
    Rule("time_slices",
         ("slurm.preemption.slices", "slurm.preemption.slice_work", "slurm.preemption.slice_sharing"),
         "slurm.preemption.slice_state.blank_time_slices", lambda need: {"more_events": 1}),
    Rule("resource_limits",
         ("slurm.resource_limits.lifecycle", "slurm.resource_limits.waiting",
          "slurm.resource_limits.threshold", "slurm.resource_limits.accrual"),
         "slurm.resource_limits.state.blank_resource_limits", lambda need: {"more_events": 1}),
    Rule("node_weights", ("slurm.resource_limits.weights", "slurm.resource_limits.shared_weights"),
         "slurm.resource_limits.weights.blank_node_weights"),
    Rule("single_events", ("single_events",), "single_events.blank_single_events"),
    Rule("second_order", ("second_order",), "second_order.blank_second_order"),
    Rule("own_scheduler", ("own_scheduler.state",), "own_scheduler.state.blank_own_scheduler"),
    Rule("checkpoints", ("checkpoints",), "checkpoints.blank_checkpoints"),
    Rule("vetoes", ("vetoes",), "vetoes.blank_vetoes", lambda need: {"more_events": 1}),
    Rule("placement_ranks", ("placement_ranks",), "placement_ranks.blank_placement_ranks"),
    Rule("holes", ("holes",), "holes.blank_holes", lambda need: {"more_pools": need.holes}),
    Rule("making_room", ("making_room",), "making_room.blank_making_room"),
    Rule("grace", ("grace",), "grace.blank_grace", lambda need: {"more_events": need.rows}),
    Rule("suspending", ("suspending.nodes", "suspending.taking_over", "suspending.going_on"),
         "suspending.state.blank_suspending",
         lambda need: {"idle_rows": 1, "releases": need.holders}),  # more jobs than nodes
    Rule("slowing", ("slowing",), "slowing.blank_slowing"),
    Rule("power_saving", ("power_saving.switching",), "power_saving.state.blank_power_saving",
         lambda need: {"idle_rows": 1, "releases": need.nodes + 1, "profile": need.nodes + 1}),
    Rule("shared_nodes", ("shared_nodes.able", "shared_nodes.lifecycle", "shared_nodes.service"),
         "shared_nodes.state.blank_shared_nodes"),
    Rule("leaves", ("shared_nodes.by_leaf",), "shared_nodes.by_leaf.blank_leaves"),
    Rule("spread", ("shared_nodes.spread", "slurm.spread"), "shared_nodes.spread.blank_spread"),
    Rule("devices", ("shared_nodes.devices",), "shared_nodes.device_state.blank_devices"),
    Rule("shadow", ("shared_nodes.shadow",), "shared_nodes.shadow.blank_shadow"),
    Rule("node_plan", ("shared_nodes.plan",), "shared_nodes.plan.blank_node_plan"),
    Rule("coscheduling", ("coscheduling.members", "coscheduling.units"),
         "coscheduling.state.blank_coscheduling",
         lambda need: {"more_events": need.members, "plans": 1}),  # reservations and calls look at plans
    Rule("calls", ("calls",), "calls.blank_calls", lambda need: {"more_events": need}),
    Rule("holds", ("holds",), "holds.blank_holds", lambda need: {"more_events": need}),
    Rule("dependencies", ("dependencies",), "dependencies.blank_dependencies",
         lambda need: {"more_events": 2 * need.edges}),
)
# fmt: on
"""The rules there are; at a moment they come in this order, and the hooks of one in that of its files."""

SCHEMES = tuple(found.name for found in iter_modules(schemes.__path__))
"""The schemes: a pass, and a file of its name. Slurm's two schedulers are a rule: they answer for the whole
instant."""

PARTS = tuple(rule.part for rule in RULES)


def hang_in() -> None:
    """Hang in all rules and schemes."""
    for rule in RULES:
        for file in rule.files:
            import_module(f"{rules.__name__}.{file}")
    for scheme in SCHEMES:
        _import_scheme(scheme)


def _import_scheme(name: str) -> None:
    if name in SCHEMES:
        import_module(f"{schemes.__name__}.{name}")


if COMPILED:
    before_compiling(hang_in)
else:
    hang_in()


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
    _import_scheme(scheme)
    more = Counter[str]()
    for rule in RULES:
        more.update(rule.beside(needs[rule.part]) if rule.part in needs else {})
    made = blank_core(sizes._replace(**{name: getattr(sizes, name) + more[name] for name in more}), scheme)
    parts: dict[str, Any] = dict.fromkeys(PARTS, ABSENT)
    parts |= {rule.part: _blank_part(rule, needs[rule.part]) for rule in RULES if rule.part in needs}
    if "slurm" in needs and needs["slurm"].accelerate:
        from scheduler_sim.engine.rules.slurm.accelerate.state import accelerated

        parts["slurm"], parts["accelerate"] = accelerated(parts["slurm"], sizes.modules)
    return cast(FullCore, _Core(**made, **parts))


def _blank_part(rule: Rule, need: Any) -> Any:
    file, _, function = rule.blank.rpartition(".")
    return getattr(import_module(f"{rules.__name__}.{file}"), function)(need)


def used(core: Core) -> dict[str, int]:
    """Return how far the tables are filled that are room for more, along their last dimension, by name."""
    clock, profiles = core.clock, np.asarray(core.pools)["profile_size"]
    filled = {"heap": clock.events, "profile": profiles.max(initial=0)}
    filled |= dict.fromkeys(("timeline", "idle_rows", "shared_nodes.rows"), clock.rows)
    return {name: int(so_far) for name, so_far in filled.items() if has(core, name.partition(".")[0])}


def copied(core: FullCore) -> FullCore:
    """Return a core with tables and records of its own, which hold what those of this one hold."""
    tables = [(attrgetter(name)(core), so_far) for name, so_far in used(core).items()]
    known = {id(table): records.room_copied(table, so_far) for table, so_far in tables}
    return cast(FullCore, records.copied(core, known))


def has(core: Core, part: str) -> bool:
    """Tell whether a core has a part."""
    return not is_absent(getattr(core, part))


__all__ = ["PASSES", "FullCore", "Needs", "Sizes", "blank", "copied", "hang_in", "has", "used"]
