"""Trees of efficiency factors: multiplied, as BSC composes them, or their losses added, as POP may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.config.problem import Location, Problem, found, one_of
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves import Curve, read_curve
from scheduler_sim.scaling.names import FACTORS, may_exceed_one
from scheduler_sim.scaling.parameters import PROCESSES

COUNTS = ("processes", "nodes", "ranks", "threads")
"""What a factor may depend on; processes = ranks x threads of each."""

COMPOSE = ("product", "additive")

Counts = Mapping[str, Floats]


@dataclass(frozen=True)
class Factor:
    """A leaf: one factor with its curve, over one of ``COUNTS``."""

    name: str
    curve: Curve
    counts: str = "processes"

    def values(self, counts: Counts) -> Floats:
        """Return the efficiency, float64. InputError where it exceeds 1 and this factor cannot."""
        p = counts[self.counts]
        values = self.curve.efficiency(p)
        if may_exceed_one(self.name):
            return values
        if (values > 1 + 1e-9).any():
            at = np.broadcast_to(p, values.shape)[values > 1 + 1e-9].flat[0]
            raise InputError(
                f"{self.name}: found an efficiency of {values.max():.4g} at {at:g} {self.counts};"
                " allowed: up to 1"
            )
        return np.minimum(values, 1.0)

    def walk(self, counts: Counts, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Floats]]:
        """Yield the path and the values of this factor."""
        yield (*path, self.name), self.values(counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the factor as a profile writes it."""
        extra = {} if self.counts == "processes" else {"counts": self.counts}
        return {**self.curve.to_dict(), **extra}


@dataclass(frozen=True)
class Group:
    """Factors and groups put together.

    ``product``: efficiency = product of the parts. ``additive``: 1 − efficiency = sum of (1 − part).
    """

    name: str
    compose: str
    parts: tuple[Factor | Group, ...]

    def values(self, counts: Counts) -> Floats:
        """Return the efficiency, float64. InputError where added losses leave nothing."""
        each = [part.values(counts) for part in self.parts]
        if self.compose == "product":
            product: Floats = np.prod(np.broadcast_arrays(*each), axis=0)
            return product
        left: Floats = 1 - np.sum([1 - values for values in np.broadcast_arrays(*each)], axis=0)
        if (left <= 0).any():
            raise InputError(
                f"{self.name}: the losses of its parts add up to {1 - left.min():.3g}; allowed: under 1"
            )
        return left

    def walk(self, counts: Counts, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Floats]]:
        """Yield the path and the values of this group and of all that is in it, depth first."""
        yield (*path, self.name), self.values(counts)
        for part in self.parts:
            yield from part.walk(counts, (*path, self.name))

    def to_dict(self) -> dict[str, Any]:
        """Return the group as a profile writes it."""
        parts = {part.name: part.to_dict() for part in self.parts}
        return {"compose": self.compose, **parts} if self.compose != "product" else parts


Tree = Factor | Group


def replaced(tree: Tree, name: str, curve: Curve) -> Tree:
    """Return the tree with every factor of this name given another curve. InputError if there is none."""
    if name not in factor_names(tree):
        raise InputError(f"factor: found {name!r}; {one_of(factor_names(tree), name)}")

    def edit(node: Tree) -> Tree:
        if isinstance(node, Group):
            return Group(node.name, node.compose, tuple(edit(part) for part in node.parts))
        return Factor(node.name, curve, node.counts) if node.name == name else node

    return edit(tree)


def factor_names(tree: Tree) -> list[str]:
    """Return the names of the leaves, in order."""
    if isinstance(tree, Factor):
        return [tree.name]
    return [name for part in tree.parts for name in factor_names(part)]


def read_tree(data: Any, name: str, where: Location) -> tuple[Tree | None, list[Problem]]:
    """Read a leaf ``{curve: ...}`` or a group ``{compose: ..., NAME: ...}``; or return all problems."""
    if not isinstance(data, dict) or not data:
        return None, [Problem(where, f"{found(data)}; allowed: a curve, or factors by name")]
    if "curve" in data:
        return _read_factor(data, name, where)
    problems = []
    compose = data.get("compose", "product")
    if compose not in COMPOSE:
        problems.append(Problem((*where, "compose"), f"{found(compose)}; {one_of(COMPOSE, compose)}"))
    parts: list[Tree] = []
    for key, value in data.items():
        if key == "compose":
            continue
        part, more = read_tree(value, key, (*where, key))
        problems += more
        parts += [part] if part is not None else []
    if not parts and not problems:
        names = ", ".join(list(FACTORS)[:5])
        problems.append(Problem(where, f"found no factors; allowed: factors by name, such as {names}"))
    return (None, problems) if problems else (Group(name, compose, tuple(parts)), [])


def _read_factor(data: dict[str, Any], name: str, where: Location) -> tuple[Tree | None, list[Problem]]:
    counts = data.get("counts", "processes")
    curve, problems = read_curve({key: value for key, value in data.items() if key != "counts"}, where)
    if counts not in COUNTS:
        problems.append(Problem((*where, "counts"), f"{found(counts)}; {one_of(COUNTS, counts)}"))
    if curve is not None and (
        curve.quantity not in ("efficiency", "speedup") or curve.inputs != (PROCESSES,)
    ):
        problems.append(
            Problem((*where, "curve"), f"{curve.NAME} gives a {curve.quantity}; allowed here: an efficiency")
        )
    if problems or curve is None:
        return None, problems
    return Factor(name, curve, counts), []
