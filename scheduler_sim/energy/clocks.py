"""The clocks that a node may have: each P-state, and beside it each clock of its GPUs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.energy.points import GPU_POWER, Points
from scheduler_sim.energy.profile import PowerProfile
from scheduler_sim.errors import InputError


@dataclass(frozen=True, eq=False)
class Clocks:
    """Pairs of clocks, by P-state, and of one P-state by GPU clock, both rising; a pair is its place here.

    Attributes
    ----------
    khz : int64[k], P-state, kHz.
    gpu_khz : int64[k], clock of the GPUs, kHz; 0 where that is not told apart.
    reference : place of the reference clocks.
    """

    khz: Ints
    gpu_khz: Ints
    reference: int

    @classmethod
    def of(cls, profile: PowerProfile, signatures: Points | None) -> Clocks:
        """Return the clocks of a module: its GPUs' count where signatures tell what GPUs draw.

        Raises InputError where they do, and the profile has no GPUs.
        """
        states, gpu = profile.pstates.khz, np.zeros(1, dtype=np.int64)
        if signatures is not None and signatures.has(GPU_POWER) and (signatures.column(GPU_POWER) > 0).any():
            if profile.keys.gpu is None:
                raise InputError(
                    f"signatures on {profile.name}: found {GPU_POWER} above 0, and no gpu in the profile;"
                    f" allowed: {GPU_POWER} 0, or a gpu there"
                )
            gpu = profile.gpu_model().pstates.khz
        pair = np.repeat(states, len(gpu)), np.tile(gpu, len(states))
        own = profile.keys.gpu.reference_khz if len(gpu) > 1 and profile.keys.gpu else gpu[0]
        reference = np.flatnonzero((pair[0] == profile.reference_khz) & (pair[1] == own))
        return cls(*pair, int(reference[0]))

    @property
    def several_of_gpus(self) -> bool:
        """Whether there is more than one clock of the GPUs."""
        return bool((self.gpu_khz != self.gpu_khz[0]).any())
