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
)
from scheduler_sim.engine.slurm.priority import age_factor, priority
from scheduler_sim.engine.slurm.slots import (
    ACCRUE_ALWAYS,
    ALGORITHM,
    BASIC,
    BUILTIN,
    DAMPING,
    DECAY_RATE,
    IN_LIST_ORDER,
    INCREASE_ONLY,
    LAST_CALC,
    MAX_AGE,
    RESETS_DONE,
    SERIAL,
    UNRANKED,
    WEIGHT_AGE,
    WEIGHT_FAIR,
)
from scheduler_sim.engine.state import COMPLEX, HEAD, NOW, QUEUE, RUNNING, TAIL, UNSEEN, Core


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
def compute_priorities(core: Core) -> bool:
    """A tick of Slurm's decay thread; True if the order may have changed."""
    if core.slurm[WEIGHT_FAIR]:
        _let_usage_fade(core)
    core.slurm[LAST_CALC] = core.clock[NOW]
    head, tail = core.clock[HEAD], core.clock[TAIL]
    changed = core.rules[COMPLEX] == 1
    for i in range(head, tail):
        _weigh(core, core.lists[QUEUE, i])
        if i > head and goes_before(core, core.lists[QUEUE, i], core.lists[QUEUE, i - 1]):
            changed = True
    if changed:
        sort_queue(core)
    return changed


@part
def charge_until(core: Core, row: int, time: int) -> None:
    """Charge what a running component has used since the last tick."""
    if not core.slurm[WEIGHT_FAIR]:
        return
    seconds = time - max(core.slurm[LAST_CALC], core.comp[row].start)
    each = faded(float(seconds), core.weight[DECAY_RATE])
    charge(core.assoc, core.job[row].association, each * core.job[row].billing)


@part
def _let_usage_fade(core: Core) -> None:
    now, since, algorithm = core.clock[NOW], core.slurm[LAST_CALC], core.slurm[ALGORITHM]
    while core.slurm[RESETS_DONE] < len(core.resets) and now >= core.resets[core.slurm[RESETS_DONE]]:
        reset(core.assoc)
        core.slurm[RESETS_DONE] += 1
    if algorithm != FAIR_TREE:
        account_usage(core.assoc, algorithm)
    decay(core.assoc, decay_over(core.weight[DECAY_RATE], float(now - since)))
    each = faded(float(now - since), core.weight[DECAY_RATE])
    everywhere = len(core.pool) - 1
    for i in range(core.pool[everywhere].release_head, core.pool[everywhere].release_tail):
        row = core.release[everywhere, i].row
        if row < 0 or core.comp[row].state != RUNNING:
            continue
        if core.comp[row].start > since:
            charge_until(core, row, now)
        else:
            charge(core.assoc, core.job[row].association, each * core.job[row].billing)
    core.slurm[UNRANKED] = algorithm == FAIR_TREE


@part
def _weigh(core: Core, row: int) -> None:
    """Priority in each partition; the best one counts in the queue. One set by hand stays."""
    if core.job[row].given:
        return
    since = core.comp[row].submit if core.slurm[ACCRUE_ALWAYS] else core.job[row].begin
    age = core.slurm[WEIGHT_AGE] * age_factor(core.clock[NOW], since, core.slurm[MAX_AGE])
    fair = 0.0
    if core.slurm[WEIGHT_FAIR]:
        if core.slurm[UNRANKED]:  # only now that somebody asks
            rank_fair_tree(core.assoc, core.order)
            core.slurm[UNRANKED] = 0
        fair = core.slurm[WEIGHT_FAIR] * fair_share(
            core.assoc, core.job[row].association, core.slurm[ALGORITHM], core.weight[DAMPING]
        )
    best = 0
    for placement in range(core.comp[row].first, core.comp[row].last):
        value = priority(core.factor[placement], age, fair)
        if core.slurm[INCREASE_ONLY]:
            value = max(value, int(-core.way[placement].key))
        core.way[placement].key = -float(value)
        best = max(best, value)
    core.comp[row].key = -float(best)
