"""What becomes of heterogeneous jobs and their reservations at the moments in the life of a job.

Each component stands in the queue by itself.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.lifecycle import plan_anew
from scheduler_sim.engine.core.loop import held_idle
from scheduler_sim.engine.core.moments import event_due, limit_changed, stopped, struck, withdrawn, write_more
from scheduler_sim.engine.core.record import has_more_to_write
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.core.waiting import (
    add_newcomer,
    count_waiting,
    join_queue,
    stop_counting,
    stop_waiting,
)
from scheduler_sim.engine.rules.calls import (
    CallsCore,
    asked_for,
    may_stay,
    move_next,
    satisfy_called,
    satisfy_if_awaited,
)
from scheduler_sim.engine.rules.coscheduling.members import is_member
from scheduler_sim.engine.rules.coscheduling.reservations import RESERVED_FROM, forget_reservation
from scheduler_sim.engine.rules.slurm.advance_reservations import (
    end_reservation,
    has_reservation,
    idle_and_reserved,
    keeps_its_nodes,
)
from scheduler_sim.engine.rules.slurm.het.delays import move_next_advance_reservations, queue_reserved
from scheduler_sim.engine.rules.slurm.het.het_jobs import end_together, end_with_leader
from scheduler_sim.engine.rules.slurm.state import SlurmCore

MINUTE = 60  # what Slurm counts limits in


@on(join_queue, "slurm", "coscheduling")
def join_by_itself(core: SlurmCore, row: int) -> None:
    """A component that starts later is not eligible before, but stands in the queue for its job."""
    member = core.coscheduling.member[row]
    if is_member(core, row) and member.offset > 0 and member.reserved_from < 0:
        core.jobs[row].eligible = -1
    else:
        count_waiting(core, core.jobs[row].first, 1)
    add_newcomer(core, row)


@on(stop_waiting, "slurm", "coscheduling")
def stop_waiting_by_itself(core: SlurmCore, row: int) -> None:
    """It is no longer counted in the queue, if its delay has begun, nor has it a reservation."""
    if core.jobs[row].eligible >= 0:
        stop_counting(core, row)
    core.jobs[row].reserved_start, core.jobs[row].reserved_placement = INF, -1


@on(stopped, "slurm", "coscheduling")
def end_its_reservation(core: SlurmCore, row: int) -> None:
    """A reservation lasts until its job has ended."""
    if has_reservation(core, row):
        end_reservation(core, row)


@on(withdrawn, "slurm", "coscheduling")
def cancel_its_reservation(core: SlurmCore, row: int) -> None:
    """A job that is cancelled needs no reservation."""
    if has_reservation(core, row):
        end_reservation(core, row)
        plan_anew(core)
    elif core.coscheduling.member[row].reserved_from >= 0:
        forget_reservation(core, row)
        plan_anew(core)


@on(event_due, "slurm", "coscheduling")
def begin_reservation(core: SlurmCore, kind: int, row: int) -> None:
    """A reservation begins."""
    if kind == RESERVED_FROM:
        queue_reserved(core, row)


@on(limit_changed, "slurm", "coscheduling")
def end_others_anew(core: SlurmCore, row: int) -> None:
    """Components of a job end together."""
    end_together(core, row)


@on(struck, "slurm")
def strike_others(core: SlurmCore, row: int, state: int) -> None:
    """With the first component of a job all end."""
    end_with_leader(core, row, state)
    plan_anew(core)


@on(held_idle, "slurm", "coscheduling", unless="slurm_power_saving")
def idle_reserved(core: SlurmCore, module: int) -> int:
    """Idle nodes of a module that are held for jobs whose reservations have begun, but that wait."""
    return idle_and_reserved(core, module)


@on(has_more_to_write, "slurm", "coscheduling", "idle_rows", unless="slurm_power_saving")
def other_reserved(core: SlurmCore, module: int) -> bool:
    """Whether other nodes are idle and reserved than when the last row was written."""
    return core.pools[module].written_held != idle_and_reserved(core, module)


@on(write_more, "slurm", "coscheduling", "idle_rows", unless="slurm_power_saving")
def write_reserved_idle(core: SlurmCore, module: int, row: int) -> None:
    """Write how many nodes are idle and reserved."""
    core.pools[module].written_held = core.idle_rows[row].held = idle_and_reserved(core, module)


# -- calls


class SlurmCallsCore(SlurmCore, CallsCore):
    """A core with both."""


@on(satisfy_called, "slurm")
def satisfy_and_tell(core: SlurmCallsCore, row: int) -> None:
    """To the schedulers a call is a change."""
    satisfy_if_awaited(core, row)
    plan_anew(core)


@on(move_next, "slurm")
def move_next_in_slurm(core: SlurmCallsCore, row: int) -> None:
    """The advance reservations of the components that come next are moved."""
    move_next_advance_reservations(core, row)


@on(asked_for, "slurm")
def in_minutes(core: SlurmCallsCore, seconds: int) -> int:
    """Limits are counted in minutes."""
    return seconds + -seconds % MINUTE


@on(may_stay, "slurm")
def may_stay_in_slurm(core: SlurmCallsCore, row: int, begin: int, end: int) -> bool:
    """Whether its nodes are reserved for no other component."""
    return keeps_its_nodes(core, row, end)
