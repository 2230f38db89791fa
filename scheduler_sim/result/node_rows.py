"""Where each component stands in the rows of nodes: those that share a node, beside each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.result.columns import rows_named
from scheduler_sim.result.node_use import Changes, Held, capacities, held_in
from scheduler_sim.result.nodes import NodeRuns, node_numbers, sweep
from scheduler_sim.result.schedule import Schedule

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

GRAINS = 1000
"""Parts that the row of a node has."""


@dataclass(frozen=True)
class NodeRows:
    """Rectangles that do not overlap, ordered by row, then by node.

    Attributes
    ----------
    row : int64[n], row in ``components``
    low, high : int64[n], where each begins and ends, in ``grains``
    start, end : int64[n], s, when it stands there
    grains : parts of a node that low and high count; 1 where no nodes are shared
    """

    row: Ints
    low: Ints
    high: Ints
    start: Ints
    end: Ints
    grains: int


def node_rows(result: Result, modules: Mapping[str, int]) -> NodeRows:
    """Give every component that ran its place in the rows of nodes.

    Within the row of a node that jobs share each is as high as its share of the cores, and stands as low as
    it can; it is cut in pieces where no gap is high enough. Where jobs had more cores at once than the node
    has, sharing them, all are lower by as much.

    Parameters
    ----------
    result : of a run
    modules : nodes of each module

    Raises
    ------
    InputError : as ``node_numbers``
    """
    runs = node_numbers(result.components, modules)
    schedule = Schedule(result.components, result.timeline, result.metrics, result.manifest, result.runs)
    pieces = [piece for module in schedule.shared for piece in _pieces(schedule, module)]
    if not pieces:
        return NodeRows(runs.row, runs.first, runs.first + runs.count, runs.start, runs.end, 1)
    row, low, high = (np.array(column, dtype=np.int64) for column in zip(*pieces, strict=True))
    whole = ~np.isin(runs.row, row)
    row = np.concatenate((runs.row[whole], row))
    low = np.concatenate((runs.first[whole] * GRAINS, low))
    high = np.concatenate(((runs.first + runs.count)[whole] * GRAINS, high))
    start, end = (schedule.of(name)[row] for name in ("start_time", "end_time"))
    order = np.lexsort((low, row))
    return NodeRows(row[order], low[order], high[order], start[order], end[order], GRAINS)


@dataclass(frozen=True)
class Lanes:
    """The nodes of each component one by one, each with its place among those that share the node.

    Attributes
    ----------
    row, node : int64[n], row in ``components``, number of the node in its module
    lane : int64[n], 0 for the first; no two components are in one lane of a node at an instant
    start, end : int64[n], s, when it is there
    """

    row: Ints
    node: Ints
    lane: Ints
    start: Ints
    end: Ints


def node_lanes(runs: NodeRuns, components: pd.DataFrame, shared: Collection[str]) -> Lanes:
    """Give every component a lane on each of its nodes: the lowest that is free as it starts.

    Parameters
    ----------
    shared : modules whose nodes jobs share; on others there is one lane
    """
    row = np.repeat(runs.row, runs.count)
    node = np.arange(len(row)) + np.repeat(runs.first - np.cumsum(runs.count) + runs.count, runs.count)
    lane = np.zeros(len(row), dtype=np.int64)
    for module in shared:
        own = np.flatnonzero(rows_named(components["module"], module)[row])
        own = own[np.argsort(node[own], kind="stable")]
        for of_node in np.split(own, np.flatnonzero(np.diff(node[own])) + 1):
            table = components.iloc[row[of_node]].assign(nodes=1)
            for place, free, _ in sweep(table, of_node, module, len(of_node)):
                lane[place] = free
    return Lanes(row, node, lane, *(np.repeat(times, runs.count) for times in (runs.start, runs.end)))


def _pieces(schedule: Schedule, module: str) -> Iterator[tuple[int, int, int]]:
    """Yield (row, low, high) of the components that have part of some node, in grains."""
    held, there = held_in(schedule, module), capacities(schedule, module)["cores"]
    cores = held.amount(schedule, "cores", there)
    high = np.maximum(there, _most_at_once(held, cores, len(there)))
    shares = np.isin(held.row, held.row[cores < high[held.node]])
    held, cores = Held(*(column[shares] for column in held)), cores[shares]
    order = np.argsort(held.node, kind="stable")
    for of_node in np.split(order, np.flatnonzero(np.diff(held.node[order])) + 1):
        if len(of_node):
            yield from _stacked(held, cores, of_node, int(high[held.node[of_node[0]]]), module)


def _most_at_once(held: Held, cores: np.ndarray, nodes: int) -> Ints:
    """int64[nodes]: the most that jobs have of each at once."""
    changes, most = Changes.of(held), np.zeros(nodes, dtype=np.int64)
    np.maximum.at(most, changes.node[changes.last], changes.taken(cores)[changes.last])
    return most


def _stacked(
    held: Held, cores: np.ndarray, of_node: np.ndarray, there: int, module: str
) -> Iterator[tuple[int, int, int]]:
    """Put those that have some of one node on top of each other."""
    unit = int(np.gcd.reduce(np.append(cores[of_node], there)))
    table = pd.DataFrame(
        {"start_time": held.start[of_node], "end_time": held.end[of_node], "nodes": cores[of_node] // unit}
    )
    base = GRAINS * int(held.node[of_node[0]])
    for row, first, count in sweep(table, held.row[of_node], module, there // unit):
        low, high = (round(GRAINS * edge * unit / there) for edge in (first, first + count))
        yield row, base + low, base + high
