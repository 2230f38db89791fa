"""Slurm's priorities at Slurm's moments: at submission, at a release, and every PriorityCalcPeriod.

The key of a job is minus its priority, so that the smaller goes first as in every queue.
Under priority/basic the priority counts down from one submission to the next, and nice is
taken off it. Where Slurm walks its list of jobs instead of sorting it, the key is the place there.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.queue import goes_before, sort_queue
from scheduler_sim.engine.core.state import INF, RUNNING, UNSEEN
from scheduler_sim.engine.rules.slurm.limit_questions import usage_computed
from scheduler_sim.engine.rules.slurm.priority.fair_share import (
    FAIR_TREE,
    account_usage,
    charge,
    decay,
    decay_over,
    faded,
    fair_share,
    rank_fair_tree,
    reset,
    usage_stands,
)
from scheduler_sim.engine.rules.slurm.priority.priority import age_factor, priority
from scheduler_sim.engine.rules.slurm.state import IN_LIST_ORDER, SlurmCore


@part
def give_priority(core: SlurmCore, row: int) -> None:
    """Priority of one that is submitted or released."""
    if core.slurm.rules.basic:
        key = core.slurm.memory.serial + core.slurm.job[row].nice
        if core.slurm.rules.builtin != IN_LIST_ORDER:
            core.ranks[row].key = key
        elif core.jobs[row].state == UNSEEN:
            core.ranks[row].key = core.slurm.memory.serial
        core.slurm.memory.serial += 1
        for placement in range(core.jobs[row].first, core.jobs[row].last):
            core.slurm.way[placement].key = key
    else:
        _weigh(core, row)


@part
def weigh_again(core: SlurmCore, row: int) -> None:
    """What one that was submitted asks for is new; under priority/basic that changes nothing."""
    if core.jobs[row].state != UNSEEN and not core.slurm.rules.basic:
        _weigh(core, row)


@part
def compute_priorities(core: SlurmCore) -> bool:
    """A tick of Slurm's decay thread; True if a pass may come out otherwise for it."""
    now, head, tail = core.clock.now, core.queue.at.head, core.queue.at.tail
    same, new, moved = True, False, False
    if core.slurm.rules.weight_fair:
        same = let_usage_fade(core, now)
    usage_computed(core, core.slurm.memory.last_calc, now)
    core.slurm.memory.last_calc = now
    for i in range(head, tail):
        new = _weigh(core, core.queue.waiting[i]) or new
        if i > head and goes_before(core, core.queue.waiting[i], core.queue.waiting[i - 1]):
            moved = True
    if moved:
        sort_queue(core)
    core.slurm.memory.steady_until = steady_until(core, same and not new)
    return moved or (new and (core.rules.complex == 1 or core.slurm.rules.bf_min_prio_reserve > 0))


@question
def pass_over_computations(core: SlurmCore) -> int:
    """Pass over ticks that were due before now and change nothing; the first of them, INF if none."""
    return INF


@question
def steady_until(core: SlurmCore, same: bool) -> int:
    """Until when ticks are known to change nothing, if the last one did not."""
    return 0


@part
def charge_until(core: SlurmCore, row: int, time: int) -> None:
    """Charge what a running job has used since the last tick."""
    if not core.slurm.rules.weight_fair:
        return
    seconds = time - max(core.slurm.memory.last_calc, core.jobs[row].start)
    each = faded(float(seconds), core.slurm.rules.decay_rate)
    charge(core.slurm.accounts.assoc, core.slurm.job[row].association, each * core.slurm.job[row].billing)


@part
def let_usage_fade(core: SlurmCore, time: int) -> bool:
    """Usage at a tick; True if it stands."""
    since, algorithm = core.slurm.memory.last_calc, core.slurm.rules.algorithm
    while (
        core.slurm.memory.resets_done < len(core.slurm.accounts.resets)
        and time >= core.slurm.accounts.resets[core.slurm.memory.resets_done]
    ):
        reset(core.slurm.accounts.assoc)
        core.slurm.memory.resets_done += 1
    if algorithm != FAIR_TREE:
        account_usage(core.slurm.accounts.assoc, algorithm)
    decay(core.slurm.accounts.assoc, decay_over(core.slurm.rules.decay_rate, float(time - since)))
    each = faded(float(time - since), core.slurm.rules.decay_rate)
    everywhere = len(core.pools) - 1
    for i in range(core.pools[everywhere].release_head, core.pools[everywhere].release_tail):
        row = core.releases[everywhere, i].row
        if row < 0 or core.jobs[row].state != RUNNING:
            continue
        if core.jobs[row].start > since:
            charge_until(core, row, time)
        else:
            charge(
                core.slurm.accounts.assoc, core.slurm.job[row].association, each * core.slurm.job[row].billing
            )
    core.slurm.memory.unranked = algorithm == FAIR_TREE
    return usage_stands(core.slurm.accounts.assoc)


@part
def _weigh(core: SlurmCore, row: int) -> bool:
    """Priority in each partition, the best of which counts in the queue; True if one is new."""
    if core.slurm.job[row].given:
        return False
    age, fair = weighted_age(core, row, core.clock.now), weighted_fair_share(core, row)
    best, new = 0, False
    for placement in range(core.jobs[row].first, core.jobs[row].last):
        value = whole_priority(core, placement, age, fair)
        new = new or core.slurm.way[placement].key != -float(value)
        core.slurm.way[placement].key = -float(value)
        best = max(best, value)
    core.ranks[row].key = -float(best)
    return new


@part
def weighted_age(core: SlurmCore, row: int, time: int) -> float:
    """The weighted age at ``time``."""
    since = core.jobs[row].submit if core.slurm.rules.accrue_always else age_counts_from(core, row)
    return core.slurm.rules.weight_age * age_factor(time, since, core.slurm.rules.max_age)


@question
def age_counts_from(core: SlurmCore, row: int) -> int:
    """Since when a job is eligible; below 0 if it is not, or counts as such yet."""
    return core.holds.term[row].begin


@part
def weighted_fair_share(core: SlurmCore, row: int) -> float:
    """The weighted fair share."""
    if not core.slurm.rules.weight_fair:
        return 0.0
    if core.slurm.memory.unranked:  # only now that they are asked for
        rank_fair_tree(core.slurm.accounts.assoc, core.slurm.accounts.order)
        core.slurm.memory.unranked = 0
    return core.slurm.rules.weight_fair * fair_share(
        core.slurm.accounts.assoc,
        core.slurm.job[row].association,
        core.slurm.rules.algorithm,
        core.slurm.rules.damping,
    )


@part
def whole_priority(core: SlurmCore, placement: int, age: float, fair: float) -> int:
    """The priority of a placement."""
    value = priority(core.slurm.accounts.factor[placement], age, fair)
    return max(value, int(-core.slurm.way[placement].key)) if core.slurm.rules.increase_only else value
