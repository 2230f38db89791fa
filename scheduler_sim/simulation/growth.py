"""More room in the core: a longer timeline, more components, more dependencies."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.room import Sizes, SlurmSizes, UnitSizes, blank, no_terms
from scheduler_sim.engine.slurm.slots import BF_RECORDS
from scheduler_sim.engine.state import Core
from scheduler_sim.simulation.slurm_load import records_for


def longer_timeline(core: Core) -> Core:
    """Return the core with twice the room for its timeline."""
    return core._replace(timeline=np.concatenate((core.timeline, np.empty_like(core.timeline))))


def with_room(core: Core, sizes: Sizes) -> Core:
    """Return a core of these sizes, or its own where they are larger, with all that it holds."""
    releases = max(sizes.releases, core.release.shape[1])
    bigger = blank(
        sizes._replace(
            releases=releases,
            terms=sizes.rows if len(core.term) else 0,
            arrays=len(core.array),
            groups=len(core.group),
            events=len(core.heap),
            pools=max(sizes.pools, int(core.clock[slot.MODULES]) + core.demand.shape[1]),
            timeline=max(sizes.timeline, len(core.timeline)),
            profile=max(releases + 4 * sizes.rows + 8, core.profile.shape[1]),
            slurm=_slurm_sizes(core, sizes),
            units=_unit_sizes(core, sizes),
            batches=core.batch.shape[2],
        )
    )
    for name, old in core._asdict().items():
        getattr(bigger, name)[tuple(map(slice, old.shape))] = old
    return bigger


def _slurm_sizes(core: Core, sizes: Sizes) -> SlurmSizes:
    """Room in the tables of Slurm's schedulers, where they are in use."""
    if not len(core.partition):
        return SlurmSizes()
    return SlurmSizes(
        rows=sizes.rows,
        placements=sizes.placements,
        partitions=len(core.partition),
        users=len(core.counter),
        words=core.masks.shape[1],
        masks=len(core.masks),
        choices=len(core.choice),
        needs=len(core.need),
        pieces=len(core.piece),
        records=records_for(int(core.slurm[BF_RECORDS]), sizes.rows) + 2 * len(core.crew),
        turns=sizes.placements,
        associations=len(core.assoc),
        resets=len(core.resets),
    )


def _unit_sizes(core: Core, sizes: Sizes) -> UnitSizes:
    """Room for units and calls, where there are any: only ordinary components are added."""
    if not len(core.member):
        return UnitSizes()
    return UnitSizes(
        sizes.rows, len(core.unit), len(core.crew), len(core.rect), len(core.call), len(core.booked)
    )


def with_terms(core: Core) -> Core:
    """Return the core with room for what holds components besides their dependencies; nothing does yet."""
    if len(core.term):
        return core
    heap = np.empty(len(core.heap) + len(core.comp), dtype=slot.END).view(np.recarray)
    heap[: len(core.heap)] = core.heap
    return core._replace(term=no_terms(len(core.comp)), heap=heap)


def with_more_releases(core: Core) -> Core:
    """Return the core with twice the room for planned ends and announced returns."""
    old = core.release.shape[1]
    release = np.empty((len(core.release), 2 * old), dtype=slot.RELEASE).view(np.recarray)
    release[:, :old] = core.release
    profile = np.empty((len(core.profile), core.profile.shape[1] + old), dtype=slot.STEP).view(np.recarray)
    profile[:, : core.profile.shape[1]] = core.profile
    return core._replace(release=release, profile=profile)
