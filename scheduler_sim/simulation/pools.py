"""Pools of the core: modules, shared resources, and what reservations have of modules."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.engine import FullCore, has


def modules_of(core: FullCore) -> np.ndarray:
    """int64[pools]: the module whose nodes a pool has, by which jobs are counted; itself for others."""
    found = np.arange(len(core.pools))
    if has(core, "holes"):
        found[core.holes.at.first :] = np.asarray(core.holes.hole)["module"]
    return found
