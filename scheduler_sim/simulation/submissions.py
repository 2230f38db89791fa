"""Components that processes submit while the simulation runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine import drive
from scheduler_sim.engine import state as slot
from scheduler_sim.engine.state import Core
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.placement.single import Placer, Single
from scheduler_sim.placement.table import Placements, expand, joined
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.dependents import Dependents, Edge
from scheduler_sim.simulation.growth import with_room
from scheduler_sim.simulation.load import put_components, sizes_for
from scheduler_sim.simulation.outcome import TOLD
from scheduler_sim.simulation.scheme import Scheme, scheme_of
from scheduler_sim.system.system import System
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import check_value

Noted = tuple[dict[str, Any], Single, tuple[Edge, ...]]

_SET_BY_SUBMIT = {
    "submit_time": "a component is submitted at the instant of the call",
    "skipped": "what is submitted is simulated",
    "dependency_ids": "give the ids as after=[...]",
    "dependency_kinds": "give the kind as dependency_type=...",
}
_DEFAULTS = {name: field.default for name, field in FIELDS.items()}


class Submissions:
    """What processes submit: checked and placed at the call, written into the core at its next turn.

    Attributes
    ----------
    noted : components that the core has yet to be told of
    """

    def __init__(self, system: System, policy: Policy, scheme: Scheme, placements: Placements) -> None:
        self._system, self._policy, self._scheme = system, policy, scheme
        self._placer = Placer(system, only_first=policy.placement == "preferred")
        self._used = len(placements.rows) if placements.rigid else len(placements.module)
        self._rigid = placements.rigid
        self._given: list[dict[str, Any]] = []
        self._dependents: Dependents | None = None
        self.noted: list[Noted] = []
        self.edges: list[Edge] = []

    def note(self, fields: Mapping[str, Any], now: int, edges: Sequence[Edge]) -> None:
        """Check and place a component that is submitted now. Raises InputError."""
        given = _checked(fields)
        given.setdefault("modular_job_id", given["component_id"])
        given["submit_time"] = now
        single = self._placer.place(_DEFAULTS | given)
        if not single.rigid and self._rigid:
            self._scheme, self._rigid = scheme_of(self._scheme.policy, rigid=False), False
        self.noted.append((given, single, tuple(edges)))

    def run_time(self, number: int) -> int:
        """Run time (s) of the component submitted as number 0, 1, ..."""
        return int(self._given[number]["run_time"])

    def append(self, core: Core) -> tuple[Core, Scheme]:
        """Put what was noted into the core, to be submitted at this instant after what the trace has."""
        at, count = int(core.clock[slot.COMPONENTS]), len(self.noted)
        if not self._rigid and not core.rules[slot.COMPLEX]:
            drive.look_at_each(core)
        if at == 0:
            core.clock[slot.ORIGIN] = core.clock[slot.NOW]
        places = count if self._rigid else sum(len(single.ways) for _, single, _ in self.noted)
        core = self._with_room_for(core, at + count, self._used + places)
        put_components(core, at, self._used, [noted[:2] for noted in self.noted], self._scheme)
        _arrive(core, at, count)
        if self._dependents is None:
            self._dependents = Dependents(core)
        for _, _, edges in self.noted:
            for edge in edges:
                core = self._dependents.add(core, edge)
                self.edges.append(edge)
        self._used += places
        self._given += [given for given, _, _ in self.noted]
        self.noted = []
        return core, self._scheme

    def joined(self, workload: Workload, placements: Placements) -> tuple[pd.DataFrame, Placements]:
        """Return the columns a result needs, and the placements: the trace's, then what was submitted."""
        told = workload.table[list(TOLD)]
        if not self._given:
            return told, placements
        names = dict.fromkeys(name for one in self._given for name in one)
        columns = {name: [one.get(name, _DEFAULTS[name]) for one in self._given] for name in names}
        added = Workload.from_columns(**columns)
        later = expand(added, self._system, only_first=self._policy.placement == "preferred")
        table = pd.concat([told, added.table[list(TOLD)]], ignore_index=True)
        texts = [name for name in TOLD if FIELDS[name].is_text]
        return table.astype(dict.fromkeys(texts, "category")), joined(placements, later, len(workload))

    def _with_room_for(self, core: Core, rows: int, placements: int) -> Core:
        if rows <= len(core.comp) and placements <= len(core.place):
            return core
        return with_room(core, sizes_for(self._system, 2 * rows, 2 * placements, len(core.edge)))


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a submission as columns hold them. Raises InputError."""
    for name in fields:
        if name not in FIELDS:
            raise InputError(f"submit: {name!r} is no column of a workload{did_you_mean(name, list(FIELDS))}")
        if name in _SET_BY_SUBMIT:
            raise InputError(f"submit: {name!r} cannot be given; {_SET_BY_SUBMIT[name]}")
    return {name: check_value(name, value) for name, value in fields.items()}


def _arrive(core: Core, at: int, count: int) -> None:
    """Let rows ``at ..`` arrive at this instant, behind what the trace submits at it."""
    arrivals, submit, place = core.lists[slot.ARRIVALS], core.comp["submit"], int(core.clock[slot.SEEN])
    while place < at and submit[arrivals[place]] <= core.clock[slot.NOW]:
        place += 1
    arrivals[place + count : at + count] = arrivals[place:at].copy()
    arrivals[place : place + count] = np.arange(at, at + count)
    core.clock[slot.COMPONENTS] = at + count
