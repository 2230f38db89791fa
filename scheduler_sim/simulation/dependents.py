"""Dependencies that are added while the simulation runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.dependencies import HOPE_LOST
from scheduler_sim.engine.state import Core
from scheduler_sim.errors import InputError
from scheduler_sim.simulation.load import KINDS

OPEN, MET = 0, 1
"""Standings of a dependency, beside HOPE_LOST: what ``satisfied`` holds."""

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

    def __init__(self, core: Core) -> None:
        self._end = len(core.edge)
        self._room: dict[int, int] = {}  # row -> where the room of its range ends

    def add_all(self, core: Core, row: int, edges: Sequence[Edge], *, any_will_do: bool) -> Core:
        """Add the dependencies of a component not submitted yet; what has happened already counts."""
        states = []
        for edge in edges:
            core, state = self._add(core, edge)
            states.append(state)
        met, lost = states.count(MET), states.count(HOPE_LOST)
        missing = min(len(states), 1) * (met == 0) if any_will_do else len(states) - met
        core.comp["missing"][row] += missing
        if len(core.job):
            core.job["hopes"][row] = len(states) - lost if any_will_do and states else int(lost == 0)
        return core

    def _add(self, core: Core, edge: Edge) -> tuple[Core, int]:
        row, after_row, kind, delay = edge
        comp = np.asarray(core.comp)
        first, last = int(comp["after"][after_row]), int(comp["after_last"][after_row])
        if last >= self._room.get(after_row, last):
            core = self._move(core, after_row, first, last)
            first, last = int(comp["after"][after_row]), int(comp["after_last"][after_row])
        state = int(comp["state"][after_row])
        if (
            len(core.job)
            and state > slot.RUNNING
            and core.job["piece"][after_row] >= 0
            and kind != slot.AFTER
        ):
            state = slot.RUNNING  # to those who depend on it, it ends with its epilog
        satisfied = _standing(state, kind)
        np.asarray(core.edge)[last] = (row, kind, satisfied, delay)
        comp["after_last"][after_row] = last + 1
        return core, satisfied

    def _move(self, core: Core, row: int, first: int, last: int) -> Core:
        """Give the range of ``row`` twice the room, at the end."""
        start, size = self._end, last - first
        self._end = self._room[row] = start + 2 * size + 1
        if self._end > len(core.edge):
            more = np.zeros(self._end + 64, dtype=slot.EDGE).view(np.recarray)
            core = core._replace(edge=np.concatenate((core.edge, more)).view(np.recarray))
        core.edge[start : start + size] = core.edge[first:last]
        core.comp["after"][row], core.comp["after_last"][row] = start, start + size
        return core


def _standing(state: int, kind: int) -> int:
    """Whether a component in this state has done what a dependency on it asks, or never can."""
    if kind == slot.AFTER:
        return MET if state >= slot.RUNNING else OPEN
    if state <= slot.RUNNING:
        return OPEN
    if kind == slot.AFTERANY or (state == slot.COMPLETED) == (kind == slot.AFTEROK):
        return MET
    return HOPE_LOST
