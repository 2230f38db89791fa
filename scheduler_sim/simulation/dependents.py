"""Dependencies that are added while the simulation runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler_sim.engine.core.records import table
from scheduler_sim.engine.core.state import COMPLETED, RUNNING
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.dependencies import AFTER, AFTERANY, AFTEROK, NEVER, Dependency
from scheduler_sim.errors import InputError
from scheduler_sim.simulation.load import KINDS

OPEN, MET = 0, 1
"""Standings of a dependency, beside NEVER: what ``satisfied`` holds."""

Edge = tuple[int, int, int, int]
"""A component's row, the row it waits for, the kind as a code, s after the start (AFTER)."""


def edge_of(row: int, after_row: int, kind: str) -> Edge:
    """Return a dependency as the core keeps it. Raises InputError for a kind it does not honour."""
    if str(kind).upper() not in KINDS:
        raise InputError(f"dependency_type: found {kind!r}; allowed: {', '.join(KINDS)}")
    return row, after_row, KINDS[str(kind).upper()], 0


class Dependents:
    """Room behind the edge table, so that one more edge costs no more than those of one component.

    The dependents of a component stand in one range of the table. A range without room
    behind it moves to the end, where it gets twice the room.
    """

    def __init__(self, core: FullCore) -> None:
        self._end = len(core.dependencies)
        self._room: dict[int, int] = {}  # row -> where the room of its range ends

    def add_all(self, core: FullCore, row: int, edges: Sequence[Edge], *, any_will_do: bool) -> FullCore:
        """Add the dependencies of a component not submitted yet; what has happened already counts."""
        states = []
        for edge in edges:
            core, state = self._add(core, edge)
            states.append(state)
        met, lost = states.count(MET), states.count(NEVER)
        missing = min(len(states), 1) * (met == 0) if any_will_do else len(states) - met
        core.jobs["missing"][row] += missing
        if has(core, "slurm"):
            left = len(states) - lost if any_will_do and states else int(lost == 0)
            core.slurm.job["satisfiable"][row] = left
        return core

    def _add(self, core: FullCore, edge: Edge) -> tuple[FullCore, int]:
        row, after_row, kind, delay = edge
        comp = np.asarray(core.jobs)
        first, last = int(comp["after"][after_row]), int(comp["after_last"][after_row])
        if last >= self._room.get(after_row, last):
            core = self._move(core, after_row, first, last)
            first, last = int(comp["after"][after_row]), int(comp["after_last"][after_row])
        state = int(comp["state"][after_row])
        if (
            has(core, "slurm")
            and state > RUNNING
            and core.slurm.job["piece"][after_row] >= 0
            and kind != AFTER
        ):
            state = RUNNING  # to those that depend on it, it ends with its epilog
        satisfied = _standing(state, kind)
        np.asarray(core.dependencies)[last] = (row, kind, satisfied, delay)
        comp["after_last"][after_row] = last + 1
        return core, satisfied

    def _move(self, core: FullCore, row: int, first: int, last: int) -> FullCore:
        """Give the range of ``row`` twice the room, at the end."""
        start, size = self._end, last - first
        self._end = self._room[row] = start + 2 * size + 1
        if self._end > len(core.dependencies):
            more = table(Dependency, len(core.dependencies) + self._end + 64)
            if has(core, "dependencies"):
                more[: len(core.dependencies)] = core.dependencies
            core = core._replace(dependencies=more)
        core.dependencies[start : start + size] = core.dependencies[first:last]
        core.jobs["after"][row], core.jobs["after_last"][row] = start, start + size
        return core


def _standing(state: int, kind: int) -> int:
    """Whether a component in this state has done what a dependency on it asks, or never can."""
    if kind == AFTER:
        return MET if state >= RUNNING else OPEN
    if state <= RUNNING:
        return OPEN
    if kind == AFTERANY or (state == COMPLETED) == (kind == AFTEROK):
        return MET
    return NEVER
