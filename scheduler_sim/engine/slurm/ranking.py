"""Slurm's priorities at Slurm's moments: at submission, at a release, and every PriorityCalcPeriod.

The key of a component is minus its priority, so that the smaller goes first as in every queue.
Under priority/basic the priority counts down from one submission to the next, and nice is
taken off it. Where Slurm walks its list of jobs instead of sorting it, the key is the place there.
"""

from __future__ import annotations

from scheduler_sim.engine.jit import part
from scheduler_sim.engine.queue import goes_before, sort_queue
from scheduler_sim.engine.slurm.fair_share import (
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
from scheduler_sim.engine.slurm.priority import age_factor, priority
from scheduler_sim.engine.slurm.slots import (
    ACCRUE_ALWAYS,
    ALGORITHM,
    BASIC,
    BUILTIN,
    CALC_PERIOD,
    DAMPING,
    DECAY_RATE,
    IN_LIST_ORDER,
    INCREASE_ONLY,
    LAST_CALC,
    MAX_AGE,
    NEXT_CALC,
    RESETS_DONE,
    SERIAL,
    SKIP,
    STEADY_UNTIL,
    UNRANKED,
    WEIGHT_AGE,
    WEIGHT_FAIR,
)
from scheduler_sim.engine.state import COMPLEX, HEAD, INF, NOW, QUEUE, RUNNING, TAIL, UNSEEN, Core


@part
def give_priority(core: Core, row: int) -> None:
    """Priority of one that is submitted or released."""
    if core.slurm[BASIC]:
        key = core.slurm[SERIAL] + core.job[row].nice
        if core.slurm[BUILTIN] != IN_LIST_ORDER:
            core.comp[row].key = key
        elif core.comp[row].state == UNSEEN:
            core.comp[row].key = core.slurm[SERIAL]
        core.slurm[SERIAL] += 1
        for placement in range(core.comp[row].first, core.comp[row].last):
            core.way[placement].key = key
    else:
        _weigh(core, row)


@part
def weigh_again(core: Core, row: int) -> None:
    """What one that was submitted asks for is new; under priority/basic that changes nothing."""
    if core.comp[row].state != UNSEEN and not core.slurm[BASIC]:
        _weigh(core, row)


@part
def compute_priorities(core: Core) -> bool:
    """A tick of Slurm's decay thread; True if the order may have changed.

    Until STEADY_UNTIL further ones change nothing, unless something else does.
    """
    now, head, tail = core.clock[NOW], core.clock[HEAD], core.clock[TAIL]
    same = True
    if core.slurm[WEIGHT_FAIR]:
        same = _let_usage_fade(core, now)
    core.slurm[LAST_CALC] = now
    changed = core.rules[COMPLEX] == 1
    for i in range(head, tail):
        same = not _weigh(core, core.lists[QUEUE, i]) and same
        if i > head and goes_before(core, core.lists[QUEUE, i], core.lists[QUEUE, i - 1]):
            changed = True
    if changed:
        sort_queue(core)
    core.slurm[STEADY_UNTIL] = _steady_until(core, same) if core.slurm[SKIP] else 0
    return changed


@part
def pass_over_computations(core: Core) -> int:
    """Ticks that were due before now and change nothing but usage; the first, INF if none."""
    slurm, period = core.slurm, core.slurm[CALC_PERIOD]
    first, end = slurm[NEXT_CALC], min(core.clock[NOW], slurm[STEADY_UNTIL])
    if period == 0 or end <= first:
        return INF
    last = first + (end - 1 - first) // period * period
    if slurm[WEIGHT_FAIR] and core.weight[DECAY_RATE] == 1.0:  # each adds what was used: so does one for all
        if last > first:
            _let_usage_fade(core, last - period)
            slurm[LAST_CALC] = last - period
        _let_usage_fade(core, last)
    slurm[LAST_CALC], slurm[NEXT_CALC] = last, last + period
    return first


@part
def _steady_until(core: Core, same: bool) -> int:
    """Until when ticks change nothing, if the last one did not: priorities grow with age, if at all."""
    slurm, now, until = core.slurm, core.clock[NOW], INF
    if slurm[RESETS_DONE] < len(core.resets):
        until = core.resets[slurm[RESETS_DONE]]
    if core.clock[HEAD] == core.clock[TAIL] and core.weight[DECAY_RATE] == 1.0:
        return until  # usage grows, and nobody asks for it
    if not same or until <= now:
        return 0
    if _priorities_stand(core, until - 1):
        return until
    ahead = slurm[CALC_PERIOD]
    while _priorities_stand(core, now + ahead):
        ahead *= 2
    return now + ahead // 2 + 1


@part
def _priorities_stand(core: Core, time: int) -> bool:
    """Whether all that wait have the priorities at ``time`` that they have now."""
    for i in range(core.clock[HEAD], core.clock[TAIL]):
        row = core.lists[QUEUE, i]
        if core.job[row].given:
            continue
        age, fair = _age(core, row, time), _fair(core, row)
        for placement in range(core.comp[row].first, core.comp[row].last):
            if -float(_value(core, placement, age, fair)) != core.way[placement].key:
                return False
    return True


@part
def charge_until(core: Core, row: int, time: int) -> None:
    """Charge what a running component has used since the last tick."""
    if not core.slurm[WEIGHT_FAIR]:
        return
    seconds = time - max(core.slurm[LAST_CALC], core.comp[row].start)
    each = faded(float(seconds), core.weight[DECAY_RATE])
    charge(core.assoc, core.job[row].association, each * core.job[row].billing)


@part
def _let_usage_fade(core: Core, time: int) -> bool:
    """Usage at a tick; True if it stands."""
    since, algorithm = core.slurm[LAST_CALC], core.slurm[ALGORITHM]
    while core.slurm[RESETS_DONE] < len(core.resets) and time >= core.resets[core.slurm[RESETS_DONE]]:
        reset(core.assoc)
        core.slurm[RESETS_DONE] += 1
    if algorithm != FAIR_TREE:
        account_usage(core.assoc, algorithm)
    decay(core.assoc, decay_over(core.weight[DECAY_RATE], float(time - since)))
    each = faded(float(time - since), core.weight[DECAY_RATE])
    everywhere = len(core.pool) - 1
    for i in range(core.pool[everywhere].release_head, core.pool[everywhere].release_tail):
        row = core.release[everywhere, i].row
        if row < 0 or core.comp[row].state != RUNNING:
            continue
        if core.comp[row].start > since:
            charge_until(core, row, time)
        else:
            charge(core.assoc, core.job[row].association, each * core.job[row].billing)
    core.slurm[UNRANKED] = algorithm == FAIR_TREE
    return usage_stands(core.assoc)


@part
def _weigh(core: Core, row: int) -> bool:
    """Priority in each partition, the best of which counts in the queue; True if one is new."""
    if core.job[row].given:
        return False
    age, fair = _age(core, row, core.clock[NOW]), _fair(core, row)
    best, new = 0, False
    for placement in range(core.comp[row].first, core.comp[row].last):
        value = _value(core, placement, age, fair)
        new = new or core.way[placement].key != -float(value)
        core.way[placement].key = -float(value)
        best = max(best, value)
    core.comp[row].key = -float(best)
    return new


@part
def _age(core: Core, row: int, time: int) -> float:
    """The weighted age at ``time``."""
    since = core.comp[row].submit if core.slurm[ACCRUE_ALWAYS] else core.term[row].begin
    return core.slurm[WEIGHT_AGE] * age_factor(time, since, core.slurm[MAX_AGE])


@part
def _fair(core: Core, row: int) -> float:
    """The weighted fair share."""
    if not core.slurm[WEIGHT_FAIR]:
        return 0.0
    if core.slurm[UNRANKED]:  # only now that somebody asks
        rank_fair_tree(core.assoc, core.order)
        core.slurm[UNRANKED] = 0
    return core.slurm[WEIGHT_FAIR] * fair_share(
        core.assoc, core.job[row].association, core.slurm[ALGORITHM], core.weight[DAMPING]
    )


@part
def _value(core: Core, placement: int, age: float, fair: float) -> int:
    value = priority(core.factor[placement], age, fair)
    return max(value, int(-core.way[placement].key)) if core.slurm[INCREASE_ONLY] else value
