"""Components that processes submit while the simulation runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.applications.conversion import NO_TYPE
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.placement.placements import Placements, joined, picked
from scheduler_sim.simulation.load import Loader
from scheduler_sim.simulation.rules.numbers import Edge
from scheduler_sim.texts import TextColumn, is_text_column
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import check_value

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models

Noted = tuple[dict[str, Any], tuple[Edge, ...]]

_SET_BY_SUBMIT = {
    "submit_time": "a component is submitted at the instant of the call",
    "skipped": "everything that is submitted is simulated",
    "dependency_ids": "give the ids as after=[...]",
    "dependency_kinds": "give the kind as dependency_type=...",
    "delay": "the component starts on its own: submit it later instead",
    "api_calls": "only components of the trace have calls",
}
_READ = ("partition", "constraint", "licences")
"""Texts of a submission that its placement reads; nothing else can be wrong in it without models."""

_DEFAULTS = {name: field.default for name, field in FIELDS.items()}


class Submissions:
    """What processes submit: checked at the call; at the core's next turn one workload, placed and written.

    Attributes
    ----------
    noted : components that the core has yet to be told of
    edges : what those before wait for
    placed : returns the placements of components; raises InputError for what cannot be understood
    models : those of the simulation
    """

    def __init__(
        self,
        loader: Loader,
        placed: Callable[[Workload], Placements],
        trace: Workload,
        placements: Placements,
        models: Models | None,
    ) -> None:
        self._loader, self.placed, self.models = loader, placed, models
        self._trace = (trace, placements)
        self._understood: set[tuple[str | None, ...]] = set()
        self._given: list[dict[str, Any]] = []
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

    def append(self, core: FullCore) -> FullCore:
        """Put what was noted into the core, to be submitted at this instant after what the trace has."""
        given, edges = [given for given, _ in self.noted], [edges for _, edges in self.noted]
        core = self._loader.append(core, *self._expanded(given), edges)
        self._given += given
        self.edges += (edge for of_one in edges for edge in of_one)
        self.noted = []
        return core

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

    def joined(self, names: Sequence[str]) -> tuple[dict[str, Any], Placements]:
        """Return columns, and the placements: the trace's, then what was submitted."""
        workload, placements = self._trace
        carried = workload.carried_columns
        if not self._given:
            return {**workload.columns, **carried}, placements
        added, later = self._expanded(self._given)
        both = {name: (workload.columns[name], added.columns[name]) for name in names}
        both |= {name: (values, _unsaid(values, len(added))) for name, values in carried.items()}
        table = {name: _one_after_another(*columns) for name, columns in both.items()}
        return table, joined(placements, replace(later, rows=later.rows + len(workload)))

    def _check_placement(self, given: Mapping[str, Any]) -> None:
        """Place a component alone, for what that may raise; texts that were read before are understood."""
        texts = tuple(given.get(name) for name in _READ)
        if texts in self._understood:
            return
        if not can_be_typed(self.models, given.get("app", _DEFAULTS["app"])):
            assert self.models is not None
            raise InputError(
                f"submit: app: found none, and models {self.models.name} draw types only for a"
                f" whole trace; allowed: {', '.join(self.models.type_names)}, or draw: hash"
            )
        if not self._expanded([given])[1].rigid:
            self._loader.allow_several()
        if self.models is None and self._loader.run.policy.shadow == "dynamic":
            self._understood.add(texts)

    def _expanded(self, given: Sequence[Mapping[str, Any]]) -> tuple[Workload, Placements]:
        """Components as a workload, and their placements."""
        added = _workload(given)
        return added, self.placed(added)


def can_be_typed(models: Models | None, app: str) -> bool:
    """Whether one component alone has a type of application: one that it names, or drawn for it alone."""
    if models is None or not models.type_names or models.draws_one_by_one:
        return True
    return models.named_type(app) != NO_TYPE


def _unsaid(values: Any, rows: int) -> Any:
    """What stands in a carried column of components that are in no trace: 0, NaN or nothing."""
    if is_text_column(values):
        return TextColumn.constant("", rows)
    return np.full(rows, np.nan if values.dtype.kind == "f" else 0, dtype=values.dtype)


def _one_after_another(one: Any, other: Any) -> Any:
    """Join two columns."""
    if is_text_column(one):
        return one.followed_by(other)
    return np.concatenate([one, other])


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
