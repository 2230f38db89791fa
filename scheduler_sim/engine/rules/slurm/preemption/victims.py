"""Which of the candidates are preempted, and what becomes of them.

Slurm's ``_run_now``: candidates are thought away one after the other until the job fits. Then those that gave
most of the nodes chosen go first, and it is tried again, ``preempt_reorder_count`` + 1 times.
"""

from __future__ import annotations

from scheduler_sim.engine.core.bits import copy, keep_common, take_out
from scheduler_sim.engine.core.events import drop_end
from scheduler_sim.engine.core.hooks import event, on, question
from scheduler_sim.engine.core.instant import log_is_full
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.lifecycle import finish, forget_run, is_ended_otherwise, vacate
from scheduler_sim.engine.core.limits import forget_end, plan_end, time_granted
from scheduler_sim.engine.core.moments import begins_late, placed_anew, stopped
from scheduler_sim.engine.core.state import BY_LIMIT, HELD, INF, PREEMPTED
from scheduler_sim.engine.rules.lost_runs import write_down
from scheduler_sim.engine.rules.slurm.lifecycle import ends_in_grace, requeue
from scheduler_sim.engine.rules.slurm.main_pass import cannot_start
from scheduler_sim.engine.rules.slurm.nodes import picked_from
from scheduler_sim.engine.rules.slurm.preemption.candidates import (
    holds_any,
    list_candidates,
    nodes_held,
    open_room,
    think_away,
)
from scheduler_sim.engine.rules.slurm.preemption.state import REQUEUE, PreemptionCore

FIRST = 99_999
"""Slurm's number of nodes for the one without which the job would not have fitted."""


@on(cannot_start, "preemption", unless="cons_tres")
def preempt_in_main(core: PreemptionCore, row: int, placement: int) -> None:
    """Preempt others on nodes of its partition."""
    put_usable(core, placement)
    make_room(core, row, placement)


@part
def put_usable(core: PreemptionCore, placement: int) -> None:
    """USABLE: nodes of its partition that are up, not COMPLETING, nor behind a partition that is blocked."""
    usable, it = core.preemption.usable, core.slurm.partition[core.slurm.way[placement].partition]
    copy(usable, core.slurm.nodes.masks[it.members], it.low, it.high)
    keep_common(usable, core.slurm.sets.up, it.low, it.high)
    take_out(usable, core.slurm.sets.leaving, it.low, it.high)
    for i in range(len(core.slurm.partition)):
        if core.slurm.partition[i].blocked and core.slurm.partition[i].low == it.low:
            take_out(usable, core.slurm.nodes.masks[core.slurm.partition[i].members], it.low, it.high)
    keep_open_usable(core, placement)


@event
def keep_open_usable(core: PreemptionCore, placement: int) -> None:
    """Of the nodes USABLE stay those that reservations of operators leave to the entry."""


@part
def make_room(core: PreemptionCore, row: int, placement: int) -> None:
    """Preempt jobs on USABLE nodes so that ``row`` can start there, if that would do."""
    rules = core.preemption.rules
    if core.preemption.job[row].tried_at > core.clock.now - rules.pause:
        return
    if not may_help(core, placement):
        return
    size = list_candidates(core, placement)
    last = _choose(core, placement, size)
    if last < 0:
        return
    core.preemption.job[row].tried_at = core.clock.now
    for i in range(last + 1):
        if core.preemption.key[i]:
            preempt(core, core.preemption.order[i])


@part
def _choose(core: PreemptionCore, placement: int, size: int) -> int:
    """Order the candidates; those up to the place returned that have a key are preempted. -1: nobody."""
    rules, again = core.preemption.rules, 0
    while True:
        last = _until_it_fits(core, placement, size)
        if last < 0:
            return -1
        for i in range(last + 1):
            core.preemption.key[i] = nodes_held(core, core.preemption.order[i], core.slurm.sets.picked)
        if again > rules.reorder_count or size <= again + 1:
            return last
        again += 1
        if rules.strict_order:
            _move(core, last, 0)
            continue
        core.preemption.key[last] = FIRST
        for i in range(last + 1, size):
            core.preemption.key[i] = 0
        for i in range(1, last + 1):
            at = i
            while at > 0 and core.preemption.key[at - 1] < core.preemption.key[i]:
                at -= 1
            _move(core, i, at)


@part
def _move(core: PreemptionCore, place: int, to: int) -> None:
    """Move a candidate to the front, past those between."""
    order, key = core.preemption.order, core.preemption.key
    row, its_key = order[place], key[place]
    for i in range(place, to, -1):
        order[i], key[i] = order[i - 1], key[i - 1]
    order[to], key[to] = row, its_key


@part
def _until_it_fits(core: PreemptionCore, placement: int, size: int) -> int:
    """Think candidates away until the job fits on nodes PICKED; the place of the last, -1: it never does."""
    open_room(core, placement, core.slurm.partition[core.slurm.way[placement].partition])
    for i in range(size):
        row = core.preemption.order[i]
        if not holds_any(core, row, core.preemption.usable):
            continue
        think_away(core, row)
        if picked_without(core, placement, row):
            return i
    return -1


@question
def may_help(core: PreemptionCore, placement: int) -> bool:
    """Whether a job might fit on nodes USABLE once all candidates are thought away; it is left open here."""
    return True


@question
def picked_without(core: PreemptionCore, placement: int, row: int) -> bool:
    """Choose nodes that are USABLE and in ROOM, if they suffice now that ``row`` is thought away, too."""
    way, room = core.slurm.way[placement], core.preemption.room
    it = core.slurm.partition[way.partition]
    keep_common(room, core.preemption.usable, it.low, it.high)
    for choice in range(way.first, way.last):
        way.choice = choice
        if picked_from(core, placement, room):
            return True
    return False


@on(log_is_full, "preemption")
def lost_are_many(core: PreemptionCore) -> bool:
    """Whether the runs lost in one more instant might have no room."""
    return core.preemption.log.lost + 2 * len(core.preemption.job) > len(core.preemption.lost)


@part
def preempt(core: PreemptionCore, row: int) -> None:
    """Its grace begins; or it ends now, as there is none, or it is over."""
    grace = core.preemption.group[core.preemption.of[core.jobs[row].placed]].grace
    if grace > 0 and core.preemption.job[row].grace_end == INF:
        forget_end(core, row)
        core.preemption.job[row].grace_end = core.clock.now + grace
        plan_end(core, row)
    elif grace == 0 or core.clock.now >= core.jobs[row].start + time_granted(
        core, row, core.jobs[row].placed
    ):
        drop_end(core, row)
        end_preempted(core, row)


@on(time_granted, "preemption")
def until_grace_is_over(core: PreemptionCore, row: int, placement: int) -> int:
    """Its limit, or less if it is preempted."""
    return min(core.placements[placement].limit, core.preemption.job[row].grace_end - core.jobs[row].start)


@on(is_ended_otherwise, "preemption")
def grace_is_over(core: PreemptionCore, row: int, killed: bool) -> bool:
    """The look for jobs past their time finds one that is preempted, whoever still needs its nodes.

    Since 24.05 one that ends by itself in its grace is preempted as well.
    """
    if core.preemption.job[row].grace_end == INF or not (killed or core.slurm.rules.preempted_in_grace):
        return False
    end_preempted(core, row)
    return True


@on(ends_in_grace, "preemption")
def has_grace(core: PreemptionCore, row: int) -> bool:
    """It has come to its own end."""
    if not core.slurm.rules.preempted_in_grace or core.preemption.job[row].grace_end == INF:
        return False
    it = core.placements[core.jobs[row].placed]
    return bool(it.killed != BY_LIMIT and core.clock.now >= core.jobs[row].start + it.duration)


@on(stopped, "preemption")
def forget_grace(core: PreemptionCore, row: int) -> None:
    """Another run has all its time."""
    core.preemption.job[row].grace_end = INF


@on(begins_late, "preemption")
def begin_in_grace(core: PreemptionCore, row: int) -> None:
    """One that is preempted as it waits for its nodes has all its time once it begins."""
    if core.preemption.job[row].grace_end < INF:
        core.preemption.job[row].grace_end = core.clock.now + core.placements[core.jobs[row].placed].limit


@question
def has_begun(core: PreemptionCore, row: int) -> bool:
    """Whether a job that has nodes has begun there, so that it may lose something."""
    return True


@part
def end_preempted(core: PreemptionCore, row: int) -> None:
    """End it now: it waits again after a while, or is over."""
    group = core.preemption.group[core.preemption.of[core.jobs[row].placed]]
    if group.mode == REQUEUE and core.preemption.job[row].requeue:
        if has_begun(core, row):
            write_down(core, row, core.preemption.log, core.preemption.lost)
        else:
            core.preemption.log.unbegun += 1
        gone = vacate(core, row, HELD)
        forget_run(core, row)
        if gone:
            requeue(core, row)
    else:
        finish(core, row, PREEMPTED)


@on(placed_anew, "preemption")
def keep_its_place(core: PreemptionCore, row: int) -> None:
    """In the queue it stands by the tier of its new ways, with that by which it may preempt others."""
    core.ranks[row].tier = core.slurm.way[core.jobs[row].first].tier
