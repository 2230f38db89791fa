"""Which nodes have, idle, what components ask for: what a result keeps of that where nodes are told apart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.result.node_lists import node_list
from scheduler_sim.system.node_resources import GPUS, THOUSANDTHS


def able_lists(core: FullCore, first: Ints, last: Ints, place: Ints) -> pd.Categorical[str]:
    """Return the nodes that components may have, as text: those of all their placements on one module.

    Their placements are ``first`` to before ``last``; ``place`` is the one that counts.
    """
    modules = core.placements["module"]
    begins = core.shared_nodes.module["begin"][modules[place]]
    codes, texts = np.zeros(len(place), dtype=np.int64), {"": 0}

    def code_of(placements: Ints, begin: int) -> int:
        return texts.setdefault(node_list(_able_for_any(core, placements) - begin), len(texts))

    one = np.flatnonzero(last - first == 1)
    some, which = _told_apart(core, place[one])
    each = [code_of(place[row].reshape(1), int(begins[row])) for row in one[some]]
    codes[one] = np.array(each, dtype=np.int64)[which]
    for row in np.flatnonzero(last - first > 1).tolist():
        ways = np.arange(first[row], last[row])
        codes[row] = code_of(ways[modules[ways] == modules[place[row]]], int(begins[row]))
    return pd.Categorical.from_codes(codes, pd.Index(list(texts)))


def nodes_able(core: FullCore, place: Ints) -> Ints:
    """Return how many nodes placements may take."""
    some, which = _told_apart(core, place)
    each = [len(_able_for_any(core, place[row].reshape(1))) for row in some]
    counts: Ints = np.array(each, dtype=np.int64)[which]
    return counts


def _told_apart(core: FullCore, place: Ints) -> tuple[Ints, Ints]:
    """Return one of each of the placements that may take other nodes, and which of these each is like."""
    demand = core.shared_nodes.demand[core.shared_nodes.request["demand"][place]]
    reach = np.column_stack((demand["first"], demand["last"], _pieces(core, place)))
    _, some, which = np.unique(reach, axis=0, return_index=True, return_inverse=True)
    return some, which.reshape(-1)


def _able_for_any(core: FullCore, placements: Ints) -> Ints:
    """Return the nodes that any of some placements may take, each once."""
    part = core.shared_nodes
    own = [np.zeros(0, dtype=np.int64)]
    for number, asked in zip(part.request["demand"][placements], _pieces(core, placements), strict=True):
        demand = part.demand[number]
        for i in range(demand.first, demand.last):
            begin, end = part.range[i].begin, part.range[i].end
            there = part.capacity[GPUS : GPUS + len(asked), begin:end] // THOUSANDTHS
            own.append(begin + np.flatnonzero((there >= asked[:, np.newaxis]).all(axis=0)))
    return np.unique(np.concatenate(own))


def _pieces(core: FullCore, place: Ints) -> Ints:
    """int64[p, k]: the least of generic resources on a node, which under Slurm no range of nodes is cut to.

    GPUs of a type are asked for in the kind of that type; elsewhere k is 0.
    """
    if not has(core, "cons_tres"):
        return np.zeros((len(place), 0), dtype=np.int64)
    part = core.cons_tres
    need = part.asked["need"][place]
    in_all = np.where(part.total[need] > 0, np.maximum(part.per_task[need], 1), 0)
    least: Ints = np.maximum(part.each[need], in_all)
    typed = part.need["gpu_kind"][need] > 0
    rows = np.flatnonzero(typed)
    least[rows, part.need["gpu_kind"][need[rows]]] = least[rows, 0]
    least[rows, 0] = 0
    return least
