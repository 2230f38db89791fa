"""What Slurm's schedulers ask of limits of QOS and associations; where there are none, nothing is limited."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import agreement, event, question
from scheduler_sim.engine.rules.slurm.state import SlurmCore

# -- the main scheduler


@question
def waits_for_known_limit(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether the limit for which a job was seen to wait still holds it: it is passed over."""
    return False


@question
def limited_before_choice(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether a limit stands against a start, whatever nodes there are."""
    return False


@question
def limited_wherever(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether a limit is known to stand against a start on any nodes: none are chosen then."""
    return False


@question
def limited_by_choice(core: SlurmCore, row: int, placement: int, picked: bool) -> bool:
    """Whether a limit stands against a start on the nodes PICKED, or, if there are too few, on any."""
    return False


@question
def may_be_passed(core: SlurmCore) -> bool:
    """Whether a job that waits for a limit lets those behind it pass."""
    return True


# -- the backfill scheduler


@question
def passed_over(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether a limit keeps a job from being tried at all."""
    return False


@question
def held_up_until(core: SlurmCore, placement: int) -> int:
    """When a job may be planned at the earliest, as one of its QOS waits for a limit."""
    return core.clock.now


@question
def start_or_plan(core: SlurmCore, row: int, placement: int, later: int) -> int:
    """Now, if a job may start on the nodes PICKED; when it is planned if a limit stands against that.

    ``later``: when more nodes are to come, INF if none are. INF: it is not planned.
    """
    return core.clock.now


@question
def may_plan(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether limits let a job be planned for later, on the nodes PICKED."""
    return True


@question
def forgoes_plan(core: SlurmCore, placement: int) -> bool:
    """Whether a job that cannot start now is not planned for later, whatever was found."""
    return False


@event
def trial_begins(core: SlurmCore, placement: int) -> None:
    """A slot is about to be looked for."""


@event
def trial_ends(core: SlurmCore, placement: int) -> None:
    """It is known whether a job starts now."""


@question
def all_within_limits(core: SlurmCore, leader: int) -> bool:
    """Whether limits let all components of a heterogeneous job start together."""
    return True


@question
def is_limited_for_good(core: SlurmCore, row: int, placement: int) -> bool:
    """Whether a limit stands against a start whatever else runs, so that nodes would be held in vain."""
    return False


@question
def least_priority_that_reserves(core: SlurmCore, placement: int) -> int:
    """With less a job neither reserves nor blocks its partition."""
    return core.slurm.rules.bf_min_prio_reserve


# -- both


@event
def nodes_looked_for(core: SlurmCore, placement: int) -> None:
    """Nodes are about to be looked for, for a job that may start now, among all of its partition."""


@event
def start_tried(core: SlurmCore, placement: int) -> None:
    """The same in a backfill pass, among those that could be planned for it from now on."""


# -- what may be left out for speed


@question
def never_starts_in_pass(core: SlurmCore, placement: int) -> bool:
    """Whether a limit is known to keep a job from starting in this pass, and from being planned."""
    return False


@question
def weights_stand(core: SlurmCore) -> bool:
    """Whether nodes weigh what they did as the last backfill pass began, and as it ended."""
    return True


@question
def weights_stand_for_main(core: SlurmCore) -> bool:
    """Whether they weigh what they did as the last pass of the main scheduler ended."""
    return True


@event
def main_has_looked(core: SlurmCore) -> None:
    """The main scheduler has made a pass."""


@agreement
def is_surely_tried(core: SlurmCore, row: int, placement: int, until: int) -> bool:
    """Whether nothing may keep a job from being tried, now or soon, nor take nodes from it ``until`` then."""
    return True


@question
def computations_change_limits(core: SlurmCore) -> bool:
    """Whether a computation of priorities may yet lift a limit, or exhaust one."""
    return False


@question
def usage_may_lift_limits(core: SlurmCore) -> bool:
    """Whether usage that fades, or is forgotten, will let a job start for which nothing else is to come."""
    return False


@event
def usage_computed(core: SlurmCore, since: int, time: int) -> None:
    """Priorities are computed at ``time``, last so at ``since``: all usage fades, then more is charged."""
