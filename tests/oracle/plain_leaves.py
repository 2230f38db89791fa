"""Nodes chosen by where they lie (docs/semantics.md, Topology), plainly: ranges of nodes under switches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


class Leaves:
    """Switches of some levels with so many consecutive nodes each, and one above all; without levels none."""

    def __init__(
        self, nodes: int, sizes: Sequence[int], by: str = "", percent: int = 0, dragonfly: bool = False
    ) -> None:
        self.by, self.percent, self.dragonfly = by, percent, dragonfly
        self.levels = [
            [range(first, min(first + size, nodes)) for first in range(0, nodes, size)] for size in sizes
        ] + [[range(nodes)]]

    def first(self, able: list[int], wanted: int) -> list[int]:
        """Return so many of some nodes, or all if they are fewer; they stand as the packing has them."""
        for level, switches in enumerate(self.levels):
            holding = [one for one in switches if len(under(one, able)) >= wanted]
            if holding:
                return self.taken(level, fullest(holding, able), able, wanted)
        return able

    def run_time(self, run: int, nodes: set[int]) -> int:
        """Return how long it takes on some nodes, by how far they lie apart."""
        many = [len([one for one in switches if nodes & set(one)]) for switches in self.levels]
        hops = 2 * next(level for level, count in enumerate(many) if count == 1)
        if self.dragonfly:
            hops = {0: 0, 2: 1, 4: 3}[hops]
        x = {"": 0, "leaves": many[0] - 1, "groups": many[1] - 1 if len(many) > 1 else 0, "hops": hops}[
            self.by
        ]
        return math.ceil(Fraction(run * (100 + x * self.percent), 100))

    def taken(self, level: int, switch: range, able: list[int], wanted: int) -> list[int]:
        if level == 0:
            return under(switch, able)[:wanted]
        found: list[int] = []
        below = [one for one in self.levels[level - 1] if one.start in switch]
        while True:
            holding = [one for one in below if len(under(one, able)) >= wanted - len(found)]
            if holding:
                return found + self.taken(level - 1, fullest(holding, able), able, wanted - len(found))
            emptiest = max(below, key=lambda one: len(under(one, able)))
            found += under(emptiest, able)
            below.remove(emptiest)


def under(switch: range, able: list[int]) -> list[int]:
    return [node for node in able if node in switch]


def fullest(switches: list[range], able: list[int]) -> range:
    return min(switches, key=lambda one: len(under(one, able)))
