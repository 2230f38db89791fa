"""What counts against limits in the life of a job: submitted, started, charged, ended."""

from __future__ import annotations

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.laws import LIMITED_AMOUNT, LIMITED_JOBS, SUBMITTED_JOBS, keep_count
from scheduler_sim.engine.core.lifecycle import finish
from scheduler_sim.engine.core.moments import ended, event_due, revived, started, stopped, submitted
from scheduler_sim.engine.core.state import BY_LIMIT, RUNNING, TIMEOUT
from scheduler_sim.engine.rules.slurm.change import expect_change
from scheduler_sim.engine.rules.slurm.lifecycle import turn_away
from scheduler_sim.engine.rules.slurm.limit_questions import (
    computations_change_limits,
    nodes_looked_for,
    usage_computed,
    usage_may_lift_limits,
)
from scheduler_sim.engine.rules.slurm.moments import more_comes
from scheduler_sim.engine.rules.slurm.priority.fair_share import decay_over, faded
from scheduler_sim.engine.rules.slurm.resource_limits.amounts import count_nodes, take_asked, take_picked
from scheduler_sim.engine.rules.slurm.resource_limits.reached import (
    has_no_place,
    has_too_many_nodes,
    is_beyond_for_good,
    is_short_of_minutes,
    is_used_up,
    may_be_lifted,
    reached_before,
)
from scheduler_sim.engine.rules.slurm.resource_limits.state import DENIED, NODES, LimitedCore
from scheduler_sim.engine.rules.slurm.resource_limits.threshold import waits_for_shares
from scheduler_sim.engine.rules.slurm.resource_limits.waiting import wait_for

LIMIT_CHECK = 6 * KIND
"""Event: jobs are looked for whose minutes are used up."""


# -- at submission


@on(submitted, "resource_limits")
def count_submitted(core: LimitedCore, row: int) -> None:
    """It counts as submitted, or is rejected: beyond what it can ever have, or one job too many.

    The tasks of an array are submitted as one: all of them, or none.
    """
    job, first = core.resource_limits.job[row], core.jobs[row].first
    if first == core.jobs[row].last:
        return
    if job.head == row:
        job.last_reason = _reason_to_refuse(core, row)
        if job.last_reason == 0:
            _count_all_tasks(core, row)
    if job.counts == 0:
        job.last_reason = core.resource_limits.job[job.head].last_reason
        turn_away(core, row)
        return
    if reached_before(core, first) < 0 and not has_too_many_nodes(core, first):
        nodes_looked_for(core, first)


@part
def _count_all_tasks(core: LimitedCore, head: int) -> None:
    """They count from the submission of the first on, also where others are submitted between them."""
    limits, submit = core.resource_limits, core.jobs[head].submit
    row, left = head, limits.job[head].tasks
    while left > 0 and row < core.clock.jobs and core.jobs[row].submit == submit:
        if limits.job[row].head == head:
            left -= 1
            if core.jobs[row].state <= RUNNING and core.jobs[row].first < core.jobs[row].last:
                limits.job[row].counts = 1
                _count(core, core.jobs[row].first, 1)
        row += 1


@part
def _reason_to_refuse(core: LimitedCore, row: int) -> int:
    """The word for why it is rejected; 0 if it is not."""
    limits, first = core.resource_limits, core.jobs[row].first
    for placement in range(first, core.jobs[row].last):
        standing = limits.standing[limits.of[placement]]
        if standing.refused:
            return int(standing.refused)
        if standing.strict and is_beyond_for_good(core, placement):
            return DENIED
    place = has_no_place(core, first, limits.job[row].tasks)
    return limits.limit[place].reason if place >= 0 else 0


@part
def _count(core: LimitedCore, placement: int, sign: int) -> None:
    """One job more, or less, waits or runs."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.counted, standing.counted_last):
        counter = limits.counted[i]
        limits.counter[counter].submitted += sign
        keep_count(core, SUBMITTED_JOBS, counter, limits.counter[counter].submitted)


@on(ended, "resource_limits")
def count_ended(core: LimitedCore, row: int) -> None:
    """It is over, whether it ran or not; of one that ran it is known since it stopped."""
    job = core.resource_limits.job[row]
    if job.counts:
        job.counts = 0
        _count(core, core.jobs[row].first, -1)


@on(revived, "resource_limits")
def count_revived(core: LimitedCore, row: int) -> None:
    """One that had ended counts as submitted again, however many there are (job_mgr.c 17437 of 22.05)."""
    job = core.resource_limits.job[row]
    if job.counts == 0:
        job.counts = 1
        _count(core, core.jobs[row].first, 1)


# -- while it runs


@on(started, "resource_limits")
def count_running(core: LimitedCore, row: int) -> None:
    """What it has is in use, and it may use that to its limit."""
    limits, placement = core.resource_limits, core.jobs[row].placed
    standing, job = limits.standing[limits.of[placement]], limits.job[row]
    wait_for(core, row, 0)
    take_picked(core, placement)
    job.charged = core.clock.now
    for resource in range(len(limits.would_have)):
        limits.has[row, resource] = limits.would_have[resource]
    _change_use(core, row, 1)
    seconds = core.placements[placement].limit * standing.factor
    _change_what_may_be_used(core, row, seconds)


@part
def _change_use(core: LimitedCore, row: int, sign: int) -> None:
    """What it has is in use from now on, or no longer."""
    limits, placement = core.resource_limits, core.jobs[row].placed
    standing = limits.standing[limits.of[placement]]
    for i in range(standing.counted, standing.counted_last):
        counter = limits.counted[i]
        limits.counter[counter].jobs += sign
        keep_count(core, LIMITED_JOBS, counter, limits.counter[counter].jobs)
        for resource in range(len(limits.would_have)):
            has = limits.has[row, resource]
            if limits.dealt_as[resource] == NODES:
                limits.amount[counter, resource] += count_nodes(core, placement, counter, has, sign)
            else:
                limits.amount[counter, resource] += sign * has
            keep_count(core, LIMITED_AMOUNT, counter, limits.amount[counter, resource])


@part
def _change_what_may_be_used(core: LimitedCore, row: int, seconds: float) -> None:
    limits = core.resource_limits
    standing = limits.standing[limits.of[core.jobs[row].placed]]
    for i in range(standing.counted, standing.counted_last):
        for resource in range(len(limits.would_have)):
            limits.may_use[limits.counted[i], resource] += limits.has[row, resource] * seconds


@on(stopped, "resource_limits")
def count_stopped(core: LimitedCore, row: int) -> None:
    """It runs no longer: its nodes may yet be completing, but they count no more, nor does it."""
    limits, placement = core.resource_limits, core.jobs[row].placed
    if core.jobs[row].state > RUNNING:
        count_ended(core, row)
    standing, job = limits.standing[limits.of[placement]], limits.job[row]
    if limits.rules.minutes:
        left = core.placements[placement].limit - (job.charged - core.jobs[row].start)
        _change_what_may_be_used(core, row, -max(left, 0) * standing.factor)
        if core.slurm.rules.calc_period:
            _charge(core, row)
            _look_for_used_up(core, row)
    _change_use(core, row, -1)


# -- minutes


@on(computations_change_limits, "resource_limits")
def usage_counts(core: LimitedCore) -> bool:
    """Usage that fades lifts limits, and usage that is charged reaches them, while anything is to come."""
    if not core.resource_limits.rules.minutes:
        return False
    return more_comes(core) or some_job_waits_for_usage(core)


@on(usage_may_lift_limits, "resource_limits")
def some_job_waits_for_usage(core: LimitedCore) -> bool:
    """Usage fades, or is forgotten one day, and a job waits for that alone."""
    limits = core.resource_limits
    if waits_for_shares(core):
        return True
    if not limits.rules.minutes or not core.slurm.rules.calc_period:
        return False
    if core.slurm.rules.decay_rate == 1.0 and limits.rules.resets_done == len(limits.resets):
        return False
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            take_asked(core, placement)
            if may_be_lifted(core, placement):
                return True
    return False


@on(usage_computed, "resource_limits")
def compute_usage(core: LimitedCore, since: int, time: int) -> None:
    """All usage fades, then what runs is charged for the time since the last computation."""
    limits = core.resource_limits
    if not limits.rules.minutes:
        return
    _note_who_is_short(core)
    _forget_when_due(core, time)
    left = decay_over(core.slurm.rules.decay_rate, float(time - since))
    for counter in range(len(limits.counter)):
        if limits.counter[counter].decays:
            _multiply(core, counter, left)
    everywhere = len(core.pools) - 1
    for i in range(core.pools[everywhere].release_head, core.pools[everywhere].release_tail):
        row = core.releases[everywhere, i].row
        if row >= 0 and core.jobs[row].state == RUNNING:
            standing = limits.standing[limits.of[core.jobs[row].placed]]
            gone = min(time - limits.job[row].charged, _seconds_left(core, row))
            _change_what_may_be_used(core, row, -gone * standing.factor)
            _charge(core, row)
            _look_for_used_up(core, row)
    if (not limits.rules.exact and usage_counts(core)) or _others_are_short(core):
        expect_change(core)


@part
def _note_who_is_short(core: LimitedCore) -> None:
    """Which of those that wait have too few minutes left in some group."""
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        core.resource_limits.job[row].short = _is_short(core, row)


@part
def _others_are_short(core: LimitedCore) -> bool:
    """Whether that is so of others now."""
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        if core.resource_limits.job[row].short != _is_short(core, row):
            return True
    return False


@part
def _is_short(core: LimitedCore, row: int) -> int:
    """In which of its partitions it is, a bit for each."""
    short = 0
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        take_asked(core, placement)
        short = 2 * short + is_short_of_minutes(core, placement)
    return short


@part
def _seconds_left(core: LimitedCore, row: int) -> int:
    """To its limit, since it was last charged."""
    limit = core.placements[core.jobs[row].placed].limit
    return max(limit - (core.resource_limits.job[row].charged - core.jobs[row].start), 0)


@part
def _forget_when_due(core: LimitedCore, time: int) -> None:
    """PriorityUsageResetPeriod is over."""
    limits = core.resource_limits
    while limits.rules.resets_done < len(limits.resets):
        if time < limits.resets[limits.rules.resets_done]:
            return
        limits.rules.resets_done += 1
        for counter in range(len(limits.counter)):
            _multiply(core, counter, 0.0)


@part
def _multiply(core: LimitedCore, counter: int, factor: float) -> None:
    core.resource_limits.counter[counter].wall *= factor
    for resource in range(len(core.resource_limits.would_have)):
        core.resource_limits.used[counter, resource] *= factor


@part
def _charge(core: LimitedCore, row: int) -> None:
    """Charge what it used since it was last charged, as if it had faded already."""
    limits, job = core.resource_limits, core.resource_limits.job[row]
    standing = limits.standing[limits.of[core.jobs[row].placed]]
    seconds = float(core.clock.now - job.charged)
    fading = faded(seconds, core.slurm.rules.decay_rate)
    job.charged = core.clock.now
    for i in range(standing.counted, standing.counted_last):
        counter = limits.counted[i]
        each = (fading if limits.counter[counter].decays else seconds) * standing.factor
        limits.counter[counter].wall += each
        for resource in range(len(limits.would_have)):
            limits.used[counter, resource] += limits.has[row, resource] * each


# -- what is used up


@part
def _look_for_used_up(core: LimitedCore, row: int) -> None:
    """Where minutes of its groups are used up, their jobs are killed at the next look for such jobs.

    That may be in the same second: usage is computed before.
    """
    rules = core.resource_limits.rules
    if rules.safe or rules.check_due or _used_up(core, row) < 0:
        return
    period = max(core.slurm.rules.limit_check_s, 1)
    rules.check_due = core.clock.now + (core.slurm.rules.starts_at - core.clock.now) % period
    push_end(core, rules.check_due, LIMIT_CHECK)


@part
def _used_up(core: LimitedCore, row: int) -> int:
    """The first limit of minutes that are used up, of those that it is held to; -1 if none."""
    limits = core.resource_limits
    standing = limits.standing[limits.of[core.jobs[row].placed]]
    for i in range(standing.before, standing.at_submission):
        if is_used_up(core, limits.limit[i]):
            return i
    return -1


@on(event_due, "resource_limits")
def kill_used_up(core: LimitedCore, kind: int, number: int) -> None:
    """All that run in groups without minutes are killed."""
    if kind != LIMIT_CHECK:
        return
    core.resource_limits.rules.check_due = 0
    for row in range(core.clock.jobs):
        if core.jobs[row].state != RUNNING:
            continue
        limit = _used_up(core, row)
        if limit >= 0:
            core.resource_limits.job[row].last_reason = core.resource_limits.limit[limit].reason
            core.placements[core.jobs[row].placed].killed = BY_LIMIT
            drop_end(core, row)
            finish(core, row, TIMEOUT)
