"""The dialect with a pass after every single event (rule 1; ``passes: event``)."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.events import next_end, pop_end
from scheduler_sim.engine.core.hooks import on, only_with
from scheduler_sim.engine.core.instant import come_due, submission_due, submit_next, take_events
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import happen, untie
from scheduler_sim.engine.core.moments import dependencies_updated, instant_opens
from scheduler_sim.engine.core.records import Ints
from scheduler_sim.engine.core.state import Core


def blank_single_events(_: bool) -> Ints:
    """Return the part. It keeps nothing: that it is there is all."""
    return np.zeros(1, dtype=np.int64)


@on(take_events, "single_events")
def take_one(core: Core) -> None:
    """One end, else one submission, else one dependency; what comes by time alone is no event."""
    instant_opens(core)
    come_due(core)
    if next_end(core) == core.clock.now:
        happen(core, pop_end(core))
    elif submission_due(core):
        submit_next(core)
    else:
        _untie_next(core)


@part
def _untie_next(core: Core) -> None:
    """The first in trace order of those whose dependencies are satisfied waits from now on."""
    dependencies_updated(core)
    released = core.queue.released
    if core.queue.at.released > 0:
        core.queue.at.released -= 1
        last = core.queue.at.released
        for i in range(last):
            if released[i] < released[last]:
                released[i], released[last] = released[last], released[i]
        untie(core, released[last])


@only_with("single_events", otherwise=False)
def comes_one_by_one(core: Core) -> bool:
    """Whether there is a pass between two ends of an instant, in which a plan counts on the second."""
    return True
