"""Which nodes the components of a result had, and what of each, where nodes are told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.result.node_lists import numbers_in, numbers_of, runs_in, shares_in
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, from_changes
from scheduler_sim.result.suspensions import working_spans
from scheduler_sim.result.tres import tres_in
from scheduler_sim.texts import TextColumn

KB_PER_GB = 1024 * 1024

KINDS = ("cores", "memory_kb", "gpus")
"""What a result says of nodes."""


WHOLE = 1_000_000
"""A node, in parts of it."""


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
        held = had_in_all(schedule, kind)
        same = held // np.maximum(schedule.of("nodes"), 1)
        alone = schedule.of("exclusive")[self.row] == 1
        each: np.ndarray = np.where(alone, there[self.node], same[self.row])
        if schedule.dealt:
            each = same[self.row]
            texts = TextColumn.of(schedule.components["node_shares"])
            told = {code: shares_in(text).get(kind) for code, text in enumerate(texts.categories)}
            first = np.flatnonzero(np.diff(self.row, prepend=-1))
            for at in first[[told[code] is not None for code in texts.codes[self.row[first]]]]:
                own = np.array(told[texts.codes[self.row[at]]])
                each[at : at + len(own)] = np.rint(own * unit(kind))
        return each


def had_in_all(schedule: Schedule, kind: str) -> np.ndarray:
    """Return what each component has on all its nodes, int64 in whole units.

    ``kind`` is one of ``KINDS``, or a generic resource by name, a type of GPU among them.
    """
    if kind in KINDS:
        stated: np.ndarray = np.rint(schedule.of(kind) * unit(kind)).astype(np.int64)
        return stated
    texts = TextColumn.of(schedule.components["gres"])
    each = [tres_in(str(text)).get(kind, 0) for text in texts.categories]
    held: np.ndarray = unit(kind) * np.array([*each, 0], dtype=np.int64)[texts.codes]
    return held


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
            numbers = numbers_in(text)
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
    count, node = numbers_of(TextColumn.of(schedule.components["node_list"]), rows)
    row = np.repeat(rows, count)
    return Held(row, node, schedule.of("start_time")[row], schedule.of("end_time")[row])


def working_in(schedule: Schedule, module: str) -> tuple[Held, np.ndarray]:
    """Return the same without the times at which components were suspended, and the place of each in that."""
    held = held_in(schedule, module)
    if not schedule.further.suspended:
        return held, np.arange(len(held.row))
    of, begin, finish = working_spans(schedule.components)
    first = np.searchsorted(of, held.row)
    count = np.searchsorted(of, held.row, side="right") - first
    place = np.repeat(np.arange(len(held.row)), count)
    span = np.arange(len(place)) + np.repeat(first - np.cumsum(count) + count, count)
    return Held(held.row[place], held.node[place], begin[span], finish[span]), place


def part_of_node(cores: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return what part of nodes components have by their cores there, int64 in millionths.

    Nodes of which no cores are known are had whole.
    """
    parts: np.ndarray = np.where(there > 0, cores * WHOLE // np.maximum(there, 1), WHOLE)
    return parts


def of_parts(milliwatts: np.ndarray | int, parts: np.ndarray) -> np.ndarray:
    """Return what parts of nodes draw of what a node draws, int64 in whole mW; parts are in millionths.

    Rounded down, so that the parts of a node never draw more than all of it.
    """
    nodes, part = np.divmod(parts, WHOLE)
    high, rest = np.divmod(milliwatts, WHOLE)  # else the product is too large to count
    drawn: np.ndarray = milliwatts * nodes + high * part + rest * part // WHOLE
    return drawn


def node_parts(schedule: Schedule) -> np.ndarray:
    """Return how many nodes each component had, int64 in millionths, by its part of each."""
    parts = schedule.of("nodes") * WHOLE
    for module in schedule.shared:
        held, there = held_in(schedule, module), capacities(schedule, module)["cores"]
        parts[held.row] = 0
        each = part_of_node(held.amount(schedule, "cores", there), there[held.node])
        np.add.at(parts, held.row, each)
    return parts


@dataclass(frozen=True)
class Changes:
    """What happens on nodes: components come and go, by node, then by time.

    Attributes
    ----------
    node, time : int64[n], of each change
    last : bool[n], whether it is the last of its node at its instant
    held, sign : int64[n], the place in ``Held``; 1 = comes, -1 = goes
    """

    node: np.ndarray
    time: np.ndarray
    last: np.ndarray
    held: np.ndarray
    sign: np.ndarray

    @classmethod
    def of(cls, held: Held) -> Changes:
        """Put the starts and ends of components in order; one that runs for 0 s changes nothing."""
        some = np.flatnonzero(held.end > held.start)
        place, sign = np.tile(some, 2), np.repeat([-1, 1], len(some))
        node, time = held.node[place], np.concatenate((held.end[some], held.start[some]))
        since = time - time.min(initial=0)
        order = np.argsort(node * (since.max(initial=0) + 1) + since)  # of one instant in any order
        node, time = node[order], time[order]
        last = np.append((np.diff(node) != 0) | (np.diff(time) != 0), True)[: len(node)]
        return cls(node, time, last, place[order], sign[order])

    def taken(self, amount: np.ndarray) -> np.ndarray:
        """Return what is taken of its node after each change; ``amount`` is what each in ``Held`` has."""
        taken: np.ndarray = np.cumsum(amount[self.held] * self.sign)  # the changes of each node add up to 0
        return taken


def nodes_in_use(schedule: Schedule, module: str) -> Steps:
    """Return on how many nodes of a module any component works, from the components alone."""
    held, _ = working_in(schedule, module)
    changes = Changes.of(held)
    busy = changes.taken(np.ones(len(held.row), dtype=np.int64))[changes.last] > 0
    turned = np.diff(busy.astype(np.int64), prepend=0)  # of each node the last is idle
    return from_changes(changes.time[changes.last], turned)


def able_nodes(schedule: Schedule, module: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sets of nodes that components of a module may have, bool[sets, nodes], and which is whose.

    The second is int64[components]; of those of other modules it means nothing.
    """
    lists = TextColumn.of(schedule.components["able_list"])
    sets = np.zeros((len(lists.categories), schedule.modules[module]), dtype=bool)
    for row, first, last in zip(*runs_in([str(text) for text in lists.categories]), strict=True):
        sets[row, first : last + 1] = True
    return sets, lists.codes.astype(np.int64)


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
            listed = [round(1000 * _gpus_of(described, one)) for one in sets]
            each = [own or more for own, more in zip(each, listed, strict=True)]
        found[kind] = np.repeat(np.array(each, dtype=np.int64), [one["nodes"] for one in sets])
    return found


def generic_capacities(schedule: Schedule, module: str) -> dict[str, np.ndarray]:
    """Return what each node of a module has of each generic resource beside GPUs, and of each type of GPU."""
    described = next(one for one in schedule.system["modules"] if one["name"] == module)
    sets = described.get("node_sets") or [described]
    own = [{**(described.get("gres") or {}), **(one.get("gres") or {})} for one in sets]
    lower = [{name.lower(): amount for name, amount in one.items()} for one in own]
    count = [one["nodes"] for one in sets]
    return {
        name: np.repeat(np.array([round(unit(name) * one.get(name, 0)) for one in lower]), count)
        for name in dict.fromkeys(name for one in lower for name in one)
        if name != "gpu"
    }


def jobs_of_a_core(schedule: Schedule, module: str) -> dict[str, tuple[int, bool]]:
    """Return how many jobs of each partition of a module may have a core at once, and whether they share.

    Empty where a core is for one job alone. With ``FORCE:1`` it may be shared with jobs of other partitions,
    and under gang scheduling whatever a partition says.
    """
    each: dict[str, tuple[int, bool]] = {}
    for one in schedule.system.get("partitions") or () if schedule.dealt else ():
        said, _, jobs = str((one.get("slurm") or {}).get("OverSubscribe", "NO")).partition(":")
        if one["module"] == module:
            each[one["name"]] = int(jobs or 1), said != "NO" or schedule.gang
    return each if any(shares for _, shares in each.values()) else {}


def _gpus_of(module: dict[str, Any], one: dict[str, Any]) -> float:
    gres = {**(module.get("gres") or {}), **(one.get("gres") or {})}
    return sum(float(amount) for name, amount in gres.items() if name.lower().partition(":")[0] == "gpu")
