"""A job as a scheduler of the user's own sees it, and the ways in which it may run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.engine.core.state import RUNNING, WAITING
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.placement.placements import Placements
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload


class Placement(NamedTuple):
    """A possible placement of a job.

    Attributes
    ----------
    number : its number in the core
    module : name
    nodes : nodes; limit : time limit, s
    """

    number: int
    module: str
    nodes: int
    limit: int


class Job:
    """A component of the trace, or one that a process has submitted.

    Attributes
    ----------
    id : its component id
    submit : when it was submitted, s on the trace's clock
    priority : of its partition
    module, nodes, limit : name, nodes and s of the placement in which it runs, or the first in its list

    ``job["user"]`` is the value of a column of the trace.
    """

    __slots__ = (
        "_first",
        "_jobs",
        "id",
        "limit",
        "module",
        "nodes",
        "number",
        "pending",
        "priority",
        "submit",
    )

    def __init__(self, jobs: Jobs, number: int) -> None:
        core = jobs.core
        it = core.jobs[number]
        self._jobs, self.number, self.pending = jobs, number, bool(it.state == WAITING)
        self._first = int(it.first)
        self.submit = int(it.submit)
        self.priority = int(core.ranks[number].tier)
        self.id = jobs.id_of(number)
        self.take(int(it.placed) if it.state == RUNNING else self._first)

    def take(self, placement: int) -> None:
        """From now on this placement counts."""
        it = self._jobs.core.placements[placement]
        self.module = self._jobs.name_of(int(it.module))
        self.nodes, self.limit = int(it.nodes), int(it.limit)

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The ways in which it may run, in the order of its list."""
        core, named = self._jobs.core, self._jobs.name_of
        rows = range(self._first, int(core.jobs[self.number].last))
        found = ((row, core.placements[row]) for row in rows)
        return tuple(Placement(row, named(int(it.module)), int(it.nodes), int(it.limit)) for row, it in found)

    @property
    def start(self) -> int:
        """When it started, s; -1 = it has not."""
        return int(self._jobs.core.jobs[self.number].start)

    @property
    def planned_end(self) -> int:
        """When it is planned to end, by its limit, s; -1 = it does not run."""
        return self._jobs.planned_end(self.number)

    def __getitem__(self, column: str) -> Any:
        return self._jobs.value(self.number, column)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and other.number == self.number

    def __hash__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return f"Job {self.id} ({self.nodes} nodes, {self.limit} s)"


class Jobs:
    """All jobs of a simulation, made as they are looked at.

    Attributes
    ----------
    modules : the name of each module
    core : what is known of them now
    reserved : the book of advance reservations; None without any
    """

    core: FullCore

    def __init__(self, system: System) -> None:
        self.modules = [module.name for module in system.modules]
        self.reserved: Any = None
        self._reservations: dict[int, str] = {}
        self._chunks: list[tuple[int, Workload, Placements]] = []
        self._made: dict[int, Job] = {}

    def copied(self) -> Jobs:
        """Return the same jobs, none of them made yet."""
        made: Jobs = object.__new__(type(self))
        made.modules, made._chunks, made._made = self.modules.copy(), self._chunks.copy(), {}
        made.reserved, made._reservations = self.reserved, self._reservations.copy()
        return made

    @property
    def pools(self) -> list[int]:
        """The pools that have nodes: modules, and what reservations have of each."""
        core = self.core
        first = int(core.holes.at.first) if has(core, "holes") else len(core.pools)
        return [*range(len(self.modules)), *range(first, len(core.pools))]

    def name_of(self, pool: int) -> str:
        """Return the name of a module, or that of what a reservation has of it: ``cm:maintenance``."""
        if pool < len(self.modules):
            return self.modules[pool]
        number, module = divmod(pool - int(self.core.holes.at.first), len(self.modules))
        if number not in self._reservations:
            self._reservations |= {one.number: one.name for one in self.reserved.standing.values()}
        return f"{self.modules[module]}:{self._reservations.get(number, number)}"

    def add(self, first: int, workload: Workload, placements: Placements) -> None:
        """Jobs from row ``first`` of the core on."""
        self._chunks.append((first, workload, placements))

    def forget(self) -> None:
        """What was asked for may have changed: look anew."""
        self._made.clear()

    def __getitem__(self, number: int) -> Job:
        job = self._made.get(number)
        if job is None:
            job = self._made[number] = Job(self, number)
        return job

    def id_of(self, number: int) -> int:
        """Return the component id of a job."""
        _, workload, row = self._row(number)
        return int(workload.columns["component_id"][row])

    def value(self, number: int, column: str) -> Any:
        """Return what a column of the trace says of a job, a number or text; InputError for no column."""
        _, workload, row = self._row(number)
        if column not in workload.columns:
            hint = did_you_mean(column, list(workload.columns))
            raise InputError(f"no column {column!r} in the trace{hint}")
        value = workload.columns[column][row]
        return value.item() if isinstance(value, np.generic) else value

    def planned_end(self, number: int) -> int:
        """When a running job is planned to end, s; -1 = it does not run."""
        it = self.core.jobs[number]
        if it.state != RUNNING:
            return -1
        return int(it.start + self.core.placements[it.placed].limit)

    def _row(self, number: int) -> tuple[int, Workload, int]:
        for first, workload, placements in reversed(self._chunks):
            if number >= first:
                return first, workload, int(placements.rows[number - first])
        raise IndexError(number)
