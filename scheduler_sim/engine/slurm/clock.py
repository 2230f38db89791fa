"""When Slurm's schedulers make their passes.

The daemon looks once a second. The main scheduler passes over the whole queue every
sched_interval, and over its head when asked to, batch_sched_delay after its last pass. The
backfill scheduler passes bf_interval after its last pass if anything changed since, else at the
first second at which something has. Passes that can change nothing are not made, but keep
their place in time (``moments``): the moments of later passes depend on them.
"""

from __future__ import annotations

from scheduler_sim.engine.instant import come_due, submit_due, take_events, untie_ready
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.queue import insert_newcomers, newcomers_come_last
from scheduler_sim.engine.slurm.backfill_pass import backfill_newcomers, backfill_pass
from scheduler_sim.engine.slurm.change import ALL_ELSE, NEWCOMERS_ONLY, expect_change, note_change
from scheduler_sim.engine.slurm.main_pass import look_at_newcomers, main_pass
from scheduler_sim.engine.slurm.moments import (
    answer,
    ask,
    asked_pass,
    catch_up_passes,
    next_backfill,
    next_full,
    next_moment,
    somebody_waits,
)
from scheduler_sim.engine.slurm.nodes import match_service
from scheduler_sim.engine.slurm.ranking import compute_priorities, pass_over_computations
from scheduler_sim.engine.slurm.slots import (
    ASKED,
    AT_END,
    BACKFILL_FIRST,
    BF_MAX_JOB_TEST,
    BF_MIN_PRIORITY,
    BUILTIN,
    CALC_PERIOD,
    CHANGED,
    FIXED,
    LAST_BACKFILL,
    LAST_MAIN,
    LOOKED,
    NEXT_CALC,
    PENDING,
    PLANNED,
    QUEUE_DEPTH,
    SEEN_BEFORE,
    SELF,
    SKIP,
    STEADY_UNTIL,
    TURNS,
    UNSEEN_BY_FULL,
    VALID,
    WAITS_FROM,
)
from scheduler_sim.engine.state import (
    COMPLEX,
    DIRTY,
    DUE,
    EARLY,
    HEAD,
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
    slurm[STEADY_UNTIL] = 0
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
    core.clock[DUE] = max(now + 1, next_moment(core))


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
        ask(core, at_once=outside)
    if ended or core.clock[EARLY]:
        expect_change(core)
    elif core.clock[NEW]:
        slurm[UNSEEN_BY_FULL] = 1
        slurm[CHANGED] = max(slurm[CHANGED], NEWCOMERS_ONLY if newcomers_come_last(core) else ALL_ELSE)
    if core.clock[NEW]:
        slurm[STEADY_UNTIL] = 0
        if not somebody_waits(core):
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
    moved = compute_priorities(core)
    if (moved or slurm[BF_MIN_PRIORITY]) and slurm[STEADY_UNTIL] <= now:
        expect_change(core)
    if slurm[PENDING] > 0:  # also of those who are not eligible
        note_change(core, now)


@part
def _main(core: Core, ended: bool) -> None:
    now, slurm = core.clock[NOW], core.slurm
    full = next_full(core, now) == now
    asked = slurm[ASKED] and (asked_pass(core) <= now or (ended and slurm[AT_END]))
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
    answer(core, now)
    if waiting > 0:
        note_change(core, now)


@part
def _backfill(core: Core) -> None:
    now, slurm = core.clock[NOW], core.slurm
    if slurm[BACKFILL_FIRST]:
        slurm[LOOKED] = now
    if slurm[BUILTIN] or now < next_backfill(core):
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
def catch_up(core: Core) -> None:
    """Whatever was due before now, and could change nothing: later moments depend on it."""
    computed = pass_over_computations(core)
    catch_up_passes(core, computed if core.slurm[PENDING] > 0 else INF)
