"""Components that processes submit while the simulation runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.applications.models import NO_TYPE, Models
from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.placement.placements import Placements
from scheduler_sim.placement.table import expand, joined, picked
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.dependents import Dependents, Edge
from scheduler_sim.simulation.growth import with_room, with_terms
from scheduler_sim.simulation.load import sizes_for, write_components
from scheduler_sim.simulation.outcome import TOLD
from scheduler_sim.simulation.reasons import ASKED
from scheduler_sim.simulation.scheme import Scheme, expansion, scheme_of
from scheduler_sim.simulation.slurm_rows import SlurmRows
from scheduler_sim.simulation.terms import Terms, are_asked
from scheduler_sim.system.system import System
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import check_value

Noted = tuple[dict[str, Any], tuple[Edge, ...]]

_SET_BY_SUBMIT = {
    "submit_time": "a component is submitted at the instant of the call",
    "skipped": "what is submitted is simulated",
    "dependency_ids": "give the ids as after=[...]",
    "dependency_kinds": "give the kind as dependency_type=...",
    "delay": "it starts by itself: submit it so much later",
    "api_calls": "only components of the trace call",
}
_READ = ("partition", "constraint", "licences")
"""Texts of a submission that its placement reads; nothing else can be wrong in it without models."""

_DEFAULTS = {name: field.default for name, field in FIELDS.items()}


class Submissions:
    """What processes submit: checked at the call; at the core's next turn one workload, placed and written.

    Attributes
    ----------
    noted : components that the core has yet to be told of
    scheme : how the core is driven, once it has been told of them
    system, models : those of the simulation
    """

    def __init__(
        self,
        system: System,
        policy: Policy,
        scheme: Scheme,
        trace: Workload,
        placements: Placements,
        models: Models | None,
        seed: int,
    ) -> None:
        self.system, self._policy, self.scheme, self.models = system, policy, scheme, models
        self._trace = (trace, placements)
        self._expansion = {**expansion(policy), "models": models, "seed": seed}
        self._understood: set[tuple[str | None, ...]] = set()
        self._used = len(placements.rows) if placements.rigid else len(placements.module)
        self._rigid = placements.rigid
        self._given: list[dict[str, Any]] = []
        self._dependents: Dependents | None = None
        self.noted: list[Noted] = []
        self.edges: list[Edge] = []

    def note(
        self, fields: Mapping[str, Any], now: int, edges: Sequence[Edge], *, alone: bool = False
    ) -> None:
        """Check a component that is submitted now, a singleton if ``alone``. Raises InputError."""
        given = _checked(fields)
        if alone:
            given["dependency_kinds"] = "SINGLETON"
        given.setdefault("modular_job_id", given["component_id"])
        given["submit_time"] = now
        self._check_placement(given)
        self.noted.append((given, tuple(edges)))

    def allow_several(self) -> None:
        """Have the core driven so that components may have several placements, or need shared resources.

        Raises ConfigError for a dialect that is not defined for them.
        """
        if not self._rigid:
            return
        old = self.scheme
        self.scheme = scheme_of(
            old.policy, rigid=False, united=old.united, planned=old.planned, switched=old.switched
        )
        self._rigid = False

    def run_time(self, number: int) -> int:
        """Run time (s) of the component submitted as number 0, 1, ..., as it was given."""
        return int(self._given[number]["run_time"])

    def append(self, core: FullCore) -> tuple[FullCore, Scheme]:
        """Put what was noted into the core, to be submitted at this instant after what the trace has."""
        at, count = int(core.clock.jobs), len(self.noted)
        added, placements = self._expanded([given for given, _ in self.noted])
        if not placements.rigid:
            self.allow_several()
        self.look_at_each(core)
        if at == 0:
            core.clock.origin = core.clock.now
        places = len(placements.module) if core.rules.complex else count
        core = self._with_room_for(core, at + count, self._used + places)
        where = write_components(core, added, placements, self.scheme, at=at, used=self._used)
        if self.slurm_rows is not None:
            core = self.slurm_rows.write(core, at, self.slurm_rows.describe(added, placements), where)
        elif has(core, "holds") or are_asked(added, placements.rows):
            core = self._terms.write(with_terms(core), at, self._terms.describe(added, placements))
        _arrive(core, at, count)
        if self._dependents is None:
            self._dependents = Dependents(core)
        for row, (given, edges) in enumerate(self.noted, at):
            core = self._dependents.add_all(core, row, edges, any_will_do=bool(given.get("dependency_any")))
            self.edges += edges
        self._used += places
        self._given += [given for given, _ in self.noted]
        self.noted = []
        return core, self.scheme

    def asked(self, row: int) -> Workload:
        """Return the component in a row as it was submitted, by the trace or by a process."""
        trace, placements = self._trace
        number = row - len(placements.rows)
        if number < 0:
            return trace.select(placements.rows[row : row + 1])
        late = number - len(self._given)
        return _workload([self._given[number] if late < 0 else self.noted[late][0]])

    def placements_of(self, row: int) -> Placements:
        """Return the placements of the component in a row, as it was submitted."""
        trace = self._trace[1]
        return picked(trace, np.array([row])) if row < len(trace.rows) else self.placed(self.asked(row))

    def placed(self, workload: Workload) -> Placements:
        """Return the placements of components. Raises InputError for what cannot be understood."""
        return expand(workload, self.system, **self._expansion)

    def rows_for(self, core: FullCore, row: int, placements: Placements) -> tuple[FullCore, slice]:
        """Return the core, and where in it the new placements of one component may stand.

        In the rows of its old ones if they are enough, and no nodes are yet to be given back by one of them.
        """
        first, last = int(core.jobs["first"][row]), int(core.jobs["last"][row])
        count, leaves = len(placements.module), has(core, "slurm") and core.slurm.job["piece"][row] >= 0
        if leaves:
            self.allow_several()
        self.look_at_each(core)
        if count > last - first or leaves:
            first, self._used = self._used, self._used + count
        return self._with_room_for(core, len(core.jobs), self._used), slice(first, first + count)

    def look_at_each(self, core: FullCore) -> None:
        """Tell the core once that components may have several placements."""
        if not self._rigid and not core.rules.complex:
            drive.look_at_each(core)

    def joined(self, workload: Workload, placements: Placements) -> tuple[pd.DataFrame, Placements]:
        """Return the columns a result needs, and the placements: the trace's, then what was submitted."""
        names = [*TOLD, *(ASKED if self._policy.backfill == "slurm" else ())]
        told = workload.table[names]
        if not self._given:
            return told, placements
        added, later = self._expanded(self._given)
        table = pd.concat([told, added.table[names]], ignore_index=True)
        texts = [name for name in names if FIELDS[name].is_text]
        return table.astype(dict.fromkeys(texts, "category")), joined(placements, later, len(workload))

    @cached_property
    def slurm_rows(self) -> SlurmRows | None:
        """What writes into the tables of Slurm's schedulers; it knows the numbers that the trace has."""
        if self._policy.backfill != "slurm":
            return None
        rows = SlurmRows(self.system, self._policy.slurm)
        rows.describe(*self._trace)
        return rows

    @cached_property
    def _terms(self) -> Terms:
        """What writes what holds components besides dependencies; it knows the numbers of those before."""
        terms = Terms()
        terms.describe(*self._trace)
        if self._given:
            terms.describe(*self._expanded(self._given))
        return terms

    def _check_placement(self, given: Mapping[str, Any]) -> None:
        """Place a component alone, for what that may raise; texts that were read before are understood."""
        texts = tuple(given.get(name) for name in _READ)
        if texts in self._understood:
            return
        if not can_be_typed(self.models, given.get("app", _DEFAULTS["app"])):
            assert self.models is not None
            raise InputError(
                f"submit: app: found none, and models {self.models.name} draw the types of a whole trace;"
                f" allowed: {', '.join(self.models.type_names)}, or draw: hash"
            )
        if not self._expanded([given])[1].rigid:
            self.allow_several()
        if self.models is None and self._policy.shadow == "dynamic":
            self._understood.add(texts)

    def _expanded(self, given: Sequence[Mapping[str, Any]]) -> tuple[Workload, Placements]:
        """Components as a workload, and their placements."""
        added = _workload(given)
        return added, self.placed(added)

    def _with_room_for(self, core: FullCore, rows: int, placements: int) -> FullCore:
        entries = len(core.slurm.entry) if has(core, "slurm") and not self._rigid else placements
        if rows <= len(core.jobs) and placements <= min(len(core.placements), entries):
            return core
        return with_room(core, sizes_for(self.system, 2 * rows, 2 * placements))


def can_be_typed(models: Models | None, app: str) -> bool:
    """Whether one component alone has a type of application: one that it names, or drawn for it alone."""
    if models is None or not models.type_names or models.draws_one_by_one:
        return True
    return models.named_type(app) != NO_TYPE


def _workload(given: Sequence[Mapping[str, Any]]) -> Workload:
    names = dict.fromkeys(name for one in given for name in one)
    columns: dict[str, Any] = {name: [one.get(name, _DEFAULTS[name]) for one in given] for name in names}
    _, job, count = np.unique(columns["modular_job_id"], return_inverse=True, return_counts=True)
    return _plain().repeated(len(given), columns | {"components_total": count[job]})


@lru_cache
def _plain() -> Workload:
    """One component with nothing but defaults."""
    return Workload.from_columns(nodes=1, submit_time=0, run_time=0)


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a submission as columns hold them. Raises InputError."""
    for name in fields:
        if name not in FIELDS:
            raise InputError(f"submit: {name!r} is no column of a workload{did_you_mean(name, list(FIELDS))}")
        if name in _SET_BY_SUBMIT:
            raise InputError(f"submit: {name!r} cannot be given; {_SET_BY_SUBMIT[name]}")
    return {name: check_value(name, value) for name, value in fields.items()}


def _arrive(core: FullCore, at: int, count: int) -> None:
    """Let rows ``at ..`` arrive at this instant, behind what the trace submits at it."""
    arrivals, submit, place = core.queue.arrivals, core.jobs["submit"], int(core.queue.at.seen)
    while place < at and submit[arrivals[place]] <= core.clock.now:
        place += 1
    arrivals[place + count : at + count] = arrivals[place:at].copy()
    arrivals[place : place + count] = np.arange(at, at + count)
    core.clock.jobs = at + count
