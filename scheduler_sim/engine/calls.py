"""Calls: what a running component tells the scheduler, so many seconds after its start."""

from __future__ import annotations

from scheduler_sim.engine.appointments import move_next_appointments, stays_free
from scheduler_sim.engine.dependencies import satisfy_by_call
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import changed_by_hand, expect_calls
from scheduler_sim.engine.limits import change_limit, forget_end, plan_end
from scheduler_sim.engine.state import EXTEND, OVERRUN, RUNNING, WF_API, Core


@part
def come_to_pass(core: Core, number: int) -> None:
    """A component calls, if it still runs: an operator may have given it less time."""
    call = core.call[number]
    if core.comp[call.row].state != RUNNING:
        return
    if call.kind == WF_API:
        satisfy_by_call(core, call.row)
        if core.member[call.row].unit >= 0:
            move_next_appointments(core, call.row)
    elif core.rules[EXTEND]:
        _extend(core, call.row)


@part
def _extend(core: Core, row: int) -> None:
    """Give ``row`` its limit once more, if its nodes stay free for so long beside the appointments."""
    placement, more = core.comp[row].placed, core.member[row].limit
    limit = core.place[placement].limit
    planned = core.comp[row].start + limit
    if stays_free(core, placement, planned, planned + more, -1):
        forget_end(core, row)
        known = core.place[placement].duration - 1
        change_limit(core, placement, limit + more, core.member[row].run, core.rules[OVERRUN])
        expect_calls(core, row, known)
        plan_end(core, row)
        changed_by_hand(core)
