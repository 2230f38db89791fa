"""The moments in the life of a job, and of nodes, at which rules have something to do.

In the order in which they come. What a rule may answer instead of the core stands as a ``question`` where
the core answers it.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import event
from scheduler_sim.engine.core.state import Core


@event
def submitted(core: Core, job: int) -> None:
    """A job arrives; nothing has been asked of it yet."""


@event
def arrives_held(core: Core, job: int) -> None:
    """Something may hold the job that arrives: what is over already is lifted now."""


@event
def held_by_less(core: Core, job: int) -> None:
    """One thing less holds a job, and something still does."""


@event
def becomes_eligible(core: Core, job: int) -> None:
    """Nothing holds a job any more; its state is still what it was."""


@event
def pending_changed(core: Core, job: int, sign: int) -> None:
    """One job more or less is submitted, not held by hand, and has yet to start."""


@event
def started(core: Core, job: int) -> None:
    """A job runs from now on."""


@event
def begins_late(core: Core, job: int) -> None:
    """A job that has waited on its nodes begins; its start is now."""


@event
def stops(core: Core, job: int) -> None:
    """A job that runs is about to give back what it holds."""


@event
def stopped(core: Core, job: int) -> None:
    """A job runs no longer: it has ended, or will wait again."""


@event
def ended(core: Core, job: int) -> None:
    """A job is over, to those that depend on it: it ended, or will never start."""


@event
def withdrawn(core: Core, job: int) -> None:
    """A job that has yet to start is about to be cancelled."""


@event
def cancelled(core: Core, job: int) -> None:
    """A job was cancelled before its start."""


@event
def set_aside_again(core: Core, job: int) -> None:
    """A job that waited is held again."""


@event
def held_back(core: Core, job: int) -> None:
    """One thing more holds a job that has yet to start."""


@event
def let_go(core: Core, job: int) -> None:
    """A hold by hand is over."""


@event
def released_by_hand(core: Core, job: int) -> None:
    """An operator releases a job, held or not."""


@event
def runs_once_more(core: Core, job: int) -> None:
    """A run is over that is to be done once more, if there was one; it is still known what it was."""


@event
def revived(core: Core, job: int) -> None:
    """A job that has ended is to run once more."""


@event
def struck(core: Core, job: int, state: int) -> None:
    """A running job was ended from outside, in ``state``."""


@event
def end_forgotten(core: Core, job: int) -> None:
    """The end of a running job is no longer what was planned."""


@event
def end_planned(core: Core, job: int) -> None:
    """The end of a running job is about to be planned by its limit as it is now."""


@event
def limit_changed(core: Core, job: int) -> None:
    """A running job has another time limit."""


@event
def placed_anew(core: Core, job: int) -> None:
    """A job that has yet to start has other placements."""


@event
def event_due(core: Core, kind: int, number: int) -> None:
    """What a rule put among the events comes to pass: its kind, and the rest."""


@event
def instant_opens(core: Core) -> None:
    """The clock stands at an instant of which nothing has been handled."""


@event
def pass_begins(core: Core) -> None:
    """A pass is about to be made over the queue, in which the newcomers of this step do not stand yet."""


@event
def dependencies_updated(core: Core) -> None:
    """The jobs that nothing holds any more are about to become eligible."""


@event
def nodes_taken(core: Core, module: int, nodes: int) -> None:
    """Idle nodes are busy from now on."""


@event
def nodes_removed(core: Core, module: int, nodes: int) -> None:
    """Idle nodes leave service."""


@event
def nodes_idle(core: Core, module: int, nodes: int) -> None:
    """Nodes are idle from now on."""


@event
def plan_begins(core: Core, on_time: bool) -> None:
    """A plan is made anew of what runs; ``on_time``: what ends at this very instant is planned to end now."""


@event
def write_more(core: Core, module: int, row: int) -> None:
    """A row of the timeline is written: further columns."""
