"""Nodes of a module in the order of its topology: those on one leaf beside one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.result.node_lists import runs_in

IN_ORDER = "Nodes stand in the order of the topology; a line is between two leaves."


def leaves_of(manifest: Mapping[str, Any], module: str) -> list[Ints]:
    """Return the nodes of each leaf of a module, in the order of its topology; none without one."""
    lists = (manifest.get("topology") or {}).get(module) or []
    leaf, first, last = runs_in(lists)
    return [
        np.concatenate([np.arange(a, b + 1) for a, b in zip(first[leaf == i], last[leaf == i], strict=True)])
        for i in range(len(lists))
    ]


def boundaries(leaves: list[Ints]) -> Ints:
    """Return where one leaf ends and the next begins."""
    return np.cumsum([len(nodes) for nodes in leaves])[:-1] if leaves else np.zeros(0, dtype=np.int64)


def in_leaf_order(
    leaves: list[Ints], row: Ints, low: Ints | Floats, high: Ints | Floats
) -> tuple[Ints, Ints | Floats, Ints | Floats]:
    """Return stretches of nodes of the same ``row``, from where to where, each where its nodes stand.

    As they are where nodes stand by their numbers already.
    """
    number = np.concatenate(leaves) if leaves else np.zeros(0, dtype=np.int64)
    if (number == np.arange(len(number))).all():
        return row, low, high
    place = np.argsort(number)
    first, last = np.floor(low).astype(np.int64), np.ceil(high).astype(np.int64)
    of = np.repeat(np.arange(len(low)), last - first)
    node = np.arange(len(of)) - np.repeat(np.cumsum(last - first) - last, last - first)
    shift = place[node] - node
    begin, end = np.maximum(low[of], node) + shift, np.minimum(high[of], node + 1) + shift
    order = np.lexsort((begin, row[of]))
    row, begin, end = row[of][order], begin[order], end[order]
    new = np.append(True, (np.diff(row) != 0) | (begin[1:] != end[:-1]))[: len(row)]
    return row[new], begin[new], end[np.append(new[1:], True)[: len(row)]]
