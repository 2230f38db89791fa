"""When running components are planned to give back what they hold.

Kept where a pass looks ahead. One list a pool, sorted by planned end, ties in trace order. It lives in a
window of its row, which moves either way, so that the shorter side is the one that makes room.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import only_with
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.records import Table
from scheduler_sim.engine.core.state import Core, Release


@only_with("releases")
def add_release(core: Core, pool: int, time: int, row: int, nodes: int) -> None:
    """Plan that ``row`` gives back ``nodes`` of ``pool`` at ``time``."""
    plan = core.releases[pool]
    head, tail = core.pools[pool].release_head, core.pools[pool].release_tail
    place = _first_after(plan, head, tail, time)
    while place > head and plan[place - 1].time == time and plan[place - 1].row > row:
        place -= 1
    if tail == len(plan):  # half of the way back at once: one step each time would move all of it each time
        by = (head + 1) // 2
        for i in range(head, tail):
            plan[i - by] = plan[i]
        head, tail, place = head - by, tail - by, place - by
        core.pools[pool].release_head, core.pools[pool].release_tail = head, tail
    if head > 0 and place - head < tail - place:
        for i in range(head, place):
            plan[i - 1] = plan[i]
        place -= 1
        core.pools[pool].release_head = head - 1
    else:
        for i in range(tail, place, -1):
            plan[i] = plan[i - 1]
        core.pools[pool].release_tail = tail + 1
    plan[place].time, plan[place].row, plan[place].nodes = time, row, nodes


@only_with("releases")
def drop_release(core: Core, pool: int, time: int, row: int) -> None:
    """Forget the planned end of ``row``: it has given back what it held."""
    plan = core.releases[pool]
    head, tail = core.pools[pool].release_head, core.pools[pool].release_tail
    place = _first_after(plan, head, tail, time - 1)
    while plan[place].row != row:
        place += 1
    if place - head < tail - 1 - place:
        for i in range(place, head, -1):
            plan[i] = plan[i - 1]
        core.pools[pool].release_head = head + 1
    else:
        for i in range(place, tail - 1):
            plan[i] = plan[i + 1]
        core.pools[pool].release_tail = tail - 1


@part
def overran(core: Core) -> bool:
    """Whether a running component is past its planned end.

    What ends at this very instant is not: passes after single events see it still running.
    """
    for pool in range(len(core.pools)):
        for i in range(core.pools[pool].release_head, core.pools[pool].release_tail):
            if core.releases[pool, i].time > core.clock.now:
                break
            if not ends_now(core, core.releases[pool, i].row):
                return True
    return False


@part
def ends_now(core: Core, row: int) -> bool:
    """Whether ``row`` runs and ends at this very instant (an announced return of nodes does not)."""
    return row >= 0 and core.jobs[row].end == core.clock.now


@inlined
def _first_after(plan: Table[Release], low: int, high: int, time: int) -> int:
    while low < high:
        middle = (low + high) // 2
        if plan[middle].time > time:
            high = middle
        else:
            low = middle + 1
    return low
