"""Who is suspended for whom, under all policies but Slurm's."""

from __future__ import annotations

from scheduler_sim.engine.engine import Sizes
from scheduler_sim.engine.rules.suspending.state import SuspendingSizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Numbers, Run
from scheduler_sim.workload.fields import CALLING


class Suspending(Numbers):
    """Says whether there is such a thing; the terms are those of making room."""

    part = "suspending"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        preempt = run.policy.preempt
        self.needed = preempt is not None and preempt.how == "suspend"
        if not self.needed:
            return
        beside = {
            "events or failures of nodes": bool(run.system.events or run.system.failures),
            "checkpoints": any(one is not None for one in run.checkpoints),
        }
        for words in (name for name, is_there in beside.items() if is_there):
            raise ConfigError(f"policy.preempt.how: found suspend beside {words}; allowed: requeue, cancel")
        run.refuse(
            CALLING,
            "policy.preempt.how: found suspend beside components that call (api_calls; policy.calls: false"
            " leaves them out); allowed: requeue, cancel",
        )

    def room(self, sizes: Sizes) -> SuspendingSizes:
        """For those that hold nodes at once: of each rank as many as there are nodes."""
        nodes = tuple(module.nodes for module in self.run.system.modules)
        preempt = self.run.policy.preempt
        assert preempt is not None
        ranks = len({one.priority for one in self.run.system.partitions})
        most = sum(nodes) * max(ranks, 1) if preempt.by == "partition" else sizes.rows
        return SuspendingSizes(sizes.rows, min(most, sizes.rows), nodes)
