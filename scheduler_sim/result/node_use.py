"""Which nodes the components of a result had, and what of each, where nodes are told apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.result.node_lists import numbers_in, shares_in
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes

KB_PER_GB = 1024 * 1024


class Held(NamedTuple):
    """Nodes of a module that its components had, one after the other.

    Attributes
    ----------
    row : int64[n], the component
    node : int64[n], the node's number in the module
    start, end : int64[n], s
    """

    row: np.ndarray
    node: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def amount(self, schedule: Schedule, kind: str, there: np.ndarray) -> np.ndarray:
        """Return what each has of each of its nodes, in whole units; ``there`` is what the nodes have.

        A component has the same of all its nodes, or all that each has, or what its ``node_shares`` say.
        """
        held = np.rint(schedule.of(kind) * unit(kind)).astype(np.int64)
        of_whole = np.zeros(len(held), dtype=np.int64)
        np.add.at(of_whole, self.row, there[self.node])
        nodes = np.maximum(schedule.of("nodes"), 1)
        whole = (held == of_whole)[self.row]
        each: np.ndarray = np.where(whole, there[self.node], (held // nodes)[self.row])
        if "node_shares" in schedule.components:
            texts = schedule.components["node_shares"].array
            told = {code: shares_in(text).get(kind) for code, text in enumerate(texts.categories)}
            first = np.flatnonzero(np.diff(self.row, prepend=-1))
            for at in first[[told[code] is not None for code in texts.codes[self.row[first]]]]:
                own = np.array(told[texts.codes[self.row[at]]])
                each[at : at + len(own)] = np.rint(own * unit(kind))
        return each


MOST_DEVICES = 64
"""Of a node: so far apart are the numbers of the first devices of nodes that follow each other."""


class HeldDevices(NamedTuple):
    """Devices of nodes of a module that its components had, one after the other.

    Attributes
    ----------
    row : int64[n], the component
    of_device : when they had which: device d of node i is number ``MOST_DEVICES * i + d``
    amount : int64[n], thousandths
    """

    row: np.ndarray
    of_device: Held
    amount: np.ndarray


def devices_in(schedule: Schedule, module: str) -> HeldDevices:
    """Return the devices that the components of a module had, as far as there are such."""
    held, there = held_in(schedule, module), capacities(schedule, module)["gpus"]
    rows, first, count = np.unique(held.row, return_index=True, return_counts=True)
    at, device = list[int](), list[int]()
    for row, begin, nodes in zip(rows.tolist(), first.tolist(), count.tolist(), strict=True):
        for i, text in enumerate(str(schedule.components["gpu_list"].iloc[row]).split(";")):
            numbers = [number for run in numbers_in(text) for number in run]
            at += [begin + min(i, nodes - 1)] * len(numbers)
            device += numbers
    places, devices = np.array(at, dtype=np.int64), np.array(device, dtype=np.int64)
    known = devices * unit("gpus") < there[held.node[places]]
    places, devices = places[known], devices[known]
    row, node, start, end = (column[places] for column in held)
    number = MOST_DEVICES * node + devices
    each = held.amount(schedule, "gpus", there)[places]
    return HeldDevices(row, Held(row, number, start, end), np.minimum(each, unit("gpus")))


def unit(kind: str) -> int:
    """Return how many whole units a core, a GPU or a KB is: a schedule counts thousandths."""
    return 1 if kind == "memory_kb" else 1000


def held_in(schedule: Schedule, module: str) -> Held:
    """Return the nodes that the components of a module had."""
    return held_by(schedule, np.flatnonzero(schedule.ran & schedule.in_module(module)))


def held_by(schedule: Schedule, rows: np.ndarray) -> Held:
    """Return the nodes that the components in ``rows`` had, all of one module."""
    texts = schedule.components["node_list"].array
    numbers = [[n for run in numbers_in(str(texts[row])) for n in run] for row in rows]
    row = np.repeat(rows, [len(own) for own in numbers])
    node = np.array([n for own in numbers for n in own], dtype=np.int64)
    return Held(row, node, schedule.of("start_time")[row], schedule.of("end_time")[row])


def changes(held: Held, amount: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what is taken (above 0) and given back, by node, then by time.

    Returns
    -------
    int64[n] node, time, change; bool[n] whether it is the last of the node at its instant
    """
    some = held.end > held.start
    node = np.tile(held.node[some], 2)
    time = np.concatenate((held.end[some], held.start[some]))
    change = np.concatenate((-amount[some], amount[some]))
    order = np.lexsort((time, node))
    node, time, change = node[order], time[order], change[order]
    last = np.append((np.diff(node) != 0) | (np.diff(time) != 0), True)[: len(node)]
    return node, time, change, last


def nodes_in_use(schedule: Schedule, module: str) -> Steps:
    """Return how many nodes of a module run anything, from the components alone."""
    held = held_in(schedule, module)
    _, time, change, last = changes(held, np.ones(len(held.row), dtype=np.int64))
    busy = np.cumsum(change)[last] > 0
    turned = np.diff(busy.astype(np.int64), prepend=0)  # of each node the last is idle
    return from_changes(time[last], turned)


def capacities(schedule: Schedule, module: str) -> dict[str, np.ndarray]:
    """Return what each node of a module has, int64[nodes] in whole units by kind; 0 if it is not stated."""
    described = next(one for one in schedule.system["modules"] if one["name"] == module)
    sets = described.get("node_sets") or [described]
    found: dict[str, Any] = {}
    for kind, key, times in (
        ("cores", "cores_per_node", 1000),
        ("memory_kb", "memory_gb", KB_PER_GB),
        ("gpus", "gpus_per_node", 1000),
    ):
        each = [round((one.get(key) or described.get(key) or 0) * times) for one in sets]
        if kind == "gpus":
            each = [own or round(1000 * _typed(described, one)) for own, one in zip(each, sets, strict=True)]
        found[kind] = np.repeat(np.array(each, dtype=np.int64), [one["nodes"] for one in sets])
    return found


def _typed(module: dict[str, Any], one: dict[str, Any]) -> float:
    gres = {**(module.get("gres") or {}), **(one.get("gres") or {})}
    return sum(float(amount) for name, amount in gres.items() if name.lower().startswith("gpu:"))
