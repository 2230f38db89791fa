"""Power caps: which clock keeps below, and how much longer it takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.model import Projection
from scheduler_sim.errors import InputError

NONE = -1


class Capped(NamedTuple):
    """What a device draws and takes under a cap.

    Attributes
    ----------
    power_w : (n,) mean power, W; time_factor : (n,) run time in units of that without a cap.
    """

    power_w: Floats
    time_factor: Floats


def highest_under(projection: Projection, cap_w: Floats | float) -> Ints:
    """Return the place of the fastest P-state whose power is not above the cap (W), (n,); -1: none is.

    Of P-states equally fast the one that draws less is taken.
    """
    cap = np.broadcast_to(np.asarray(cap_w, np.float64), projection.power_w.shape[:1])
    allowed = projection.power_w <= cap[:, None]
    time = np.where(allowed, projection.time_factor, np.inf)
    power = np.where(time == time.min(axis=1, keepdims=True), projection.power_w, np.inf)
    return np.where(allowed.any(axis=1), power.argmin(axis=1), NONE)


def capped(
    power_w: Floats,
    cap_w: Floats | float,
    *,
    idle_w: float,
    exponent: float = 2.0,
    sensitivity: Floats | float = 1.0,
    lowest_share: float = 0.0,
) -> Capped:
    """Return power and time of a device that lowers its own clock to stay under a cap, as GPUs do.

    P = idle + (P0 − idle) · x^exponent gives the clock x, as a share of that without a cap, at which the cap
    is just reached; the time is 1 + α (1 / x − 1).

    Parameters
    ----------
    power_w : (n,) power without the cap, W; cap_w : the cap, W.
    idle_w : power of the idle device, W.
    exponent : how power above idle goes with the clock.
    sensitivity : α, the share of the time that follows the clock.
    lowest_share : lowest clock, as a share of that without a cap; a cap below its power cannot be kept.

    Raises
    ------
    InputError : a cap that the device cannot keep: at or below idle, or below the power at its lowest clock.
    """
    power = np.asarray(power_w, np.float64)
    cap = np.broadcast_to(np.asarray(cap_w, np.float64), power.shape)
    binding = power > cap
    floor = idle_w + np.maximum(power - idle_w, 0.0) * lowest_share**exponent
    if (lost := binding & ((cap <= idle_w) | (cap < floor))).any():
        least = float(np.where(lost, floor, -np.inf).max())
        raise InputError(
            f"cap: found {cap[lost].min():g} W; allowed: above {least:g} W, what it draws at least"
        )
    share = np.ones_like(power)
    share[binding] = ((cap[binding] - idle_w) / (power[binding] - idle_w)) ** (1.0 / exponent)
    return Capped(np.minimum(power, cap), 1.0 + np.asarray(sensitivity) * (1.0 / share - 1.0))
