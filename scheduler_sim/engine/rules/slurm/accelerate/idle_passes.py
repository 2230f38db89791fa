"""Passes that can change nothing are not made, nor are computations of priorities.

They keep their place in time, as the moments of later passes depend on them (see ``moments``). If only
newcomers have joined the end of the queue, the plan of the last pass goes on with them.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.accelerate.state import AcceleratedCore
from scheduler_sim.engine.rules.slurm.backfill_pass import continues_last_pass, outcome_until, try_entries
from scheduler_sim.engine.rules.slurm.change import NEWCOMERS_ONLY, holds_until
from scheduler_sim.engine.rules.slurm.job_partition_queue import build_queue
from scheduler_sim.engine.rules.slurm.limit_questions import (
    computations_change_limits,
    usage_computed,
    weights_stand,
    weights_stand_for_main,
)
from scheduler_sim.engine.rules.slurm.moments import (
    any_job_waits,
    backfill_may_differ,
    main_stands_until,
    next_backfill,
    next_backfill_that_matters,
    next_computation_that_matters,
)
from scheduler_sim.engine.rules.slurm.node_space import edge, next_change
from scheduler_sim.engine.rules.slurm.planned_ends import ended_by, planned_end, running
from scheduler_sim.engine.rules.slurm.priority.ranking import (
    let_usage_fade,
    pass_over_computations,
    steady_until,
    weighted_age,
    weighted_fair_share,
    whole_priority,
)

# -- passes


@on(main_stands_until, "accelerate")
def until_unseen_change(core: AcceleratedCore) -> int:
    """Now, if something has changed that no pass over the whole queue has seen; else by the clock alone."""
    memory = core.slurm.memory
    if memory.unseen_by_full or memory.main_again or not weights_stand_for_main(core):
        return core.clock.now
    return memory.main_valid


@on(holds_until, "accelerate")
def shorten(core: AcceleratedCore, time: int) -> None:
    """The outcome stands no longer than that."""
    core.slurm.memory.valid = min(core.slurm.memory.valid, time)


@on(outcome_until, "accelerate")
def until_known_change(core: AcceleratedCore) -> int:
    """Until the plan begins to look otherwise as the clock moves on."""
    if core.slurm.rules.fixed_nodes:
        over = ended_by(core, core.clock.now)  # behind these the next will be past its planned end, too
        late = planned_end(core, over) if over < running(core) else INF
        return min(core.slurm.memory.valid, next_change(core), late)
    return core.clock.now if core.slurm.rules.bf_interval > 0 else core.slurm.memory.valid


@on(backfill_may_differ, "accelerate")
def outcome_is_old(core: AcceleratedCore) -> bool:
    """Whether something has changed, or time enough has gone by."""
    memory = core.slurm.memory
    again = memory.changed > 0 or memory.backfill_again > 0
    return again or core.clock.now >= memory.valid or not weights_stand(core)


@on(continues_last_pass, "accelerate")
def only_newcomers_tried(core: AcceleratedCore) -> bool:
    """The plan of the last pass stands, and newcomers are last in the queue: they alone are tried."""
    memory, progress = core.slurm.memory, core.accelerate.progress
    if (
        memory.changed != NEWCOMERS_ONLY
        or memory.backfill_again
        or not _plan_stands(core)
        or not weights_stand(core)
    ):
        return False
    if not memory.broken_off:
        memory.window_end = edge(core, core.clock.now + core.slurm.rules.bf_window)
        core.slurm.plan.record[memory.records].begin = memory.window_end
        try_entries(core, progress.planned, build_queue(core))
    return True


@part
def _plan_stands(core: AcceleratedCore) -> bool:
    """Whether those planned by the last pass would be planned likewise now, and before all newcomers.

    A job that is last in the queue may still come earlier in a partition of a higher tier. Where newcomers
    are the first to make more entries than tests, those before must be tested anew: only now do all tests
    count.
    """
    rules, memory = core.slurm.rules, core.slurm.memory
    if core.rules.complex or not rules.fixed_nodes:
        return False
    if memory.entries < rules.bf_max_job_test <= core.queue.at.tail - core.queue.at.head:
        return False
    return core.accelerate.progress.planned > 0 and core.clock.now < memory.valid


@on(next_backfill_that_matters, "accelerate")
def next_other_outcome(core: AcceleratedCore) -> int:
    """When the backfill scheduler next makes a pass that may come out otherwise."""
    following = next_backfill(core)
    if core.slurm.memory.changed or core.slurm.memory.backfill_again or not weights_stand(core):
        return following
    if core.slurm.rules.calc_period:  # a computation that is passed over may bring it sooner
        following = min(following, core.slurm.memory.next_calc)
    return max(following, core.slurm.memory.valid)


# -- computations of priorities


@on(next_computation_that_matters, "accelerate")
def next_unsteady(core: AcceleratedCore) -> int:
    """To a backfill pass that is to see a change a computation is one."""
    until, following = core.slurm.memory.steady_until, core.slurm.memory.next_calc
    if until <= following or (core.slurm.memory.changed and any_job_waits(core)):
        return following
    return INF if until == INF else until + (following - until) % core.slurm.rules.calc_period


@on(pass_over_computations, "accelerate")
def pass_over_steady(core: AcceleratedCore) -> int:
    """They change nothing but usage."""
    slurm, period = core.slurm, core.slurm.rules.calc_period
    first, end = slurm.memory.next_calc, min(core.clock.now, slurm.memory.steady_until)
    if period == 0 or end <= first:
        return INF
    last = first + (end - 1 - first) // period * period
    usage_computed(core, slurm.memory.last_calc, last)
    if slurm.rules.weight_fair and slurm.rules.decay_rate == 1.0:
        # each adds what was used: so does one for all
        if last > first:
            let_usage_fade(core, last - period)
            slurm.memory.last_calc = last - period
        let_usage_fade(core, last)
    slurm.memory.last_calc, slurm.memory.next_calc = last, last + period
    return first


@on(steady_until, "accelerate")
def steady_while_alike(core: AcceleratedCore, same: bool) -> int:
    """Priorities grow with age, if at all."""
    slurm, now, until = core.slurm, core.clock.now, INF
    if computations_change_limits(core):
        return 0
    if slurm.memory.resets_done < len(core.slurm.accounts.resets):
        until = core.slurm.accounts.resets[slurm.memory.resets_done]
    if core.queue.at.head == core.queue.at.tail and core.slurm.rules.decay_rate == 1.0:
        return until  # usage grows, and no priority is computed from it
    if not same or until <= now:
        return 0
    if _priorities_stand(core, until - 1):
        return until
    ahead = slurm.rules.calc_period
    while _priorities_stand(core, now + ahead):
        ahead *= 2
    return now + ahead // 2 + 1


@part
def _priorities_stand(core: AcceleratedCore, time: int) -> bool:
    """Whether all that wait have the priorities at ``time`` that they have now."""
    for i in range(core.queue.at.head, core.queue.at.tail):
        row = core.queue.waiting[i]
        if core.slurm.job[row].given:
            continue
        age, fair = weighted_age(core, row, time), weighted_fair_share(core, row)
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            if -float(whole_priority(core, placement, age, fair)) != core.slurm.way[placement].key:
                return False
    return True
