"""What runs under Slurm, or is suspended: it stands in the list of planned ends in all modules together."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.engine import FullCore


def planned_ends(core: FullCore) -> dict[int, int]:
    """Return when each is planned to end, s, by row in ascending order."""
    every = core.pools[-1]
    listed = np.asarray(core.releases)[-1, every.release_head : every.release_tail]
    return dict(sorted(zip(listed["row"].tolist(), listed["time"].tolist(), strict=True)))
