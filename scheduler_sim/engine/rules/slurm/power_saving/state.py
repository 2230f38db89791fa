"""What Slurm's power saving keeps: which nodes are off, boot and shut down, and who waits for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Record, Table, Words, one, table
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.power_saving.state import SWITCHED_COLUMNS
from scheduler_sim.engine.rules.slurm.allocation import words
from scheduler_sim.engine.rules.slurm.outages import OutagesCore


class Looks(Record):
    """The thread that looks at nodes, and how many it has switched lately."""

    interval: int  # s from one look to the next while no node changes
    suspend_rate: int  # nodes a minute, 0 = any number
    resume_rate: int
    looked: int  # when it last looked
    changed: int  # when a node was last given to a job, given back, or came up: it looks a second later
    held_back: int  # 1 = the last look switched fewer nodes than it would have, as so many were too many
    kept: int  # 1 = ... or as so many are kept on
    configuring: int  # jobs that wait for their nodes to boot
    late: int  # 1 = what is given back now, was in the second before
    drawn: int  # mW that all nodes draw without jobs, more than if all were idle
    suspended: float  # nodes of late, of which less counts from look to look
    resumed: float


class PoweredModule:
    """A module."""

    suspend_time: int  # s a node is idle before it is powered down, INF = never
    suspend_timeout: int  # s from then on in which no job can have it
    boot_s: int
    stop_s: int
    off: int  # nodes
    booting: int
    stopping: int
    held: int  # up, and of a job that waits for others
    wanted: int  # off, and of such a job
    off_saves: int  # mW that a node draws less when it is off than idle
    boot_adds: int  # ... and more while it boots, or shuts down; 0 = not more
    stop_adds: int
    written_off: int
    written_booting: int
    written_stopping: int


class PoweredNode:
    """A node."""

    idle: int  # since when it is idle
    until: int  # when it is up, or off
    asked: int  # when it was told to power down
    working: int  # jobs that have begun there, where jobs share it
    held: int  # 1 = all jobs that it has wait for other nodes, likewise
    kept: int  # mW that jobs ask for on it which wait until it has booted


class KeptOn:
    """Some nodes, a row of ``kept``, of which so many idle ones stay on."""

    count: int


class PowerSets(NamedTuple):
    """Sets of nodes: each [w] words."""

    off: Words  # they draw what a node does that is off
    booting: Words
    stopping: Words  # they shut down
    leaving: Words  # powering down: no job can have them
    unheld: Words  # they boot, and the job that they boot for is gone
    known: Words  # since when these are idle is known
    never: Words  # never powered down
    staying: Words  # ... or not by a look
    awaited: Words  # of jobs that wait until all their nodes are up
    waiting: Words  # ... and up, with no job that has begun
    wanted: Words  # ... and off
    booked: Words  # off, and there is power for their boots, as far as a pass has come
    mine: Words  # of the job that is looked at
    woken: Words  # booted by this look


class SlurmPowerSaving(NamedTuple):
    """Nodes that are off, booting and shutting down."""

    looks: Looks
    module: Table[PoweredModule]  # [m]
    node: Table[PoweredNode]  # [64 w], numbered by their words
    sets: PowerSets
    kept: Words  # [k, w]
    keeps: Table[KeptOn]  # [k]
    rows: Ints  # [n] the jobs that wait, in the order of their starts
    waits: Ints  # [n] 1 = this job does


class SlurmPowerCore(OutagesCore):
    """A core with Slurm's schedulers whose idle nodes are powered down; some may be out of service."""

    slurm_power_saving: SlurmPowerSaving


class PowerSizes(NamedTuple):
    """How much room it has."""

    rows: int
    modules: int
    words: int
    kept: int


def blank_slurm_power_saving(sizes: PowerSizes) -> SlurmPowerSaving:
    """Return a part in which all is on and stays on."""
    made = SlurmPowerSaving(
        looks=one(Looks),
        module=table(PoweredModule, sizes.modules),
        node=table(PoweredNode, 64 * sizes.words),
        sets=PowerSets(*words(len(PowerSets._fields), sizes.words)),
        kept=words(sizes.kept, sizes.words),
        keeps=table(KeptOn, sizes.kept),
        rows=np.zeros(sizes.rows, dtype=np.int64),
        waits=np.zeros(sizes.rows, dtype=np.int64),
    )
    made.module["suspend_time"] = INF
    for name in SWITCHED_COLUMNS:
        made.module[f"written_{name}"] = -1
    return made
