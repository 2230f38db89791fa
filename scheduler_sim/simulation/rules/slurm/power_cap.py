"""A power cap under Slurm: the amount that its schedulers plan with."""

from __future__ import annotations

from scheduler_sim.engine.engine import Sizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Numbers, Run
from scheduler_sim.workload.fields import TOGETHER


class SlurmPowerCap(Numbers):
    """Says which of the shared resources it is: the last."""

    part = "power_budget"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.capped
        if self.needed:
            _refuse(run)

    def room(self, sizes: Sizes) -> int:
        """Its pool."""
        return sizes.pools - 1


def _refuse(run: Run) -> None:
    """Power is planned for jobs that start by themselves, on nodes that are known by name."""
    keys = run.policy.slurm
    where = {
        f"beside PreemptMode {keys.PreemptMode}": keys.preempts or keys.gangs,
        "beside fixed_nodes: false": not keys.fixed_nodes,
    }
    found, allowed = "policy.slurm: found energy.cap in the models", "allowed: one of the two"
    for words in (words for words, is_so in where.items() if is_so):
        raise ConfigError(f"{found} {words}; {allowed}")
    run.refuse(TOGETHER, f"{found} where components start together, or with a delay; {allowed}")
