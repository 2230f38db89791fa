"""A power cap in a simulation: a shared resource of mW above idle power.

Changes to come are in every plan.
"""

from __future__ import annotations

from scheduler_sim.energy.budget import Budget
from scheduler_sim.energy.layer import EnergyLayer
from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.growth import announce
from scheduler_sim.system.system import System


class PowerCap:
    """What components may draw together, counted like licences in the last pool of the core.

    A change to come is a planned end that gives power back, or takes some. Where the cap falls below what
    runs, that runs on and nothing starts; as it is planned for, that is what runs past its time limit.

    Attributes
    ----------
    budget : the cap as it is known; with what processes have changed.
    pool : number of its pool in the core.

    Raises
    ------
    ConfigError, InputError : a policy that does not know of it, and as :meth:`Budget.of`.
    """

    def __init__(
        self, layer: EnergyLayer, system: System, policy: Policy, unix_start: int | None, first: int
    ) -> None:
        assert layer.cap is not None
        if policy.backfill == "slurm" and layer.cap.pstates > 1:
            raise ConfigError(
                f"energy.cap.pstates: found {layer.cap.pstates} under policy slurm, whose jobs start at their"
                " own clock; allowed here: 1"
            )
        nodes = {module.name: module.nodes for module in system.modules}
        self.budget = Budget.of(layer, nodes, unix_start, first, follows=policy.backfill == "slurm")
        self.pool = len(system.modules) + len(system.resources)
        self._slows = layer.cap.slow_running
        self._coming = self._told = 0  # the next of the changes: to come true, and to be told

    @property
    def planned(self) -> bool:
        """Whether changes of a series are planned for: not where what runs is slowed down for them."""
        return len(self.budget.time) > 1 and not self._slows

    @property
    def highest(self) -> int:
        """The highest cap there ever is, above idle power, mW."""
        return int(self.budget.milliwatts.max())

    def put(self, core: FullCore) -> FullCore:
        """Let the core have what is allowed now, and plan with what is known of later; returns the core."""
        milliwatts = self.budget.milliwatts
        self._coming = self._told = int((self.budget.time <= core.clock.now).sum())
        core.pools[self.pool].free = milliwatts[self._coming - 1]
        for i in range(self._coming, len(milliwatts) if self.planned else 0):
            change = int(milliwatts[i] - milliwatts[i - 1])
            core = announce(core, self.pool, change, int(self.budget.time[i]), -1 - i)
        return core

    @property
    def due(self) -> int | None:
        """When the cap changes next of what :meth:`take` has yet to tell, s; None: not any more."""
        return int(self.budget.time[self._told]) if self._told < len(self.budget.time) else None

    def take(self) -> int:
        """Return that instant, which has come: once it is carried out :meth:`step` is due."""
        self._told += 1
        return int(self.budget.time[self._told - 1])

    @property
    def is_to_change(self) -> bool:
        """Whether the series has a change to come."""
        return self._coming < len(self.budget.time)

    def step(self, core: FullCore) -> None:
        """Let the next change come true, as it was planned."""
        milliwatts, i = self.budget.milliwatts, self._coming
        if self.planned:
            drive.retract(core, self.pool, int(self.budget.time[i]), -1 - i)
        else:
            core.clock.early = core.clock.lost = 1
        core.pools[self.pool].free += milliwatts[i] - milliwatts[i - 1]
        core.clock.dirty = 1
        self._coming += 1

    def change(self, time: int, watts: float) -> int:
        """Note another cap (W) from an instant on; return it above idle power, mW.

        Raises ConfigError for a cap whose changes are known beforehand.
        """
        if self.is_to_change:
            raise ConfigError("set_cap: found a cap that changes by a series; allowed: a constant one")
        self.budget = self.budget.changed(time, watts)
        self._coming = self._told = len(self.budget.time)
        return int(self.budget.milliwatts[-1])
