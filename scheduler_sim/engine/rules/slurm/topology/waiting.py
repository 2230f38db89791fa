"""Jobs that wait for few leaves: ``--switches=count[@max-wait]``, and at most max_switch_wait."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import on
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.moments import waits_for_time
from scheduler_sim.engine.rules.slurm.topology.state import TopologyCore


@part
def goes_by_topology(core: TopologyCore, placement: int) -> bool:
    """Whether the nodes of a placement are chosen by where they lie."""
    if core.topology.free[core.placements[placement].module]:
        return False
    return core.topology.rules.optional == 0 or core.topology.job[core.topology.owner[placement]].most > 0


@part
def note_try(core: TopologyCore, placement: int) -> None:
    """Nodes are sought for a job, among enough: from the first time on it waits for few leaves."""
    job = core.topology.job[core.topology.owner[placement]]
    job.since = min(job.since, core.clock.now)


@part
def may_have_leaves(core: TopologyCore, placement: int, leaves: int) -> bool:
    """Whether a job takes nodes on so many leaves, as it asks for no fewer or has waited long enough."""
    job = core.topology.job[core.topology.owner[placement]]
    if job.most == 0 or leaves <= job.most or core.clock.now >= job.since + job.wait:
        return True
    rules = core.topology.rules
    rules.waits_until = max(rules.waits_until, job.since + job.wait)
    core.slurm.memory.unseen_by_full = 1
    return False


@on(waits_for_time, "topology")
def waits_for_leaves(core: TopologyCore) -> bool:
    """Whether a job that was refused has not been looked at since it may have more leaves.

    Who looks again is the main scheduler, or where that makes no passes by itself the backfill scheduler.
    """
    rules, memory = core.slurm.rules, core.slurm.memory
    if rules.sched_interval == 0 and rules.builtin:
        return False
    last = memory.last_main if rules.sched_interval else memory.last_backfill
    return last < core.topology.rules.waits_until < INF
