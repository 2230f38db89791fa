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
    """Return a core of these sizes, or its own where they are larger, with all that it holds."""
    releases = max(sizes.releases, core.release.shape[1])
    bigger = slot.blank(
        sizes._replace(
            releases=releases,
            timeline=max(sizes.timeline, len(core.timeline)),
            profile=max(releases + 4 * sizes.rows + 8, core.profile.shape[1]),
        )
    )
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


def with_more_releases(core: Core) -> Core:
    """Return the core with twice the room for planned ends and announced returns."""
    old = core.release.shape[1]
    release = np.empty((len(core.release), 2 * old), dtype=slot.RELEASE).view(np.recarray)
    release[:, :old] = core.release
    profile = np.empty((len(core.profile), core.profile.shape[1] + old), dtype=slot.STEP).view(np.recarray)
    profile[:, : core.profile.shape[1]] = core.profile
    return core._replace(release=release, profile=profile)
