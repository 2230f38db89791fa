"""More room in the core: a longer timeline, more jobs, parts that it did not need before."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.hooks import is_absent
from scheduler_sim.engine.core.records import room
from scheduler_sim.engine.core.state import End, Release, Step
from scheduler_sim.engine.engine import FullCore, Sizes, blank, has, more
from scheduler_sim.engine.rules.holds import blank_holds


def longer_timeline(core: FullCore) -> FullCore:
    """Return the core with twice the room for its timeline."""
    return core._replace(timeline=np.concatenate((core.timeline, np.empty_like(core.timeline))))


def with_room(core: FullCore, sizes: Sizes) -> FullCore:
    """Return a core of these sizes, or its own where they are larger, with all that it holds."""
    releases = max(sizes.releases, core.releases.shape[1] if has(core, "releases") else 0)
    bigger = blank(
        sizes._replace(
            releases=releases,
            pools=max(sizes.pools, int(core.clock.modules) + core.demand.shape[1]),
            timeline=max(sizes.timeline, len(core.timeline)),
            profile=max(releases + 4 * sizes.rows + 8, core.profile.shape[1]),
        ),
        more(core, sizes),
        core.scheme.name,
        len(core.heap),
    )
    grown: FullCore = _filled(bigger, core)
    return grown


def _filled(bigger: Any, old: Any) -> Any:
    """What is bigger with all that the old one holds: records and what are no arrays as they were."""
    if isinstance(old, tuple):
        return bigger._replace(**{name: _filled(getattr(bigger, name), part) for name, part in _parts(old)})
    if not isinstance(old, np.ndarray):
        return old
    bigger[tuple(map(slice, old.shape))] = old
    return bigger


def _parts(old: Any) -> list[tuple[str, Any]]:
    return [(name, part) for name, part in old._asdict().items() if not is_absent(part)]


def with_terms(core: FullCore) -> FullCore:
    """Return the core with room for what holds jobs besides their dependencies; nothing does yet."""
    if has(core, "holds"):
        return core
    heap = room(End, len(core.heap) + len(core.jobs))
    heap[: len(core.heap)] = core.heap
    return core._replace(holds=blank_holds(len(core.jobs)), heap=heap)


def with_more_releases(core: FullCore) -> FullCore:
    """Return the core with twice the room for planned ends and announced returns."""
    old, steps = core.releases.shape[1], core.profile.shape[1]
    releases = room(Release, len(core.releases), 2 * old)
    releases[:, :old] = core.releases
    profile = room(Step, len(core.profile), steps + old)
    profile[:, :steps] = core.profile
    return core._replace(releases=releases, profile=profile)
