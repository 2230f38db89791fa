"""At which moments Slurm's schedulers make their passes, and which of these can change something."""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.slurm.change import LATE
from scheduler_sim.engine.slurm.slots import (
    ALWAYS_MORE,
    ASKED,
    ASKED_AT,
    AT_END,
    BACKFILL_FIRST,
    BATCH_SCHED_DELAY,
    BF_INTERVAL,
    BUILTIN,
    CALC_PERIOD,
    CHANGED,
    ENDED_HERE,
    HEARS_AT,
    LAST_BACKFILL,
    LAST_CHANGE,
    LAST_MAIN,
    MAIN_WAIT,
    NEXT_CALC,
    PENDING,
    SCHED_INTERVAL,
    SCHED_MIN_INTERVAL,
    SEEN_FROM,
    SELF,
    SKIP,
    STARTS_AT,
    STEADY_UNTIL,
    UNSEEN_BY_FULL,
    VALID,
    WAITED,
    WAITS_FROM,
    WEIGHT_FAIR,
)
from scheduler_sim.engine.state import COMPONENTS, HEAD, HEAP, INF, NOW, SEEN, TAIL, Core

MS = 1000


@part
def next_moment(core: Core) -> int:
    """When a pass may next change something."""
    now, slurm = core.clock[NOW], core.slurm
    if not more_comes(core) and slurm[VALID] == INF and not slurm[CHANGED]:
        return INF  # priorities may change for ever, but nothing else
    time, waits = INF, somebody_waits(core)
    shows = waits or (more_comes(core) and (slurm[PENDING] > 0 or slurm[WEIGHT_FAIR] > 0))
    if slurm[CALC_PERIOD] and shows:
        time = _next_computation(core)
    if slurm[ASKED] and waits:
        time = min(time, asked_pass(core))
    if waits and (slurm[UNSEEN_BY_FULL] or not slurm[SKIP]):
        time = min(time, next_full(core, now + 1))
    if waits and not slurm[BUILTIN]:
        following = next_backfill(core)
        if not slurm[CHANGED] and slurm[SKIP]:
            if slurm[CALC_PERIOD]:  # one that is passed over may bring it sooner
                following = min(following, slurm[NEXT_CALC])
            following = max(following, slurm[VALID])
        time = min(time, following)
    return time


@part
def _next_computation(core: Core) -> int:
    """When priorities are next computed such that something may come of it.

    To a backfill pass that is to see a change a computation is one.
    """
    until, following = core.slurm[STEADY_UNTIL], core.slurm[NEXT_CALC]
    if until <= following or (core.slurm[CHANGED] and somebody_waits(core)):
        return following
    return INF if until == INF else until + (following - until) % core.slurm[CALC_PERIOD]


@part
def more_comes(core: Core) -> bool:
    """Whether something is to happen yet, so that the present usage, and passes, may matter."""
    return core.clock[HEAP] > 0 or core.clock[SEEN] < core.clock[COMPONENTS]


@part
def somebody_waits(core: Core) -> bool:
    """Whether the queue has anybody in it."""
    return core.clock[TAIL] > core.clock[HEAD]


# -- the main scheduler


@part
def ask(core: Core, at_once: bool) -> None:
    """Ask for a pass of the main scheduler; of ends it hears with its next look."""
    slurm, now = core.slurm, core.clock[NOW]
    if slurm[ENDED_HERE]:
        slurm[HEARS_AT] = now + _wait_after_end(core)
    time = now if at_once else max(now, slurm[HEARS_AT])
    slurm[ASKED_AT] = min(slurm[ASKED_AT], time) if slurm[ASKED] else time
    slurm[ASKED] = 1


@part
def answer(core: Core, time: int) -> None:
    """A pass is made at ``time``; one that was asked for later is still to come."""
    slurm = core.slurm
    slurm[LAST_MAIN] = time
    slurm[ASKED] = slurm[ASKED] and slurm[HEARS_AT] > time
    slurm[ASKED_AT] = slurm[HEARS_AT]


@part
def _wait_after_end(core: Core) -> int:
    """Whole seconds up to the look that sees an end: fractions add up from one end to the next.

    What ended behind the look of the second before has waited.
    """
    slurm = core.slurm
    late = slurm[ENDED_HERE] == LATE
    slurm[ENDED_HERE] = 0
    if late or slurm[AT_END]:
        return 0
    slurm[WAITED] += slurm[MAIN_WAIT]
    wait = slurm[WAITED] // MS
    slurm[WAITED] %= MS
    return wait


@part
def asked_pass(core: Core) -> int:
    """When the pass is made that was asked for: its delay after the last one, or with the next full one."""
    slurm, asked_at = core.slurm, core.slurm[ASKED_AT]
    last = max(slurm[LAST_MAIN], _last_full(core, asked_at - 1))
    delay = max(slurm[BATCH_SCHED_DELAY], slurm[SCHED_MIN_INTERVAL], 1)
    return min(max(asked_at, last + delay), next_full(core, max(asked_at, slurm[LAST_MAIN] + 1)))


@part
def next_full(core: Core, time: int) -> int:
    """When the main scheduler next passes over the whole queue, at ``time`` or later; INF = never."""
    interval, since = core.slurm[SCHED_INTERVAL], time - core.slurm[STARTS_AT]
    if interval == 0:
        return INF
    return time + (-since) % interval if since > 0 else core.slurm[STARTS_AT] + interval


@part
def _last_full(core: Core, time: int) -> int:
    """When it last did, at ``time`` or before, or the daemon started."""
    if core.slurm[SCHED_INTERVAL] == 0:
        return -INF
    return time - (time - core.slurm[STARTS_AT]) % core.slurm[SCHED_INTERVAL]


# -- the backfill scheduler


@part
def next_backfill(core: Core) -> int:
    """When the backfill scheduler next finds that something changed, its interval after its last pass."""
    return _next_backfill(core, INF)


@part
def _next_backfill(core: Core, computed: int) -> int:
    """With computations of priorities, from ``computed`` on, that were passed over."""
    slurm = core.slurm
    earliest = slurm[LAST_BACKFILL] + slurm[BF_INTERVAL]
    if slurm[ALWAYS_MORE]:
        return earliest
    if slurm[LAST_CHANGE] >= slurm[LAST_BACKFILL]:
        return max(earliest, slurm[SEEN_FROM])
    change = _next_computed(core, computed, slurm[LAST_BACKFILL])
    if somebody_waits(core):
        change = min(change, next_full(core, max(slurm[LAST_BACKFILL], slurm[WAITS_FROM])))
    return INF if change == INF else max(earliest, change + slurm[BACKFILL_FIRST])


@part
def _next_computed(core: Core, computed: int, time: int) -> int:
    """The first computation that was passed over, at ``time`` or later."""
    if computed == INF:
        return INF
    return max(time, computed) + (computed - max(time, computed)) % core.slurm[CALC_PERIOD]


@part
def _last_seen(core: Core, computed: int, time: int) -> int:
    """The last change at ``time`` or before, of those that come by the clock alone; -INF = none."""
    slurm, last = core.slurm, -INF
    if somebody_waits(core) and next_full(core, slurm[WAITS_FROM]) <= time:
        last = _last_full(core, time)
    return max(last, _last_computed(core, computed, time))


@part
def _last_computed(core: Core, computed: int, time: int) -> int:
    """The last computation that was passed over, at ``time`` or before."""
    return time - (time - computed) % core.slurm[CALC_PERIOD] if computed <= time else -INF


# -- time in which nothing happens


@part
def catch_up_passes(core: Core, computed: int) -> None:
    """Passes that were due before now, and could change nothing, are no more than moments others count from.

    ``computed``: since when computations of priorities were passed over that the backfill scheduler saw.
    """
    slurm, now = core.slurm, core.clock[NOW]
    while slurm[ASKED] and asked_pass(core) < now:  # with nobody waiting
        answer(core, asked_pass(core))
    if slurm[BUILTIN] or slurm[BF_INTERVAL] == 0:
        return
    _catch_up_backfill(core, computed)
    last = _last_computed(core, computed, now - 1)
    if last > slurm[LAST_CHANGE]:
        slurm[LAST_CHANGE], slurm[SEEN_FROM] = last, last + slurm[BACKFILL_FIRST]


@part
def _catch_up_backfill(core: Core, computed: int) -> None:
    """Passes of the backfill scheduler before now; what repeats itself is not gone through again."""
    slurm, now = core.slurm, core.clock[NOW]
    mark, steps, again = -INF, 0, 2
    while True:
        time = _next_backfill(core, computed)
        if time >= now:
            return
        if slurm[SELF] and somebody_waits(core):  # each pass is a change that brings the next
            time = slurm[LAST_CHANGE] = _repeated(time, slurm[BF_INTERVAL], now)
        elif slurm[ALWAYS_MORE]:
            time = _repeated(time, slurm[BF_INTERVAL], now)
        elif mark > -INF and _in_phase(core, computed, time - mark):
            time, mark = _repeated(time, time - mark, now), -INF
        slurm[LAST_BACKFILL] = time
        slurm[LAST_CHANGE] = max(slurm[LAST_CHANGE], _last_seen(core, computed, time))
        steps += 1
        if steps == again:  # phases come round in the end: a mark among those that do, and a circle after it
            mark, again = time, 2 * again


@part
def _repeated(time: int, span: int, now: int) -> int:
    """The last of the moments ``time``, ``time + span``, ... before now."""
    return time + (now - 1 - time) // span * span


@part
def _in_phase(core: Core, computed: int, span: int) -> bool:
    """Whether after ``span`` s all that changes by the clock alone changes as before."""
    slurm = core.slurm
    if somebody_waits(core) and slurm[SCHED_INTERVAL] and span % slurm[SCHED_INTERVAL]:
        return False
    return computed == INF or span % slurm[CALC_PERIOD] == 0
