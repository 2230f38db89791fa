"""Which nodes and GPUs a job takes (R3 of docs/semantics.md), plainly.

Fractions where the rules divide, so that nothing is lost before they round down.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.oracle.plain_leaves import Leaves
from tests.oracle.plain_shared_records import (
    WHOLE,
    Left,
    Node,
    Request,
    Taken,
    ever_fits,
    may_take,
    request_of,
)
from tests.oracle.records import Component

Draw = Callable[[int, int, int], int]
"""A number for a component, a node and a GPU; for the node itself -1."""


class Packing:
    """A packing on some nodes; what is typical of the components is known from the start."""

    def __init__(
        self,
        name: str,
        nodes: Sequence[Node],
        components: Sequence[Component] = (),
        draw: Draw | None = None,
        leaves: Leaves | None = None,
    ) -> None:
        self.leaves = leaves or Leaves(len(nodes), ())
        self.name, self.nodes, self.draw = name, nodes, draw
        self.most_cores = {m: max(n.cores for n in nodes if n.module == m) for m in {n.module for n in nodes}}
        self.most_gpus = {m: max(n.gpus for n in nodes if n.module == m) for m in self.most_cores}
        self.typical = {module: typical_of(nodes, components, module) for module in self.most_cores}

    def choose(
        self, request: Request, able: Mapping[int, set[int]], left: Mapping[int, Left]
    ) -> Taken | None:
        """R3: the nodes taken of the able ones, by what is left of each; nothing if they are too few.

        ``able``: the GPUs of each that may be taken.
        """
        keys = {node: (self.key(request, node, left[node], able[node]), node) for node in able}
        nodes = self.leaves.first(sorted(able, key=keys.__getitem__), request.nodes)
        if len(nodes) < request.nodes:
            return None
        return {node: self.gpus(request, node, left[node], able[node]) for node in nodes}

    def key(self, request: Request, node: int, left: Left, gpus: set[int]) -> int:
        if self.name == "first_fit":
            return 0
        if self.name == "best_fit":
            return left.cores
        if self.name == "worst_fit":
            return -left.cores
        if self.name == "random":
            assert self.draw is not None
            return self.draw(request.number, node, -1)
        score: Callable[[Request, int, Left, set[int]], int] = getattr(self, self.name)
        return -score(request, node, left, gpus)

    def gpus(self, request: Request, node: int, left: Left, among: set[int]) -> tuple[int, ...]:
        """Whole ones: the first idle ones. A part: on the fullest, at random, or by the score."""
        if request.part == WHOLE or request.gpus == 0:
            return tuple(sorted(among)[: request.gpus])
        if self.name == "random":
            assert self.draw is not None
            draw = self.draw
            return (min(among, key=lambda gpu: (draw(request.number, node, gpu), gpu)),)
        if self.name == "fragmentation_gradient":
            scores = {gpu: self.rise_score(request, node, left, (gpu,)) for gpu in among}
            return (min(among, key=lambda gpu: (-scores[gpu], gpu)),)
        return (min(among, key=lambda gpu: (left.gpus[gpu], gpu)),)

    # ---------------------------------------------------------------- scores
    def shares(self, node: int, cores: int, thousandths: int) -> tuple[Fraction, Fraction]:
        """Of cores and GPUs, in those of the largest node."""
        module = self.nodes[node].module
        most = max(self.most_gpus[module], 1) * WHOLE
        return Fraction(cores, self.most_cores[module]), Fraction(thousandths, most)

    def dot_product(self, request: Request, node: int, left: Left, _: set[int]) -> int:
        free = self.shares(node, left.cores, sum(left.gpus))
        asked = self.shares(node, request.cores, request.gpus * request.part)
        return math.floor(100 * (1 - Fraction(sum(a * b for a, b in zip(free, asked, strict=True)), 2)))

    def least_left(self, request: Request, node: int, left: Left, _: set[int]) -> int:
        rest = self.shares(node, left.cores - request.cores, sum(left.gpus) - request.gpus * request.part)
        return math.floor(100 * (1 - Fraction(sum(rest), 2)))

    def gpu_clustering(self, request: Request, node: int, left: Left, _: set[int]) -> int:
        own = request.kind
        if own < 0:
            return 0
        kinds = set(left.jobs) - {-1}
        tier = (3 if kinds == {own} else 2) if own in kinds else 0 if kinds else 1
        _, free = self.shares(node, 0, sum(left.gpus))
        return 25 * tier + math.floor(25 * (1 - free))

    def gpu_packing(self, request: Request, node: int, left: Left, among: set[int]) -> int:
        if request.gpus == 0:
            return 0
        idle = left.gpus.count(WHOLE)
        if idle == len(left.gpus):
            return max(33 - idle, idle)
        fullest = min(left.gpus[gpu] for gpu in among)
        if request.part == WHOLE or fullest == WHOLE:
            return max(50 - request.gpus, 33)
        return 100 - fullest // 100

    def fragmentation_gradient(self, request: Request, node: int, left: Left, among: set[int]) -> int:
        if request.gpus and request.part < WHOLE:
            return max(self.rise_score(request, node, left, (gpu,)) for gpu in among)
        return self.rise_score(request, node, left, tuple(sorted(among)[: request.gpus]))

    def rise_score(self, request: Request, node: int, left: Left, gpus: tuple[int, ...]) -> int:
        """The score of the fragments that there would be with the job on these GPUs."""
        free = tuple(own - request.part * (i in gpus) for i, own in enumerate(left.gpus))
        after = self.fragments(node, left.cores - request.cores, free)
        fall = self.fragments(node, left.cores, left.gpus) - after
        return math.floor(100 / (1 + math.exp(-fall / WHOLE)))

    def fragments(self, node: int, cores: int, gpus: tuple[int, ...]) -> Fraction:
        """Thousandths of GPUs that typical jobs cannot use, on average."""
        typical = self.typical[self.nodes[node].module]
        total = sum(count * one.unusable(node, cores, gpus) for one, count in typical.items())
        return Fraction(total, max(sum(typical.values()), 1))


class Typical(NamedTuple):
    """What many ask for on a node, of those that will do if they are large enough."""

    cores: int
    gpus: int
    part: int
    nodes: frozenset[int]

    def unusable(self, node: int, cores: int, gpus: tuple[int, ...]) -> int:
        """Thousandths of free GPUs of a node that it cannot use."""
        fits = node in self.nodes and cores >= self.cores and self.gpus > 0
        if not fits or sum(free >= self.part for free in gpus) < self.gpus:
            return sum(gpus)
        return sum(free for free in gpus if free < self.part)


def typical_of(nodes: Sequence[Node], components: Sequence[Component], module: str) -> dict[Typical, int]:
    """What is asked for most on a node of a module, and how often: as few as cover 95 %."""
    count: Counter[Typical] = Counter()
    for request in map(request_of, components):
        here = {i for i, node in enumerate(nodes) if node.module == module and may_take(request, node)}
        if request.module == module and ever_fits(nodes, request):
            part = request.part if request.gpus else 0
            count[Typical(request.cores, request.gpus, part, frozenset(here))] += request.nodes
    ranked = sorted(count, key=lambda one: (-count[one], -one.cores, -one.gpus * one.part))
    found: dict[Typical, int] = {}
    for one in ranked:
        if 100 * sum(found.values()) < 95 * count.total():
            found[one] = count[one]
    return found
