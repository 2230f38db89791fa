"""Energy models: a law of power and a law of time, over the same P-states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.laws import PowerLaw, TimeLaw
from scheduler_sim.energy.points import TIME, Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError


@dataclass(frozen=True, eq=False)
class Projection:
    """What n signatures draw and take at t P-states.

    Attributes
    ----------
    khz : (t,) int64, the P-states, kHz.
    power_w : (n, t), mean power of a node, W; NaN where the model has no coefficients for the pair.
    time_factor : (n, t), T(f) / T(f0); NaN likewise.
    """

    khz: Ints
    power_w: Floats
    time_factor: Floats

    @property
    def energy_factor(self) -> Floats:
        """Energy of a node in units of one second at the reference: P(f) · T(f) / T(f0), W, (n, t)."""
        return self.power_w * self.time_factor

    def times(self, signatures: Points) -> Floats:
        """Return run times, s, (n, t)."""
        return signatures.column(TIME)[:, None] * self.time_factor

    def never_faster_when_slower(self) -> Projection:
        """Raise time factors that fall as the clock falls, which fitted laws say of memory-bound codes."""
        order = np.argsort(-self.khz)
        falling = np.fmax.accumulate(self.time_factor[:, order], axis=1)
        raised = np.empty_like(falling)
        raised[:, order] = falling
        raised[np.isnan(self.time_factor)] = np.nan
        return Projection(self.khz, self.power_w, raised)

    def within(self, least_w: float, most_w: float) -> Projection:
        """Keep powers between what an idle node draws and the most a node can (W)."""
        return Projection(self.khz, np.clip(self.power_w, least_w, most_w), self.time_factor)

    def beside(self, device: Projection) -> Projection:
        """Add a device of the node, such as its GPUs, at m clocks: (n, t · m), each P-state with all of them.

        Powers add up, and so do the times lost: what waits for the CPU and what waits for the GPU are taken
        not to overlap.
        """
        rows, pairs = len(self.power_w), len(self.khz) * len(device.khz)
        power = self.power_w[:, :, None] + device.power_w[:, None, :]
        time = self.time_factor[:, :, None] + (device.time_factor[:, None, :] - 1.0)
        return Projection(
            np.repeat(self.khz, len(device.khz)), power.reshape(rows, pairs), time.reshape(rows, pairs)
        )


@dataclass(frozen=True, eq=False)
class Model:
    """How power and run time follow the clock.

    Attributes
    ----------
    name : what reports call it; pstates : (k,) the frequencies it knows.
    """

    name: str
    pstates: PStates
    power: PowerLaw
    time: TimeLaw

    def project(self, signatures: Points, khz: int | list[int] | Ints | None = None) -> Projection:
        """Project signatures to some P-states (kHz), or to all of the model.

        With no frequency given, a pair without coefficients is NaN. Raises InputError for a frequency that
        is no P-state, and for a pair without coefficients among frequencies that were asked for.
        """
        targets = self.pstates.khz if khz is None else np.atleast_1d(np.asarray(khz, dtype=np.int64))
        made = Projection(
            targets, self.power.power(signatures, targets), self.time.factor(signatures, targets)
        )
        if khz is not None:
            _refuse_gaps(made, signatures, self.name)
        return made


def _refuse_gaps(made: Projection, signatures: Points, name: str) -> None:
    gaps = np.argwhere(np.isnan(made.energy_factor))
    if len(gaps):
        row, target = gaps[0]
        raise InputError(
            f"{name}: no coefficients from {signatures.khz[row]} to {made.khz[target]} kHz;"
            " allowed: pairs of frequencies that were measured"
        )
