"""A rank of the user's own for each placement: of several the one with the smallest is taken."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.placement import cost_of
from scheduler_sim.engine.core.records import Floats
from scheduler_sim.engine.core.state import Core


class RanksCore(Core):
    """A core with ranks of placements."""

    placement_ranks: Floats  # [p]


def blank_placement_ranks(placements: int) -> Floats:
    """Return a part with room for so many placements."""
    return np.zeros(placements)


@on(cost_of, "placement_ranks")
def rank_of(core: RanksCore, placement: int) -> float:
    """What it costs is its rank."""
    rank: float = core.placement_ranks[placement]
    return rank
