"""When Slurm's schedulers make their passes.

The daemon looks once a second. The main scheduler passes over the whole queue every
sched_interval, and over its head when asked to, batch_sched_delay after its last pass. The
backfill scheduler passes bf_interval after its last pass if anything changed since, else at the
first second at which something has. Passes that can change nothing are not made, but keep
their place in time: the moments of later passes depend on them.
"""

from __future__ import annotations

from scheduler_sim.engine.instant import come_due, submit_due, take_events, untie_ready
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.queue import insert_newcomers, newcomers_come_last
from scheduler_sim.engine.slurm.backfill_pass import backfill_newcomers, backfill_pass
from scheduler_sim.engine.slurm.change import ALL_ELSE, NEWCOMERS_ONLY, expect_change, note_change
from scheduler_sim.engine.slurm.main_pass import look_at_newcomers, main_pass
from scheduler_sim.engine.slurm.nodes import match_service
from scheduler_sim.engine.slurm.ranking import compute_priorities
from scheduler_sim.engine.slurm.slots import (
    ALWAYS_MORE,
    ASKED,
    ASKED_AT,
    AT_END,
    BACKFILL_FIRST,
    BATCH_SCHED_DELAY,
    BF_INTERVAL,
    BF_MAX_JOB_TEST,
    BF_MIN_PRIORITY,
    BUILTIN,
    CALC_PERIOD,
    CHANGED,
    FIXED,
    LAST_BACKFILL,
    LAST_CHANGE,
    LAST_MAIN,
    LOOKED,
    NEXT_CALC,
    PENDING,
    PLANNED,
    QUEUE_DEPTH,
    SCHED_INTERVAL,
    SCHED_MIN_INTERVAL,
    SEEN_BEFORE,
    SEEN_FROM,
    SELF,
    SKIP,
    STARTS_AT,
    TURNS,
    UNSEEN_BY_FULL,
    VALID,
    WAITS_FROM,
    WEIGHT_FAIR,
)
from scheduler_sim.engine.state import (
    COMPLEX,
    COMPONENTS,
    DIRTY,
    DUE,
    EARLY,
    HEAD,
    HEAP,
    INF,
    NEW,
    NOW,
    SEEN,
    TAIL,
    Core,
)


@part
def slurm_instant(core: Core) -> None:
    """What happens at this instant, the passes that are due, and when the next are.

    The two schedulers look in turn; which is first within a second is a matter of chance, in
    a real daemon, and of ``looks_first`` here. If it is backfill, it sees no ends of the second.
    """
    now, slurm = core.clock[NOW], core.slurm
    catch_up(core)
    if slurm[BACKFILL_FIRST]:
        come_due(core)
        submit_due(core)
        _notice(core)
        _backfill(core)
    take_events(core)
    ended = _notice(core)
    _compute(core)
    _main(core, ended)
    _notice(core)
    if not slurm[BACKFILL_FIRST]:
        _backfill(core)
    core.clock[DUE] = max(now + 1, _next_moment(core))


@part
def _notice(core: Core) -> bool:
    """Whether something ended. Ends, submissions and commands ask for a pass.

    What is eligible by time alone, or because another has started, does not: it is seen in the
    next pass, whatever brings that.
    """
    slurm, ended = core.slurm, core.clock[DIRTY] == 1
    outside = core.clock[EARLY] == 1 or core.clock[SEEN] != slurm[SEEN_BEFORE]
    if outside:
        slurm[SEEN_BEFORE] = core.clock[SEEN]
        note_change(core, core.clock[NOW])
    if outside or ended:
        slurm[ASKED_AT] = slurm[ASKED_AT] if slurm[ASKED] else core.clock[NOW]
        slurm[ASKED] = 1
    if ended or core.clock[EARLY]:
        expect_change(core)
    elif core.clock[NEW]:
        slurm[UNSEEN_BY_FULL] = 1
        slurm[CHANGED] = max(slurm[CHANGED], NEWCOMERS_ONLY if newcomers_come_last(core) else ALL_ELSE)
    if core.clock[NEW] and not _somebody_waits(core):
        slurm[WAITS_FROM] = core.clock[NOW]
    insert_newcomers(core)
    if ended:
        for i in range(len(core.partition)):
            match_service(core, core.partition[i].module, core.partition[i].low, core.partition[i].high)
    core.clock[NEW] = core.clock[DIRTY] = core.clock[EARLY] = 0
    return ended


@part
def _compute(core: Core) -> None:
    now, slurm = core.clock[NOW], core.slurm
    if slurm[CALC_PERIOD] == 0 or now < slurm[NEXT_CALC]:
        return
    slurm[NEXT_CALC] += slurm[CALC_PERIOD] * ((now - slurm[NEXT_CALC]) // slurm[CALC_PERIOD] + 1)
    if compute_priorities(core) or slurm[BF_MIN_PRIORITY]:
        expect_change(core)
    if slurm[PENDING] > 0:  # also of those who are not eligible
        note_change(core, now)


@part
def _main(core: Core, ended: bool) -> None:
    now, slurm = core.clock[NOW], core.slurm
    full = _next_full(core, now) == now
    asked = slurm[ASKED] and (_asked_pass(core) <= now or (ended and slurm[AT_END]))
    if slurm[LAST_MAIN] == now or not (full or asked):  # it takes one turn a second
        return
    look_at_newcomers(core)
    waiting = core.clock[TAIL] - core.clock[HEAD]
    if slurm[UNSEEN_BY_FULL] or not slurm[SKIP]:
        depth = waiting * len(core.partition) if full else slurm[QUEUE_DEPTH]
        if main_pass(core, depth):
            slurm[UNSEEN_BY_FULL] = 0
        if core.clock[TAIL] - core.clock[HEAD] < waiting:
            expect_change(core)
    untie_ready(core)  # who waited for the start of another
    look_at_newcomers(core)
    slurm[ASKED] = 0
    slurm[LAST_MAIN] = now
    if waiting > 0:
        note_change(core, now)


@part
def _backfill(core: Core) -> None:
    now, slurm = core.clock[NOW], core.slurm
    if slurm[BACKFILL_FIRST]:
        slurm[LOOKED] = now
    if slurm[BUILTIN] or now < _next_backfill(core):
        return
    slurm[LAST_BACKFILL] = now
    look_at_newcomers(core)
    waiting = core.clock[TAIL] - core.clock[HEAD]
    if waiting == 0:
        slurm[CHANGED], slurm[SELF] = ALL_ELSE, 0  # there is no plan
        return
    if slurm[CHANGED] or now >= slurm[VALID] or not slurm[SKIP]:
        if slurm[CHANGED] == NEWCOMERS_ONLY and _plan_stands(core):
            backfill_newcomers(core)
        else:
            backfill_pass(core)
        slurm[CHANGED] = 0
        if core.clock[TAIL] - core.clock[HEAD] < waiting:
            expect_change(core)
            note_change(core, now)
    if slurm[SELF]:
        note_change(core, now)


@part
def _plan_stands(core: Core) -> bool:
    """Whether those planned by the last pass would be planned likewise now, and before all newcomers.

    Who is last in the queue may still have a turn in a partition of a higher tier. Where they are the first
    to make more turns than tests, those before must be tested anew: only now do all tests count.
    """
    slurm = core.slurm
    if core.rules[COMPLEX] or not slurm[SKIP] or not slurm[FIXED]:
        return False
    if slurm[TURNS] < slurm[BF_MAX_JOB_TEST] <= core.clock[TAIL] - core.clock[HEAD]:
        return False
    return slurm[PLANNED] > 0 and core.clock[NOW] < slurm[VALID]


@part
def _next_moment(core: Core) -> int:
    """When a pass may next change something."""
    now, slurm = core.clock[NOW], core.slurm
    if not _more_comes(core) and slurm[VALID] == INF and not slurm[CHANGED]:
        return INF  # priorities may change for ever, but nothing else
    time, waits = INF, _somebody_waits(core)
    shows = waits or (_more_comes(core) and (slurm[PENDING] > 0 or slurm[WEIGHT_FAIR] > 0))
    if slurm[CALC_PERIOD] and shows:
        time = slurm[NEXT_CALC]
    if slurm[ASKED] and waits:
        time = min(time, _asked_pass(core))
    if waits and (slurm[UNSEEN_BY_FULL] or not slurm[SKIP]):
        time = min(time, _next_full(core, now + 1))
    if waits and not slurm[BUILTIN]:
        following = _next_backfill(core)
        if not slurm[CHANGED] and slurm[SKIP]:
            following = max(following, slurm[VALID])
        time = min(time, following)
    return time


@part
def catch_up(core: Core) -> None:
    """Passes that were due before now, and could change nothing."""
    now, slurm = core.clock[NOW], core.slurm
    if slurm[ASKED]:  # with nobody waiting, such a pass is only a moment from which others count
        time = _asked_pass(core)
        if time < now:
            slurm[ASKED], slurm[LAST_MAIN] = 0, time
    if slurm[BUILTIN] or slurm[BF_INTERVAL] == 0:
        return
    while True:
        time = _next_backfill(core)
        if time >= now:
            return
        slurm[LAST_BACKFILL] = time
        if _somebody_waits(core):
            if slurm[SELF]:  # each pass brings the next
                time += (now - 1 - time) // slurm[BF_INTERVAL] * slurm[BF_INTERVAL]
                slurm[LAST_BACKFILL] = slurm[LAST_CHANGE] = time
            if _next_full(core, slurm[WAITS_FROM]) <= time:
                slurm[LAST_CHANGE] = max(slurm[LAST_CHANGE], _last_full(core, time))


@part
def _next_backfill(core: Core) -> int:
    """When the backfill scheduler next finds that something changed, its interval after its last pass."""
    slurm = core.slurm
    earliest = slurm[LAST_BACKFILL] + slurm[BF_INTERVAL]
    if slurm[ALWAYS_MORE]:
        return earliest
    if slurm[LAST_CHANGE] >= slurm[LAST_BACKFILL]:
        return max(earliest, slurm[SEEN_FROM])
    if not _somebody_waits(core):
        return INF
    change = _next_full(core, max(slurm[LAST_BACKFILL], slurm[WAITS_FROM]))
    return max(earliest, change + slurm[BACKFILL_FIRST])


@part
def _next_full(core: Core, time: int) -> int:
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


@part
def _asked_pass(core: Core) -> int:
    """When the pass is made that was asked for: its delay after the last one, or with the next full one."""
    slurm, asked_at = core.slurm, core.slurm[ASKED_AT]
    last = max(slurm[LAST_MAIN], _last_full(core, asked_at - 1))
    delay = max(slurm[BATCH_SCHED_DELAY], slurm[SCHED_MIN_INTERVAL], 1)
    return min(max(asked_at, last + delay), _next_full(core, max(asked_at, slurm[LAST_MAIN] + 1)))


@part
def _more_comes(core: Core) -> bool:
    """Whether something is to happen yet, so that the present usage, and passes, may matter."""
    return core.clock[HEAP] > 0 or core.clock[SEEN] < core.clock[COMPONENTS]


@part
def _somebody_waits(core: Core) -> bool:
    return core.clock[TAIL] > core.clock[HEAD]
