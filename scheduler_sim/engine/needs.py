"""How much room each rule needs: by what a run has, and as a core that has the rule, for more jobs."""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.allocation import Sizes
from scheduler_sim.engine.core.hooks import is_absent
from scheduler_sim.engine.core.state import Core
from scheduler_sim.engine.rules.coscheduling.state import UnitSizes
from scheduler_sim.engine.rules.power_saving.state import PowerSavingCore
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore
from scheduler_sim.engine.rules.slurm.allocation import SlurmSizes
from scheduler_sim.engine.rules.slurm.het.lifecycle import SlurmCallsCore


class FullCore(SlurmCallsCore, AcceleratedCore, PowerSavingCore):
    """A core with all parts there are, some of them absent."""


def has(core: Core, part: str) -> bool:
    """Tell whether a core has a part."""
    return not is_absent(getattr(core, part))


class HoldSizes(NamedTuple):
    """Room for what holds jobs: as many terms as rows, and groups and arrays."""

    terms: int
    groups: int = 0
    arrays: int = 0


def more_holds(core: FullCore, sizes: Sizes) -> HoldSizes:
    """Return room for terms of more jobs."""
    return HoldSizes(sizes.rows, len(core.holds.group), len(core.holds.array))


def more_units(core: FullCore, sizes: Sizes) -> UnitSizes:
    """Return room for units: only ordinary jobs are added."""
    units, booked = core.coscheduling, len(core.slurm.booked) if has(core, "slurm") else 0
    rows, rects = len(units.member_rows), len(units.rect)
    return UnitSizes(sizes.rows, len(units.unit), rows, rects, len(core.calls), booked)


def more_slurm(core: FullCore, sizes: Sizes) -> SlurmSizes:
    """Return room in the tables of Slurm's schedulers for more jobs."""
    slurm = core.slurm
    members = len(core.coscheduling.member_rows) if has(core, "coscheduling") else 0
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
        records=records_for(int(slurm.rules.bf_records), sizes.rows) + 2 * members,
        entries=sizes.placements,
        associations=len(slurm.accounts.assoc),
        resets=len(slurm.accounts.resets),
        accelerate=has(core, "accelerate"),
    )


def records_for(most: int, rows: int) -> int:
    """How many records Slurm's plan may have, with so many components: two boundaries each."""
    return min(most, 2 * rows) + 4
