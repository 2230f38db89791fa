"""A power cap to which what runs is slowed: the lower P-states of each placement, by the models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slowing import MILLIONTHS, SlowingSizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.workload.fields import CALLING, TOGETHER

Key = tuple[int, Any, int]


class Described(NamedTuple):
    """p placements: the rows of their lower states in the table of all, int64[p, 2]."""

    rows: np.ndarray


class Slowing(Numbers):
    """Writes the lower states of placements."""

    part = "slowing"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        layer = None if run.models is None else run.models.energy
        self.needed = layer is not None and layer.cap is not None and layer.cap.slow_running
        if self.needed:
            _refuse(run)
        self._states: list[tuple[int, int]] = []  # factor, mW above idle
        self._known: dict[Key, tuple[int, int]] = {}

    def describe(self, jobs: Jobs) -> Described | None:
        """Work out the lower states of those that are not known yet."""
        if not self.needed or self.run.models is None:
            return None
        from scheduler_sim.energy.alike import Alike, node_milliwatts
        from scheduler_sim.energy.budget import idle_milliwatts
        from scheduler_sim.energy.measured import Measured

        models, placements = self.run.models, jobs.placements
        layer = models.energy
        assert layer is not None
        assert layer.cap is not None
        told = {name: jobs.workload.columns[name][placements.rows] for name in layer.reads}
        known = models.names.known(told["app"], placements.type_number)
        alike = Alike.of(known, told["hint"], told["reference_power_w"], layer.told(told)[0])
        replayed = np.zeros(len(placements.rows), dtype=bool)
        if layer.replays:
            measured = Measured.of(told)
            replayed = np.asarray(measured.on(np.ones(len(replayed), dtype=np.int64))) >= 0
        owner = np.repeat(np.arange(len(placements.rows)), np.diff(placements.first))
        assert placements.clock is not None
        rows = np.zeros((len(owner), 2), dtype=np.int64)
        made: dict[int, Any] = {}
        keys = zip(
            placements.module.tolist(), alike.kind[owner].tolist(), placements.clock.tolist(), strict=True
        )
        for place, (module, kind, clock) in enumerate(keys):
            if replayed[owner[place]]:
                continue  # nobody measured it at another clock
            key = (
                module,
                (
                    alike.names[kind],
                    alike.hint[kind],
                    float(alike.reference_w[kind]),
                    float(alike.learnt_w[kind]),
                ),
                clock,
            )
            if key not in self._known:
                name = self.run.system.modules[module].name
                if module not in made:
                    found = alike.on(layer, name)
                    made[module] = found, node_milliwatts(found, name)
                self._known[key] = self._lower(
                    made[module], kind, clock, idle_milliwatts(layer, {name: 1}), layer.cap.slowdown
                )
            rows[place] = self._known[key]
        return Described(rows)

    def _lower(self, made: Any, kind: int, own: int, idle: int, slowdown: float | None) -> tuple[int, int]:
        """Add the lower states of a kind on a module, the next first; return their rows.

        Lower is what has no higher clock, of GPUs either, and less power than all that is as fast.
        """
        clocks, milliwatts = made
        factors, first = clocks.time_factor[kind] / clocks.time_factor[kind, own], len(self._states)
        least, longest = int(milliwatts[kind, own]), 1.0
        below = np.flatnonzero((np.arange(len(factors)) < own) & (clocks.gpu_khz <= clocks.gpu_khz[own]))
        for state in below[np.lexsort((-below, factors[below]))].tolist():
            factor, power = float(factors[state]), int(milliwatts[kind, state])
            if power < 0 or not np.isfinite(factor) or power >= least:
                continue
            if slowdown is not None and factor > 1.0 + slowdown:
                break
            least, longest = power, max(longest, factor)
            self._states.append((round(longest * MILLIONTHS), power - idle))
        return first, len(self._states)

    def room(self, sizes: Sizes) -> SlowingSizes:
        """The power is the last of the shared resources."""
        return SlowingSizes(sizes.rows, sizes.placements, max(len(self._states), 1), sizes.pools - 1)

    def write(self, core: FullCore, jobs: Jobs, described: Described) -> FullCore:
        """Write the states, and which are whose."""
        slowing = core.slowing
        if len(slowing.slower) < len(self._states):
            slowing = slowing._replace(slower=lengthened(slowing.slower, len(self._states)))
            core = core._replace(slowing=slowing)
        for i, name in enumerate(("factor", "above")):
            slowing.slower[name][: len(self._states)] = [state[i] for state in self._states]
        ladder = slowing.ladder
        ladder["first"][jobs.where], ladder["last"][jobs.where] = described.rows.T
        ladder["own"][jobs.where] = core.demand[jobs.where, -1]
        return core


def _refuse(run: Run) -> None:
    """Jobs are slowed that start by themselves, and have their nodes to the end."""
    from scheduler_sim.simulation.variability import varies

    policy, layer = run.policy, None if run.models is None else run.models.energy
    where = {
        "under a scheduler of your own": policy.scheduler is not None,
        "beside policy.preempt": policy.preempt is not None,
        "beside checkpoints": any(run.checkpoints),
        "where jobs take longer when their nodes are far apart": any(run.spreads),
        "where the power of nodes differs (node_sigma)": layer is not None and varies(layer, run.system),
    }
    for words, is_so in where.items():
        if is_so:
            raise ConfigError(f"energy.cap.slow_running: found true {words}; allowed here: false")
    found = "energy.cap.slow_running: found true"
    run.refuse(TOGETHER, f"{found} where components start together, or with a delay; allowed here: false")
    run.refuse(CALLING, f"{found} beside calls; allowed here: false")
