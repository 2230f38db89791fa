"""A power cap of a system as a budget: what all components together may draw above the nodes' idle power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.accounting import MILLI, MOST_MILLIWATTS, TOTAL, Account, milli
from scheduler_sim.energy.layer import EnergyLayer, series_of
from scheduler_sim.errors import ConfigError, InputError


class Budget(NamedTuple):
    """A cap that changes at given instants; value i holds from time i on, the last for ever.

    Attributes
    ----------
    time : (n,) int64, s of the trace's clock, ascending.
    watts : (n,), the cap, W; idle_mw : what all nodes draw without jobs, mW: idle, or whatever is most.
    """

    time: Ints
    watts: Floats
    idle_mw: int

    @classmethod
    def of(
        cls,
        layer: EnergyLayer,
        nodes: Mapping[str, int],
        unix_start: int | None,
        first: int,
        *,
        follows: bool = False,
    ) -> Budget:
        """Return the budget of a system from its ``first`` instant (s) on.

        ``follows``: the scheduler follows which nodes are off and boot; else each that may be switched off
        counts with the most that it draws without a job, so that it may boot at any time.

        Raises InputError for a cap that begins later, a negative or an absurd one, ConfigError for one never
        above idle power.
        """
        assert layer.cap is not None
        series = series_of(layer.cap.power_w, "cap", unix_start)
        if first < series.time[0]:
            series.covers(first, first)
        wrong = (series.value < 0) | (series.value * MILLI > MOST_MILLIWATTS)
        if wrong.any():
            most = MOST_MILLIWATTS / MILLI
            raise InputError(
                f"energy.cap.power_w: found {series.value[wrong][0]:g} W; allowed: numbers from 0 to {most:g}"
            )
        begun = max(int(np.searchsorted(series.time[:-1], first, side="right")) - 1, 0)
        without = idle_milliwatts if follows else most_idle_milliwatts
        made = cls(series.time[begun:-1].copy(), series.value[begun:], without(layer, nodes))
        made.time[0] = first
        if made.milliwatts.max() <= 0:
            raise ConfigError(
                f"energy.cap.power_w: found at most {made.watts.max():g} W; allowed: above"
                f" {made.idle_mw / MILLI:g} W, which all nodes draw without jobs"
            )
        return made

    @property
    def milliwatts(self) -> Ints:
        """The cap above idle power, (n,) whole mW, rounded down; negative where it is below."""
        return np.floor(self.watts * MILLI + 1e-6).astype(np.int64) - self.idle_mw

    def changed(self, time: int, watts: float) -> Budget:
        """Return the budget with another cap (W) from an instant (s) on."""
        kept = self.time < time
        return Budget(np.append(self.time[kept], time), np.append(self.watts[kept], watts), self.idle_mw)

    def at(self, time: Ints) -> Floats:
        """Return the cap at some instants, W."""
        return self.watts[np.maximum(np.searchsorted(self.time, time, side="right") - 1, 0)]


def highest_milliwatts(layer: EnergyLayer, nodes: Mapping[str, int]) -> int:
    """Return the highest value of a cap above idle power, mW, whenever it holds."""
    assert layer.cap is not None
    watts = series_of(layer.cap.power_w, "cap", 0).value.max()
    return int(np.floor(watts * MILLI + 1e-6)) - most_idle_milliwatts(layer, nodes)


def idle_milliwatts(layer: EnergyLayer, nodes: Mapping[str, int]) -> int:
    """Return what all nodes draw when they are idle, mW."""
    return sum(int(milli(np.array([layer.profiles[m].idle_w]), m)[0]) * n for m, n in nodes.items())


def most_idle_milliwatts(layer: EnergyLayer, nodes: Mapping[str, int]) -> int:
    """Return the most that all nodes draw without jobs, mW: where they are switched off, they boot again."""
    most = 0
    for name, count in nodes.items():
        idle, _, boots, stops = milli(np.array(layer.profiles[name].watts), name).tolist()
        most += count * (max(idle, boots, stops) if layer.switches(name) else idle)
    return most


def above(account: Account, budget: Budget) -> tuple[int, float]:
    """Return for how long a system is above its cap (s), and the energy above it (J)."""
    edges, watts = account.steps(TOTAL)
    if not len(watts):
        return 0, 0.0
    inside = budget.time[(budget.time > edges[0]) & (budget.time < edges[-1])]
    every = np.union1d(edges, inside)
    power = watts[np.searchsorted(edges, every[:-1], side="right") - 1]
    over, seconds = np.maximum(power - budget.at(every[:-1]), 0.0), np.diff(every)
    return int(seconds[over > 1e-9].sum()), float((over * seconds).sum())
