"""Free nodes over time: step functions on integers, one a pool.

A profile says how many nodes of its pool are free from ``time[i]`` to ``time[i + 1]``,
by planned ends and the reservations made so far; the last step lasts for ever. The
planner knows only rectangles on it: a start, a length, an amount.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import plan_begins
from scheduler_sim.engine.core.placement import judged_time
from scheduler_sim.engine.core.records import Table
from scheduler_sim.engine.core.releases import ends_now
from scheduler_sim.engine.core.state import INF, Core, Step


@part
def build_profiles(core: Core, on_time: bool) -> None:
    """Profiles from the planned ends alone; what is past its planned end is planned to end next.

    ``on_time``: what ends at this very instant is planned to end now, as reservations count on it.
    """
    core.clock.profiled = 1
    for pool in range(len(core.pools)):
        build_profile(core, pool, on_time)
    plan_begins(core, on_time)


@part
def build_profile(core: Core, pool: int, on_time: bool) -> None:
    """The profile of one pool."""
    now, steps = core.clock.now, core.profile[pool]
    steps[0].time, steps[0].free = now, core.pools[pool].free
    size, leaving = 1, leaving_next(core, pool)
    for i in range(core.pools[pool].release_head, core.pools[pool].release_tail):
        nodes = core.releases[pool, i].nodes
        gone = min(leaving, max(nodes, 0))  # a capacity that will fall is a negative return
        leaving -= gone
        time = core.releases[pool, i].time
        if time <= now and on_time and ends_now(core, core.releases[pool, i].row):
            time = now
        elif time <= now:
            time = now + 1
            core.clock.profiled = 0  # a guess for this pass only
        if time > steps[size - 1].time:
            steps[size].time, steps[size].free = time, steps[size - 1].free
            size += 1
        steps[size - 1].free += nodes - gone
    core.pools[pool].profile_size = size


@question
def leaving_next(core: Core, pool: int) -> int:
    """So many of the next nodes that come back are idle in no plan: they leave the pool."""
    return core.pools[pool].draining


@question
def not_before(core: Core, placement: int) -> int:
    """When a placement may start, whatever the plan."""
    return core.clock.now


@part
def earliest(core: Core, placement: int, after: int) -> int:
    """Earliest start, not before ``after``, at which a placement fits in all its pools; INF if never.

    A fix-point: each pool in turn moves the start to where it can; when none moves it, all agree.
    """
    length = judged_time(core, placement)
    modules = core.clock.modules
    time = earliest_on_nodes(core, placement, after, length)
    moved = core.demand.shape[1] > 0
    while moved and time < INF:
        moved = False
        for i in range(core.demand.shape[1]):
            if core.demand[placement, i] > 0:
                later = earliest_in(core, modules + i, time, length, core.demand[placement, i])
                if later > time:
                    time, moved = later, True
        if moved and time < INF:
            time = earliest_on_nodes(core, placement, time, length)
    return time


@question
def earliest_on_nodes(core: Core, placement: int, after: int, length: int) -> int:
    """Earliest time, from ``after`` on, at which its module has nodes for a placement for ``length`` s."""
    it = core.placements[placement]
    return earliest_in(core, it.module, after, length, it.nodes)


@part
def occupy(core: Core, placement: int, begin: int, end: int, sign: int) -> None:
    """Take the rectangle of a placement out of the profiles (sign 1) or put it back (-1)."""
    occupy_nodes(core, placement, begin, end, sign)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            take(core, core.clock.modules + i, begin, end, sign * core.demand[placement, i])


@question
def occupy_nodes(core: Core, placement: int, begin: int, end: int, sign: int) -> None:
    """Take the nodes of a placement out of the plan (sign 1) or put them back (-1)."""
    it = core.placements[placement]
    take(core, it.module, begin, end, sign * it.nodes)


@part
def earliest_in(core: Core, pool: int, after: int, length: int, amount: int) -> int:
    """Earliest time, from ``after`` on, at which so many nodes are free for ``length`` s (1 or more), or INF.

    One walk without turns: where a step is short, the next is where it may begin.
    """
    steps, size = core.profile[pool], core.pools[pool].profile_size
    step = step_at(steps, size, after)
    begin, first, time = after, step, after
    while time < begin + length:
        short = steps[step].free < amount
        step += 1
        if step == size:
            if short:
                return INF
            break
        time = steps[step].time
        begin = time if short else begin
        first = step if short else first
    core.pools[pool].found, core.pools[pool].found_last = first, step - 1
    return begin


@part
def take(core: Core, pool: int, begin: int, end: int, amount: int) -> None:
    """Take so many nodes out of a profile from ``begin`` to ``end``; a negative amount puts them back."""
    if begin == end:
        return
    size = core.pools[pool].profile_size
    first = _cut(core, pool, begin, core.pools[pool].found)
    made = core.pools[pool].profile_size - size
    last = _cut(core, pool, end, core.pools[pool].found_last + made)
    steps = core.profile[pool]
    for step in range(first, last):
        steps[step].free -= amount


@part
def _cut(core: Core, pool: int, time: int, guess: int) -> int:
    """Index of the step that begins at ``time``, made if there is none; ``guess``: where to look first."""
    steps, size = core.profile[pool], core.pools[pool].profile_size
    step = step_at(steps, size, time, guess)
    if steps[step].time == time:
        return step
    for i in range(size, step + 1, -1):
        steps[i].time, steps[i].free = steps[i - 1].time, steps[i - 1].free
    steps[step + 1].time, steps[step + 1].free = time, steps[step].free
    core.pools[pool].profile_size = size + 1
    return step + 1


@part
def step_at(steps: Table[Step], size: int, time: int, guess: int = 0) -> int:
    """The last step that begins at or before ``time``: the guess, one of those after it, or another."""
    low, high = guess, size
    if low >= size or steps[low].time > time:
        low = 0
    elif low + 1 < size and steps[low + 1].time > time:
        return low
    while high - low > 1:
        middle = (low + high) // 2
        if steps[middle].time <= time:
            low = middle
        else:
            high = middle
    return low
