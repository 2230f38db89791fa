"""Calls: what a running component tells the scheduler, so many seconds after its start."""

from __future__ import annotations

from scheduler_sim.engine.appointments import move_next_appointments, stays_free
from scheduler_sim.engine.dependencies import satisfy_by_call
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import changed_by_hand, expect_calls
from scheduler_sim.engine.limits import change_limit, forget_end, plan_end
from scheduler_sim.engine.slurm.advance import keeps_its_nodes
from scheduler_sim.engine.slurm.het_jobs import end_together
from scheduler_sim.engine.slurm.slots import HOLDING
from scheduler_sim.engine.slurm.workflows import move_next_reservations
from scheduler_sim.engine.state import EXTEND, OVERRUN, RUNNING, WF_API, Core

MINUTE = 60  # what Slurm counts limits in


@part
def come_to_pass(core: Core, number: int) -> None:
    """A component calls, if it still runs: an operator may have given it less time."""
    call = core.call[number]
    if core.comp[call.row].state != RUNNING:
        return
    if call.kind == WF_API:
        satisfy_by_call(core, call.row)
        if core.slurm[HOLDING]:
            changed_by_hand(core)
        if core.member[call.row].whole >= 0:
            _move_next(core, call.row)
    elif core.rules[EXTEND]:
        _extend(core, call.row)


@part
def _move_next(core: Core, row: int) -> None:
    """Those who come next in its unit are expected as early as can be."""
    if core.slurm[HOLDING]:
        move_next_reservations(core, row)
    else:
        move_next_appointments(core, row)


@part
def _extend(core: Core, row: int) -> None:
    """Give ``row`` its limit once more, if its nodes stay free for so long beside the appointments."""
    placement, more = core.comp[row].placed, core.member[row].limit
    if core.slurm[HOLDING]:
        more += -more % MINUTE
    limit = core.place[placement].limit
    planned = core.comp[row].start + limit
    if _may_stay(core, row, planned, planned + more):
        forget_end(core, row)
        known = core.place[placement].duration - 1
        change_limit(core, placement, limit + more, core.member[row].run, core.rules[OVERRUN])
        plan_end(core, row)
        if core.slurm[HOLDING]:
            end_together(core, row)
        expect_calls(core, row, known)
        changed_by_hand(core)


@part
def _may_stay(core: Core, row: int, begin: int, end: int) -> bool:
    """Whether it can have its nodes for so much longer, beside those who have an appointment for them."""
    if core.slurm[HOLDING]:
        return keeps_its_nodes(core, row, end)
    return stays_free(core, core.comp[row].placed, begin, end, -1)
