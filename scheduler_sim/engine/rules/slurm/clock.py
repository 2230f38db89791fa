"""When Slurm's schedulers make their passes.

The daemon looks once a second. The main scheduler passes over the whole queue every
sched_interval, and over its head when asked to, batch_sched_delay after its last pass. The
backfill scheduler passes bf_interval after its last pass if anything changed since, else at the
first second at which something has. With an empty queue no pass is made, but it keeps its
place in time (``moments``): the moments of later passes depend on it.
"""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, next_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.instant import (
    come_due,
    end_due,
    handle_instant,
    submit_due,
    take_events,
    untie_ready,
)
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import happen
from scheduler_sim.engine.core.loop import come_to_act
from scheduler_sim.engine.core.moments import pass_begins
from scheduler_sim.engine.core.queue import insert_newcomers, newcomers_come_last
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.backfill_pass import backfill_pass, continues_last_pass
from scheduler_sim.engine.rules.slurm.change import ALL_ELSE, NEWCOMERS_ONLY, expect_change, note_change
from scheduler_sim.engine.rules.slurm.lifecycle import give_back_unused
from scheduler_sim.engine.rules.slurm.limit_questions import main_has_looked
from scheduler_sim.engine.rules.slurm.main_pass import look_at_newcomers, main_pass
from scheduler_sim.engine.rules.slurm.moments import (
    answer,
    any_is_listed,
    ask,
    asked_pass,
    backfill_may_differ,
    catch_up_passes,
    main_is_change,
    main_stands_until,
    next_backfill,
    next_full,
    next_moment,
)
from scheduler_sim.engine.rules.slurm.nodes import match_service
from scheduler_sim.engine.rules.slurm.power_saving.looks import next_switch
from scheduler_sim.engine.rules.slurm.power_saving.nodes import service_matched
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore
from scheduler_sim.engine.rules.slurm.priority.ranking import compute_priorities, pass_over_computations
from scheduler_sim.engine.rules.slurm.reasons import look_again, note_reasons
from scheduler_sim.engine.rules.slurm.state import SlurmCore


@on(handle_instant, "slurm")
def slurm_instant(core: SlurmPowerCore) -> None:
    """What happens at this instant, the passes that are due, and when the next are.

    The two schedulers alternate; which is first within a second is a matter of chance, in
    a real daemon, and of ``looks_first`` here. If it is backfill, it sees no ends of the second. Since 23.11
    the main scheduler passes as a second begins, and sees what happened before.
    """
    now, slurm = core.clock.now, core.slurm
    catch_up(core)
    slurm.memory.steady_until = 0
    if slurm.rules.main_on_seconds:
        _end_launched(core)
        _main(core, False)
        _notice(core)
    if slurm.rules.backfill_first:
        come_due(core)
        submit_due(core)
        _notice(core)
        _backfill(core)
    take_events(core)
    pass_begins(core)
    ended = _notice(core)
    _compute(core)
    if next_end(core) == now:  # of jobs whose minutes are used up
        end_due(core)
        ended = _notice(core) or ended
    _main(core, ended)  # since 23.11, only if nodes are clean
    _notice(core)
    if not slurm.rules.backfill_first:
        _backfill(core)
    give_back_unused(core)
    core.clock.due = max(now + 1, min(next_moment(core), next_switch(core)))


@part
def _end_launched(core: SlurmPowerCore) -> None:
    """What backfill started has ended just behind its look of the second before: main sees that."""
    now, ended = core.clock.now, False
    while core.slurm.rules.launch_s > 0 and next_end(core) == now:
        row = _launched(core)
        if row < 0:
            break
        drop_end(core, row)
        happen(core, row)
        ended = True
    if ended:
        _notice(core)
        core.slurm.memory.asked_at = min(core.slurm.memory.asked_at, now)


@part
def _launched(core: SlurmPowerCore) -> int:
    """A job that backfill started and that ends now; -1 if there is none."""
    for place in range(core.clock.events):
        row = core.heap[place].row
        if core.heap[place].time == core.clock.now and 0 <= row < KIND and core.slurm.job[row].launch > 0:
            return row
    return -1


@part
def _notice(core: SlurmPowerCore) -> bool:
    """Whether something ended. Ends, submissions and commands ask for a pass.

    What is eligible by time alone, or because another has started, does not: it is seen in the
    next pass, whatever brings that.
    """
    give_back_unused(core)
    slurm, ended = core.slurm, core.clock.dirty == 1 or core.slurm.memory.at_once == 1
    outside = core.clock.early == 1 or core.queue.at.seen != slurm.memory.seen_before
    if outside:
        slurm.memory.seen_before = core.queue.at.seen
        note_change(core, core.clock.now)
    if slurm.memory.at_once:
        note_change(core, core.clock.now)
    if outside or core.clock.dirty:
        ask(core, at_once=outside)
    if ended or core.clock.early:
        expect_change(core)
    elif core.queue.at.new:
        slurm.memory.unseen_by_full = 1
        slurm.memory.changed = max(
            slurm.memory.changed, NEWCOMERS_ONLY if newcomers_come_last(core) else ALL_ELSE
        )
    if core.queue.at.new:
        slurm.memory.steady_until = 0
        if not any_is_listed(core):
            slurm.memory.waits_from = core.clock.now
    insert_newcomers(core)
    if ended:
        for i in range(len(core.slurm.partition)):
            match_service(
                core,
                core.slurm.partition[i].module,
                core.slurm.partition[i].low,
                core.slurm.partition[i].high,
            )
        service_matched(core)
    core.queue.at.new = core.clock.dirty = core.clock.early = 0
    return ended


@part
def _compute(core: SlurmCore) -> None:
    now, slurm = core.clock.now, core.slurm
    if slurm.rules.calc_period == 0 or now < slurm.memory.next_calc:
        return
    slurm.memory.next_calc += slurm.rules.calc_period * (
        (now - slurm.memory.next_calc) // slurm.rules.calc_period + 1
    )
    if compute_priorities(core) and slurm.memory.steady_until <= now:
        expect_change(core)
    if slurm.memory.pending > 0:  # also of jobs that are not eligible
        note_change(core, now)


@part
def _main(core: SlurmCore, ended: bool) -> None:
    now, slurm = core.clock.now, core.slurm
    full = next_full(core, now) == now
    asked = slurm.memory.asked and (asked_pass(core) <= now or (ended and slurm.rules.at_end))
    due = bool((full or asked) and slurm.memory.last_main != now)  # its loop makes one pass a second
    full = full and due
    if not due and not slurm.memory.at_once:
        return
    slurm.memory.at_once = 0
    note_reasons(core)
    look_at_newcomers(core)
    waiting, changed = core.queue.at.tail - core.queue.at.head, main_is_change(core, full)
    if main_stands_until(core) <= now:
        depth = INF if full else slurm.rules.default_queue_depth
        stood = slurm.memory.main_valid
        slurm.memory.retold = slurm.memory.main_again = 0
        if main_pass(core, depth):
            slurm.memory.unseen_by_full = 0
        else:  # of what it has not looked at nothing more is known
            slurm.memory.main_valid = min(slurm.memory.main_valid, stood)
        main_has_looked(core)
        slurm.memory.backfill_again |= slurm.memory.retold
        changed = main_is_change(core, full)
        if core.queue.at.tail - core.queue.at.head < waiting:
            expect_change(core)
            changed = True
    untie_ready(core)  # jobs that waited for the start of another
    look_at_newcomers(core)
    look_again(core)
    if due:
        answer(core, now)
    if changed:
        note_change(core, now)


@part
def _backfill(core: SlurmCore) -> None:
    now, slurm = core.clock.now, core.slurm
    if slurm.rules.backfill_first:
        slurm.memory.looked = now
    if slurm.rules.builtin or now < next_backfill(core):
        return
    slurm.memory.last_backfill = now
    note_reasons(core)
    look_at_newcomers(core)
    waiting = core.queue.at.tail - core.queue.at.head
    if waiting == 0:
        slurm.memory.changed, slurm.memory.self_change = ALL_ELSE, 0  # there is no plan
        return
    if backfill_may_differ(core):
        slurm.memory.retold = slurm.memory.backfill_again = 0
        if not continues_last_pass(core):
            backfill_pass(core)
        slurm.memory.main_again |= slurm.memory.retold
        slurm.memory.changed = 0
        if core.queue.at.tail - core.queue.at.head < waiting:
            expect_change(core)
            note_change(core, now)
    if slurm.memory.self_change:
        note_change(core, now)


@on(come_to_act, "slurm")
def come_to_command(core: SlurmCore) -> None:
    """What the trace submits at the instant comes first: an operator's command finds it."""
    catch_up(core)
    if not core.slurm.rules.backfill_first:  # there, ends come after the first scheduler's look
        end_due(core)
    submit_due(core)


@part
def catch_up(core: SlurmCore) -> None:
    """Whatever was due before now, and could change nothing: later moments depend on it."""
    computed = pass_over_computations(core)
    catch_up_passes(core, computed if core.slurm.memory.pending > 0 else INF)
