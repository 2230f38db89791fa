"""Which nodes of its module each component had: numbers for pictures, given out after the run.

Nodes of a module are all alike, so a result counts them and never numbers them. Here they
get numbers by one sweep over time, as deterministic as the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import InputError
from scheduler_sim.result.columns import NEVER, rows_named
from scheduler_sim.result.node_lists import runs_in
from scheduler_sim.result.suspensions import working_spans
from scheduler_sim.texts import TextColumn


@dataclass(frozen=True)
class NodeRuns:
    """Runs of consecutive nodes, ordered by row, then by node.

    Attributes
    ----------
    row : int64[n], row in ``components``; a component in pieces has several runs
    first : int64[n], lowest node of the run; the nodes of a module are 0, 1, ...
    count : int64[n], nodes in the run
    start, end : int64[n], s, when it had them; while it was suspended it has none
    """

    row: Ints
    first: Ints
    count: Ints
    start: Ints
    end: Ints


def node_numbers(components: pd.DataFrame, modules: Mapping[str, int]) -> NodeRuns:
    """Give every component that ran concrete nodes of its module; no two work on a node at an instant.

    Where jobs share nodes, the result has their numbers, and these are taken.

    Components start in order of time, of one instant in the order of the table; what ends at
    an instant gives its nodes back first. Each takes the lowest run of consecutive free nodes
    that is long enough, or else its lowest free nodes. One that ran for 0 s gets nodes that
    are free as it starts, and keeps none of them.

    Nodes out of service are a number in the timeline and get no numbers here. A run that
    ended in a requeue is not in ``components``, so its nodes look free. One that was suspended takes
    nodes anew as it goes on.

    Parameters
    ----------
    components : the table of a result.
    modules : nodes of each module.

    Raises
    ------
    InputError : components of a module use more nodes at once than it has, or the module is unknown.
    """
    found: list[tuple[int, int, int, int, int]] = []
    start, end = (components[name].to_numpy() for name in ("start_time", "end_time"))
    ran = start != NEVER
    for at, run in _listed(components, ran):
        found.append((at, run.start, len(run), int(start[at]), int(end[at])))
    ran[np.array([run[0] for run in found], dtype=np.int64)] = False
    for module, nodes in modules.items():
        rows = np.flatnonzero(ran & rows_named(components["module"], module))
        ran[rows] = False
        place, begin, finish = working_spans(components.iloc[rows])
        spans = components.iloc[rows[place]].assign(start_time=begin, end_time=finish)
        for at, low, length in sweep(spans, np.arange(len(spans)), module, nodes):
            found.append((int(rows[place[at]]), low, length, int(begin[at]), int(finish[at])))
    if ran.any():
        lost = components.iloc[int(np.argmax(ran))]
        raise InputError(
            f"component {lost['component_id']} ran on {str(lost['module'])!r}, which is not"
            f" one of the modules: {', '.join(map(repr, modules)) or 'there are none'}"
        )
    columns = np.array(found, dtype=np.int64).reshape(-1, 5).T
    row, first, _, since, _ = columns
    return NodeRuns(*columns[:, np.lexsort((first, since, row))])


def _listed(components: pd.DataFrame, ran: np.ndarray) -> Iterator[tuple[int, range]]:
    """Yield the rows whose nodes the result has, with each run of them."""
    if "node_list" not in components:
        return
    lists = TextColumn.of(components["node_list"])
    of, first, last = runs_in([str(text) for text in lists.categories])
    begin = np.searchsorted(of, np.arange(len(lists.categories) + 1))
    for row, code in zip(np.flatnonzero(ran).tolist(), lists.codes[ran].tolist(), strict=True):
        for i in range(begin[code], begin[code + 1]):
            yield row, range(first[i], last[i] + 1)


def sweep(table: pd.DataFrame, rows: Ints, module: str, nodes: int) -> Iterator[tuple[int, int, int]]:
    """Go through the starts and ends of one module; yield (row, first node, count)."""
    wanted = table["nodes"].to_numpy().tolist()
    free = (1 << nodes) - 1  # bit i: node i is free
    held = [0] * len(table)
    for place, starts, keeps in _events(table["start_time"].to_numpy(), table["end_time"].to_numpy()):
        if not starts:
            free |= held[place]
            held[place] = 0
            continue
        taken = _take(free, wanted[place])
        if taken is None:
            raise InputError(
                f"component {table['component_id'].iloc[place]} needs {wanted[place]} nodes of {module!r} at"
                f" {table['start_time'].iloc[place]} s, {free.bit_count()} of {nodes} are free"
            )
        if keeps:
            free ^= taken
            held[place] = taken
        row = int(rows[place])
        for low, length in _runs(taken):
            yield row, low, length


def _events(start: Ints, end: Ints) -> Iterator[tuple[int, bool, bool]]:
    """Yield (place, whether it starts, whether it keeps its nodes) in order of time.

    Of one instant the ends come first, then what starts and ends there, then the other starts.
    """
    keeps = end > start
    ends = np.flatnonzero(keeps)
    place = np.concatenate((ends, np.arange(len(start))))
    kind = np.concatenate((np.zeros(len(ends), dtype=np.int64), np.where(keeps, 2, 1)))
    time = np.concatenate((end[ends], start))
    order = np.lexsort((place, kind, time))
    kinds = kind[order].tolist()
    return ((at, k > 0, k == 2) for at, k in zip(place[order].tolist(), kinds, strict=True))


def _take(free: int, nodes: int) -> int | None:
    """Return the lowest run of ``nodes`` set bits, else the lowest ``nodes`` set bits, else None.

    Bit i of ``starts`` says that bits i to i + known - 1 are all free; known doubles until it is enough.
    """
    starts, known = free, 1
    while known < nodes and starts:
        step = min(known, nodes - known)
        starts &= starts >> step
        known += step
    if starts:
        return ((1 << nodes) - 1) << _lowest(starts)
    if free.bit_count() < nodes:
        return None
    taken, missing = 0, nodes
    for low, length in _runs(free):
        length = min(length, missing)
        taken |= ((1 << length) - 1) << low
        missing -= length
        if not missing:
            break
    return taken


def _runs(bits: int) -> Iterator[tuple[int, int]]:
    """Yield (lowest bit, length) of each run of set bits, from below."""
    low = 0
    while bits:
        gap = _lowest(bits)
        bits >>= gap
        length = _lowest(~bits)
        bits >>= length
        yield low + gap, length
        low += gap + length


def _lowest(bits: int) -> int:
    """Return the number of the lowest set bit."""
    return (bits & -bits).bit_length() - 1
