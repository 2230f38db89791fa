"""The alternatives of a component: partitions, and how its request changes in each by the models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.applications.models import UNCHANGED, Conversion, Models, names_in_order
from scheduler_sim.system.system import Partition, System


class Alternative(NamedTuple):
    """A partition a component asks for.

    ``time``: run time there / run time in the trace, without what ``conversion`` brings about; NaN if
    its type does not run on the module. ``conversion``: how its request changes.
    """

    partition: Partition
    time: float = 1.0
    conversion: Conversion = UNCHANGED


def alternatives(
    system: System, models: Models | None, asked: tuple[Partition, ...], type_number: int
) -> tuple[Alternative, ...]:
    """Return the alternatives of a component, the one it prefers first; there is at least one.

    Parameters
    ----------
    asked : the partitions that the trace names, in its order.
    type_number : its type of application.

    Raises
    ------
    InputError : its type has no ratio for the module whose run times the trace has.
    """
    if models is None:
        return tuple(Alternative(partition) for partition in asked)
    origin = models.origin(asked[0].module)
    if models.chooses_modules:
        asked = _fastest_first(system, models, type_number, origin) or asked[:1]
    found = []
    for partition in asked:
        time = models.time_ratio(type_number, partition.module, origin)
        change = UNCHANGED if np.isnan(time) else models.conversion(origin, partition.module)
        found.append(Alternative(partition, time, change))
    return tuple(found)


def _fastest_first(system: System, models: Models, type_number: int, origin: str) -> tuple[Partition, ...]:
    """One partition a module that the type runs on, the shortest run time first, else in their order."""
    names = [module.name for module in system.modules]
    times = [models.time_ratio(type_number, name, origin) for name in names]
    return tuple(_partition_of(system, name) for name in names_in_order(names, times))


def _partition_of(system: System, module: str) -> Partition:
    """The default partition, if it leads to the module, else the module's first one."""
    ways = [partition for partition in system.partitions if partition.module.lower() == module.lower()]
    return next((partition for partition in ways if partition.default), ways[0])


def is_unsuited(alternative: Alternative) -> bool:
    """Whether the component's type of application does not run on the module."""
    return bool(np.isnan(alternative.time))
