"""What applications do with the GPUs of a node, as their signatures tell it, at each clock of these."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.energy.clocks import Clocks
from scheduler_sim.energy.laws import ALPHA, Stall
from scheduler_sim.energy.model import Model, Projection
from scheduler_sim.energy.points import GPU_ALPHA, GPU_POWER, KHZ, POWER, WORKLOAD, Points
from scheduler_sim.energy.profile import PowerProfile
from scheduler_sim.errors import InputError


def with_idle_gpus(
    profile: PowerProfile, signatures: Points, clocks: Clocks
) -> tuple[Points, Projection | None]:
    """Return signatures as if GPUs were idle, and what these add at each of their clocks: (n, m).

    The latter is None where signatures do not tell GPUs apart. Power above idle of a GPU goes with a power of
    the clock, and a share of the time with its inverse, as the profile says; ``gpu_sensitivity`` of a
    signature comes first. Where GPUs draw no more than idle ones, only the reference clock is possible: NaN.

    Raises InputError for GPUs that draw more than their node, and a share beyond 0 to 1.
    """
    gpu = profile.keys.gpu
    if not clocks.several_of_gpus or gpu is None:
        return signatures, None
    idle, watts = gpu.count * gpu.idle_w.value, signatures.column(GPU_POWER)
    above = np.clip(watts, idle, gpu.count * gpu.peak_w.value) - idle
    alpha = np.full(len(watts), gpu.sensitivity.value)
    if signatures.has(GPU_ALPHA):
        alpha = signatures.column(GPU_ALPHA)
    for name, found, wrong, allowed in (
        (GPU_POWER, watts, (watts < 0) | (above > signatures.power), "from 0 to what the node draws"),
        (GPU_ALPHA, alpha, ~((alpha >= 0) & (alpha <= 1)), "from 0 to 1"),
    ):
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            application = signatures.table[WORKLOAD].iloc[row]
            raise InputError(f"{name} of {application}: found {found[row]:g}; allowed: {allowed}")
    table = pd.DataFrame(
        {WORKLOAD: "any", KHZ: gpu.reference_khz, POWER: (above + idle) / gpu.count, ALPHA: alpha}
    )
    known = profile.gpu_model()
    law = Model("gpu", known.pstates, known.power, Stall.of_column(known.pstates))
    made = law.project(Points(table)).never_faster_when_slower()
    unused = (above <= 0)[:, None] & (made.khz != gpu.reference_khz)
    power = np.where(unused, np.nan, gpu.count * made.power_w - idle)
    idling = Points(signatures.table.assign(**{POWER: signatures.power - above}))
    return idling, Projection(made.khz, power, np.where(unused, np.nan, made.time_factor))
