"""Where several jobs may have a core at once, under policy slurm."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.system.system import Partition, System


def shares_cores(system: System, *, gang: bool = False) -> bool:
    """Whether jobs may meet on a core: of one partition, or of two of a module that both share by force.

    Under gang scheduling (``gang``) jobs of any two partitions of a module may, or make way for each other.
    """
    met = [
        one.module for one in system.partitions if gang or (_counts(one, system) and one.over_subscribe.force)
    ]
    return bool((rows_of(system) > 1).any()) or len(set(met)) < len(met)


def rows_of(system: System) -> Ints:
    """int64[partitions]: how many jobs of each may have a core at once."""
    return np.array(
        [one.over_subscribe.jobs if _counts(one, system) else 1 for one in system.partitions], dtype=np.int64
    )


def _counts(partition: Partition, system: System) -> bool:
    """Whether what a partition says of its cores counts: not where nodes are for one job alone."""
    return system.module(partition.module).shared and not partition.exclusive
