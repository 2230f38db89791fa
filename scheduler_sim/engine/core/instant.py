"""The order of things at one instant (rule 1).

ends, [outside: node and limit changes, cancellations], submissions, dependency
updates, one pass; and again while anything new happens at that instant. What rules put among the events
comes with the ends, before or behind them.
"""

from __future__ import annotations

from scheduler_sim.engine.core.events import next_end, pop_end
from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import inlined, part
from scheduler_sim.engine.core.laws import KEPT
from scheduler_sim.engine.core.lifecycle import happen, submit, untie
from scheduler_sim.engine.core.moments import dependencies_updated, instant_opens, pass_begins
from scheduler_sim.engine.core.record import settle
from scheduler_sim.engine.core.scheme import schedule
from scheduler_sim.engine.core.state import BROKEN, BUDGET, DONE, INF, NOTICE, TIMELINE_FULL, UNTIL, Core


@inlined
def next_instant(core: Core) -> int:
    """When something happens next, INF if never."""
    now = core.clock.now
    if core.queue.at.released > 0 or core.clock.pass_requested:
        return now
    time = min(next_end(core), core.clock.due)
    if core.queue.at.seen < core.clock.jobs:
        time = min(time, core.jobs[core.queue.arrivals[core.queue.at.seen]].submit)
    return time


@question
def is_over(core: Core) -> bool:
    """Whether what happens next is no reason to go on: no job runs, waits or is to come."""
    return False


@part
def no_job_is_left(core: Core) -> bool:
    """Whether no job runs, waits or is to come, nor is anything else to happen."""
    if core.clock.events > 0 or core.queue.at.released > 0 or core.clock.pass_requested:
        return False
    return core.queue.at.seen == core.clock.jobs and core.queue.at.head == core.queue.at.tail


@inlined
def move_to(core: Core, time: int) -> None:
    """Move the clock, writing down what lies behind."""
    if time > core.clock.now:
        settle(core, time)
        core.clock.now = time


@question
def log_is_full(core: Core) -> bool:
    """Whether what a rule has written down must be read before the clock moves on."""
    return False


@inlined
def breaks_a_law(core: Core) -> bool:
    """Whether a count is below 0, or a search had no end: then nothing that follows means anything."""
    if core.clock.law != KEPT:
        return True
    for module in range(core.clock.modules):
        it = core.pools[module]
        if it.free < 0 or it.busy < 0 or it.down < 0 or it.draining < 0 or it.queued < 0:
            return True
    for pool in range(core.clock.modules, core.clock.modules + core.demand.shape[1]):
        if core.pools[pool].busy < 0:
            return True
    return False


@inlined
def open_step(core: Core, until: int, budget: int) -> bool:
    """Move the clock to the next instant; False, with the reason, if there is none before ``until``."""
    if core.queue.at.told > 0 and not core.clock.pass_requested:  # what the outside did gets its pass first
        return _stop(core, NOTICE)
    if core.clock.rows + core.clock.modules > len(core.timeline):
        return _stop(core, TIMELINE_FULL)
    if breaks_a_law(core):
        return _stop(core, BROKEN)
    if core.clock.steps >= budget or log_is_full(core):
        return _stop(core, BUDGET)
    time = next_instant(core)
    if until == INF and is_over(core):
        return _stop(core, DONE)
    if time >= until:
        return _stop(core, DONE if time == INF else UNTIL)
    core.clock.steps += 1
    move_to(core, time)
    core.clock.pass_requested = 0
    return True


@question
def handle_instant(core: Core) -> None:
    """What happens at this instant, and the pass that follows it."""
    take_events(core)
    pass_begins(core)
    schedule(core)


@inlined
def close_step(core: Core) -> None:
    """The pass is over: nothing is new any more."""
    core.queue.at.new = 0
    core.clock.dirty = core.clock.early = core.clock.lost = 0


@question
def take_events(core: Core) -> None:
    """What happens at this instant, in the order of rule 1."""
    instant_opens(core)
    end_due(core)
    submit_due(core)


@part
def end_due(core: Core) -> None:
    """Everything that ends now, in trace order, then what else comes to pass."""
    while next_end(core) == core.clock.now:
        happen(core, pop_end(core))


@part
def come_due(core: Core) -> None:
    """What comes to pass by time alone: it stands before the ends of its instant."""
    while next_end(core) == core.clock.now and core.heap[0].row < 0:
        happen(core, pop_end(core))


@part
def submit_due(core: Core) -> None:
    """Submissions, and jobs whose dependencies are satisfied."""
    while submission_due(core):
        submit_next(core)
    untie_ready(core)


@part
def untie_ready(core: Core) -> None:
    """Jobs whose dependencies are satisfied wait from now on."""
    dependencies_updated(core)
    for i in range(core.queue.at.released):
        untie(core, core.queue.released[i])
    core.queue.at.released = 0


@inlined
def submission_due(core: Core) -> bool:
    """Whether a job is to be submitted now."""
    seen = core.queue.at.seen
    return seen < core.clock.jobs and core.jobs[core.queue.arrivals[seen]].submit <= core.clock.now


@inlined
def submit_next(core: Core) -> None:
    """The next submission, in the order of submission."""
    row = core.queue.arrivals[core.queue.at.seen]
    core.queue.at.seen += 1
    submit(core, row)


@part
def _stop(core: Core, why: int) -> bool:
    core.clock.status = why
    return False
