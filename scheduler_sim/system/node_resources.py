"""What nodes have, in the whole numbers in which it is counted where jobs share them."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_sim.system.gres import is_gpu
from scheduler_sim.system.module import NodeSet

THOUSANDTHS = 1000
"""Of a core, a GPU, or a piece of another generic resource: they are counted so."""

KINDS = ("cores", "memory_kb", "gpus")
CORES, MEMORY, GPUS = range(len(KINDS))
"""What is counted of all nodes, before other generic resources."""

ENOUGH = 1 << 50
"""So much there is of memory that is not stated."""


def kinds_of(sets: Iterable[NodeSet]) -> tuple[str, ...]:
    """Return what is counted on nodes: cores, memory, GPUs, then other generic resources by name."""
    others = (name.lower() for one in sets for name in one.gres if not is_gpu(name))
    return (*KINDS, *dict.fromkeys(others))


def types_beside_others(sets: Iterable[NodeSet]) -> tuple[str, ...]:
    """Return the types of GPUs on nodes that have several, each once."""
    types = (kind for one in sets if len(one.gpu_types) > 1 for kind in one.gpu_types)
    return tuple(dict.fromkeys(types))


def types_that_differ(sets: Iterable[NodeSet]) -> tuple[str, ...]:
    """Return the types of GPUs of nodes, each once; none where all with GPUs have the same single one."""
    of_nodes = {one.gpu_types: None for one in sets if one.gpus > 0}
    types = tuple(dict.fromkeys(kind for own in of_nodes for kind in own))
    return types if len(of_nodes) > 1 or len(types) > 1 else ()


def capacities(one: NodeSet, kinds: tuple[str, ...]) -> list[int]:
    """Return what a node of a set has of each kind: thousandths, of memory KB."""
    gres = {name.lower(): amount for name, amount in one.gres.items()}
    asked = (one.cores_per_node, one.gpus, *(gres.get(kind, 0) for kind in kinds[len(KINDS) :]))
    cores, gpus, *others = (round(amount * THOUSANDTHS) for amount in asked)
    return [cores, one.memory_kb or ENOUGH, gpus, *others]
