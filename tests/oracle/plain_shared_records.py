"""What a shared node has, what a job asks of it, and how nodes are packed (R1 to R3 of docs/semantics.md).

Amounts are whole numbers of any unit, the same for nodes and jobs. A node is known by its place in the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests.oracle.records import Component, Placement

WHOLE = 1000
"""Thousandths of a GPU."""

Taken = dict[int, tuple[int, ...]]
"""The nodes that a job has, and the GPUs of each, by their places in the lists."""


class Left(NamedTuple):
    """What is free on a node at some moment, thousandths of each GPU, and the kinds of the jobs on it."""

    cores: int
    memory: int
    gpus: tuple[int, ...]
    jobs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Node:
    """A node of a shared module (R1)."""

    name: str
    cores: int
    memory: int = 0
    gpus: int = 0
    partitions: tuple[str, ...] = ("all",)
    module: str = "m"
    model: str = ""
    size: int = WHOLE  # of each GPU
    types: tuple[str, ...] = ()  # of each GPU, if they are of several

    @property
    def idle(self) -> Left:
        return Left(self.cores, self.memory, (self.size,) * self.gpus)


@dataclass(frozen=True)
class Request(Placement):
    """A placement on a shared module: cores, memory and GPUs are asked for on each of its nodes.

    ``part``: thousandths of each GPU. ``models``: of nodes that will do, all if there are none. ``number``
    names it in draws. ``type``: of its GPUs, any if there is none.
    """

    partition: str = "all"
    cores: int = 0
    memory: int = 0
    gpus: int = 0
    exclusive: bool = False
    part: int = WHOLE
    models: tuple[str, ...] = ()
    number: int = 0
    type: str = ""

    @property
    def kind(self) -> int:
        """How it asks for GPUs: for so many, for a part (0), for none (-1)."""
        return -1 if self.gpus == 0 else 0 if self.part < WHOLE else self.gpus

    @property
    def whole(self) -> bool:
        """Whether it takes all of its nodes: also when it states no cores."""
        return self.exclusive or self.cores == 0


def request_of(component: Component) -> Request:
    """Return what it asks for: its one placement."""
    (request,) = component.placements
    assert isinstance(request, Request)
    return request


def is_able(request: Request, node: Node, left: Left) -> bool:
    """R2, on one node of which so much is left."""
    if not may_take(request, node) or (request.whole and left.jobs):
        return False
    if left.cores < request.cores or left.memory < request.memory:
        return False
    return len(usable_gpus(request, node, left)) >= request.gpus


def ever_fits(nodes: Sequence[Node], request: Request) -> bool:
    """Whether it fits where nothing runs."""
    here = [node for node in nodes if node.module == request.module]
    return sum(is_able(request, node, node.idle) for node in here) >= request.nodes


def may_take(request: Request, node: Node) -> bool:
    """Whether a node is in its partition, of a model that will do, and has GPUs of the type."""
    typed = not request.type or request.type in node.types
    modelled = not request.models or node.model in request.models
    return typed and modelled and request.partition in node.partitions


def usable_gpus(request: Request, node: Node, left: Left) -> set[int]:
    """Return the GPUs of a node that have room for what is asked of each; none if none is asked for."""
    if request.gpus == 0:
        return set()
    typed = {i for i in range(len(left.gpus)) if request.type in ("", *node.types[i : i + 1])}
    return {i for i in typed if left.gpus[i] >= request.part}


def with_job(request: Request, node: Node, left: Left, gpus: tuple[int, ...]) -> Left:
    """Return what is left of a node when the job has come, to these of its GPUs."""
    asked = node if request.whole else request
    free = _gpus_after(request, node, left, gpus, -1)
    return Left(left.cores - asked.cores, left.memory - asked.memory, free, (*left.jobs, request.kind))


def without_job(request: Request, node: Node, left: Left, gpus: tuple[int, ...]) -> Left:
    """Return what is left of a node when the job has gone."""
    asked = node if request.whole else request
    free = _gpus_after(request, node, left, gpus, 1)
    jobs = list(left.jobs)
    jobs.remove(request.kind)
    return Left(left.cores + asked.cores, left.memory + asked.memory, free, tuple(jobs))


def _gpus_after(
    request: Request, node: Node, left: Left, gpus: tuple[int, ...], sign: int
) -> tuple[int, ...]:
    """What is free of each GPU when the job has come (-1) or gone (1)."""
    if request.whole:
        return tuple(own + sign * node.size for own in left.gpus)
    if not gpus:
        return left.gpus
    return tuple(own + sign * request.part * (i in gpus) for i, own in enumerate(left.gpus))


def pooled(node: Node) -> Node:
    """Return a node whose GPUs are not told apart: as one that is as large as all of them."""
    return replace(node, gpus=min(node.gpus, 1), size=node.gpus * WHOLE)


def pooled_request(component: Component) -> Component:
    """Return a component that asks for as much of such a node."""
    request = request_of(component)
    asked = replace(request, gpus=min(request.gpus, 1), part=request.gpus * WHOLE)
    return replace(component, placements=(asked,))
