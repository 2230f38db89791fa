"""Shapes of workflows: which component follows which."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Kind = Literal["chain", "fan_out", "fan_in", "diamond"]
KINDS: tuple[str, ...] = get_args(Kind)


class Shape(NamedTuple):
    """A workflow of ``width`` branches, each a chain of ``depth`` components.

    ``chain`` is one branch; ``fan_out`` has a component before all branches, ``fan_in`` one
    behind them, ``diamond`` both.
    """

    kind: str
    width: int
    depth: int

    @property
    def components(self) -> int:
        """Number of components."""
        return self.width * self.depth + self._has_source + self._has_sink

    def links(self) -> list[tuple[int, int]]:
        """Return (producer, consumer) pairs; components are numbered so that each follows its producers."""
        pairs = []
        for branch in range(self.width):
            first = self._has_source + branch * self.depth
            pairs += [(0, first)] * self._has_source
            pairs += [(first + step, first + step + 1) for step in range(self.depth - 1)]
            pairs += [(first + self.depth - 1, self.components - 1)] * self._has_sink
        return sorted(pairs, key=lambda pair: (pair[1], pair[0]))

    @property
    def _has_source(self) -> int:
        return int(self.kind in ("fan_out", "diamond"))

    @property
    def _has_sink(self) -> int:
        return int(self.kind in ("fan_in", "diamond"))


def chain(components: int) -> Shape:
    """Return the chain of so many components."""
    return Shape("chain", 1, components)
