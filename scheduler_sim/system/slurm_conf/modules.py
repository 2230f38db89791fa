"""Modules out of nodes and partitions: what partitions connect is one module.

Slurm knows nodes and partitions; a module here is a pool of nodes whose jobs may get into each
other's way. Two partitions that share a node are in one module, and so is all that a partition covers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from scheduler_sim.system.keys import TOTAL
from scheduler_sim.system.module import Module, NodeSet
from scheduler_sim.system.slurm_conf.nodes import Node
from scheduler_sim.system.slurm_conf.partitions import Covered
from scheduler_sim.system.system import Partition

MB_PER_GB = 1024

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class _Alike:
    """Nodes with the same hardware, features and weight, covered by the same partitions."""

    like: Node
    covered_by: frozenset[int]
    names: list[str]


def build_modules(
    nodes: Mapping[str, Node], partitions: Sequence[Covered], cluster: str, *, shared: bool, memory: bool
) -> tuple[list[Module], list[Partition], dict[str, tuple[str, int]]]:
    """Return the modules, the partitions that lead into them, in the order of the file, and where nodes are.

    Of each node its module, and its number there.

    ``shared``: jobs share nodes, but for those of partitions that give out whole ones; ``memory``: also their
    memory, else it is not looked at.

    A module with one partition has its name; one with several has the name of the cluster if it
    is the only module, else that of its largest partition. Its node sets are in the order of
    their first nodes, and these as Slurm numbers them.
    """
    groups = _connected(partitions)
    modules: list[Module] = []
    led: dict[int, Partition] = {}
    numbers: dict[str, tuple[str, int]] = {}
    for group in groups:
        pools = _pools(nodes, group, partitions)
        sets = _named(pools)
        name = _module_name(group, partitions, cluster if len(groups) == 1 else "")
        shares = shared and not all(partitions[i].partition.exclusive for i in group)
        module = _module(name, sets, pools)
        modules.append(_as_shared(module, pools, memory=memory) if shares else module)
        names = (node for pool in pools for node in pool.names)
        numbers |= {node: (name, number) for number, node in enumerate(names)}
        for i in group:
            own = [one.name for one, pool in zip(sets, pools, strict=True) if i in pool.covered_by]
            part = tuple(own) if len(own) < len(sets) else ()
            led[i] = replace(partitions[i].partition, module=name, node_sets=part)
    return modules, [led[i] for i in sorted(led)], numbers


def _connected(partitions: Sequence[Covered]) -> list[list[int]]:
    """Groups of partitions that share nodes, directly or through others, in the order of the file."""
    groups: list[tuple[list[int], set[str]]] = []
    for i, covered in enumerate(partitions):
        mine = set(covered.nodes)
        touching = [group for group in groups if not mine.isdisjoint(group[1])]
        groups = [group for group in groups if mine.isdisjoint(group[1])]
        numbers = sorted([i, *(number for group in touching for number in group[0])])
        groups.append((numbers, mine.union(*(group[1] for group in touching))))
    return sorted(numbers for numbers, _ in groups)


def _pools(nodes: Mapping[str, Node], group: list[int], partitions: Sequence[Covered]) -> list[_Alike]:
    covering: dict[str, list[int]] = {}
    for i in group:
        for name in partitions[i].nodes:
            covering.setdefault(name, []).append(i)
    pools: dict[tuple[Node, frozenset[int]], _Alike] = {}
    for name, node in nodes.items():
        if name in covering:
            like, covered_by = replace(node, name=""), frozenset(covering[name])
            pools.setdefault((like, covered_by), _Alike(like, covered_by, [])).names.append(name)
    return list(pools.values())


def _named(pools: list[_Alike]) -> list[NodeSet]:
    """Sets named after their first and last node; by number where that makes no good name."""
    names = [pool.names[0] if len(pool.names) == 1 else f"{pool.names[0]}-{pool.names[-1]}" for pool in pools]
    good = len({name.lower() for name in names}) == len(names)
    good &= all(re.fullmatch(r"[^\s,;|&*()\[\]:]{1,64}", name) for name in names)
    return [
        NodeSet(
            name if good else f"set{number}",
            len(pool.names),
            pool.like.features,
            pool.like.cpus,
            pool.like.memory_mb / MB_PER_GB,
            pool.like.weight,
            sockets=pool.like.sockets,
            threads_per_core=pool.like.threads,
        )
        for number, (name, pool) in enumerate(zip(names, pools, strict=True), 1)
    ]


def _module(name: str, sets: list[NodeSet], pools: list[_Alike]) -> Module:
    """What all sets have in common is the module's, the rest is theirs."""
    features = tuple(f for f in sets[0].features if all(f in one.features for one in sets))
    cores = _common([one.cores_per_node for one in sets])
    memory = _common([one.memory_gb for one in sets])
    sockets = _common([one.sockets for one in sets])
    threads = _common([one.threads_per_core for one in sets])
    rest = tuple(
        replace(
            one,
            sockets=0 if sockets else one.sockets,
            threads_per_core=0 if threads else one.threads_per_core,
            features=tuple(f for f in one.features if f not in features),
            cores_per_node=0 if cores else one.cores_per_node,
            memory_gb=0.0 if memory else one.memory_gb,
        )
        for one in sets
    )
    return Module(
        name,
        sum(one.nodes for one in sets),
        cores,
        memory,
        _common([pool.like.gpus for pool in pools]),
        features,
        node_sets=rest if len(rest) > 1 else (),
        sockets=sockets or 1,
        threads_per_core=threads or 1,
    )


def _as_shared(module: Module, pools: list[_Alike], *, memory: bool) -> Module:
    """The module with what jobs share of its nodes: GPUs and other generic resources of each set."""
    if not memory:
        sets = tuple(replace(one, memory_gb=0.0) for one in module.node_sets)
        module = replace(module, memory_gb=0.0, node_sets=sets)
    gres: list[dict[str, float]] = [dict(pool.like.gres) for pool in pools]
    if not module.node_sets:
        return replace(module, shared=True, gres=gres[0])
    sets = tuple(replace(one, gres=own) for one, own in zip(module.node_sets, gres, strict=True))
    return replace(module, shared=True, gpus_per_node=0, node_sets=sets)


def _common(values: list[Number]) -> Number:
    """The value that all have, else 0: not stated."""
    return values[0] if len(set(values)) == 1 else 0


def _module_name(group: list[int], partitions: Sequence[Covered], cluster: str) -> str:
    largest = max(group, key=lambda i: len(partitions[i].nodes))
    name = cluster if cluster and len(group) > 1 else partitions[largest].partition.name
    return f"{name}_" if name.lower() == TOTAL else name
