"""The alternatives of a component: partitions and sizes, and its request in each by the models."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler_sim.applications.conversion import UNCHANGED, Conversion, names_in_order
from scheduler_sim.system.system import Partition, System

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models

AS_ASKED = 0
"""In place of a number of nodes: as many as the component asks for."""


class Alternative(NamedTuple):
    """A partition a component asks for, and the size it has there.

    ``time``: run time there / run time in the trace, without what ``conversion`` brings about; NaN if
    its type does not run on the module. ``conversion``: how its request changes. ``nodes``: its size,
    ``AS_ASKED`` = as the trace has it, converted.
    """

    partition: Partition
    time: float = 1.0
    conversion: Conversion = UNCHANGED
    nodes: int = AS_ASKED


def alternatives(
    system: System,
    models: Models | None,
    asked: tuple[Partition, ...],
    type_number: int,
    nodes: int,
    problem: float | None = None,
) -> tuple[Alternative, ...]:
    """Return the alternatives of a component, the one it prefers first; there is at least one.

    Parameters
    ----------
    asked : the partitions that the trace names, in its order.
    type_number : its type of application.
    nodes : that it asks for; looked at only for a type with a profile, whose own size comes before the
        others in each partition, those rising.
    problem : size of its problem, None = the usual one of its type.

    Raises
    ------
    InputError : its type has no ratio or speed for the module whose run times the trace has.
    """
    if models is None:
        return tuple(Alternative(partition) for partition in asked)
    origin, scaling = models.origin(asked[0].module), models.scaling(type_number)
    if models.chooses_modules or (scaling is not None and scaling.is_moved):
        asked = _fastest_first(system, models, type_number, origin, nodes, problem) or asked[:1]
    found = []
    for partition in asked:
        time = models.time_ratio(type_number, partition.module, origin, nodes, problem)
        if scaling is None:
            change = UNCHANGED if np.isnan(time) else models.conversion(origin, partition.module)
            found.append(Alternative(partition, time, change))
        else:
            most = system.nodes_of(partition.name)
            found.append(Alternative(partition, time))
            found += [
                Alternative(partition, other, nodes=size)
                for size, other in scaling.other_sizes(nodes, partition.module, origin, most, problem)
            ]
    return tuple(found)


def _fastest_first(
    system: System, models: Models, type_number: int, origin: str, nodes: int, problem: float | None
) -> tuple[Partition, ...]:
    """One partition a module that the type runs on, the shortest run time first, else in their order."""
    names = [module.name for module in system.modules]
    times = [models.time_ratio(type_number, name, origin, nodes, problem) for name in names]
    return tuple(_partition_of(system, name) for name in names_in_order(names, times))


def _partition_of(system: System, module: str) -> Partition:
    """The default partition, if it leads to the module, else the module's first one."""
    ways = [partition for partition in system.partitions if partition.module.lower() == module.lower()]
    return next((partition for partition in ways if partition.default), ways[0])


def is_unsuited(alternative: Alternative) -> bool:
    """Whether the component's type of application does not run on the module."""
    return bool(np.isnan(alternative.time))
