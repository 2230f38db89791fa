"""Under Slurm, a power cap that its schedulers plan with: Slurm itself has none (beyond Slurm).

What jobs draw above idle nodes is an amount of which all have a part. A job starts only if there is enough
for as long as its limit, with all changes of the cap that are known. In the main scheduler one that has nodes
and no power ends the pass, as all partitions draw from one amount. The backfill scheduler plans it for when
there is enough, and its plan keeps that.
"""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import event, on, only_with, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.profile import earliest_in, step_at, take
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.change import holds_until
from scheduler_sim.engine.rules.slurm.start import licences
from scheduler_sim.engine.rules.slurm.state import SlurmCore


@on(licences, "power_budget")
def all_but_power(core: SlurmCore) -> int:
    """Shared resources without which a job is passed over: power is planned."""
    return int(core.demand.shape[1]) - 1


@question
def boots_picked(core: SlurmCore, placement: int) -> int:
    """How much more (mW) the nodes PICKED draw from then on, as some are off, for as long as is known."""
    return 0


@event
def boots_kept(core: SlurmCore, placement: int) -> None:
    """From now on that is kept for them in this pass."""


@only_with("power_budget", otherwise=False)
def lacks_power(core: SlurmCore, placement: int) -> bool:
    """Whether there is too little power for a job from now to its limit, on the nodes PICKED."""
    return powered_from(core, placement, core.clock.now) > core.clock.now


@part
def powered_from(core: SlurmCore, placement: int, time: int) -> int:
    """From when on, at ``time`` or later, there is enough for as long as its limit; INF if never."""
    pool, limit = core.power_budget.at.pool, core.placements[placement].limit
    asked, boots = core.demand[placement, core.demand.shape[1] - 1], boots_picked(core, placement)
    while True:
        time = earliest_in(core, pool, time, limit, asked + boots)
        if boots == 0 or time == INF:
            return time
        following = _enough_behind(core, pool, time + limit, boots)
        if following == 0:
            return time
        time = following


@part
def _enough_behind(core: SlurmCore, pool: int, time: int, amount: int) -> int:
    """0 if there is always so much from ``time`` on; else when it is so for good."""
    steps, size, behind = core.profile[pool], core.pools[pool].profile_size, 0
    for i in range(step_at(steps, size, time), size):
        if steps[i].free < amount:
            behind = INF if i + 1 == size else steps[i + 1].time
    return behind


@only_with("power_budget", otherwise=0)
def power_delay(core: SlurmCore, placement: int, time: int) -> int:
    """How long after ``time`` there is enough; INF if never. Until then the plan stands at most."""
    powered = powered_from(core, placement, time)
    if powered == INF:
        return INF
    if powered > time:
        holds_until(core, powered)
    return powered - time


@only_with("power_budget")
def keep_power(core: SlurmCore, placement: int, time: int) -> None:
    """What a job draws from ``time`` to its limit is no other's."""
    pool = core.power_budget.at.pool
    asked = core.demand[placement, core.demand.shape[1] - 1]
    take(core, pool, time, time + core.placements[placement].limit, asked)
    boots = boots_picked(core, placement)
    if boots > 0:
        take(core, pool, time, INF, boots)
        if time == core.clock.now:
            boots_kept(core, placement)
