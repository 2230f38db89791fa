"""EnforceUsageThreshold of a QOS: its jobs are not listed while their fair share is below its UsageThreshold.

22.05 compares the fair-share factor of the last computation once PriorityWeightFairshare has multiplied it
(``job_limits_check`` in job_mgr.c, after ``_get_priority_internal``).
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import stopped
from scheduler_sim.engine.rules.slurm.change import expect_change
from scheduler_sim.engine.rules.slurm.limit_questions import usage_computed
from scheduler_sim.engine.rules.slurm.priority.ranking import weighted_fair_share
from scheduler_sim.engine.rules.slurm.resource_limits.state import BELOW, LimitedCore
from scheduler_sim.engine.rules.slurm.resource_limits.waiting import wait_for
from scheduler_sim.engine.rules.slurm.start import may_run

LAG = 2
"""Computations after which no share moves any more, if nothing runs."""
NOTHING_NEW = 1e-9
"""Of a share: rounding."""


@part
def is_below(core: LimitedCore, row: int) -> bool:
    """Whether its QOS asks for more than its fair share is worth."""
    limits = core.resource_limits
    least = limits.standing[limits.of[core.jobs[row].first]].least_share
    return bool(least > 0.0 and weighted_fair_share(core, row) < least)


@on(may_run, "resource_limits")
def is_served_little_enough(core: LimitedCore, row: int) -> bool:
    """One that is below waits for that, and blocks nothing."""
    if not core.resource_limits.rules.thresholds or not is_below(core, row):
        return True
    wait_for(core, row, BELOW)
    return False


@on(usage_computed, "resource_limits")
def note_who_is_below(core: LimitedCore, since: int, time: int) -> None:
    """It may be others now."""
    rules = core.resource_limits.rules
    if not rules.thresholds:
        return
    rules.moving = max(rules.moving - 1, 0)
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        job, share, below = core.resource_limits.job[row], weighted_fair_share(core, row), is_below(core, row)
        if abs(share - job.share) > NOTHING_NEW * share:
            rules.moving = LAG
        if below != job.below:
            expect_change(core)
        job.share, job.below = share, int(below)


@on(stopped, "resource_limits")
def expect_other_shares(core: LimitedCore, row: int) -> None:
    """What it used is charged, and seen a computation later."""
    core.resource_limits.rules.moving = LAG


@part
def waits_for_shares(core: LimitedCore) -> bool:
    """Whether one is below that may not be, though nothing runs.

    Shares move until usage is charged, and once it is forgotten. That it fades changes no part of it.
    """
    rules, slurm = core.resource_limits.rules, core.slurm
    if not rules.thresholds or not slurm.rules.calc_period:
        return False
    forgotten = slurm.memory.resets_done < len(slurm.accounts.resets)
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        least = core.resource_limits.standing[core.resource_limits.of[core.jobs[row].first]].least_share
        may_rise = rules.moving > 0 or (forgotten and least <= slurm.rules.weight_fair)
        if may_rise and is_below(core, row):
            return True
    return False
