"""What Slurm does at the moments in the life of a job."""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import event, on, only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.laws import ARRAY_TASKS, keep_count
from scheduler_sim.engine.core.lifecycle import (
    forget_run,
    free_nodes,
    hand_back,
    leave_queue,
    plan_anew,
    send_back,
    vacate,
    wait_again,
)
from scheduler_sim.engine.core.limits import least_limit, set_duration, set_run_time, time_granted
from scheduler_sim.engine.core.moments import (
    arrives_held,
    becomes_eligible,
    end_forgotten,
    end_planned,
    ended,
    event_due,
    let_go,
    pending_changed,
    started,
    stopped,
    submitted,
)
from scheduler_sim.engine.core.releases import add_release, drop_release
from scheduler_sim.engine.core.run_time import time_at_work
from scheduler_sim.engine.core.state import (
    CANCELLED,
    COMPLETED,
    FAILED,
    HELD,
    HOLD,
    PAST_LIMIT,
    RUNNING,
    TIMEOUT,
    UNSEEN,
)
from scheduler_sim.engine.rules.dependencies import NEVER, fails
from scheduler_sim.engine.rules.holds import BEGIN, await_begin, let_singleton_go
from scheduler_sim.engine.rules.slurm.change import expect_change, note_change, note_end
from scheduler_sim.engine.rules.slurm.nodes import (
    deallocate,
    give_back_all_but_first,
    give_back_first,
    set_leaving,
)
from scheduler_sim.engine.rules.slurm.planned_ends import everywhere
from scheduler_sim.engine.rules.slurm.priority.ranking import charge_until, give_priority
from scheduler_sim.engine.rules.slurm.reasons import arrives_waiting, forget_reasons, note_less
from scheduler_sim.engine.rules.slurm.start import set_end
from scheduler_sim.engine.rules.slurm.state import SlurmCore

MS = 1000

NODES_BACK = KIND
"""Event: the epilog of a job is over, or what was killed is gone: its nodes are idle."""

NEVER_SATISFIED = 2 * KIND
"""Event: the dependencies of a job can never be satisfied."""


# -- to its start


@on(submitted, "slurm")
def rank_submitted(core: SlurmCore, row: int) -> None:
    """It gets its priority, and may be the singleton that others wait for."""
    if core.jobs[row].first < core.jobs[row].last:
        give_priority(core, row)
    let_singleton_go(core, row)


@part
def turn_away(core: SlurmCore, row: int) -> None:
    """One that was just submitted is rejected: it takes no place among priorities, and asks for no pass."""
    core.jobs[row].last = core.jobs[row].first
    core.slurm.memory.serial -= core.slurm.rules.basic
    core.slurm.memory.seen_before += 1


@on(arrives_held, "slurm")
def hold_at_first(core: SlurmCore, row: int) -> None:
    """It is held until the next updates of dependencies, also if all is over already."""
    core.jobs[row].state = HELD
    arrives_waiting(core, row)
    cancel_never_satisfied(core, row)


@on(becomes_eligible, "slurm")
def count_age(core: SlurmCore, row: int) -> None:
    """Its age counts from its submission, its begin time, or the next pass that looks at it."""
    if core.jobs[row].state == UNSEEN:
        core.holds.term[row].begin = core.clock.now
    elif core.holds.term[row].begin < core.clock.now:
        core.holds.term[row].begin = -1
        core.queue.candidates[core.slurm.memory.unlooked] = row
        core.slurm.memory.unlooked += 1


@on(pending_changed, "slurm")
def count_pending(core: SlurmCore, row: int, sign: int) -> None:
    """Priorities are computed for those that are pending, eligible or not."""
    core.slurm.memory.pending += sign


@on(started, "slurm")
def plan_end_everywhere(core: SlurmCore, row: int) -> None:
    """Its planned end stands in the list of all modules together, too."""
    placed = core.jobs[row].placed
    planned = core.jobs[row].start + time_granted(core, row, placed)
    add_release(core, everywhere(core), planned, row, core.placements[placed].nodes)


# -- to its end


@on(hand_back, "slurm")
def complete(core: SlurmCore, row: int, planned: int) -> bool:
    """Its nodes are idle after the epilog, and KillWait for what was killed; False if that takes time.

    If backfill looks first, it sees no nodes that came back in its second.
    """
    now, seconds = core.clock.now, _completing_s(core, row)
    core.slurm.job[row].cleans = seconds > 0
    room_is_left(core, row)
    unseen = core.slurm.rules.backfill_first and core.slurm.memory.looked < now
    if seconds > 0 and core.slurm.rules.script_alone and core.placements[core.jobs[row].placed].nodes > 1:
        core.slurm.without[core.slurm.memory.without] = row
        core.slurm.memory.without += _is_killed(core, row)
    if seconds > 0 or unseen:  # passes are asked for when they are back
        push_end(core, now + seconds, NODES_BACK + row)
        set_leaving(core, row, True)
        expect_change(core)
        note_change(core, now)
        return False
    core.clock.dirty = 1
    if is_ended_early(core, row):
        note_change(core, now)  # whoever ended it has told the schedulers
    else:
        note_end(core, row)
    free_nodes(core, core.jobs[row].placed)
    deallocate(core, row)
    return True


@part
def _ended_by_itself(core: SlurmCore, row: int) -> bool:
    """Whether a job came to its end, and was not ended by others in that very second."""
    state = core.jobs[row].state
    ended = state in (COMPLETED, TIMEOUT) or (state == FAILED and core.jobs[row].fails)
    return bool(ended or ends_in_grace(core, row))


@question
def ends_in_grace(core: SlurmCore, row: int) -> bool:
    """Whether a job that counts as preempted came to its end by itself in its grace."""
    return False


@question
def is_ended_early(core: SlurmCore, row: int) -> bool:
    """Whether somebody ends it before its time, or in the very second of its end."""
    early = core.clock.now < core.jobs[row].start + core.placements[core.jobs[row].placed].duration
    return bool(early or not _ended_by_itself(core, row))


@event
def room_is_left(core: SlurmCore, row: int) -> None:
    """A job has ended, so that nothing of its nodes is its own any more, though they may not be back yet."""


@part
def _completing_s(core: SlurmCore, row: int) -> int:
    """How long nodes are not idle after an end."""
    rules = core.slurm.rules
    if not _is_killed(core, row):
        return rules.epilog_s
    return rules.epilog_s + rules.KillWait + rules.killed_epilog_s + _seconds_of_cleaning(core)


@part
def _is_killed(core: SlurmCore, row: int) -> bool:
    """Whether a job that has ended did not come to its end by itself."""
    state = core.jobs[row].state
    if state == TIMEOUT:
        return bool(core.placements[core.jobs[row].placed].killed != PAST_LIMIT)
    return bool(state not in (COMPLETED, FAILED) and not ends_in_grace(core, row))


@part
def give_back_unused(core: SlurmCore) -> None:
    """Slurmd says of nodes on which a killed job has no process that they are clean: behind a pass."""
    for i in range(core.slurm.memory.without):
        row = core.slurm.without[i]
        core.slurm.job[row].on_first = 1
        give_back_all_but_first(core, row)
    if core.slurm.memory.without:
        expect_change(core)
    core.slurm.memory.without = 0


@part
def _seconds_of_cleaning(core: SlurmCore) -> int:
    """Whole seconds of the ms that cleaning takes besides: the same for all that are killed now."""
    memory, now = core.slurm.memory, core.clock.now
    if memory.killed_at != now:
        memory.killed_at = now
        memory.cleaned += core.slurm.rules.killed_epilog_ms
        memory.cleans_for = memory.cleaned // MS
        memory.cleaned %= MS
    return int(memory.cleans_for)


@on(stopped, "slurm")
def account_end(core: SlurmCore, row: int) -> None:
    """What it used is charged, if at all, and one task less of its array runs."""
    placed = core.jobs[row].placed
    drop_release(core, everywhere(core), core.jobs[row].start + time_granted(core, row, placed), row)
    core.slurm.job[row].last = placed
    if core.slurm.rules.charge_ends:
        charge_until(core, row, core.clock.now)
    if core.holds.term[row].array >= 0:
        array = core.holds.term[row].array
        core.holds.array[array].running -= 1
        keep_count(core, ARRAY_TASKS, array, core.holds.array[array].running)


@on(event_due, "slurm")
def happen_in_slurm(core: SlurmCore, kind: int, row: int) -> None:
    """Nodes are back, or a job ends that can never start."""
    if kind == NODES_BACK:
        _nodes_back(core, row)
    elif kind == NEVER_SATISFIED and core.jobs[row].state == HELD and not core.jobs[row].held:
        leave_queue(core, row, CANCELLED)


@part
def _nodes_back(core: SlurmCore, row: int) -> None:
    """The nodes of a job that ended are idle at last; to those that depend on it, it ends now.

    Where they had to be cleaned, slurmd says so by itself, and that brings a pass at once.
    """
    set_leaving(core, row, False)
    if core.slurm.job[row].on_first:
        core.slurm.job[row].on_first = 0
        give_back_first(core, row)
    else:
        free_nodes(core, core.slurm.job[row].last)
    deallocate(core, row)
    if core.slurm.job[row].cleans and not core.slurm.rules.defer:
        core.slurm.memory.at_once = 1
    else:
        core.clock.dirty = core.clock.early = 1
    if core.jobs[row].state > RUNNING:
        ended(core, row)
    elif core.jobs[row].state == HELD:
        requeue(core, row)


@on(plan_anew, "slurm")
def note_by_hand(core: SlurmCore) -> None:
    """Something changed, though nothing ended."""
    core.clock.early = 1


# -- once more


@on(send_back, "slurm")
def send_back_later(core: SlurmCore, row: int) -> None:
    """Requeue what runs: it waits again some time after its nodes are back."""
    gone = vacate(core, row, HELD)
    plan_anew(core)
    forget_run(core, row)
    if gone:
        requeue(core, row)


@on(wait_again, "slurm")
def wait_for_nodes(core: SlurmCore, row: int) -> None:
    """Requeue what has ended; what depends on it may start after all."""
    may_be_satisfied_again(core, row)
    if core.slurm.job[row].piece < 0:  # else its nodes are yet to come back
        requeue(core, row)


@part
def requeue(core: SlurmCore, row: int) -> None:
    """One that is requeued counts as submitted now, and is eligible after Slurm's delay."""
    now, term = core.clock.now, core.holds.term[row]
    if term.begin > now:  # it still waited for a begin time when it was cancelled
        drop_end(core, BEGIN + row)
        core.jobs[row].missing -= HOLD
    core.jobs[row].submit = now
    forget_reasons(core, row)
    if core.slurm.rules.ranked_at_requeue:
        give_priority(core, row)
    term.begin = now + core.slurm.rules.requeue_delay_s
    await_begin(core, row)


# -- dependencies that can never be satisfied


@on(fails, "slurm")
def never_satisfied(core: SlurmCore, edge: int) -> None:
    """A dependency can never be satisfied any more: the job that needs it ends, if it is to be killed."""
    row = core.dependencies.edge[edge].successor
    if core.dependencies.edge[edge].satisfied:
        return
    core.dependencies.edge[edge].satisfied = NEVER
    core.slurm.job[row].satisfiable -= 1
    if core.jobs[row].state == HELD:
        note_less(core, row)
    if core.jobs[row].state == HELD:
        cancel_never_satisfied(core, row)


@only_with("dependencies")
def may_be_satisfied_again(core: SlurmCore, row: int) -> None:
    """``row`` is to run once more: what Slurm did not test, of jobs to come or held, may be met."""
    for edge in range(core.dependencies.of[row].first, core.dependencies.of[row].last):
        dependent = core.dependencies.edge[edge].successor
        tested = core.jobs[dependent].state != UNSEEN and not core.jobs[dependent].held
        if core.dependencies.edge[edge].satisfied == NEVER and not tested:
            core.dependencies.edge[edge].satisfied = 0
            core.slurm.job[dependent].satisfiable += 1


@part
def cancel_never_satisfied(core: SlurmCore, row: int) -> None:
    """Cancel what can never start, if it is to be killed; of what is held by hand Slurm tests nothing."""
    if (
        core.slurm.rules.kill_invalid_depend
        and core.slurm.job[row].satisfiable <= 0
        and not core.jobs[row].held
    ):
        push_end(core, core.clock.now, NEVER_SATISFIED + row)


@on(let_go, "slurm")
def test_let_go(core: SlurmCore, row: int) -> None:
    """One that was held by hand has not been tested."""
    if core.jobs[row].state == HELD:
        cancel_never_satisfied(core, row)


# -- limits


@on(set_duration, "slurm")
def keep_duration(core: SlurmCore, placement: int, run: int, overrun: int) -> None:
    """How long it takes is known when its end is planned."""


@on(set_run_time, "slurm")
def keep_run_time(core: SlurmCore, placement: int, run: int) -> None:
    """How long it takes is known when its end is planned."""
    core.slurm.way[placement].run = run


@on(time_at_work, "slurm")
def work_after_launch(core: SlurmCore, row: int, end: int) -> int:
    """Its run time begins when it has been launched."""
    return max(end - core.jobs[row].start - core.slurm.job[row].launch, 0)


@on(least_limit, "slurm")
def any_limit(core: SlurmCore, row: int, overrun: int) -> int:
    """Any limit will do."""
    return 0


@on(end_forgotten, "slurm")
def forget_end_everywhere(core: SlurmCore, row: int) -> None:
    """Its planned end stood in the list of all modules together, too."""
    planned = core.jobs[row].start + time_granted(core, row, core.jobs[row].placed)
    drop_release(core, everywhere(core), planned, row)


@on(end_planned, "slurm")
def set_end_anew(core: SlurmCore, row: int) -> None:
    """When it ends by its new limit, and where its planned end stands."""
    set_end(core, row, core.jobs[row].placed, core.jobs[row].start)
    plan_end_everywhere(core, row)
