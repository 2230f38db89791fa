"""At which moments Slurm's schedulers make their passes, and which of these may change something."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.change import BEHIND_DEPTH, LATE, WITHIN_DEPTH
from scheduler_sim.engine.rules.slurm.limit_questions import (
    computations_change_limits,
    usage_may_lift_limits,
)
from scheduler_sim.engine.rules.slurm.reasons import any_reason_is_new
from scheduler_sim.engine.rules.slurm.state import SlurmCore

MS = 1000


@part
def next_moment(core: SlurmCore) -> int:
    """When a pass may next change something."""
    now, slurm = core.clock.now, core.slurm
    settled = _main_has_seen_all(core) and _backfill_is_done(core)
    over = not more_comes(core) and (settled or not any_is_listed(core))
    if over and not usage_may_lift_limits(core) and not waits_for_time(core):
        return INF  # priorities may change for ever, but nothing else
    time, waits = INF, any_job_waits(core)
    counts = slurm.memory.pending > 0 or slurm.rules.weight_fair > 0 or computations_change_limits(core)
    shows = waits or (more_comes(core) and counts)
    if slurm.rules.calc_period and shows:
        time = next_computation_that_matters(core)
    if slurm.memory.asked and waits:
        time = min(time, asked_pass(core))
    if waits:
        time = min(time, next_full(core, max(now + 1, main_stands_until(core))))
    if slurm.memory.unnoted:  # whichever pass comes next, what it notes is a change
        time = min(time, next_full(core, now + 1))
        if slurm.memory.asked:
            time = min(time, asked_pass(core))
        if not slurm.rules.builtin:
            time = min(time, next_backfill(core))
    if waits and not slurm.rules.builtin:
        time = min(time, next_backfill_that_matters(core))
    return time


@question
def waits_for_time(core: SlurmCore) -> bool:
    """Whether a job may start though no job is to end or come: it waits for that time, or for nodes."""
    return False


@part
def _main_has_seen_all(core: SlurmCore) -> bool:
    """Whether nothing starts as things are; its passes may never be whole."""
    if core.slurm.rules.main_on_seconds and core.slurm.memory.asked:
        return False  # what has happened is seen in a second
    return core.slurm.memory.unseen_by_full == 0 or core.slurm.rules.sched_interval == 0


@part
def _backfill_is_done(core: SlurmCore) -> bool:
    """Whether another backfill pass would come out as the last one, or nothing brings one."""
    slurm = core.slurm
    if slurm.memory.valid == INF and (slurm.rules.builtin or slurm.memory.changed == 0):
        return True
    return not (slurm.rules.calc_period or any_reason_is_new(core)) and next_backfill(core) == INF


@question
def main_stands_until(core: SlurmCore) -> int:
    """Until when a pass of the main scheduler would come out as the last one: not known."""
    return core.clock.now


@question
def backfill_may_differ(core: SlurmCore) -> bool:
    """Whether a pass of the backfill scheduler may come out otherwise than the last one."""
    return True


@question
def next_backfill_that_matters(core: SlurmCore) -> int:
    """When the backfill scheduler next makes such a pass."""
    return next_backfill(core)


@question
def next_computation_that_matters(core: SlurmCore) -> int:
    """When priorities are next computed such that something may come of it."""
    return core.slurm.memory.next_calc


@part
def more_comes(core: SlurmCore) -> bool:
    """Whether something is to happen yet, so that the present usage, and passes, may matter."""
    return core.clock.events > 0 or core.queue.at.seen < core.clock.jobs


@part
def any_job_waits(core: SlurmCore) -> bool:
    """Whether any job is in the queue."""
    return core.queue.at.tail > core.queue.at.head


@question
def any_is_listed(core: SlurmCore) -> bool:
    """Whether the main scheduler lists any job that waits."""
    return any_job_waits(core)


@part
def main_is_change(core: SlurmCore, full: bool) -> bool:
    """Whether to backfill a pass of the main scheduler is a change: in 19.05, if it lists any job.

    Later that a job waits for nodes that others have is none, but that one is passed over is.
    """
    if core.slurm.rules.aligned:
        least = BEHIND_DEPTH if full else WITHIN_DEPTH
        return core.slurm.memory.main_changes >= least and any_is_listed(core)
    return any_is_listed(core)


# -- the main scheduler


@part
def ask(core: SlurmCore, at_once: bool) -> None:
    """Ask for a pass of the main scheduler; of ends it hears with its next look."""
    slurm, now = core.slurm, core.clock.now
    if slurm.rules.main_on_seconds:
        slurm.memory.ended_here, slurm.memory.hears_at = 0, now + 1
        at_once = False
    if slurm.memory.ended_here:
        slurm.memory.hears_at = now + _wait_after_end(core)
    time = now if at_once else max(now, slurm.memory.hears_at)
    slurm.memory.asked_at = min(slurm.memory.asked_at, time) if slurm.memory.asked else time
    slurm.memory.asked = 1


@part
def answer(core: SlurmCore, time: int) -> None:
    """A pass is made at ``time``; one that was asked for later is still to come."""
    slurm = core.slurm
    slurm.memory.last_main = time
    slurm.memory.asked = slurm.memory.asked and slurm.memory.hears_at > time
    slurm.memory.asked_at = slurm.memory.hears_at


@part
def _wait_after_end(core: SlurmCore) -> int:
    """Whole seconds up to the look that sees an end: fractions add up from one end to the next.

    What ended behind the look of the second before has waited.
    """
    slurm = core.slurm
    late = slurm.memory.ended_here == LATE
    slurm.memory.ended_here = 0
    if late or slurm.rules.at_end:
        return 0
    slurm.memory.waited += slurm.rules.main_wait_ms
    wait = slurm.memory.waited // MS
    slurm.memory.waited %= MS
    return wait


@part
def asked_pass(core: SlurmCore) -> int:
    """When the pass is made that was asked for: its delay after the last one, or with the next full one."""
    slurm, asked_at = core.slurm, core.slurm.memory.asked_at
    last = max(slurm.memory.last_main, _last_full(core, asked_at - 1))
    delay = max(slurm.rules.batch_sched_delay, slurm.rules.sched_min_interval, 1)
    return min(max(asked_at, last + delay), next_full(core, max(asked_at, slurm.memory.last_main + 1)))


@part
def next_full(core: SlurmCore, time: int) -> int:
    """When the main scheduler next passes over the whole queue, at ``time`` or later; INF = never."""
    interval, since = core.slurm.rules.sched_interval, time - core.slurm.rules.starts_at
    if interval == 0:
        return INF
    return time + (-since) % interval if since > 0 else core.slurm.rules.starts_at + interval


@part
def _last_full(core: SlurmCore, time: int) -> int:
    """When it last did, at ``time`` or before, or the daemon started."""
    if core.slurm.rules.sched_interval == 0:
        return -INF
    return time - (time - core.slurm.rules.starts_at) % core.slurm.rules.sched_interval


# -- the backfill scheduler


@part
def next_backfill(core: SlurmCore) -> int:
    """When the backfill scheduler next finds that something changed, its interval after its last pass."""
    return _next_backfill(core, INF)


@part
def _next_backfill(core: SlurmCore, computed: int) -> int:
    """With computations of priorities, from ``computed`` on, that were passed over."""
    slurm = core.slurm
    earliest = slurm.memory.last_backfill + slurm.rules.bf_interval
    if slurm.rules.always_more:
        return earliest
    if slurm.memory.last_change >= slurm.memory.last_backfill:
        return max(earliest, slurm.memory.seen_from)
    change = _next_computed(core, computed, slurm.memory.last_backfill)
    if main_is_change(core, True):
        change = min(change, next_full(core, max(slurm.memory.last_backfill, slurm.memory.waits_from)))
    return INF if change == INF else max(earliest, change + slurm.rules.backfill_first)


@part
def _next_computed(core: SlurmCore, computed: int, time: int) -> int:
    """The first computation that was passed over, at ``time`` or later."""
    if computed == INF:
        return INF
    return max(time, computed) + (computed - max(time, computed)) % core.slurm.rules.calc_period


@part
def _last_seen(core: SlurmCore, computed: int, time: int) -> int:
    """The last change at ``time`` or before, of those that come by the clock alone; -INF = none."""
    slurm, last = core.slurm, -INF
    if main_is_change(core, True) and next_full(core, slurm.memory.waits_from) <= time:
        last = _last_full(core, time)
    return max(last, _last_computed(core, computed, time))


@part
def _last_computed(core: SlurmCore, computed: int, time: int) -> int:
    """The last computation that was passed over, at ``time`` or before."""
    return time - (time - computed) % core.slurm.rules.calc_period if computed <= time else -INF


# -- time in which nothing happens


@part
def catch_up_passes(core: SlurmCore, computed: int) -> None:
    """Passes that were due before now, and could change nothing, are no more than moments others count from.

    ``computed``: since when computations of priorities were passed over that the backfill scheduler saw.
    """
    slurm, now = core.slurm, core.clock.now
    while slurm.memory.asked and asked_pass(core) < now:  # with no job waiting
        answer(core, asked_pass(core))
    if slurm.rules.builtin or slurm.rules.bf_interval == 0:
        return
    _catch_up_backfill(core, computed)
    last = _last_computed(core, computed, now - 1)
    if last > slurm.memory.last_change:
        slurm.memory.last_change, slurm.memory.seen_from = last, last + slurm.rules.backfill_first


@part
def _catch_up_backfill(core: SlurmCore, computed: int) -> None:
    """Passes of the backfill scheduler before now; what repeats itself is not gone through again."""
    slurm, now = core.slurm, core.clock.now
    mark, steps, again = -INF, 0, 2
    while True:
        time = _next_backfill(core, computed)
        if time >= now:
            return
        if slurm.memory.self_change and any_job_waits(core):  # each pass is a change that brings the next
            time = slurm.memory.last_change = _repeated(time, slurm.rules.bf_interval, now)
        elif slurm.rules.always_more:
            time = _repeated(time, slurm.rules.bf_interval, now)
        elif mark > -INF and _in_phase(core, computed, time - mark):
            time, mark = _repeated(time, time - mark, now), -INF
        slurm.memory.last_backfill = time
        slurm.memory.last_change = max(slurm.memory.last_change, _last_seen(core, computed, time))
        steps += 1
        if steps == again:  # phases come round in the end: a mark among those that do, and a circle after it
            mark, again = time, 2 * again


@part
def _repeated(time: int, span: int, now: int) -> int:
    """The last of the moments ``time``, ``time + span``, ... before now."""
    return time + (now - 1 - time) // span * span


@part
def _in_phase(core: SlurmCore, computed: int, span: int) -> bool:
    """Whether after ``span`` s all that changes by the clock alone changes as before."""
    slurm = core.slurm
    if main_is_change(core, True) and slurm.rules.sched_interval and span % slurm.rules.sched_interval:
        return False
    return computed == INF or span % slurm.rules.calc_period == 0
