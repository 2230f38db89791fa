"""What gang scheduling changes of the choice of nodes and cores (cons_common/job_test.c).

Jobs that ask for cores of their own may meet others, too, where none are free. By tiers of partitions no job
gets cores of those of higher tiers, nor of a partition whose jobs are not suspended. What a job would have to
make way with is its cores alone: it keeps its memory and generic resources.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.rules.slurm.cons_tres.room import leave_cores
from scheduler_sim.engine.rules.slurm.cons_tres.rows import block_rows, blocks_for_good, meets_others
from scheduler_sim.engine.rules.slurm.cons_tres.state import RESERVED
from scheduler_sim.engine.rules.slurm.preemption.shared_nodes import PreemptionSharesCore
from scheduler_sim.engine.rules.slurm.preemption.slice_state import TimeSlicesCore
from scheduler_sim.engine.rules.slurm.preemption.slots import candidate_leaves
from scheduler_sim.engine.rules.slurm.preemption.state import OFF


class SuspendingSharesCore(TimeSlicesCore, PreemptionSharesCore):
    """A core in which jobs that share nodes are suspended for those of higher tiers."""


@on(meets_others, "time_slices")
def meets_in_turns(core: TimeSlicesCore, need: int) -> bool:
    """Any does but those that have their nodes to themselves."""
    return bool(core.cons_tres.need[need].kind != RESERVED)


@on(blocks_for_good, "preemption", "time_slices")
def block_higher_tiers(core: SuspendingSharesCore, need: int) -> None:
    """Of partitions of higher tiers, and those that are OFF."""
    tier = core.rows.of[core.cons_tres.need[need].partition].tier
    for partition in range(len(core.rows.of)):
        if core.rows.of[partition].tier > tier or core.preemption.group[partition].mode == OFF:
            block_rows(core, partition, 1)


@on(candidate_leaves, "preemption", "time_slices")
def give_cores_alone(core: SuspendingSharesCore, row: int) -> None:
    """It leaves its row, and keeps what else it has."""
    leave_cores(core, core.jobs[row].placed)
