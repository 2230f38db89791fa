"""More room in the core: a longer timeline, more components, more dependencies."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.state import Core, Sizes


def longer_timeline(core: Core) -> Core:
    """Return the core with twice the room for its timeline."""
    return core._replace(timeline=np.concatenate((core.timeline, np.empty_like(core.timeline))))


def with_room(core: Core, sizes: Sizes) -> Core:
    """Return a core of these sizes, at least its own, with all that it holds."""
    bigger = slot.blank(sizes)
    for name in ("clock", "rules", "pool", "short"):
        getattr(bigger, name)[...] = getattr(core, name)
    for name in ("comp", "place", "demand", "edge", "timeline"):
        getattr(bigger, name)[: len(getattr(core, name))] = getattr(core, name)
    for name in ("lists", "columns"):
        old: Any = getattr(core, name)
        getattr(bigger, name)[:, : old.shape[1]] = old
    bigger.heap[: len(core.heap)] = core.heap
    bigger.release[:, : core.release.shape[1]] = core.release
    bigger.profile[:, : core.profile.shape[1]] = core.profile
    return bigger
