"""Dependencies: those of the trace, all at once; those of what is submitted later, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.core.state import COMPLETED, RUNNING
from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.dependencies import (
    AFTER,
    AFTERANY,
    AFTERNOTOK,
    AFTEROK,
    NEVER,
    DependencySizes,
)
from scheduler_sim.errors import InputError
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.rules.numbers import Edge, Jobs, Numbers, Run
from scheduler_sim.simulation.units import by_place
from scheduler_sim.units import MINUTE
from scheduler_sim.workload.table import Workload

KINDS = {
    "AFTER": AFTER,
    "AFTERANY": AFTERANY,
    "AFTEROK": AFTEROK,
    "AFTERNOTOK": AFTERNOTOK,
}

OPEN, MET = 0, 1
"""Standings of a dependency, beside NEVER: what ``satisfied`` holds."""


def edge_of(row: int, after_row: int, kind: str) -> Edge:
    """Return a dependency as the core keeps it. Raises InputError for a kind it does not honour."""
    if str(kind).upper() not in KINDS:
        raise InputError(f"dependency_type: found {kind!r}; allowed: {', '.join(KINDS)}")
    return row, after_row, KINDS[str(kind).upper()], 0


class Edges(NamedTuple):
    """Dependencies as rows of the core, int64[edges] each: ``row`` waits for ``after_row``.

    ``kind`` is a code, ``delay`` in s after the dependency is satisfied.
    """

    row: np.ndarray
    after_row: np.ndarray
    kind: np.ndarray
    delay: np.ndarray

    def picked(self, which: np.ndarray) -> Edges:
        """Return some of them."""
        return Edges(*(column[which] for column in self))

    def extended(self, more: Sequence[Edge]) -> Edges:
        """Return them with others behind."""
        added = np.array(more, dtype=np.int64).reshape(-1, 4).T
        return Edges(*(np.concatenate(both) for both in zip(self, added, strict=True)))


def edges_between(workload: Workload, placements: Placements) -> Edges:
    """Return the dependencies of a workload."""
    edges = workload.edges
    kind = np.array([KINDS[kind] for kind in edges.kind], dtype=np.int64)
    return Edges(*by_place(edges, workload, placements.rows), kind, edges.minutes * MINUTE)


class Dependencies(Numbers):
    """Room behind the table of edges, so that one more costs no more than those of one component.

    The dependents of a component stand in one range of the table. A range without room
    behind it moves to the end, where it gets twice the room.
    """

    part = "dependencies"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._end = 0
        self._room: dict[int, int] = {}  # row -> where the room of its range ends

    def describe(self, jobs: Jobs) -> Edges | None:
        """Return those of the trace, as rows of the core."""
        if jobs.edges is not None:
            self.needed |= any(jobs.edges)
            return None
        edges = edges_between(jobs.workload, jobs.placements)
        edges = edges._replace(delay=edges.delay + self.run.units.think[edges.row])
        if self.run.policy.backfill == "slurm":
            edges = _known(edges, jobs.column("dependency_any") != 0)
        self._end = len(edges.row)
        self.needed = self._end > 0
        return edges

    def room(self, sizes: Sizes) -> DependencySizes:
        """Those of the trace; more is made room for as they come."""
        return DependencySizes(sizes.rows, self._end)

    def write(self, core: FullCore, jobs: Jobs, described: Edges | None) -> FullCore:
        """Write what components wait for; what has happened already counts."""
        any_will_do = jobs.column("dependency_any") != 0
        if described is not None:
            _write_all(core, described, any_will_do)
        for place, edges in enumerate(jobs.edges or ()):
            core = self._add_all(core, jobs.first + place, edges, any_will_do=bool(any_will_do[place]))
        return core

    def _add_all(self, core: FullCore, row: int, edges: Sequence[Edge], *, any_will_do: bool) -> FullCore:
        """Add the dependencies of a component not submitted yet."""
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
        first, last = _dependents(core, after_row)
        if last >= self._room.get(after_row, last):
            core = self._move(core, after_row, first, last)
            first, last = _dependents(core, after_row)
        state = int(core.jobs["state"][after_row])
        if (
            has(core, "slurm")
            and state > RUNNING
            and core.slurm.job["piece"][after_row] >= 0
            and kind != AFTER
        ):
            state = RUNNING  # to those that depend on it, it ends with its epilog
        satisfied = _standing(state, kind)
        np.asarray(core.dependencies.edge)[last] = (row, kind, satisfied, delay)
        core.dependencies.of["last"][after_row] = last + 1
        return core, satisfied

    def _move(self, core: FullCore, row: int, first: int, last: int) -> FullCore:
        """Give the range of ``row`` twice the room, at the end."""
        start, size = self._end, last - first
        self._end = self._room[row] = start + 2 * size + 1
        edge = lengthened(core.dependencies.edge, self._end)
        edge[start : start + size] = edge[first:last]
        core.dependencies.of["first"][row], core.dependencies.of["last"][row] = start, start + size
        core = core._replace(dependencies=core.dependencies._replace(edge=edge))
        return core


def _known(edges: Edges, any_will_do: np.ndarray) -> Edges:
    """Without what Slurm takes as satisfied: a dependency on a job not known yet, and its alternatives."""
    known, row = edges.after_row < edges.row, edges.row
    return edges.picked(known & ~(any_will_do[row] & np.isin(row, row[~known])))


def _write_all(core: FullCore, edges: Edges, any_will_do: np.ndarray) -> None:
    """Write the dependencies, by the component waited for; bool[n]: any one of theirs is enough."""
    count, rows = len(edges.row), np.arange(core.clock.jobs)
    needs = np.bincount(edges.row, minlength=len(rows))
    if has(core, "slurm"):
        core.slurm.job["satisfiable"][: len(rows)] = np.where(any_will_do & (needs > 0), needs, 1)
    edges = edges.picked(np.argsort(edges.after_row, kind="stable"))
    core.dependencies.edge["successor"][:count] = edges.row
    core.dependencies.edge["kind"][:count] = edges.kind
    core.dependencies.edge["delay"][:count] = edges.delay
    after = edges.after_row
    core.dependencies.of["first"][: len(rows)] = np.searchsorted(after, rows, side="left")
    core.dependencies.of["last"][: len(rows)] = np.searchsorted(after, rows, side="right")
    core.jobs["missing"][: len(rows)] += np.where(any_will_do, np.minimum(needs, 1), needs)


def _dependents(core: FullCore, row: int) -> tuple[int, int]:
    """The range of what depends on a component."""
    of = core.dependencies.of[row]
    return int(of.first), int(of.last)


def _standing(state: int, kind: int) -> int:
    """Whether a component in this state has done what a dependency on it asks, or never can."""
    if kind == AFTER:
        return MET if state >= RUNNING else OPEN
    if state <= RUNNING:
        return OPEN
    if kind == AFTERANY or (state == COMPLETED) == (kind == AFTEROK):
        return MET
    return NEVER
