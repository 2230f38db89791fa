"""Where jobs are on shared nodes: at one moment (``State``), and as planned from now on (``Plan``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from tests.oracle.plain_shared_records import Left, Node, Request, first_by, is_able, with_job, without_job


class State:
    """What is left of each node at one moment."""

    def __init__(self, nodes: list[Node], packing: str) -> None:
        self.nodes, self.packing = nodes, packing
        self.left = {i: node.idle for i, node in enumerate(nodes)}

    def copy(self) -> State:
        other = State(self.nodes, self.packing)
        other.left = dict(self.left)
        return other

    def put(self, request: Request, nodes: Iterable[int]) -> None:
        for i in nodes:
            assert is_able(request, self.nodes[i], self.left[i]), "a job is put on a node that is not able"
            self.left[i] = with_job(request, self.nodes[i], self.left[i])

    def remove(self, request: Request, nodes: Iterable[int]) -> None:
        for i in nodes:
            self.left[i] = without_job(request, self.nodes[i], self.left[i])

    def able(self, request: Request) -> list[int]:
        return [i for i, node in enumerate(self.nodes) if is_able(request, node, self.left[i])]

    def fits(self, request: Request) -> bool:
        return len(self.able(request)) >= request.nodes

    def choose(self, request: Request, among: Iterable[int] | None = None) -> list[int] | None:
        """Return the nodes that the job takes here, of all able ones or of these."""
        able = self.able(request) if among is None else among
        return first_by(self.packing, request.nodes, able, self.left)


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

    def add(self, request: Request, begin: int, end: int) -> None:
        self.change(with_job, request, begin, end)

    def remove(self, request: Request, begin: int, end: int) -> None:
        self.change(without_job, request, begin, end)

    def change(self, how: Callable[..., Left], request: Request, begin: int, end: int) -> None:
        self.cut(begin)
        self.cut(end)
        for i, (time, left) in enumerate(self.steps):
            if begin <= time < end:
                self.steps[i] = (time, how(request, self.node, left))

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

    def __init__(self, nodes: list[Node], packing: str, now: int) -> None:
        self.packing, self.now = packing, now
        self.tables = {i: Timetable(node, now) for i, node in enumerate(nodes)}

    def copy(self) -> Plan:
        other = Plan([], self.packing, self.now)
        other.tables = {i: table.copy() for i, table in self.tables.items()}
        return other

    def add(self, request: Request, nodes: Iterable[int], begin: int, end: int) -> None:
        for i in nodes:
            self.tables[i].add(request, begin, end)

    def remove(self, request: Request, nodes: Iterable[int], begin: int, end: int) -> None:
        for i in nodes:
            self.tables[i].remove(request, begin, end)

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

    def able(self, request: Request, begin: int, end: int) -> list[int]:
        """Return the nodes that are able at every moment from ``begin`` to ``end``."""
        windows = self.windows(request, end - begin)
        return [i for i, mine in windows.items() if any(first <= begin <= last for first, last in mine)]

    def choose(self, request: Request, able: Iterable[int], time: int) -> list[int] | None:
        return first_by(self.packing, request.nodes, able, {i: self.tables[i].at(time) for i in able})

    def nodes_at(self, request: Request, begin: int, end: int) -> list[int] | None:
        """Return the nodes that it takes if it is to run from ``begin`` to ``end``, or nothing."""
        return self.choose(request, self.able(request, begin, end), begin)

    def earliest(self, request: Request, length: int, later: bool = False) -> tuple[int, list[int]]:
        """R7: the earliest start and its nodes. A node becomes able now, or where something ends.

        ``later``: not now, even if it could, but where anything in its module ends.
        """
        windows = self.windows(request, length)
        begins = {first for mine in windows.values() for first, _ in mine}
        for time in sorted(self.changes(request.module) if later else begins):
            able = [i for i, mine in windows.items() if any(first <= time <= last for first, last in mine)]
            if nodes := self.choose(request, able, time):
                return time, nodes
        raise AssertionError("a job that fits on the empty machine has a place in every plan")
