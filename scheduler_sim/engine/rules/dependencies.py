"""Dependencies: a job waits for the start or the end of others.

Hangs on the start and the end of a job; lifts what holds those that wait for it.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduler_sim.engine.core.events import KIND, drop_end, push_end
from scheduler_sim.engine.core.holding import meet
from scheduler_sim.engine.core.hooks import on, question
from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.moments import begins_late, ended, event_due, started
from scheduler_sim.engine.core.records import Table, table
from scheduler_sim.engine.core.state import COMPLETED, Core

AFTER, AFTERANY, AFTEROK, AFTERNOTOK = 0, 1, 2, 3
"""Kinds of dependencies."""

NEVER = -1
"""Of a dependency that will never be satisfied, also if what it waits for runs again later."""

SATISFIED = -KIND
"""Event: a dependency with a delay is satisfied; the rest is its row."""


class Dependency:
    """A job waits for another: rows by the job waited for."""

    successor: int
    kind: int
    satisfied: int
    delay: int  # AFTER: s from the start to the moment it is satisfied


class Dependents:
    """What depends on a job: rows first .. last - 1 of ``edge``."""

    first: int
    last: int


class Dependencies(NamedTuple):
    """The dependencies, and of each job those that wait for it."""

    edge: Table[Dependency]
    of: Table[Dependents]  # [n]


class DependenciesCore(Core):
    """A core with dependencies."""

    dependencies: Dependencies


class DependencySizes(NamedTuple):
    """How much room there is to be."""

    jobs: int
    edges: int


def blank_dependencies(sizes: DependencySizes) -> Dependencies:
    """Return a part with so much room."""
    return Dependencies(table(Dependency, sizes.edges), table(Dependents, sizes.jobs))


@on(started, "dependencies")
def satisfy_started(core: DependenciesCore, row: int) -> None:
    """``row`` started: what may start after that is freed, at once or later."""
    for edge in range(core.dependencies.of[row].first, core.dependencies.of[row].last):
        if core.dependencies.edge[edge].kind == AFTER:
            satisfy_later(core, edge)


@on(begins_late, "dependencies")
def wait_from_begin(core: DependenciesCore, row: int) -> None:
    """``row`` has waited for its nodes: delays that are not over count from now on."""
    for edge in range(core.dependencies.of[row].first, core.dependencies.of[row].last):
        it = core.dependencies.edge[edge]
        if it.kind == AFTER and it.delay > 0 and not it.satisfied:
            drop_end(core, SATISFIED + edge)
            satisfy_later(core, edge)


@part
def satisfy_by_call(core: DependenciesCore, row: int) -> None:
    """Every AFTEROK on ``row`` becomes AFTER."""
    for edge in range(core.dependencies.of[row].first, core.dependencies.of[row].last):
        if core.dependencies.edge[edge].kind == AFTEROK:
            core.dependencies.edge[edge].kind = AFTER
            satisfy_later(core, edge)


@part
def satisfy_later(core: DependenciesCore, edge: int) -> None:
    """So long after a start, or after an end, as it says."""
    if core.dependencies.edge[edge].delay > 0:
        push_end(core, core.clock.now + core.dependencies.edge[edge].delay, SATISFIED + edge)
    else:
        satisfy(core, edge)


@on(event_due, "dependencies")
def satisfy_now(core: DependenciesCore, kind: int, edge: int) -> None:
    """Its delay is over."""
    if kind == SATISFIED:
        satisfy(core, edge)


@on(ended, "dependencies")
def satisfy_ended(core: DependenciesCore, row: int) -> None:
    """Rejected and cancelled jobs end without having started (and not successfully)."""
    well = core.jobs[row].state == COMPLETED
    for edge in range(core.dependencies.of[row].first, core.dependencies.of[row].last):
        kind = core.dependencies.edge[edge].kind
        if kind == AFTER and core.dependencies.edge[edge].delay > 0 and core.jobs[row].start >= 0:
            continue  # its time comes by itself
        if (kind == AFTEROK and not well) or (kind == AFTERNOTOK and well):
            fails(core, edge)
        else:
            satisfy_later(core, edge)


@question
def fails(core: DependenciesCore, edge: int) -> None:
    """A dependency will not be satisfied by this end: the job that needs it waits on."""


@part
def satisfy(core: DependenciesCore, edge: int) -> None:
    """A dependency is satisfied, and stays so."""
    if core.dependencies.edge[edge].satisfied:
        return
    core.dependencies.edge[edge].satisfied = 1
    meet(core, core.dependencies.edge[edge].successor)
