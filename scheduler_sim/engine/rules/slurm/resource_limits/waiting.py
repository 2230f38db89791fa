"""What limits answer Slurm's two schedulers, and for which of them a job was last seen to wait.

A limit never holds up the jobs behind, unless assoc_limit_stop says so: then the main scheduler blocks the
partition, and the backfill scheduler plans the job, and later ones of its QOS behind it.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import count
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.limit_questions import (
    all_within_limits,
    forgoes_plan,
    held_up_until,
    is_limited_for_good,
    is_surely_tried,
    least_priority_that_reserves,
    limited_before_choice,
    limited_by_choice,
    limited_wherever,
    may_be_passed,
    may_plan,
    never_starts_in_pass,
    passed_over,
    start_or_plan,
    start_tried,
    trial_begins,
    trial_ends,
    waits_for_known_limit,
)
from scheduler_sim.engine.rules.slurm.node_space import plan_opens
from scheduler_sim.engine.rules.slurm.nodes import weighed_anew
from scheduler_sim.engine.rules.slurm.reasons import NONE, waits_for_limit
from scheduler_sim.engine.rules.slurm.resource_limits.amounts import (
    gets_what_it_asks,
    knows_its_share,
    take_asked,
    take_picked,
    take_planned,
)
from scheduler_sim.engine.rules.slurm.resource_limits.reached import (
    has_too_many_nodes,
    is_beyond_reach_before,
    reached_after,
    reached_alone,
    reached_before,
)
from scheduler_sim.engine.rules.slurm.resource_limits.state import LimitedCore
from scheduler_sim.units import MINUTE

OF_LIMITS = 100
"""Reasons of limits are numbered from here on."""

LATER_S = 500
"""assoc_limit_stop: so much later one is planned that waits for a limit, where no more nodes are to come."""


@part
def wait_for(core: LimitedCore, row: int, reason: int) -> None:
    """From this look on it waits for a limit, another one, or none (0)."""
    job, now = core.resource_limits.job[row], core.clock.now
    waits_for_limit(core, row, OF_LIMITS + reason if reason else NONE)
    if job.reason == reason:
        return
    if job.reason:
        core.resource_limits.waited[row, job.reason] += now - job.since
    if reason:
        job.last_reason = reason
    job.reason, job.since = reason, now


@part
def _waits_for_limit(core: LimitedCore, row: int, number: int) -> bool:
    """Note the limit that stands against it, if one does."""
    wait_for(core, row, core.resource_limits.limit[number].reason if number >= 0 else 0)
    return number >= 0


@part
def _reached_with_nodes(core: LimitedCore, row: int, placement: int) -> int:
    """The first limit that stands against what it WOULD HAVE; of a QOS, that one is what blocks it.

    Slurm knows that QOS (``qos_blocking_ptr``) until it tests such limits again: a limit of numbers of jobs
    or of times, which are tested before, does not change it.
    """
    number = reached_after(core, placement)
    blocking = core.resource_limits.limit[number].qos if number >= 0 else -1
    core.resource_limits.job[row].blocking = blocking
    return number


@part
def _waits_for_nodes(core: LimitedCore, row: int, placement: int) -> bool:
    """Note the limit if it asks for more nodes than it may ever have."""
    if not has_too_many_nodes(core, placement):
        return False
    limits = core.resource_limits
    wait_for(core, row, limits.standing[limits.of[placement]].nodes_reason)
    return True


# -- the main scheduler


@on(waits_for_known_limit, "resource_limits")
def still_waits(core: LimitedCore, row: int, placement: int) -> bool:
    """Only limits that are tested before nodes are looked for are tested here."""
    if core.resource_limits.job[row].reason == 0:
        return False
    return _waits_for_limit(core, row, reached_before(core, placement))


@on(limited_before_choice, "resource_limits")
def limit_before_choice(core: LimitedCore, row: int, placement: int) -> bool:
    """Jobs that run, times, and nodes that it may never have."""
    if _waits_for_limit(core, row, reached_before(core, placement)):
        return True
    return _waits_for_nodes(core, row, placement)


@on(limited_wherever, "resource_limits")
def limit_wherever(core: LimitedCore, row: int, placement: int) -> bool:
    """What it asks for is what it would have."""
    if not gets_what_it_asks(core, placement):
        return False
    take_asked(core, placement)
    return _waits_for_limit(core, row, _reached_with_nodes(core, row, placement))


@on(limited_by_choice, "resource_limits")
def limit_by_choice(core: LimitedCore, row: int, placement: int, picked: bool) -> bool:
    """What it would have; also where nodes are yet to come free, so that it holds up nobody then."""
    if picked:
        take_picked(core, placement)
    else:
        take_asked(core, placement)
    return _waits_for_limit(core, row, _reached_with_nodes(core, row, placement))


@on(may_be_passed, "resource_limits")
def without_stop(core: LimitedCore) -> bool:
    """Unless assoc_limit_stop is set."""
    return core.resource_limits.rules.stop == 0


# -- the backfill scheduler


@on(plan_opens, "resource_limits")
def hold_up_nothing(core: LimitedCore) -> None:
    """In a new pass no QOS is held up yet."""
    for qos in range(len(core.resource_limits.held_up)):
        core.resource_limits.held_up[qos] = 0


@on(passed_over, "resource_limits")
def limit_before_plan(core: LimitedCore, row: int, placement: int) -> bool:
    """Under assoc_limit_stop only one that asks for too many nodes for good makes no plan."""
    if not core.resource_limits.rules.stop:
        return limit_before_choice(core, row, placement)
    return _waits_for_nodes(core, row, placement)


@on(held_up_until, "resource_limits")
def behind_its_qos(core: LimitedCore, placement: int) -> int:
    """Behind what waits for a limit of its QOS, or its partition's."""
    limits, time = core.resource_limits, core.clock.now
    standing = limits.standing[limits.of[placement]]
    if standing.qos >= 0:
        time = max(time, limits.held_up[standing.qos])
    if standing.other_qos >= 0:
        time = max(time, limits.held_up[standing.other_qos])
    return time


@on(start_or_plan, "resource_limits")
def start_or_wait_for_limit(core: LimitedCore, row: int, placement: int, later: int) -> int:
    """The limits are tested with the nodes that it would really get."""
    number = reached_before(core, placement)
    if number < 0:
        start_tried(core, placement)
        if gets_what_it_asks(core, placement):
            take_asked(core, placement)
        elif knows_its_share(core, row, placement):
            take_picked(core, placement)
        else:
            return core.clock.now
        number = _reached_with_nodes(core, row, placement)
    if not _waits_for_limit(core, row, number):
        return core.clock.now
    if not core.resource_limits.rules.stop:
        return INF
    time = later if later < INF else core.clock.now + LATER_S
    blocking = core.resource_limits.job[row].blocking
    if core.resource_limits.limit[number].group and blocking >= 0:
        held_up = core.resource_limits.held_up
        held_up[blocking] = max(held_up[blocking], time)
    return time


@on(may_plan, "resource_limits")
def plan_within_limits(core: LimitedCore, row: int, placement: int) -> bool:
    """A plan for later is tested against what is in use today."""
    if core.resource_limits.rules.stop:
        return True
    take_planned(core, placement)
    return not _waits_for_limit(core, row, _reached_with_nodes(core, row, placement))


@on(forgoes_plan, "resource_limits")
def is_not_planned(core: LimitedCore, placement: int) -> bool:
    """NoReserve of its QOS."""
    return bool(core.resource_limits.standing[core.resource_limits.of[placement]].forgoes)


@on(trial_begins, "resource_limits")
def try_a_minute(core: LimitedCore, placement: int) -> None:
    """One that is not planned, where jobs are preempted: it may start before a plan, and make way then."""
    if core.resource_limits.rules.brief and is_not_planned(core, placement):
        core.resource_limits.rules.whole = core.placements[placement].limit
        core.placements[placement].limit = MINUTE


@on(trial_ends, "resource_limits")
def restore_limit(core: LimitedCore, placement: int) -> None:
    """It has its own limit again, and runs to that."""
    if core.resource_limits.rules.brief and is_not_planned(core, placement):
        core.placements[placement].limit = core.resource_limits.rules.whole


@on(least_priority_that_reserves, "resource_limits")
def own_threshold(core: LimitedCore, placement: int) -> int:
    """MinPrioThreshold goes before bf_min_prio_reserve."""
    limits = core.resource_limits
    own = limits.standing[limits.of[placement]].least_priority
    return own if own >= 0 else core.slurm.rules.bf_min_prio_reserve


@on(all_within_limits, "resource_limits", "coscheduling")
def each_beside_the_others(core: LimitedCore, leader: int) -> bool:
    """Each is tested as if those before it ran."""
    fits = True
    unit = core.coscheduling.unit[core.coscheduling.member[leader].unit]
    tested = unit.first
    while fits and tested < unit.last:
        row = core.coscheduling.member_rows[tested]
        placement = core.jobs[row].first
        take_asked(core, placement)
        number = reached_before(core, placement)
        number = number if number >= 0 else reached_after(core, placement)
        fits = not _waits_for_limit(core, row, number)
        if fits:
            _count_beside(core, placement, 1)
            tested += 1
    for i in range(unit.first, tested):
        _count_beside(core, core.jobs[core.coscheduling.member_rows[i]].first, -1)
    return fits


@on(is_limited_for_good, "resource_limits")
def is_beyond_alone(core: LimitedCore, row: int, placement: int) -> bool:
    """With nothing else in use."""
    number = reached_alone(core, placement)
    return _waits_for_nodes(core, row, placement) or (number >= 0 and _waits_for_limit(core, row, number))


@part
def _count_beside(core: LimitedCore, placement: int, sign: int) -> None:
    """What a component asks for is in use, or no longer."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.counted, standing.counted_last):
        limits.counter[limits.counted[i]].jobs += sign
        for resource in range(len(limits.would_have)):
            limits.amount[limits.counted[i], resource] += sign * limits.asks[placement, resource]


# -- what may be left out for speed


@on(never_starts_in_pass, "resource_limits")
def limited_for_the_pass(core: LimitedCore, placement: int) -> bool:
    """During a pass jobs only start, so that no limit is lifted."""
    if core.resource_limits.rules.stop:
        return False
    if reached_before(core, placement) >= 0 or has_too_many_nodes(core, placement):
        return True
    if weighed_anew(core):  # as soon as nodes are looked for, in vain or not
        return False
    if len(core.resource_limits.on_node) > 0:  # nodes that others of the same have count nothing
        return False
    take_asked(core, placement)
    return reached_after(core, placement) >= 0


@on(is_surely_tried, "resource_limits")
def stays_within_early_limits(core: LimitedCore, row: int, placement: int, until: int) -> bool:
    """Whether no limit that is tested before nodes are looked for comes to stand against it in this pass.

    Whatever starts in it before takes an idle node at least. If it does start, the next pass is made anew.
    """
    return not has_too_many_nodes(core, placement) and is_beyond_reach_before(
        core, placement, count(core.slurm.sets.idle, 0, len(core.slurm.sets.idle))
    )
