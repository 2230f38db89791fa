"""More room in the core: a longer timeline, more jobs, parts that it did not need before."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core.hooks import is_absent
from scheduler_sim.engine.core.records import room, rows
from scheduler_sim.engine.core.state import Release, Step
from scheduler_sim.engine.engine import FullCore, Needs, Sizes, blank, has


def with_room(core: FullCore, sizes: Sizes, needs: Needs) -> FullCore:
    """Return a core of these sizes, or its own where they are larger, with all that it holds."""
    more = max(core.releases.shape[1] - sizes.releases, 0) if has(core, "releases") else 0
    sizes = sizes._replace(
        releases=sizes.releases + more,
        profile=sizes.profile + more,
        timeline=max(sizes.timeline, len(core.timeline)),
        more_events=len(core.heap),
    )
    grown: FullCore = _filled(blank(sizes, needs, core.scheme.name), core)
    return grown


def _filled(bigger: Any, old: Any) -> Any:
    """What is bigger with all that the old one holds: records and what are no arrays as they were."""
    if isinstance(old, tuple):
        there = {name: part for name, part in cast(Any, old)._asdict().items() if not is_absent(part)}
        return bigger._replace(**{name: _filled(getattr(bigger, name), part) for name, part in there.items()})
    if not isinstance(old, np.ndarray) or old.shape >= bigger.shape:
        return old
    bigger[tuple(map(slice, old.shape))] = old
    return bigger


def announce(core: FullCore, pool: int, nodes: int, time: int, name: int) -> FullCore:
    """Plan that so much of a pool is back at ``time`` (s), with room for one more plan; returns the core."""
    planned = core.pools[pool].release_tail - core.pools[pool].release_head
    if has(core, "releases") and planned >= core.releases.shape[1] - 1:
        core = with_more_releases(core)
    drive.announce(core, pool, nodes, time, name)
    return core


def with_more_releases(core: FullCore) -> FullCore:
    """Return the core with twice the room for planned ends and announced returns."""
    old, steps = core.releases.shape[1], core.profile.shape[1]
    releases = rows(Release, len(core.releases), 2 * old)
    releases[:, :old] = core.releases
    profile = room(Step, len(core.profile), steps + old)
    profile[:, :steps] = core.profile
    return core._replace(releases=releases, profile=profile)
