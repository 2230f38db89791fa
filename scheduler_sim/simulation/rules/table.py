"""The rules that have numbers, in the order in which these are written."""

from __future__ import annotations

from scheduler_sim.simulation.rules.calls import Calls
from scheduler_sim.simulation.rules.coscheduling import Coscheduling
from scheduler_sim.simulation.rules.dependencies import Dependencies
from scheduler_sim.simulation.rules.holds import Holds
from scheduler_sim.simulation.rules.numbers import Numbers
from scheduler_sim.simulation.rules.power_saving import PowerSaving
from scheduler_sim.simulation.rules.slurm.schedulers import Schedulers

RULES: tuple[type[Numbers], ...] = (
    Dependencies,
    Schedulers,
    Coscheduling,
    Calls,
    Holds,
    PowerSaving,
)
"""Each looks at what those before it have written."""
