"""Limits of jobs that accrue age: so many of a group at once; that of others is 0 until they get a place.

Places are given as a pass of either scheduler begins, in the order of the list of jobs (acct_policy.c of
22.05, ``acct_policy_handle_accrue_time``). Of all such limits of a job the first counts: those of its QOS,
then those of its associations from the user up. Jobs without a limit count towards those of others.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import becomes_eligible, cancelled, set_aside_again, started
from scheduler_sim.engine.core.state import WAITING
from scheduler_sim.engine.rules.slurm.backfill_pass import entries_end
from scheduler_sim.engine.rules.slurm.limit_questions import main_has_looked
from scheduler_sim.engine.rules.slurm.main_pass import main_begins
from scheduler_sim.engine.rules.slurm.node_space import plan_opens
from scheduler_sim.engine.rules.slurm.priority.ranking import age_counts_from
from scheduler_sim.engine.rules.slurm.resource_limits.state import IN_LINE, NOT_IN_LINE, LimitedCore


@on(age_counts_from, "resource_limits")
def age_counts_from_its_place(core: LimitedCore, row: int) -> int:
    """Since it has one; below 0 before."""
    job = core.resource_limits.job[row]
    if not core.resource_limits.rules.accrual or job.accrues == NOT_IN_LINE:
        return core.holds.term[row].begin
    return job.accrues


@on(becomes_eligible, "resource_limits")
def stand_in_line(core: LimitedCore, row: int) -> None:
    """For a place, in the order of the list of jobs."""
    limits = core.resource_limits
    if not limits.rules.accrual or limits.job[row].accrues != NOT_IN_LINE:
        return
    limits.job[row].accrues = IN_LINE
    limits.job[row].fresh = int(core.holds.term[row].begin < 0)
    place = limits.rules.in_line
    while place > 0 and limits.line[place - 1] > row:
        limits.line[place] = limits.line[place - 1]
        place -= 1
    limits.line[place] = row
    limits.rules.in_line += 1


@on(main_begins, "resource_limits")
def give_places_before_main(core: LimitedCore) -> None:
    """As far as there are any."""
    _give_places(core)


@on(plan_opens, "resource_limits")
def give_places_before_backfill(core: LimitedCore) -> None:
    """As far as there are any."""
    _give_places(core)


@part
def _give_places(core: LimitedCore) -> None:
    """One that this pass finds eligible for the first time gets none before the next."""
    limits, left = core.resource_limits, 0
    for i in range(limits.rules.in_line):
        row = limits.line[i]
        job, begin = limits.job[row], core.holds.term[row].begin
        known = 0 <= begin < core.clock.now or (begin == core.clock.now and not job.fresh)
        if core.jobs[row].state == WAITING and known and _has_place(core, row):
            standing = limits.standing[limits.of[core.jobs[row].first]]
            job.accrues = begin if standing.accrual < 0 else core.clock.now
            _count_accruing(core, row, 1)
        else:
            limits.line[left] = row
            left += 1
    limits.rules.in_line = left


@part
def _has_place(core: LimitedCore, row: int) -> bool:
    """Whether fewer accrue than may."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[core.jobs[row].first]]
    return bool(standing.accrual < 0 or limits.counter[standing.accrual].accruing < standing.most_accrue)


@part
def _count_accruing(core: LimitedCore, row: int, sign: int) -> None:
    limits = core.resource_limits
    standing = limits.standing[limits.of[core.jobs[row].first]]
    for i in range(standing.accruing, standing.accruing_last):
        limits.counter[limits.counted[i]].accruing += sign


@on(main_has_looked, "resource_limits")
def all_are_known(core: LimitedCore) -> None:
    """Those that the pass found eligible are so from now on."""
    _know_all(core)


@on(entries_end, "resource_limits")
def all_are_known_to_backfill(core: LimitedCore) -> None:
    """Likewise."""
    _know_all(core)


@part
def _know_all(core: LimitedCore) -> None:
    limits = core.resource_limits
    for i in range(limits.rules.in_line):
        if core.holds.term[limits.line[i]].begin >= 0:
            limits.job[limits.line[i]].fresh = 0


@part
def _gives_place_up(core: LimitedCore, row: int) -> None:
    """It accrues no longer, and stands in no line."""
    limits = core.resource_limits
    job = limits.job[row]
    if not limits.rules.accrual or job.accrues == NOT_IN_LINE:
        return
    if job.accrues != IN_LINE:
        _count_accruing(core, row, -1)
    else:
        left = 0
        for i in range(limits.rules.in_line):
            if limits.line[i] != row:
                limits.line[left] = limits.line[i]
                left += 1
        limits.rules.in_line = left
    job.accrues = NOT_IN_LINE


@on(started, "resource_limits")
def leaves_line_for_nodes(core: LimitedCore, row: int) -> None:
    """It runs."""
    _gives_place_up(core, row)


@on(cancelled, "resource_limits")
def leaves_line_for_good(core: LimitedCore, row: int) -> None:
    """It will never run."""
    _gives_place_up(core, row)


@on(set_aside_again, "resource_limits")
def leaves_line_for_now(core: LimitedCore, row: int) -> None:
    """It is held."""
    _gives_place_up(core, row)
