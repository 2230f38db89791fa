"""The engine as a whole: the parts that rules add to the core, the schemes, and the loop made of them.

Whoever imports this has all rules and schemes hung in; what a run compiles, the parts of its core say.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple, cast

from scheduler_sim.engine.core.allocation import Sizes, blank_core
from scheduler_sim.engine.core.hooks import ABSENT, is_absent
from scheduler_sim.engine.core.records import table
from scheduler_sim.engine.core.scheme import PASSES
from scheduler_sim.engine.core.state import Core
from scheduler_sim.engine.rules import calls, dependencies, holds
from scheduler_sim.engine.rules.coscheduling import members, units
from scheduler_sim.engine.rules.coscheduling.state import UnitSizes, blank_coscheduling
from scheduler_sim.engine.rules.power_saving import switching
from scheduler_sim.engine.rules.power_saving.state import (
    SWITCHED_COLUMNS,
    PowerSavingCore,
    blank_power_saving,
)
from scheduler_sim.engine.rules.slurm import clock, life, operations
from scheduler_sim.engine.rules.slurm.accelerate import idle_passes, node_space, pass_cutoff
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore, accelerated
from scheduler_sim.engine.rules.slurm.allocation import SlurmSizes, blank_slurm
from scheduler_sim.engine.rules.slurm.het import life as het_life
from scheduler_sim.engine.schemes import conservative_keep, easy, fcfs_and_first_fit, reservation_backfill

RULES = (clock, life, operations, het_life, switching, members, units, calls, holds, dependencies)
"""The rules there are; to import them is to hang them in."""

SPEED = (idle_passes, node_space, pass_cutoff)
"""What makes Slurm's passes fast, likewise: it changes no schedule."""

SCHEMES = (fcfs_and_first_fit, easy, reservation_backfill, conservative_keep)
"""Likewise the schemes. Slurm's two schedulers are a rule: they answer for the whole instant."""

PARTS = ("slurm", "accelerate", "power_saving", "coscheduling", "calls", "holds", "dependencies")
"""Parts that rules add to the core: at a moment they come in this order."""


class FullCore(het_life.SlurmCallsCore, AcceleratedCore, PowerSavingCore):
    """A core with all parts there are, some of them absent."""


_Core: Any = namedtuple("_Core", (*Core.__annotations__, *PARTS))  # type: ignore[misc]


class Needs(NamedTuple):
    """What a run needs besides the core: so many records of each kind, none by default."""

    terms: int = 0  # as many as rows, or none
    arrays: int = 0
    groups: int = 0
    edges: int = 0
    events: int = 0  # room for so many more
    slurm: SlurmSizes = SlurmSizes()
    units: UnitSizes = UnitSizes()
    batches: int = 0  # nodes of the widest module, where nodes are switched off


def blank(sizes: Sizes, needs: Needs, scheme: str) -> FullCore:
    """Return a core with the parts that are needed, with all their room and nothing in it."""
    slurm, units = needs.slurm, needs.units
    with_slurm = slurm.partitions > 0
    columns = 1 + len(SWITCHED_COLUMNS) if needs.batches else int(units.booked > 0)
    events = 2 * needs.edges + 2 * slurm.rows + units.members + units.calls + needs.terms + needs.events
    made = blank_core(
        sizes._replace(more_events=events, more_columns=columns, more_pools=int(with_slurm)), scheme
    )
    parts: dict[str, Any] = dict.fromkeys(PARTS, ABSENT)
    if with_slurm:
        parts["slurm"] = blank_slurm(slurm, units.members, units.booked)
    if slurm.accelerate:
        parts["slurm"], parts["accelerate"] = accelerated(parts["slurm"], sizes.modules)
    if needs.batches:
        parts["power_saving"] = blank_power_saving(sizes.pools, sizes.modules, needs.batches)
    if units.members:
        parts["coscheduling"] = blank_coscheduling(units)
    if units.calls:
        parts["calls"] = table(calls.Call, units.calls)
    if needs.terms:
        parts["holds"] = holds.blank_holds(needs.terms, needs.groups, needs.arrays)
    if needs.edges:
        parts["dependencies"] = table(dependencies.Dependency, needs.edges)
    return cast(FullCore, _Core(**made, **parts))


def has(core: Core, part: str) -> bool:
    """Tell whether a core has a part."""
    return not is_absent(getattr(core, part))


__all__ = ["PASSES", "FullCore", "Needs", "Sizes", "blank", "has"]
