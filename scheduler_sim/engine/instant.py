"""The order of things at one instant (rule 1).

ends, [outside: node and limit changes, cancellations], submissions, dependency
updates, one pass; and again while anything new happens at that instant. Calls and
appointments come right after the ends.
"""

from __future__ import annotations

from scheduler_sim.engine.calls import come_to_pass
from scheduler_sim.engine.events import APPOINTED_FOR, CALLS, next_end, pop_end
from scheduler_sim.engine.jit import part
from scheduler_sim.engine.life import happen, submit, untie
from scheduler_sim.engine.lines import give_places
from scheduler_sim.engine.record import settle
from scheduler_sim.engine.slurm.slots import HOLDING
from scheduler_sim.engine.slurm.workflows import come_for
from scheduler_sim.engine.state import (
    APPOINTMENTS,
    ARRIVALS,
    BUDGET,
    COMPONENTS,
    DIRTY,
    DONE,
    DUE,
    EARLY,
    HEAD,
    HEAP,
    INF,
    KICK,
    LOST,
    MODULES,
    NEW,
    NOTICE,
    NOW,
    ONE_EVENT,
    READY,
    ROWS,
    SEEN,
    STATUS,
    STEPS,
    SWITCHING,
    TAIL,
    TIMELINE_FULL,
    TOLD,
    UNTIED,
    UNTIL,
    Core,
)
from scheduler_sim.engine.switching import switch_over


@part
def next_instant(core: Core) -> int:
    """When something happens next, INF if never."""
    now = core.clock[NOW]
    if core.clock[READY] > 0 or core.clock[KICK]:
        return now
    time = min(next_end(core), core.clock[DUE])
    if core.clock[SEEN] < core.clock[COMPONENTS]:
        time = min(time, core.comp[core.lists[ARRIVALS, core.clock[SEEN]]].submit)
    return time


@part
def only_nodes_left(core: Core) -> bool:
    """Whether nobody runs, waits or is to come: all that may happen is that nodes are switched off."""
    if core.clock[HEAP] > 0 or core.clock[READY] > 0 or core.clock[KICK] or core.clock[APPOINTMENTS] > 0:
        return False
    return core.clock[SEEN] == core.clock[COMPONENTS] and core.clock[HEAD] == core.clock[TAIL]


@part
def move_to(core: Core, time: int) -> None:
    """Move the clock, writing down what lies behind."""
    if time > core.clock[NOW]:
        settle(core, time)
        core.clock[NOW] = time


@part
def end_due(core: Core) -> None:
    """Everything that ends now, in trace order, then what else comes to pass."""
    while next_end(core) == core.clock[NOW]:
        _happen(core, pop_end(core))


@part
def _happen(core: Core, event: int) -> None:
    """What stood in the heap comes to pass; an appointment stops the clock, at least."""
    if event < CALLS:
        happen(core, event)
    elif event < APPOINTED_FOR:
        come_to_pass(core, event - CALLS)
    elif core.slurm[HOLDING]:
        come_for(core, event - APPOINTED_FOR)


@part
def come_due(core: Core) -> None:
    """What comes to pass by time alone: it stands before the ends of its instant."""
    while next_end(core) == core.clock[NOW] and core.heap[0].row < 0:
        happen(core, pop_end(core))


@part
def open_step(core: Core, until: int, budget: int) -> bool:
    """Move the clock to the next instant; False, with the reason, if there is none before ``until``."""
    if core.clock[TOLD] > 0 and not core.clock[KICK]:  # what the outside did gets its pass first
        return _stop(core, NOTICE)
    if core.clock[ROWS] + core.clock[MODULES] > len(core.timeline):
        return _stop(core, TIMELINE_FULL)
    if core.clock[STEPS] >= budget:
        return _stop(core, BUDGET)
    time = next_instant(core)
    if core.rules[SWITCHING] and until == INF and only_nodes_left(core):
        return _stop(core, DONE)
    if time >= until:
        return _stop(core, DONE if time == INF else UNTIL)
    core.clock[STEPS] += 1
    move_to(core, time)
    core.clock[KICK] = 0
    return True


@part
def take_events(core: Core) -> None:
    """What happens at this instant, in the order of rule 1; or one event of it, in that dialect."""
    if core.rules[SWITCHING]:
        switch_over(core)
    if core.rules[ONE_EVENT]:
        _one_event(core)
    else:
        end_due(core)
        submit_due(core)


@part
def submit_due(core: Core) -> None:
    """Submissions, and those whose dependencies are satisfied."""
    while _submission_due(core):
        _submit_next(core)
    untie_ready(core)


@part
def untie_ready(core: Core) -> None:
    """Those whose dependencies are satisfied wait from now on."""
    if len(core.term) > 0:
        give_places(core)
    for i in range(core.clock[READY]):
        untie(core, core.lists[UNTIED, i])
    core.clock[READY] = 0


@part
def close_step(core: Core) -> None:
    """The pass is over: nothing is new any more."""
    core.clock[NEW] = 0
    core.clock[DIRTY] = core.clock[EARLY] = core.clock[LOST] = 0


@part
def _one_event(core: Core) -> None:
    """The dialect with a pass after every single event; what comes by time alone is none."""
    come_due(core)
    if next_end(core) == core.clock[NOW]:
        _happen(core, pop_end(core))
    elif _submission_due(core):
        _submit_next(core)
    else:
        _untie_next(core)


@part
def _untie_next(core: Core) -> None:
    """The first in trace order of those whose dependencies are satisfied waits from now on."""
    if len(core.term) > 0:
        give_places(core)
    if core.clock[READY] > 0:
        core.clock[READY] -= 1
        last = core.clock[READY]
        for i in range(last):
            if core.lists[UNTIED, i] < core.lists[UNTIED, last]:
                core.lists[UNTIED, i], core.lists[UNTIED, last] = (
                    core.lists[UNTIED, last],
                    core.lists[UNTIED, i],
                )
        untie(core, core.lists[UNTIED, last])


@part
def _submission_due(core: Core) -> bool:
    seen = core.clock[SEEN]
    return seen < core.clock[COMPONENTS] and core.comp[core.lists[ARRIVALS, seen]].submit <= core.clock[NOW]


@part
def _submit_next(core: Core) -> None:
    row = core.lists[ARRIVALS, core.clock[SEEN]]
    core.clock[SEEN] += 1
    submit(core, row)


@part
def _stop(core: Core, why: int) -> bool:
    core.clock[STATUS] = why
    return False
