"""Components that ask for part of a node: nodes are not shared here, so that each has its nodes whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduler_sim.arrays import Bools, Floats, Ints
from scheduler_sim.placement.node_requests import NodeRequests
from scheduler_sim.placement.placements import Placements
from scheduler_sim.system.module import NodeSet
from scheduler_sim.system.system import System
from scheduler_sim.workload.parts import below_the_fullest, cores_a_node
from scheduler_sim.workload.table import Workload

PARTS = ("cores", "memory", "gpus", "gres")
"""Kinds of requests for part of a node: keys of ``not_honoured``."""


def parts_of_nodes(
    workload: Workload, system: System, placements: Placements, requests: NodeRequests | None = None
) -> dict[str, int]:
    """Count components that ask for part of a node, or for resources of it that are not modelled, by kind.

    Rejected components do not count. The nodes are those of the partition of the first placement; where
    the system does not state their cores, the fullest component of the partition tells.

    Returns
    -------
    Where the count is above 0. ``cores``, ``memory``: less than the smallest node with room for it has;
    memory counts where not all cores are asked for. ``gpus``: other than all GPUs of whole nodes.
    ``gres``: any other resources.
    """
    if _says_nothing(workload, system):
        return {}
    able = np.diff(placements.first) > 0
    rows, partition = placements.rows[able], placements.partition[placements.first[:-1][able]]
    in_vain = 0
    if requests is not None:  # where jobs share nodes, parts of nodes are honoured
        shared = np.array([system.module(p.module).shared for p in system.partitions])[partition]
        in_vain = int(np.count_nonzero(requests.in_vain[able] & shared))
        rows, partition = rows[~shared], partition[~shared]
    counts = _whole_nodes(workload, system, rows, partition)
    counts["gres"] = counts.get("gres", 0) + in_vain
    return {name: counts[name] for name in PARTS if counts.get(name)}


def _whole_nodes(workload: Workload, system: System, rows: Ints, partition: Ints) -> dict[str, int]:
    """Count those that ask for part of nodes which they get whole."""
    if not len(rows):
        return {}
    columns = workload.columns
    sizes = _sizes(system, lambda one: one.cores_per_node)
    source = workload.source
    cores = cores_a_node(columns, "" if source.processors_are_nodes else source.format)[rows]
    fewer = _is_part(cores, sizes, partition)
    unknown = np.array([not len(own) for own in sizes], dtype=bool)[partition]
    if unknown.any():
        there = np.zeros(len(workload), dtype=bool)
        there[rows[unknown]] = True
        fewer |= below_the_fullest(columns, there)[rows]
    all_cores = (cores > 0) & ~fewer & ~unknown
    memory, gpus = (columns[name][rows] for name in ("memory_kb", "gpus"))
    of_nodes = np.array([system.module(p.module).gpus_per_node for p in system.partitions])[partition]
    others = columns["gres"]
    kinds = {
        "cores": fewer,
        "memory": _is_part(memory, _sizes(system, lambda one: one.memory_kb), partition) & ~all_cores,
        "gpus": (gpus > 0) & (gpus != of_nodes),
        "gres": np.array([bool(text) for text in others.categories], dtype=bool)[others.codes[rows]],
    }
    return {name: int(np.count_nonzero(kinds[name])) for name in PARTS}


def _says_nothing(workload: Workload, system: System) -> bool:
    """Whether the trace asks for nothing of a node, and the system states no cores, for SWF's processors."""
    asked = (workload.columns[name] for name in ("cores", "memory_kb", "gpus"))
    return (
        not any(bool((numbers > 0).any()) for numbers in asked)
        and not any(workload.columns["gres"].categories)
        and not any(one.cores_per_node for module in system.modules for one in module.sets)
    )


def _sizes(system: System, of: Callable[[NodeSet], float]) -> list[Floats]:
    """The different sizes of the nodes of each partition, ascending; what is not stated is left out."""
    sets = (system.sets_of(p.name) for p in system.partitions)
    return [np.unique([float(size) for one, _ in own if (size := of(one)) > 0]) for own in sets]


def _is_part(asked: Ints | Floats, sizes: list[Floats], partition: Ints) -> Bools:
    """Whether what is asked of each node is less than the smallest node that has room for it has."""
    part = np.zeros(len(asked), dtype=bool)
    if not (asked > 0).any():
        return part
    for number, own in enumerate(sizes):
        here = np.flatnonzero((partition == number) & (asked > 0))
        if len(own) and len(here):
            place = np.searchsorted(own, asked[here])
            part[here] = (place < len(own)) & (own[np.minimum(place, len(own) - 1)] > asked[here])
    return part
