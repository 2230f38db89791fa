"""More room in the core: a longer timeline, more jobs, more dependencies, parts that it did not need before."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.hooks import is_absent
from scheduler_sim.engine.core.records import room
from scheduler_sim.engine.core.state import End, Release, Step
from scheduler_sim.engine.engine import FullCore, Needs, Sizes, blank, has
from scheduler_sim.engine.rules.coscheduling.state import UnitSizes
from scheduler_sim.engine.rules.holds import blank_holds
from scheduler_sim.engine.rules.slurm.allocation import SlurmSizes
from scheduler_sim.simulation.slurm_load import records_for


def longer_timeline(core: FullCore) -> FullCore:
    """Return the core with twice the room for its timeline."""
    return core._replace(timeline=np.concatenate((core.timeline, np.empty_like(core.timeline))))


def with_room(core: FullCore, sizes: Sizes) -> FullCore:
    """Return a core of these sizes, or its own where they are larger, with all that it holds."""
    releases = max(sizes.releases, core.releases.shape[1])
    holds = has(core, "holds")
    bigger = blank(
        sizes._replace(
            releases=releases,
            pools=max(sizes.pools, int(core.clock.modules) + core.demand.shape[1]),
            timeline=max(sizes.timeline, len(core.timeline)),
            profile=max(releases + 4 * sizes.rows + 8, core.profile.shape[1]),
        ),
        Needs(
            terms=sizes.rows if holds else 0,
            arrays=len(core.holds.array) if holds else 0,
            groups=len(core.holds.group) if holds else 0,
            edges=len(core.dependencies),
            events=len(core.heap),
            slurm=_slurm_sizes(core, sizes),
            units=_unit_sizes(core, sizes),
            batches=core.power_saving.batch.shape[2] if has(core, "power_saving") else 0,
        ),
        core.scheme.name,
    )
    return _filled(bigger, core)


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


def _slurm_sizes(core: FullCore, sizes: Sizes) -> SlurmSizes:
    """Room in the tables of Slurm's schedulers, where they are in use."""
    if not has(core, "slurm"):
        return SlurmSizes()
    slurm = core.slurm
    crew = len(core.coscheduling.crew) if has(core, "coscheduling") else 0
    return SlurmSizes(
        rows=sizes.rows,
        placements=sizes.placements,
        partitions=len(slurm.partition),
        users=len(slurm.counter),
        words=slurm.nodes.masks.shape[1],
        masks=len(slurm.nodes.masks),
        choices=len(slurm.nodes.choice),
        needs=len(slurm.nodes.need),
        pieces=len(slurm.nodes.piece),
        records=records_for(int(slurm.rules.bf_records), sizes.rows) + 2 * crew,
        entries=sizes.placements,
        associations=len(slurm.accounts.assoc),
        resets=len(slurm.accounts.resets),
        accelerate=has(core, "accelerate"),
    )


def _unit_sizes(core: FullCore, sizes: Sizes) -> UnitSizes:
    """Room for units and calls, where there are any: only ordinary jobs are added."""
    if not has(core, "coscheduling"):
        return UnitSizes()
    units, booked = core.coscheduling, len(core.slurm.booked) if has(core, "slurm") else 0
    return UnitSizes(sizes.rows, len(units.unit), len(units.crew), len(units.rect), len(core.calls), booked)


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
