"""What runs where, as squeue says it: the nodes of running jobs become features that they alone ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.prediction.state import State
from scheduler_sim.system.module import Module, NodeSet
from scheduler_sim.system.slurm_conf.hostlist import expand
from scheduler_sim.system.system import Partition, System

Numbers = Mapping[str, tuple[str, int]]
"""The module of each node by its name, and its number there."""

_FEATURE = "nodes-of-running-job-{}"


class Known(NamedTuple):
    """A state whose running jobs start on their own nodes, and its system.

    ``elsewhere`` : running jobs whose nodes are listed, but not known.
    """

    state: State
    system: System
    elsewhere: int = 0


def with_known_nodes(state: State, system: System, numbers: Numbers) -> Known:
    """Let running jobs start on the nodes that squeue lists for them.

    Only where nodes are told apart: of nodes that are counted it does not matter which ones a job has. A job
    whose nodes are not all of one module of the system, or not as many as it has, takes any that are free.
    """
    apart = {module.name for module, told in zip(system.modules, system.told_apart, strict=True) if told}
    if not apart:
        return Known(state, system)
    places, elsewhere = dict[int, tuple[str, list[int]]](), 0
    for row, text in enumerate(state.nodes):
        module, found = _places(text, numbers)
        if module in apart and len(set(found)) == state.jobs["nodes"][row]:
            places[row] = module, found
        elif text and (not module or module in apart):
            elsewhere += 1
    if not places:
        return Known(state, system, elsewhere)
    constraint = np.array(state.jobs["constraint"], dtype=object)
    constraint[list(places)] = [_FEATURE.format(row) for row in places]
    modules, parts = [], dict[tuple[str, str], tuple[str, ...]]()
    for one in system.modules:
        own = {row: found for row, (name, found) in places.items() if name == one.name}
        made, names = _divided(one, own) if own else (one, {})
        modules.append(made)
        parts |= {(one.name, name): of for name, of in names.items()}

    def divided(one: Partition) -> Partition:
        of = (parts.get((one.module, name), (name,)) for name in one.node_sets)
        return replace(one, node_sets=tuple(chain.from_iterable(of)))

    return Known(
        replace(state, jobs=state.jobs.replace(constraint=constraint)),
        replace(system, modules=tuple(modules), partitions=tuple(map(divided, system.partitions))),
        elsewhere,
    )


def _places(text: str, numbers: Numbers) -> tuple[str, list[int]]:
    """Return the module that nodes are of, and their numbers; no module where they are not known."""
    try:
        names = expand(text) if text else []
    except InputError:
        return "", []
    found = [numbers[name] for name in names if name in numbers]
    modules = {module for module, _ in found}
    if len(found) != len(names) or len(modules) != 1:
        return "", []
    return modules.pop(), [number for _, number in found]


def _divided(module: Module, jobs: Mapping[int, Sequence[int]]) -> tuple[Module, dict[str, tuple[str, ...]]]:
    """Return a module whose node sets are divided by who runs on them, and the parts of each of its sets."""
    there: list[list[str]] = [[] for _ in range(module.nodes)]
    for row, numbers in jobs.items():
        for number in numbers:
            there[number].append(_FEATURE.format(row))
    sets = module.node_sets or (NodeSet(module.name, module.nodes),)
    parts = {
        one.name: tuple(_parts(one, there[numbers.start : numbers.stop]))
        for one, numbers in zip(sets, module.ranges, strict=True)
    }
    names = {name: tuple(part.name for part in found) for name, found in parts.items()}
    return replace(module, node_sets=tuple(part for found in parts.values() for part in found)), names


def _parts(one: NodeSet, features: Sequence[list[str]]) -> Iterator[NodeSet]:
    """Yield runs of nodes with the same jobs on them."""
    for place, (own, nodes) in enumerate(groupby(features)):
        count = len(list(nodes))
        yield replace(one, name=f"{one.name}~{place}", nodes=count, features=(*one.features, *own))
