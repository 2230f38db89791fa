"""Which nodes are out of service, and why: one book for all that takes nodes out and brings them back.

Events that name nodes, events that count them, failures drawn by a model, and what processes do are reasons.
A node may have several; it is back in service when the last of them has ended. What nodes are to the core,
the book does not know: it tells which are newly out, and which are back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple


class Reason(NamedTuple):
    """Why nodes are out of service.

    Attributes
    ----------
    number : its name; no other reason of the run has it
    end : when it ends (s on the trace's clock); None: never by itself
    announced : whether plans know that end
    """

    number: int
    end: int | None = None
    announced: bool = False


class NodeBook:
    """The reasons that keep each node of each module out of service; nodes are numbered in their module."""

    def __init__(self, nodes: Sequence[int]) -> None:
        """``nodes`` are how many each module has; all are in service."""
        self._nodes = list(nodes)
        self._reasons: list[dict[int, list[Reason]]] = [{} for _ in nodes]
        self._kept_out: dict[
            int, tuple[int, tuple[int, ...]]
        ] = {}  # module and nodes, by the reason's number
        self._any_announced = False  # so far

    def in_service(self, module: int) -> list[int]:
        """Return the nodes that nothing keeps out of service, ascending."""
        out = self._reasons[module]
        return [node for node in range(self._nodes[module]) if node not in out]

    def out(self, module: int) -> list[int]:
        """Return the nodes that are out of service, ascending."""
        return sorted(self._reasons[module])

    def amount_in_service(self, module: int) -> int:
        """Return how many nodes nothing keeps out of service."""
        return self._nodes[module] - len(self._reasons[module])

    @property
    def any_is_out(self) -> bool:
        """Whether any node is out of service."""
        return any(self._reasons)

    @property
    def any_will_return(self) -> bool:
        """Whether any node is known to come back by itself."""
        return any(_due(reasons) < inf for out in self._reasons for reasons in out.values())

    def take(self, module: int, nodes: Iterable[int], reason: Reason) -> list[int]:
        """Note one more reason for some nodes; returns those that were in service."""
        nodes, out = tuple(nodes), self._reasons[module]
        new = [node for node in nodes if node not in out]
        for node in nodes:
            out.setdefault(node, []).append(reason)
        self._kept_out[reason.number] = module, nodes
        self._any_announced |= reason.announced
        return new

    def end(self, number: int) -> tuple[int, list[int]]:
        """End a reason for the nodes it still keeps out; returns the module, and those that are back."""
        module, nodes = self._kept_out.pop(number, (0, ()))
        out = self._reasons[module]
        for node in nodes:
            kept = [reason for reason in out.get(node, ()) if reason.number != number]
            if node in out:
                out[node] = kept
        return module, self._drop(module, [node for node in nodes if out.get(node) == []])

    def resume(self, module: int, nodes: Iterable[int]) -> list[int]:
        """End every reason of some nodes; returns those that were out of service."""
        return self._drop(module, nodes)

    def latest_due(self, module: int, count: int, prefer: Iterable[int] = ()) -> list[int]:
        """Return at most so many nodes that are out of service: those that would be back last, or never.

        Of equal ones those that are to be preferred, then the first.
        """
        out, first = self._reasons[module], frozenset(prefer)
        return sorted(out, key=lambda node: (-_due(out[node]), node not in first, node))[:count]

    def announced(self, module: int) -> dict[int, list[int]]:
        """Return the nodes of which plans know that they will be back, by when (s)."""
        found: dict[int, list[int]] = {}
        for node in self.out(module) if self._any_announced else ():
            reasons = self._reasons[module][node]
            if all(reason.announced for reason in reasons):
                found.setdefault(int(_due(reasons)), []).append(node)
        return found

    def _drop(self, module: int, nodes: Iterable[int]) -> list[int]:
        out = self._reasons[module]
        return [node for node in nodes if out.pop(node, None) is not None]


def _due(reasons: Iterable[Reason]) -> float:
    """When the last of some reasons ends."""
    return max(inf if reason.end is None else reason.end for reason in reasons)
