"""Where jobs are on shared nodes: at one moment (``State``), and as planned from now on (``Plan``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tests.oracle.plain_packing import Packing
from tests.oracle.plain_shared_records import (
    Left,
    Node,
    Request,
    Taken,
    is_able,
    usable_gpus,
    with_job,
    without_job,
)


class State:
    """What is left of each node at one moment."""

    def __init__(self, nodes: list[Node], packing: Packing) -> None:
        self.nodes, self.packing = nodes, packing
        self.left = {i: node.idle for i, node in enumerate(nodes)}

    def copy(self) -> State:
        other = State(self.nodes, self.packing)
        other.left = dict(self.left)
        return other

    def put(self, request: Request, taken: Taken) -> None:
        for i, gpus in taken.items():
            assert is_able(request, self.nodes[i], self.left[i]), "a job is put on a node that is not able"
            assert usable_gpus(request, self.nodes[i], self.left[i]).issuperset(gpus), (
                "a job is put on a GPU without room"
            )
            self.left[i] = with_job(request, self.nodes[i], self.left[i], gpus)

    def remove(self, request: Request, taken: Taken) -> None:
        for i, gpus in taken.items():
            self.left[i] = without_job(request, self.nodes[i], self.left[i], gpus)

    def able(self, request: Request) -> dict[int, set[int]]:
        """Return the nodes that are able, and the GPUs of each that it may have."""
        nodes = [i for i, node in enumerate(self.nodes) if is_able(request, node, self.left[i])]
        return {i: usable_gpus(request, self.nodes[i], self.left[i]) for i in nodes}

    def fits(self, request: Request) -> bool:
        return len(self.able(request)) >= request.nodes

    def choose(self, request: Request, among: Mapping[int, set[int]] | None = None) -> Taken | None:
        """Return the nodes that the job takes here, of all able ones or of these."""
        able = self.able(request) if among is None else among
        return self.packing.choose(request, able, self.left)


def in_both(request: Request, one: dict[int, set[int]], other: dict[int, set[int]]) -> dict[int, set[int]]:
    """Return the nodes that are able in two states, on the same GPUs in both."""
    both = {i: gpus & other[i] for i, gpus in one.items() if i in other}
    return {i: gpus for i, gpus in both.items() if len(gpus) >= request.gpus}


class Timetable:
    """What is left of one node from now on: each step holds until the next, the last for ever."""

    def __init__(self, node: Node, now: int) -> None:
        self.node = node
        self.steps: list[tuple[int, Left]] = [(now, node.idle)]

    def copy(self) -> Timetable:
        other = Timetable(self.node, 0)
        other.steps = list(self.steps)
        return other

    def at(self, time: int) -> Left:
        return [left for begin, left in self.steps if begin <= time][-1]

    def cut(self, time: int) -> None:
        """Have a step begin at ``time``."""
        if all(begin != time for begin, _ in self.steps):
            self.steps = sorted([*self.steps, (time, self.at(time))])

    def change(
        self, how: Callable[..., Left], request: Request, gpus: tuple[int, ...], begin: int, end: int
    ) -> None:
        self.cut(begin)
        self.cut(end)
        for i, (time, left) in enumerate(self.steps):
            if begin <= time < end:
                self.steps[i] = (time, how(request, self.node, left, gpus))

    def usable(self, request: Request, begin: int, end: int) -> set[int]:
        """Return the GPUs that have room for it from ``begin`` to ``end``."""
        during = [left for time, left in self.steps if begin < time < end]
        return set.intersection(
            *(usable_gpus(request, self.node, left) for left in [self.at(begin), *during])
        )

    def windows(self, request: Request, length: int) -> list[tuple[int, float]]:
        """Return the first and the last start of each stretch in which it is able for so long."""
        found: list[tuple[int, float]] = []
        since: int | None = None
        for time, left in self.steps:
            able = is_able(request, self.node, left)
            if able and since is None:
                since = time
            elif not able and since is not None:
                found.append((since, time - length))
                since = None
        if since is not None:
            found.append((since, math.inf))
        return [(first, last) for first, last in found if first <= last]


class Plan:
    """What is planned on each node, from now on."""

    def __init__(self, nodes: list[Node], packing: Packing, now: int) -> None:
        self.packing, self.now = packing, now
        self.tables = {i: Timetable(node, now) for i, node in enumerate(nodes)}
        self.several_gpus = any(node.gpus > 1 for node in packing.nodes)

    def copy(self) -> Plan:
        other = Plan([], self.packing, self.now)
        other.tables = {i: table.copy() for i, table in self.tables.items()}
        return other

    def add(self, request: Request, taken: Taken, begin: int, end: int) -> None:
        for i, gpus in taken.items():
            self.tables[i].change(with_job, request, gpus, begin, end)

    def remove(self, request: Request, taken: Taken, begin: int, end: int) -> None:
        for i, gpus in taken.items():
            self.tables[i].change(without_job, request, gpus, begin, end)

    def windows(self, request: Request, length: int) -> dict[int, list[tuple[int, float]]]:
        return {
            i: windows
            for i, table in self.tables.items()
            if request.partition in table.node.partitions and (windows := table.windows(request, length))
        }

    def changes(self, module: str) -> set[int]:
        """Return the moments after now at which something changes in a module."""
        tables = [table for table in self.tables.values() if table.node.module == module]
        return {time for table in tables for time, _ in table.steps} - {self.now}

    def able(self, request: Request, begin: int, end: int) -> dict[int, set[int]]:
        """Return the nodes that are able at every moment from ``begin`` to ``end``, on the same GPUs."""
        return self.within(self.windows(request, end - begin), request, begin, end)

    def within(
        self, windows: dict[int, list[tuple[int, float]]], request: Request, begin: int, end: int
    ) -> dict[int, set[int]]:
        """Return those with a window at that time, and the GPUs of each that it may have."""
        open_then = [i for i, mine in windows.items() if any(first <= begin <= last for first, last in mine)]
        if not request.gpus:
            return {i: set() for i in open_then}
        gpus = {i: self.tables[i].usable(request, begin, end) for i in open_then}
        return {i: own for i, own in gpus.items() if len(own) >= request.gpus}

    def choose(self, request: Request, able: Mapping[int, set[int]], time: int) -> Taken | None:
        return self.packing.choose(request, able, {i: self.tables[i].at(time) for i in able})

    def nodes_at(self, request: Request, begin: int, end: int) -> Taken | None:
        """Return the nodes that it takes if it is to run from ``begin`` to ``end``, or nothing."""
        return self.choose(request, self.able(request, begin, end), begin)

    def earliest(self, request: Request, length: int, later: bool = False) -> tuple[int, Taken]:
        """R7: the earliest start and its nodes. A node becomes able now, or where something ends.

        ``later``: not now, even if it could, but where anything in its module ends.
        """
        windows = self.windows(request, length)
        begins = {first for mine in windows.values() for first, _ in mine}
        if request.gpus and self.several_gpus:  # of a node that is able throughout, a GPU may become so
            begins |= self.changes(request.module)
        for time in sorted(self.changes(request.module) if later else begins):
            if nodes := self.choose(request, self.within(windows, request, time, time + length), time):
                return time, nodes
        raise AssertionError("a job that fits on the empty machine has a place in every plan")
