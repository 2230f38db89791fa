"""A component's transitions: submitted, held, in the queue, running, ended."""

from __future__ import annotations

from scheduler_sim.engine.appointments import forget_appointment
from scheduler_sim.engine.crew import is_member, leader_of, starts_with_others
from scheduler_sim.engine.dependencies import (
    end_hopeless,
    hope_again,
    let_singleton_go,
    lift,
    satisfy,
    satisfy_ended,
    satisfy_started,
    seek_place,
)
from scheduler_sim.engine.events import (
    BEGIN,
    CALLS,
    HOPELESS,
    KIND,
    NODES_BACK,
    SATISFIED,
    drop_end,
    push_end,
)
from scheduler_sim.engine.idle import append, take_last
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.lines import begins, leave_place, returns
from scheduler_sim.engine.record import short_so_far
from scheduler_sim.engine.releases import add_release, drop_release
from scheduler_sim.engine.slurm.advance import end_reservation, has_reservation
from scheduler_sim.engine.slurm.change import expect_change, note_change, note_end
from scheduler_sim.engine.slurm.nodes import give_up, set_leaving
from scheduler_sim.engine.slurm.ranking import charge_until, give_priority
from scheduler_sim.engine.slurm.slots import (
    CHARGE_ENDS,
    EPILOG,
    HOLDING,
    KILL_WAIT,
    KILLED,
    REQUEUE_DELAY,
    UNLOOKED,
)
from scheduler_sim.engine.state import (
    BY_LIMIT,
    CANCELLED,
    CANDIDATES,
    COMPLETED,
    COMPLEX,
    DIRTY,
    EARLY,
    FAILED,
    HELD,
    HOLD,
    IDLE,
    LOST,
    MODULES,
    NOTICES,
    NOW,
    PAST_LIMIT,
    REJECTED,
    RUNNING,
    SWITCHING,
    TIMEOUT,
    TOLD,
    UNITS,
    UNSEEN,
    WAITING,
    Core,
)
from scheduler_sim.engine.waiting import (
    count_pending,
    count_unit,
    count_waiting,
    line_up,
    set_eligible,
    stop_waiting,
)


@part
def submit(core: Core, row: int) -> None:
    """A component arrives: rejected if it can never run, held if it depends, else a newcomer."""
    if core.comp[row].state != UNSEEN:
        return  # cancelled before it came
    if core.slurm[HOLDING]:
        give_priority(core, row)
        let_singleton_go(core, row)
    if core.comp[row].first == core.comp[row].last:
        core.comp[row].state = REJECTED
        _tell(core, row)
        satisfy_ended(core, row)
        return
    if core.comp[row].missing > 0:
        _arrive_held(core, row)
    else:
        make_eligible(core, row)
    count_pending(core, row, 1)


@part
def _arrive_held(core: Core, row: int) -> None:
    """Something may hold it; what is over already at the submission costs nothing."""
    if core.slurm[HOLDING]:
        core.comp[row].state = HELD
        _await_begin(core, row)
        end_hopeless(core, row)
        return
    if len(core.term) > 0:
        _await_begin(core, row)
        let_singleton_go(core, row)
    if core.comp[row].missing == 0:
        make_eligible(core, row)
        return
    core.comp[row].state = HELD
    seek_place(core, row)


@part
def untie(core: Core, row: int) -> None:
    """Nothing holds ``row`` any more; it may have been cancelled or held since."""
    if core.comp[row].state == HELD and core.comp[row].missing == 0:
        make_eligible(core, row)


@part
def make_eligible(core: Core, row: int) -> None:
    """It may start from now on: it waits, and joins the queue in this step's pass."""
    if core.slurm[HOLDING]:
        _count_age(core, row)
    core.comp[row].state = WAITING
    core.comp[row].eligible = core.clock[NOW]
    placement = core.comp[row].first
    module = core.place[placement].module
    if not core.rules[COMPLEX]:
        core.comp[row].wait_resources = -short_so_far(core, module, core.place[placement].nodes)
    _join_queue(core, row)


@part
def _count_age(core: Core, row: int) -> None:
    """Slurm counts its age from its submission, its begin time, or the next pass that looks at it."""
    if core.comp[row].state == UNSEEN:
        core.term[row].begin = core.clock[NOW]
    elif core.term[row].begin < core.clock[NOW]:
        core.term[row].begin = -1
        core.lists[CANDIDATES, core.slurm[UNLOOKED]] = row
        core.slurm[UNLOOKED] += 1


@part
def _join_queue(core: Core, row: int) -> None:
    """A unit joins once all its members wait: that is when they are eligible; who starts at once counts.

    With Slurm each member joins by itself; who starts later is not eligible before that.
    """
    leader = leader_of(core, row)
    if leader < 0:
        core.comp[row].eligible = -1
        return
    if starts_with_others(core, row):
        set_eligible(core, row, core.clock[NOW])
        count_unit(core, row, 1)
    elif is_member(core, row) and core.member[row].offset > 0 and core.member[row].appointment < 0:
        core.comp[row].eligible = -1  # Slurm: in the queue for the sake of its job
    else:
        count_waiting(core, row, core.comp[row].first, 1)
    line_up(core, leader)


@part
def start(core: Core, row: int, placement: int) -> None:
    """Start now: take nodes and resources, plan their return by the time limit."""
    now, module = core.clock[NOW], core.place[placement].module
    if not core.rules[COMPLEX]:
        core.comp[row].wait_resources += short_so_far(core, module, core.place[placement].nodes)
    if core.comp[row].state == WAITING:
        stop_waiting(core, row)
    core.comp[row].state = RUNNING
    core.comp[row].start = now
    core.comp[row].end = now + core.place[placement].duration
    core.comp[row].placed = placement
    planned = now + core.place[placement].limit
    core.pool[module].free -= core.place[placement].nodes
    core.pool[module].busy += core.place[placement].nodes
    core.pool[module].touched = 1
    if core.rules[SWITCHING]:
        take_last(core, module, IDLE, core.place[placement].nodes)
    add_release(core, module, planned, row, core.place[placement].nodes)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            pool = core.clock[MODULES] + i
            core.pool[pool].free -= core.demand[placement, i]
            add_release(core, pool, planned, row, core.demand[placement, i])
    if core.slurm[HOLDING]:
        add_release(core, everywhere(core), planned, row, core.place[placement].nodes)
    if len(core.term) > 0:
        begins(core, row)
    push_end(core, core.comp[row].end, row)
    expect_calls(core, row, -1)
    count_pending(core, row, -1)
    _tell(core, row)
    satisfy_started(core, row)


@part
def expect_calls(core: Core, row: int, known: int) -> None:
    """Note the calls ``row`` will make while it runs, those after its first ``known`` s."""
    if core.rules[UNITS]:
        for i in range(core.member[row].call, core.member[row].call_last):
            if known < core.call[i].after < core.place[core.comp[row].placed].duration:
                push_end(core, core.comp[row].start + core.call[i].after, CALLS + i)


@part
def _forget_calls(core: Core, row: int) -> None:
    """``row`` ends before its time: calls to come are not made."""
    if core.rules[UNITS] and core.clock[NOW] < core.comp[row].end:
        for i in range(core.member[row].call, core.member[row].call_last):
            drop_end(core, CALLS + i)


@part
def everywhere(core: Core) -> int:
    """The list of planned ends in all modules together, which Slurm's predictions read."""
    return len(core.pool) - 1


@part
def happen(core: Core, event: int) -> None:
    """What stood in the heap comes to pass."""
    kind, row = event // KIND * KIND, event % KIND
    if kind == 0:
        run_out(core, row)
    elif kind == NODES_BACK:
        _nodes_back(core, row)
    elif kind == SATISFIED:
        satisfy(core, row)
    elif kind == BEGIN:
        lift(core, row)
    elif kind == HOPELESS and core.comp[row].state == HELD and not core.comp[row].held:
        leave_queue(core, row, CANCELLED)


@part
def run_out(core: Core, row: int) -> None:
    """A running component reaches its end by itself or by its limit."""
    killed = core.place[core.comp[row].placed].killed
    if core.comp[row].fails and killed != BY_LIMIT:
        finish(core, row, FAILED)
    else:
        finish(core, row, TIMEOUT if killed else COMPLETED)


@part
def finish(core: Core, row: int, state: int) -> None:
    """A running component ends now, in ``state``; its entry in the event heap is gone."""
    gone = vacate(core, row, state)
    _tell(core, row)
    if gone:
        satisfy_ended(core, row)


@part
def vacate(core: Core, row: int, state: int) -> bool:
    """A running component gives back all it holds; False if its nodes come back later."""
    now, placement = core.clock[NOW], core.comp[row].placed
    module = core.place[placement].module
    planned = core.comp[row].start + core.place[placement].limit
    _forget_calls(core, row)
    core.comp[row].state = state
    core.comp[row].end = now
    kept_s = _completing_s(core, row, state)
    if kept_s > 0:  # Slurm: passes are asked for when they are back
        push_end(core, now + kept_s, NODES_BACK + row)
        set_leaving(core, row, True)
        expect_change(core)
        note_change(core, now)
    else:
        core.clock[DIRTY] = 1
        if core.slurm[HOLDING]:
            note_end(core, row)
        elif now < planned:
            core.clock[EARLY] = 1
        elif now > planned:  # it overran: promises counted on its nodes
            core.clock[EARLY] = core.clock[LOST] = 1
        give_back(core, module, core.place[placement].nodes)
    if core.slurm[HOLDING]:
        if kept_s == 0:
            give_up(core, row)
        drop_release(core, everywhere(core), planned, row)
        _account_end(core, row)
        if has_reservation(core, row):
            end_reservation(core, row)
    if len(core.term) > 0:
        _leave_lines(core, row)
    core.pool[module].busy -= core.place[placement].nodes
    core.pool[module].touched = 1
    drop_release(core, module, planned, row)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            pool = core.clock[MODULES] + i
            give_back(core, pool, core.demand[placement, i])
            drop_release(core, pool, planned, row)
    return kept_s == 0


@part
def _completing_s(core: Core, row: int, state: int) -> int:
    """How long nodes are not idle after an end: the epilog, and KillWait for what was killed."""
    if not core.slurm[HOLDING]:
        return 0
    if state in (COMPLETED, FAILED):
        return core.slurm[EPILOG]
    if state == TIMEOUT and core.place[core.comp[row].placed].killed == PAST_LIMIT:
        return core.slurm[EPILOG]
    return core.slurm[EPILOG] + core.slurm[KILL_WAIT] + core.slurm[KILLED]


@part
def _nodes_back(core: Core, row: int) -> None:
    """The nodes of a component that ended are idle at last; to those who depend on it, it ends now."""
    module = core.place[core.job[row].last].module
    give_back(core, module, core.place[core.job[row].last].nodes)
    set_leaving(core, row, False)
    give_up(core, row)
    core.clock[DIRTY] = core.clock[EARLY] = 1
    if core.comp[row].state > RUNNING:
        satisfy_ended(core, row)
    elif core.comp[row].state == HELD:
        _wait_again(core, row)


@part
def _account_end(core: Core, row: int) -> None:
    """What it used is charged, if at all, and one task less of its array runs."""
    core.job[row].last = core.comp[row].placed
    if core.slurm[CHARGE_ENDS]:
        charge_until(core, row, core.clock[NOW])
    if core.term[row].array >= 0:
        core.array[core.term[row].array].running -= 1


@part
def _leave_lines(core: Core, row: int) -> None:
    """It runs no longer: the next of its user and name may go, and of its array, if it has ended."""
    if core.comp[row].state > RUNNING:
        leave_place(core, row)
    if core.term[row].group >= 0:
        core.group[core.term[row].group].running -= 1
        if core.comp[row].state <= WAITING:
            returns(core, row)
        let_singleton_go(core, row)


@part
def _await_begin(core: Core, row: int) -> None:
    """One that asks for a begin time waits for it as for a dependency."""
    if core.term[row].begin > core.clock[NOW]:
        push_end(core, core.term[row].begin, BEGIN + row)
    elif core.term[row].begin >= 0:
        lift(core, row)


@part
def give_back(core: Core, pool: int, nodes: int) -> None:
    """Nodes become idle; those that are to be drained leave service instead."""
    leaving = min(nodes, core.pool[pool].draining)
    core.pool[pool].draining -= leaving
    core.pool[pool].down += leaving
    core.pool[pool].free += nodes - leaving
    if pool < core.clock[MODULES]:
        core.pool[pool].touched = 1
        if core.rules[SWITCHING]:
            append(core, pool, IDLE, core.clock[NOW], nodes - leaving)


@part
def leave_queue(core: Core, row: int, state: int) -> None:
    """One that waits, is held or has yet to come is cancelled; the caller takes it out of the queue."""
    if core.comp[row].state == WAITING:
        _vanish(core, row)
    if has_reservation(core, row):
        end_reservation(core, row)
        changed_by_hand(core)
    elif core.rules[UNITS] and core.member[row].appointment >= 0:
        forget_appointment(core, row)
        changed_by_hand(core)
    count_pending(core, row, -1)
    if core.comp[row].state != UNSEEN:
        core.comp[row].end = core.clock[NOW]
    if core.comp[row].eligible > core.clock[NOW]:  # it had an appointment
        core.comp[row].eligible = -1
    core.comp[row].state = state
    _tell(core, row)
    satisfy_ended(core, row)
    if len(core.term) > 0:
        leave_place(core, row)
        let_singleton_go(core, row)


@part
def set_aside(core: Core, row: int) -> None:
    """One that waits is held again; the caller takes it out of the queue, and says what holds it."""
    _vanish(core, row)
    core.comp[row].state = HELD
    core.comp[row].eligible = -1
    if starts_with_others(core, row):
        set_eligible(core, row, -1)
    core.comp[row].wait_resources = 0


@part
def _vanish(core: Core, row: int) -> None:
    """One that waits is taken out of the plan."""
    stop_waiting(core, row)
    changed_by_hand(core)


@part
def changed_by_hand(core: Core) -> None:
    """Plans must be made anew, though nothing ended."""
    core.clock[EARLY] = 1
    if not core.slurm[HOLDING]:
        core.clock[DIRTY] = 1


@part
def send_back(core: Core, row: int) -> None:
    """Slurm's requeue of what runs: it waits again some time after its nodes are back."""
    gone = vacate(core, row, HELD)
    changed_by_hand(core)
    _forget_run(core, row)
    if gone:
        _wait_again(core, row)


@part
def revive(core: Core, row: int) -> None:
    """What has ended is to run once more; who waits for its end, and has not got it, may yet."""
    core.comp[row].state = HELD
    _forget_run(core, row)
    if len(core.term) > 0:
        returns(core, row)
    if not core.slurm[HOLDING]:
        lift(core, row)
        return
    hope_again(core, row)
    if core.job[row].piece < 0:  # else its nodes are yet to come back
        _wait_again(core, row)


@part
def _forget_run(core: Core, row: int) -> None:
    """As if it had never run, but for one thing that holds it now."""
    core.comp[row].eligible = core.comp[row].start = core.comp[row].end = core.comp[row].placed = -1
    core.comp[row].wait_resources = 0
    core.comp[row].missing += HOLD
    count_pending(core, row, 1)


@part
def _wait_again(core: Core, row: int) -> None:
    """One that is requeued counts as submitted now, and is eligible after Slurm's delay."""
    now = core.clock[NOW]
    if core.term[row].begin > now:  # it still waited for a begin time when it was cancelled
        drop_end(core, BEGIN + row)
        core.comp[row].missing -= HOLD
    core.comp[row].submit = now
    core.term[row].begin = now + core.slurm[REQUEUE_DELAY]
    _await_begin(core, row)


@part
def requeue(core: Core, row: int) -> None:
    """What ``vacate`` stopped waits again from now on; the lost attempt counts as a wait for nodes."""
    placement = core.comp[row].first
    core.comp[row].wait_resources += core.clock[NOW] - core.comp[row].start
    core.comp[row].state = WAITING
    core.comp[row].start = core.comp[row].end = core.comp[row].placed = -1
    if not core.rules[COMPLEX]:
        core.comp[row].wait_resources -= short_so_far(
            core, core.place[placement].module, core.place[placement].nodes
        )
    line_up(core, row)
    count_waiting(core, row, placement, 1)


@part
def _tell(core: Core, row: int) -> None:
    if core.comp[row].watch:
        core.lists[NOTICES, core.clock[TOLD]] = row
        core.clock[TOLD] += 1
