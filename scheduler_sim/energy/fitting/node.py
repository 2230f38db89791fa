"""The power of a node over its clock, P = a + b · f², learnt from one application at several P-states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError


class NodeCurve(NamedTuple):
    """P = static + dynamic · (f / GHz)^exponent, W."""

    static_w: float
    dynamic_w: float
    exponent: float

    def power(self, khz: Floats) -> Floats:
        """Return the power at some clocks, W."""
        return self.static_w + self.dynamic_w * (np.asarray(khz) / 1e6) ** self.exponent

    def clock(self, power_w: Floats) -> Floats:
        """Return the clock at which the node would draw these powers, kHz: the effective one of turbo."""
        return 1e6 * ((np.asarray(power_w) - self.static_w) / self.dynamic_w) ** (1.0 / self.exponent)


def node_curve(khz: Floats, power_w: Floats, exponent: float = 2.0) -> NodeCurve:
    """Fit the curve to the powers (W) at some P-states, turbo left out by the caller; by least squares.

    Raises InputError for fewer than two P-states, and where power does not rise with the clock.
    """
    ghz = np.asarray(khz, np.float64) / 1e6
    if len(np.unique(ghz)) < 2:
        raise InputError("node curve: found one P-state; allowed: two or more")
    x = np.column_stack((np.ones(len(ghz)), ghz**exponent))
    (static, dynamic), *_ = np.linalg.lstsq(x, np.asarray(power_w, np.float64), rcond=None)
    if dynamic <= 0:
        raise InputError("node curve: found power that does not rise with the clock; allowed: rising power")
    return NodeCurve(float(static), float(dynamic), exponent)
