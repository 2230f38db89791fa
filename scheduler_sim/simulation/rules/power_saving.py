"""Switching idle nodes off."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.power_saving.state import IDLE, SwitchSizes
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run


class PowerSaving(Numbers):
    """Writes when the nodes of each module are switched off."""

    part = "power_saving"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.switching is not None

    def room(self, sizes: Sizes) -> SwitchSizes:
        """For all there are."""
        return SwitchSizes(sizes.pools, sizes.modules, sizes.nodes)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """All nodes are idle from now on."""
        for module, one in enumerate(self.run.switching or ()):
            it = core.power_saving.module[module]
            it.timeout = INF if one.timeout_s is None else one.timeout_s
            it.awake, it.boot_s, it.stop_s = one.min_awake, one.boot_s, one.shutdown_s
        idle_since(core, int(core.clock.now))
        return core


SWITCHING = ("power_saving", "slurm_power_saving")
"""Parts of the core that switch nodes off."""


def switches(core: FullCore) -> Any:
    """Return the records of the modules that count nodes which are off; None where none ever are."""
    part = next((getattr(core, name) for name in SWITCHING if has(core, name)), None)
    return None if part is None else np.asarray(part.module)


def configuring_rows(core: FullCore) -> np.ndarray:
    """int64[..]: under Slurm, the components that have nodes, and wait until these have booted."""
    if not has(core, "slurm_power_saving"):
        return np.zeros(0, dtype=np.int64)
    power = core.slurm_power_saving
    rows: np.ndarray = power.rows[: power.looks.configuring].copy()
    return rows


def idle_since(core: FullCore, now: int) -> None:
    """All nodes are idle, and were not before ``now``; the clock stops when the first have been for long."""
    if has(core, "slurm_power_saving"):
        power = core.slurm_power_saving
        power.node["idle"], power.sets.known[:] = now, core.slurm.sets.idle
        power.looks.looked = power.looks.changed = now - 1
    due = int(INF)
    for module in range(core.clock.modules if has(core, "power_saving") else 0):
        nodes = int(core.pools[module].free)
        core.power_saving.window[module, IDLE].head, core.power_saving.window[module, IDLE].tail = 0, 1
        first = core.power_saving.batch[module, IDLE, 0]
        first.time, first.nodes = now, nodes
        if nodes > core.power_saving.module[module].awake:
            due = min(due, now + int(core.power_saving.module[module].timeout))
    core.clock.due = min(due, int(INF))


def nodes_off(core: FullCore, module: int) -> int:
    """Nodes of a module that are switched off."""
    return int(core.power_saving.module[module].off) if has(core, "power_saving") else 0
