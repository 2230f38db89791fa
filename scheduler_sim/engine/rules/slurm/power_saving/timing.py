"""When Slurm's power saving thread looks at nodes: a second after any has changed, else at intervals.

Looks that find nothing to do are not made. What counts of the nodes that were switched before them is made up
for at the next.
"""

from __future__ import annotations

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.rules.slurm.power_saving.state import SlurmPowerCore

MINUTE = 60
LEAST = 1e-6


@part
def next_look(core: SlurmPowerCore) -> int:
    """A second after a change that it has yet to see, or after the interval."""
    looks = core.slurm_power_saving.looks
    following: int = looks.looked + looks.interval
    return min(following, looks.changed + 1) if looks.changed >= looks.looked else following


@part
def first_look(core: SlurmPowerCore, time: int) -> int:
    """The first look that comes, at ``time`` or later, if nothing changes before."""
    following, interval = next_look(core), core.slurm_power_saving.looks.interval
    return following if time <= following else following + -(-(time - following) // interval) * interval


@part
def pass_looks_over(core: SlurmPowerCore, until: int) -> None:
    """Looks up to ``until`` found nothing to do; what was switched before counts less."""
    looks = core.slurm_power_saving.looks
    while next_look(core) <= until:
        if looks.suspended == 0.0 and looks.resumed == 0.0:
            following = next_look(core)
            looks.looked = following + (until - following) // looks.interval * looks.interval
            return
        begin_look(core, next_look(core))


@part
def begin_look(core: SlurmPowerCore, time: int) -> None:
    """What was switched a minute ago does not count."""
    looks = core.slurm_power_saving.looks
    rest = max(MINUTE - (time - looks.looked), 0) / MINUTE
    looks.suspended = _what_counts(looks.suspended * rest)
    looks.resumed = _what_counts(looks.resumed * rest)
    looks.looked = time


@part
def _what_counts(switched: float) -> float:
    """So little is nothing."""
    return switched if switched > LEAST else 0.0


@part
def note_node_change(core: SlurmPowerCore) -> None:
    """A node was given to a job, given back, or came up: it looks a second later."""
    looks = core.slurm_power_saving.looks
    pass_looks_over(core, core.clock.now - 1)
    looks.changed = core.clock.now - looks.late
