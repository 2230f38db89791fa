"""How long collective operations take: two phases, each of messages that count by a model (as Dimemas has
them)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.messages.network_keys import OperationKeys, PhaseKeys
from scheduler_sim.messages.paths import Links, Places
from scheduler_sim.messages.trace import OPERATIONS


def _model(fan_in: str, size_in: str, fan_out: str = "none", size_out: str = "max") -> OperationKeys:
    return OperationKeys(
        fan_in=PhaseKeys(model=fan_in, size=size_in), fan_out=PhaseKeys(model=fan_out, size=size_out)
    )


USUAL: Mapping[str, OperationKeys] = {
    "barrier": _model("logarithmic", "max", "logarithmic", "max"),
    "bcast": _model("none", "max", "logarithmic", "max"),
    "gather": _model("logarithmic", "mean"),
    "gatherv": _model("logarithmic", "mean"),
    "scatter": _model("none", "max", "logarithmic", "mean"),
    "scatterv": _model("none", "max", "logarithmic", "mean"),
    "allgather": _model("logarithmic", "mean", "logarithmic", "max"),
    "allgatherv": _model("logarithmic", "mean", "logarithmic", "max"),
    "alltoall": _model("linear", "mean"),
    "alltoallv": _model("linear", "mean"),
    "alltoallw": _model("linear", "mean"),
    "reduce": _model("logarithmic", "max"),
    "allreduce": _model("logarithmic", "max", "logarithmic", "max"),
    "reduce_scatter": _model("logarithmic", "max", "linear", "min"),
    "reduce_scatter_block": _model("logarithmic", "max", "linear", "min"),
    "scan": _model("logarithmic", "max", "logarithmic", "max"),
}
"""Our choice, where a network says nothing: trees for all but all-to-all, where each partner counts."""

_SIZE: Mapping[str, Callable[[Ints, Ints, bool], Ints]] = {
    "current": lambda given, got, fan_in: given if fan_in else got,
    "min": lambda given, got, _: np.minimum(given, got),
    "max": lambda given, got, _: np.maximum(given, got),
    "mean": lambda given, got, _: (given + got) // 2,
    "twice_max": lambda given, got, _: 2 * np.maximum(given, got),
    "sum": lambda given, got, _: given + got,
}


def stages(members: int, buses: int) -> int:
    """Return the stages of a binary tree over so many members; a stage repeats where buses are too few for
    it.

    In the stage i of ceil(log2 n) there is a message for each whole or begun group of 2^(i + 1) members that
    reaches
    beyond its first half.
    """
    total, half = 0, 1
    while half < members:
        messages = -(-(members - half) // (2 * half))
        total += -(-messages // buses) if buses else 1
        half *= 2
    return total


def _factor(model: str, members: int, buses: int) -> int:
    if members < 2 or model == "none":
        return 0
    if model == "constant":
        return 1
    return members - 1 if model == "linear" else stages(members, buses)


def costs(
    models: Mapping[str, OperationKeys],
    places: Places,
    links: Links,
    groups: tuple[Ints, ...],
    which: Columns,
) -> Floats:
    """Return what each collective operation takes once its last process is there, ps, float64[k].

    The phases add up over three levels: within the nodes (the slowest node counts; as many members as it has
    processes), between the nodes of a module (the slowest module; its nodes), between modules (the slowest
    pair; the modules).
    """
    operation, group, given, got = which
    cost = np.zeros(len(operation))
    if not len(operation):
        return cost
    kinds, inverse = np.unique(np.stack([operation, group]), axis=1, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    ends = np.searchsorted(inverse.ravel()[order], np.arange(kinds.shape[1] + 1))
    for i, (op, members) in enumerate(kinds.T.tolist()):
        rows = order[ends[i] : ends[i + 1]]
        model = models[OPERATIONS[op]]
        for phase, fan_in in ((model.fan_in, True), (model.fan_out, False)):
            size = _SIZE[phase.size](given[rows], got[rows], fan_in)
            for level in _levels(places, links, groups[members], phase.model):
                one = [
                    factor * (links.latency[path] + _per_message(links, path, size)) for path, factor in level
                ]
                cost[rows] += np.max(one, axis=0)
    return cost


Columns = tuple[Ints, Ints, Ints, Ints]
"""Operation, group, most bytes given and got by a process, of each collective operation."""


def _per_message(links: Links, path: int, size: Ints) -> Floats:
    where = np.full(len(size), path, dtype=np.int64)
    rest: Floats = links.transfer(where, size) + float(links.flight[path] + links.overhead[path])
    return rest


def _levels(places: Places, links: Links, members: Ints, model: str) -> list[list[tuple[int, int]]]:
    """Return, for each level that a group spans, its paths and how often a message counts on each."""
    modules = links.modules
    node, many = np.unique(places.node[members], return_counts=True)
    module_of = places.module_of_node[node]
    most = {int(m): int(many[module_of == m].max()) for m in np.unique(module_of)}
    nodes = {int(m): int((module_of == m).sum()) for m in np.unique(module_of)}
    between = [links.pair[a, b] for a in nodes for b in nodes if a < b]
    levels = [
        [(m, _factor(model, count, 0)) for m, count in most.items()],
        [(modules + m, _factor(model, count, int(links.buses[modules + m]))) for m, count in nodes.items()],
        [(path, _factor(model, len(nodes), int(links.buses[path]))) for path in between],
    ]
    return [level for level in levels if level]
