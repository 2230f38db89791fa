"""Which nodes have, idle, what components ask for: what a result keeps of that where nodes are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.result.node_lists import node_list
from scheduler_sim.system.node_resources import CORES, THOUSANDTHS
from scheduler_sim.texts import TextColumn


def able_lists(core: FullCore, first: Ints, last: Ints, place: Ints) -> TextColumn:
    """Return the nodes that components may have, as text: those of all their placements on one module.

    Their placements are ``first`` to before ``last``; ``place`` is the one that counts.
    """
    modules = core.placements["module"]
    begins = core.shared_nodes.module["begin"][modules[place]]
    capacity = _capacity(core)
    codes, texts = np.zeros(len(place), dtype=np.int64), {"": 0}

    def code_of(placements: Ints, begin: int) -> int:
        return texts.setdefault(node_list(_able_for_any(core, placements, capacity) - begin), len(texts))

    one = np.flatnonzero(last - first == 1)
    some, which = _told_apart(core, place[one], capacity)
    each = [code_of(place[row].reshape(1), int(begins[row])) for row in one[some]]
    codes[one] = np.array(each, dtype=np.int64)[which]
    for row in np.flatnonzero(last - first > 1).tolist():
        ways = np.arange(first[row], last[row])
        codes[row] = code_of(ways[modules[ways] == modules[place[row]]], int(begins[row]))
    return TextColumn(codes, texts)


def nodes_able(core: FullCore, place: Ints) -> Ints:
    """Return how many nodes placements may take."""
    capacity = _capacity(core)
    some, which = _told_apart(core, place, capacity)
    each = [len(_able_for_any(core, place[row].reshape(1), capacity)) for row in some]
    counts: Ints = np.array(each, dtype=np.int64)[which]
    return counts


def _told_apart(core: FullCore, place: Ints, capacity: Ints) -> tuple[Ints, Ints]:
    """Return one of each of the placements that may take other nodes, and which of these each is like."""
    part = core.shared_nodes
    demand = part.demand[part.request["demand"][place]]
    _, some, which = np.unique(
        demand["first"] * (len(part.range) + 1) + demand["last"], return_index=True, return_inverse=True
    )
    for there, asked in zip(capacity, _least(core, place).T, strict=False):
        sizes = np.unique(there)  # as many nodes have enough of it for all up to the next size
        classes = which * (len(sizes) + 1) + np.searchsorted(sizes, asked)
        _, some, which = np.unique(classes, return_index=True, return_inverse=True)
    return some, which


def _able_for_any(core: FullCore, placements: Ints, capacity: Ints) -> Ints:
    """Return the nodes that any of some placements may take, each once."""
    part = core.shared_nodes
    own = [np.zeros(0, dtype=np.int64)]
    for number, asked in zip(part.request["demand"][placements], _least(core, placements), strict=True):
        demand = part.demand[number]
        for i in range(demand.first, demand.last):
            begin, end = part.range[i].begin, part.range[i].end
            there = capacity[: len(asked), begin:end]
            own.append(begin + np.flatnonzero((there >= asked[:, np.newaxis]).all(axis=0)))
    return np.unique(np.concatenate(own))


def _capacity(core: FullCore) -> Ints:
    """int64[k, n]: what each node has of each kind; under Slurm one of which no cores are stated has some."""
    capacity: Ints = core.shared_nodes.capacity
    if not has(core, "cons_tres"):
        return capacity
    machine = core.cons_tres.machine
    cpus = machine["sockets"] * machine["cores"] * machine["threads"]
    return np.vstack((cpus * THOUSANDTHS, capacity[CORES + 1 :]))


def _least(core: FullCore, place: Ints) -> Ints:
    """int64[p, k]: the least of each kind that a node must have, to which under Slurm no range is cut.

    GPUs of a type are asked for in the kind of that type. Where ranges are cut, k is 0.
    """
    if not has(core, "cons_tres"):
        return np.zeros((len(place), 0), dtype=np.int64)
    part = core.cons_tres
    need = part.asked["need"][place]
    of = part.need[need]
    in_all = np.where(part.total[need] > 0, np.maximum(part.per_task[need], 1), 0)
    pieces = np.maximum(part.each[need], in_all)
    typed = np.flatnonzero(of["gpu_kind"] > 0)
    pieces[typed, of["gpu_kind"][typed]] = pieces[typed, 0]
    pieces[typed, 0] = 0
    cores = np.maximum(of["node_cpus"], np.where(of["max_nodes"] == 1, of["min_cpus"], 0))
    least: Ints = np.column_stack((cores * THOUSANDTHS, _memory_of_a_node(core, of), pieces * THOUSANDTHS))
    return least


def _memory_of_a_node(core: FullCore, of: Any) -> Ints:
    """int64[p], KB: where memory is given out, that of the fewest CPUs that needs may have of a node."""
    names = ("tasks_per_node", "node_cpus", "cpus_per_task")
    cpus = np.maximum.reduce([of[name] for name in names])
    memory: Ints = of["memory"] * np.where(of["per_cpu"] > 0, cpus, 1) * int(core.cons_tres.rules.memory)
    return memory
