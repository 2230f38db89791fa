"""The life of a job: submitted, held, eligible, in the queue, running, ended or cancelled, sent back."""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, push_end
from scheduler_sim.engine.core.holding import lift
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.limits import time_granted
from scheduler_sim.engine.core.moments import (
    arrives_held,
    becomes_eligible,
    cancelled,
    ended,
    event_due,
    held_by_less,
    nodes_idle,
    nodes_taken,
    revived,
    runs_once_more,
    set_aside_again,
    started,
    stopped,
    stops,
    submitted,
    withdrawn,
)
from scheduler_sim.engine.core.placement import module_of
from scheduler_sim.engine.core.releases import add_release, drop_release
from scheduler_sim.engine.core.state import (
    BY_LIMIT,
    COMPLETED,
    FAILED,
    HELD,
    HOLD,
    REJECTED,
    RUNNING,
    TIMEOUT,
    UNSEEN,
    WAITING,
    Core,
)
from scheduler_sim.engine.core.waiting import (
    add_newcomer,
    count_pending,
    count_waiting,
    join_queue,
    settle_wait,
    stop_waiting,
)

# -- to its start


@inlined
def submit(core: Core, row: int) -> None:
    """A job arrives: rejected if it can never run, held if something holds it, else a newcomer."""
    if core.jobs[row].state != UNSEEN:
        return  # cancelled before it came
    submitted(core, row)
    if core.jobs[row].first == core.jobs[row].last:
        core.jobs[row].state = REJECTED
        tell(core, row)
        ended(core, row)
        return
    if core.jobs[row].missing > 0:
        _arrive_held(core, row)
    else:
        make_eligible(core, row)
    count_pending(core, row, 1)


@part
def _arrive_held(core: Core, row: int) -> None:
    """Something may hold it; what is over already at the submission costs nothing."""
    arrives_held(core, row)
    if core.jobs[row].state == UNSEEN and core.jobs[row].missing == 0:
        make_eligible(core, row)
    elif core.jobs[row].state == UNSEEN:
        core.jobs[row].state = HELD
        held_by_less(core, row)


@part
def untie(core: Core, row: int) -> None:
    """Nothing holds ``row`` any more; it may have been cancelled or held since."""
    if core.jobs[row].state == HELD and core.jobs[row].missing == 0:
        make_eligible(core, row)


@part
def make_eligible(core: Core, row: int) -> None:
    """It may start from now on: it waits, and joins the queue in this step's pass."""
    becomes_eligible(core, row)
    core.jobs[row].state = WAITING
    core.jobs[row].eligible = core.clock.now
    join_queue(core, row)


@part
def start(core: Core, row: int, placement: int) -> None:
    """Start now: take nodes and resources, plan their return by the time limit."""
    now, it = core.clock.now, core.placements[placement]
    settle_wait(core, row)
    if core.jobs[row].state == WAITING:
        stop_waiting(core, row)
    core.jobs[row].state = RUNNING
    core.jobs[row].start = now
    core.jobs[row].end = now + it.duration
    core.jobs[row].placed = placement
    take_nodes(core, placement)
    count_busy(core, placement, 1)
    module = module_of(core, placement)
    core.pools[module].touched = 1
    nodes_taken(core, module, it.nodes)
    add_release(core, it.module, now + it.limit, row, it.nodes)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            pool = core.clock.modules + i
            core.pools[pool].free -= core.demand[placement, i]
            core.pools[pool].busy += core.demand[placement, i]
            add_release(core, pool, now + it.limit, row, core.demand[placement, i])
    push_end(core, core.jobs[row].end, row)
    count_pending(core, row, -1)
    tell(core, row)
    started(core, row)


@question
def take_nodes(core: Core, placement: int) -> None:
    """The nodes of a placement are idle no longer."""
    core.pools[core.placements[placement].module].free -= core.placements[placement].nodes


@question
def count_busy(core: Core, placement: int, sign: int) -> None:
    """The nodes of a placement run a job from now on (1), or no longer (-1)."""
    core.pools[module_of(core, placement)].busy += sign * core.placements[placement].nodes


# -- from its start to its end


@inlined
def happen(core: Core, event: int) -> None:
    """What stood among the events comes to pass."""
    kind, number = event // KIND * KIND, event % KIND
    if kind == 0:
        run_out(core, number)
    else:
        event_due(core, kind, number)


@inlined
def run_out(core: Core, row: int) -> None:
    """A running job reaches its end by itself or by its limit."""
    killed = core.placements[core.jobs[row].placed].killed
    if is_ended_otherwise(core, row, killed == BY_LIMIT):
        return
    if core.jobs[row].fails and killed != BY_LIMIT:
        finish(core, row, FAILED)
    else:
        finish(core, row, TIMEOUT if killed else COMPLETED)


@question
def is_ended_otherwise(core: Core, row: int, killed: bool) -> bool:
    """Whether a rule has ended a job at its own end, or when its time is over, in a state of its own."""
    return False


@inlined
def finish(core: Core, row: int, state: int) -> None:
    """A running job ends now, in ``state``; its entry among the events is gone."""
    gone = vacate(core, row, state)
    tell(core, row)
    if gone:
        ended(core, row)


@inlined
def vacate(core: Core, row: int, state: int) -> bool:
    """A running job gives back all it holds; False if its nodes come back later."""
    now, placement = core.clock.now, core.jobs[row].placed
    module = core.placements[placement].module
    planned = core.jobs[row].start + time_granted(core, row, placement)
    stops(core, row)
    core.jobs[row].state = state
    core.jobs[row].end = now
    gone = hand_back(core, row, planned)
    stopped(core, row)
    count_busy(core, placement, -1)
    core.pools[module_of(core, placement)].touched = 1
    drop_release(core, module, planned, row)
    for i in range(core.demand.shape[1]):
        if core.demand[placement, i] > 0:
            pool = core.clock.modules + i
            give_back(core, pool, core.demand[placement, i])
            core.pools[pool].busy -= core.demand[placement, i]
            drop_release(core, pool, planned, row)
    return gone


@question
def hand_back(core: Core, row: int, planned: int) -> bool:
    """The nodes of a job, which was planned to end at ``planned``, are idle now; False if only later."""
    core.clock.dirty = 1
    if core.clock.now < planned:
        core.clock.early = 1
    elif core.clock.now > planned:  # it overran: reservations counted on its nodes
        core.clock.early = core.clock.lost = 1
    free_nodes(core, core.jobs[row].placed)
    return True


@question
def free_nodes(core: Core, placement: int) -> None:
    """The nodes of a placement become idle."""
    give_back(core, core.placements[placement].module, core.placements[placement].nodes)


@part
def give_back(core: Core, pool: int, nodes: int) -> None:
    """Nodes become idle; those that are to be drained leave service instead."""
    leaving = min(nodes, core.pools[pool].draining)
    core.pools[pool].draining -= leaving
    core.pools[pool].down += leaving
    core.pools[pool].free += nodes - leaving
    if pool < core.clock.modules:
        core.pools[pool].touched = 1
        nodes_idle(core, pool, nodes - leaving)


# -- by hand


@part
def leave_queue(core: Core, row: int, state: int) -> None:
    """One that waits, is held or has yet to come is cancelled; the caller takes it out of the queue."""
    if core.jobs[row].state == WAITING:
        _vanish(core, row)
    withdrawn(core, row)
    count_pending(core, row, -1)
    if core.jobs[row].state != UNSEEN:
        core.jobs[row].end = core.clock.now
    if core.jobs[row].eligible > core.clock.now:  # it had a reservation of its own
        core.jobs[row].eligible = -1
    core.jobs[row].state = state
    tell(core, row)
    ended(core, row)
    cancelled(core, row)


@part
def set_aside(core: Core, row: int) -> None:
    """One that waits is held again; the caller takes it out of the queue, and says what holds it."""
    _vanish(core, row)
    core.jobs[row].state = HELD
    core.jobs[row].eligible = -1
    set_aside_again(core, row)
    core.jobs[row].wait_resources = core.jobs[row].measured = 0


@part
def _vanish(core: Core, row: int) -> None:
    """One that waits is taken out of the plan."""
    stop_waiting(core, row)
    plan_anew(core)


@question
def plan_anew(core: Core) -> None:
    """Plans must be made anew, though nothing ended."""
    core.clock.early = core.clock.dirty = 1


@question
def send_back(core: Core, row: int) -> None:
    """Stop what runs, and have it wait again from now on; the lost attempt counts as a wait for nodes."""
    vacate(core, row, WAITING)
    runs_once_more(core, row)
    core.jobs[row].wait_resources += core.clock.now - core.jobs[row].start
    core.jobs[row].state = WAITING
    core.jobs[row].start = core.jobs[row].end = core.jobs[row].placed = -1
    add_newcomer(core, row)
    count_waiting(core, core.jobs[row].first, 1)


@part
def revive(core: Core, row: int) -> None:
    """What has ended is to run once more; a job that waits for its end, and has not got it, may yet."""
    core.jobs[row].state = HELD
    forget_run(core, row)
    revived(core, row)
    wait_again(core, row)


@question
def wait_again(core: Core, row: int) -> None:
    """One that has ended waits again, as nothing holds it but that."""
    lift(core, row)


@part
def forget_run(core: Core, row: int) -> None:
    """As if it had never run, but for one thing that holds it now."""
    runs_once_more(core, row)
    core.jobs[row].eligible = core.jobs[row].start = core.jobs[row].end = core.jobs[row].placed = -1
    core.jobs[row].wait_resources = core.jobs[row].measured = 0
    core.jobs[row].missing += HOLD
    count_pending(core, row, 1)


@part
def tell(core: Core, row: int) -> None:
    """The caller wants to know of a start or an end."""
    if core.jobs[row].watch:
        core.queue.notices[core.queue.at.told] = row
        core.queue.at.told += 1
