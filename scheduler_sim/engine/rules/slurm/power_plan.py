"""When power comes back, and how the cap changes, as each of Slurm's schedulers begins a pass."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.profile import build_profile
from scheduler_sim.engine.rules.slurm.main_pass import main_begins
from scheduler_sim.engine.rules.slurm.node_space import plan_opens
from scheduler_sim.engine.rules.slurm.state import SlurmCore


@on(main_begins, "power_budget")
def look_at_power(core: SlurmCore) -> None:
    """By the planned ends of those that run."""
    build_profile(core, core.power_budget.at.pool, False)


@on(plan_opens, "power_budget")
def plan_power(core: SlurmCore) -> None:
    """Likewise; nothing is planned yet."""
    build_profile(core, core.power_budget.at.pool, False)
