"""A suspended job goes on once none of its nodes is held by one that started after it.

Those who hold a node after others rank above them. So each is planned to go on when the last above it is
planned to end, and to end so much later; a node comes back when the first that holds it is planned to end.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import NONE, ONE, add, clear, count_common, lowest_in
from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.instant import log_is_full
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.limits import least_limit, time_granted, time_suspended
from scheduler_sim.engine.core.loop import held_idle
from scheduler_sim.engine.core.moments import end_forgotten, pass_begins, write_more
from scheduler_sim.engine.core.record import has_more_to_write
from scheduler_sim.engine.core.releases import add_release, drop_release
from scheduler_sim.engine.rules.suspending.nodes import plan_own_nodes
from scheduler_sim.engine.rules.suspending.state import (
    NOBODY,
    SuspendingCore,
    is_suspended,
    module_of_job,
)
from scheduler_sim.engine.rules.suspensions import go_on


@on(pass_begins, "suspending")
def let_go_on(core: SuspendingCore) -> None:
    """All whose nodes are free of others go on; of the rest it is planned anew when they will."""
    suspending = core.suspending
    if suspending.at.suspended == 0:
        return
    covered = suspending.sets.covered
    clear(covered, 0, len(covered))
    place = suspending.at.last
    while place != NOBODY:
        row = suspending.holder[place].row
        module, mine = module_of_job(core, row), suspending.nodes_of[place]
        low, high = suspending.low[module], suspending.low[module + 1]
        if is_suspended(core, row) and count_common(mine, covered, low, high) == 0:
            go_on(core, row, suspending.pause, suspending.log, suspending.spans, 0)
            suspending.at.suspended -= 1
            plan_own_nodes(core, row)
        add(covered, mine, low, high)
        place = suspending.holder[place].before
    _plan_all(core)


# -- planned ends


@only_with("releases")
def _plan_all(core: SuspendingCore) -> None:
    """From the last to start on: when each suspended job is planned to go on, and to end."""
    suspending = core.suspending
    suspending.clear[:] = core.clock.now
    place = suspending.at.last
    while place != NOBODY:
        row = suspending.holder[place].row
        if is_suspended(core, row):
            _plan_to_go_on(core, row, _planned_clear(core, place, 0))
        _planned_clear(core, place, core.jobs[row].start + time_granted(core, row, core.jobs[row].placed))
        place = suspending.holder[place].before


@part
def _planned_clear(core: SuspendingCore, place: int, planned: int) -> int:
    """When all nodes of a holder are planned to be left by others; from now on not before ``planned``."""
    suspending, last = core.suspending, 0
    module = module_of_job(core, suspending.holder[place].row)
    for word in range(suspending.low[module], suspending.low[module + 1]):
        bits = suspending.nodes_of[place, word]
        while bits != NONE:
            node = (word << 6) + lowest_in(bits)
            suspending.clear[node] = max(suspending.clear[node], planned)
            last = max(last, suspending.clear[node])
            bits &= bits - ONE
    return last


@part
def _plan_to_go_on(core: SuspendingCore, row: int, time: int) -> None:
    """Move the planned end of a suspended job: it is planned to go on at ``time``."""
    hold, it = core.suspending.hold[row], core.jobs[row]
    module = module_of_job(core, row)
    ahead = time - core.suspending.pause[row].since
    if ahead == hold.ahead:
        return
    drop_release(core, module, it.start + time_granted(core, row, it.placed), row)
    hold.ahead = ahead
    add_release(core, module, it.start + time_granted(core, row, it.placed), row, hold.own)


@on(end_forgotten, "suspending")
def plan_from_now(core: SuspendingCore, row: int) -> None:
    """It goes on, or has another limit, after which all is planned anew."""
    core.suspending.hold[row].ahead = 0


@on(time_granted, "suspending")
def limit_and_suspended(core: SuspendingCore, row: int, placement: int) -> int:
    """Its limit, as long as it was suspended, and as long as it is planned to be yet."""
    suspending = core.suspending
    return core.placements[placement].limit + suspending.pause[row].seconds + suspending.hold[row].ahead


@on(time_suspended, "suspending")
def suspended_so_far(core: SuspendingCore, row: int) -> int:
    """All spans that are over."""
    return core.suspending.pause[row].seconds


@on(least_limit, "suspending")
def time_worked(core: SuspendingCore, row: int, overrun: int) -> int:
    """How long it has worked already."""
    pause = core.suspending.pause[row]
    until = pause.since if is_suspended(core, row) else core.clock.now
    return until - core.jobs[row].start - pause.seconds - overrun


@on(log_is_full, "suspending")
def spans_are_many(core: SuspendingCore) -> bool:
    """Whether the spans that end in one more instant might have no room: one of each job."""
    return core.suspending.log.spans + len(core.suspending.pause) > len(core.suspending.spans)


# -- the timeline


@on(held_idle, "suspending")
def held_by_suspended(core: SuspendingCore, module: int) -> int:
    """Nodes that suspended jobs hold, and on which nobody works."""
    pool = core.pools[module]
    return int(core.suspending.nodes[module] - pool.free - pool.down - pool.busy)


@on(has_more_to_write, "suspending")
def others_held(core: SuspendingCore, module: int) -> bool:
    """Whether they are as many as when the last row was written."""
    return core.pools[module].written_held != held_by_suspended(core, module)


@on(write_more, "suspending")
def write_held(core: SuspendingCore, module: int, row: int) -> None:
    """Write how many they are."""
    core.pools[module].written_held = core.idle_rows[row].held = held_by_suspended(core, module)
