"""What a shared node has, what a job asks of it, and how nodes are packed (R1 to R3 of docs/semantics.md).

Amounts are whole numbers of any unit, the same for nodes and jobs. A node is known by its place in the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tests.oracle.records import Component, Placement


class Left(NamedTuple):
    """What is free on a node at some moment, and how many jobs are on it."""

    cores: int
    memory: int
    gpus: int
    jobs: int = 0


@dataclass(frozen=True)
class Node:
    """A node of a shared module (R1)."""

    name: str
    cores: int
    memory: int = 0
    gpus: int = 0
    partitions: tuple[str, ...] = ("all",)
    module: str = "m"

    @property
    def idle(self) -> Left:
        return Left(self.cores, self.memory, self.gpus)


@dataclass(frozen=True)
class Request(Placement):
    """A placement on a shared module: cores, memory and GPUs are asked for on each of its nodes."""

    partition: str = "all"
    cores: int = 0
    memory: int = 0
    gpus: int = 0
    exclusive: bool = False

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
    if request.partition not in node.partitions or (request.whole and left.jobs > 0):
        return False
    return left.cores >= request.cores and left.memory >= request.memory and left.gpus >= request.gpus


def with_job(request: Request, node: Node, left: Left) -> Left:
    """Return what is left of a node when the job has come."""
    asked = node if request.whole else request
    return Left(left.cores - asked.cores, left.memory - asked.memory, left.gpus - asked.gpus, left.jobs + 1)


def without_job(request: Request, node: Node, left: Left) -> Left:
    """Return what is left of a node when the job has gone."""
    asked = node if request.whole else request
    return Left(left.cores + asked.cores, left.memory + asked.memory, left.gpus + asked.gpus, left.jobs - 1)


def first_by(packing: str, many: int, able: Iterable[int], left: dict[int, Left]) -> list[int] | None:
    """R3: the nodes taken of the able ones, by what is left of each; nothing if they are too few."""
    keys = {
        "first_fit": lambda node: (0, node),
        "best_fit": lambda node: (left[node].cores, node),
        "worst_fit": lambda node: (-left[node].cores, node),
    }
    taken = sorted(able, key=keys[packing])[:many]
    return taken if len(taken) == many else None
