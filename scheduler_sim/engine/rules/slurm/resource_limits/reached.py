"""Whether a limit stands against a job: Slurm's tests, in its order (acct_policy.c of 22.05).

Minutes are compared as whole ones. What was used, and what running jobs may yet use, is that of the last
computation of priorities.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.resource_limits.amounts import nodes_counted_already
from scheduler_sim.engine.rules.slurm.resource_limits.state import (
    GRP_AMOUNT,
    GRP_JOBS,
    GRP_MINUTES,
    GRP_RUN_MINUTES,
    GRP_WALL,
    MAX_JOBS,
    MAX_MINUTES,
    MAX_PER_NODE,
    MAX_WALL,
    MIN_AMOUNT,
    NODES,
    Limit,
    LimitedCore,
    Standing,
)
from scheduler_sim.units import MINUTE


@part
def reached_before(core: LimitedCore, placement: int) -> int:
    """The first limit that stands against a start whatever nodes there are; -1 if none does."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.before, standing.after):
        if _stands_before(core, placement, limits.limit[i], standing):
            return i
    return -1


@part
def is_beyond_reach_before(core: LimitedCore, placement: int, jobs: int) -> bool:
    """Whether none of these limits stands against it, nor would if so many more jobs ran."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.before, standing.after):
        limit = limits.limit[i]
        if limit.kind == GRP_WALL:  # minutes are used up as time goes by
            return False
        if limit.kind == MAX_WALL:
            if _stands_before(core, placement, limit, standing):
                return False
        elif limits.counter[limit.counter].jobs + jobs >= limit.most:
            return False
    return True


@part
def has_too_many_nodes(core: LimitedCore, placement: int) -> bool:
    """Whether it asks for more nodes than it may ever have at once."""
    limits = core.resource_limits
    most: int = limits.standing[limits.of[placement]].most_nodes
    return core.placements[placement].nodes > most


@part
def reached_after(core: LimitedCore, placement: int) -> int:
    """The first limit that stands against what it WOULD HAVE; -1 if none does."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.after, standing.at_submission):
        if _stands_after(core, placement, limits.limit[i], standing):
            return i
    return -1


@part
def is_short_of_minutes(core: LimitedCore, placement: int) -> bool:
    """Whether a limit stands against it that computations of priorities change."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.before, standing.after):
        if limits.limit[i].kind == GRP_WALL and _stands_before(core, placement, limits.limit[i], standing):
            return True
    for i in range(standing.after, standing.at_submission):
        of_minutes = limits.limit[i].kind in (GRP_MINUTES, GRP_RUN_MINUTES)
        if of_minutes and _stands_after(core, placement, limits.limit[i], standing):
            return True
    return False


@part
def may_be_lifted(core: LimitedCore, placement: int) -> bool:
    """Whether only usage stands against it, so that it may start once that has faded."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    minutes = time_limit(core, placement, standing)
    for i in range(standing.before, standing.at_submission):
        limit = limits.limit[i]
        if limit.kind in (GRP_WALL, GRP_MINUTES):
            asks = 1 if limit.kind == GRP_WALL else limits.asks[placement, limit.resource]
            if limit.most == 0 or (limits.rules.safe and asks * minutes > limit.most):
                return False
            forgotten = limits.rules.resets_done < len(limits.resets)
            if is_used_up(core, limit) and not (forgotten or limits.counter[limit.counter].decays):
                return False
        if limit.kind == GRP_RUN_MINUTES and limits.asks[placement, limit.resource] * minutes > limit.most:
            return False  # alone it asks for more: that does not fade
    return is_short_of_minutes(core, placement)


@part
def is_used_up(core: LimitedCore, limit: Limit) -> bool:
    """Whether minutes of a group are used up."""
    limits = core.resource_limits
    if limit.kind == GRP_WALL:
        return int(limits.counter[limit.counter].wall) // MINUTE >= limit.most
    return limit.kind == GRP_MINUTES and _minutes(limits.used[limit.counter, limit.resource]) >= limit.most


@part
def _minutes(seconds: float) -> int:
    """Whole minutes."""
    return int(seconds) // MINUTE


@part
def time_limit(core: LimitedCore, placement: int, standing: Standing) -> int:
    """Its time limit as limits count it, minutes."""
    return int(core.placements[placement].limit // MINUTE * standing.safe_factor)


@part
def _stands_before(core: LimitedCore, placement: int, limit: Limit, standing: Standing) -> bool:
    if limit.kind in (GRP_JOBS, MAX_JOBS):
        return core.resource_limits.counter[limit.counter].jobs >= limit.most
    minutes = time_limit(core, placement, standing)
    if limit.kind == MAX_WALL:
        return minutes > limit.most
    used = _minutes(core.resource_limits.counter[limit.counter].wall)  # GRP_WALL
    return used >= limit.most or (core.resource_limits.rules.safe == 1 and used + minutes > limit.most)


@part
def _stands_after(core: LimitedCore, placement: int, limit: Limit, standing: Standing) -> bool:
    limits, counter, resource = core.resource_limits, limit.counter, limit.resource
    asks = limits.would_have[resource]
    if limit.kind == GRP_AMOUNT:
        if limits.dealt_as[resource] == NODES:
            asks -= nodes_counted_already(core, placement, counter)
        return bool(asks + limits.amount[counter, resource] > limit.most)
    if limit.kind == GRP_MINUTES:
        return _stands_for_minutes(core, placement, limit, standing)
    minutes = asks * time_limit(core, placement, standing)
    if limit.kind == GRP_RUN_MINUTES:
        may_use = 0 if standing.factor == 0.0 else _minutes(limits.may_use[counter, resource])
        return bool(minutes + may_use > limit.most)
    if limit.kind == MAX_MINUTES:
        return bool(minutes > limit.most)
    if limit.kind == MIN_AMOUNT:
        return bool(asks < limit.most)
    if limit.kind == MAX_PER_NODE:
        return bool(asks > limit.most * _nodes(core, placement))
    return bool(asks > limit.most)  # MAX_AMOUNT


@part
def _stands_for_minutes(core: LimitedCore, placement: int, limit: Limit, standing: Standing) -> bool:
    """They are used up; or, where it must be safe, will be when all jobs have run to their limits."""
    limits, counter, resource = core.resource_limits, limit.counter, limit.resource
    used = may_use = 0
    if standing.factor != 0.0:
        used = _minutes(limits.used[counter, resource])
        may_use = _minutes(limits.may_use[counter, resource])
    if used >= limit.most:
        return True
    minutes = limits.would_have[resource] * time_limit(core, placement, standing)
    return bool(limits.rules.safe) and bool(minutes + may_use > limit.most - used)


@part
def _nodes(core: LimitedCore, placement: int) -> int:
    """How many nodes it would have."""
    limits = core.resource_limits
    for resource in range(len(limits.would_have)):
        if limits.dealt_as[resource] == NODES:
            return int(max(limits.would_have[resource], 1))
    return max(core.placements[placement].nodes, 1)


# -- whatever else runs


@part
def reached_alone(core: LimitedCore, placement: int) -> int:
    """The first limit that would stand against a start if nothing were in use, or used up; -1 if none."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.before, standing.at_submission):
        if _stands_alone(core, placement, limits.limit[i], standing):
            return i
    return -1


@part
def _stands_alone(core: LimitedCore, placement: int, limit: Limit, standing: Standing) -> bool:
    if limit.kind in (GRP_JOBS, MAX_JOBS):
        return limit.most < 1
    minutes = time_limit(core, placement, standing)
    if limit.kind == MAX_WALL:
        return minutes > limit.most
    safe = core.resource_limits.rules.safe == 1
    if limit.kind == GRP_WALL:
        return limit.most < 1 or (safe and minutes > limit.most)
    asks: int = core.resource_limits.asks[placement, limit.resource]
    if limit.kind == GRP_MINUTES:
        return limit.most < 1 or (safe and asks * minutes > limit.most)
    if limit.kind in (GRP_RUN_MINUTES, MAX_MINUTES):
        return asks * minutes > limit.most
    if limit.kind == MIN_AMOUNT:
        return asks < limit.most
    if limit.kind == MAX_PER_NODE:
        return asks > limit.most * max(core.placements[placement].nodes, 1)
    return asks > limit.most


# -- at submission


@part
def is_beyond_for_good(core: LimitedCore, placement: int) -> bool:
    """Whether it asks for what it can never have, whoever else is there."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    minutes = time_limit(core, placement, standing)
    for i in range(standing.before, standing.at_submission):
        limit = limits.limit[i]
        if limit.kind in (GRP_WALL, MAX_WALL):
            if minutes > limit.most:
                return True
        elif limit.kind == MIN_AMOUNT:
            if limits.asks[placement, limit.resource] < limit.most:
                return True
        elif limit.kind in (GRP_MINUTES, GRP_RUN_MINUTES, MAX_MINUTES):
            if limits.asks[placement, limit.resource] * minutes > limit.most:
                return True
        elif limit.kind == MAX_PER_NODE:
            nodes = max(core.placements[placement].nodes, 1)
            if limits.asks[placement, limit.resource] > limit.most * nodes:
                return True
        elif limit.resource >= 0 and limits.asks[placement, limit.resource] > limit.most:
            return True
    return False


@part
def has_no_place(core: LimitedCore, placement: int, tasks: int) -> int:
    """The first limit of jobs that wait or run that so many more would exceed; -1 if none."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.at_submission, standing.last):
        limit = limits.limit[i]
        if limits.counter[limit.counter].submitted + tasks > limit.most:
            return i
    return -1
