"""Updates of what a component asks for: another partition, another number of nodes.

It is placed anew, by the same expansion as a trace or a submission that asked for this at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_sim.engine.core import operations
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.placement.placements import Placements
from scheduler_sim.placement.table import replaced
from scheduler_sim.simulation.load import Loader
from scheduler_sim.simulation.lost import LostRun, clock_of
from scheduler_sim.simulation.rules.numbers import Jobs
from scheduler_sim.simulation.submissions import Submissions, can_be_typed
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import check_value

PLACED_BY = ("partition", "nodes")
"""Columns of a workload that an update may change, and that decide where a component may run."""


class Requests:
    """What components ask for since an update changed it.

    Attributes
    ----------
    updated : how many waited in the queue when that happened
    """

    def __init__(self, submissions: Submissions, loader: Loader, lost: list[LostRun]) -> None:
        self._submissions, self._loader, self._lost = submissions, loader, lost
        self._changes: dict[int, dict[str, Any]] = {}
        self._current: dict[int, Placements] = {}
        self.updated = 0

    def checked(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that are given, as columns hold them. Raises InputError and ConfigError."""
        given = {name: check_value(name, value) for name, value in fields.items() if value is not None}
        models = self._submissions.models
        if "partition" in given and models is not None and models.chooses_modules:
            raise ConfigError(
                f"update: 'partition' has no meaning with models {models.name}, which choose the modules;"
                " allowed here: nodes"
            )
        return given

    def limited(self, row: int, limit: int) -> None:
        """From now on a component has a time limit of its own, s."""
        self._changes.setdefault(row, {})["time_limit"] = limit

    def placed(self, core: FullCore, row: int, changes: Mapping[str, Any]) -> Placements:
        """Return the placements of a component with these changes, and those made before.

        Raises InputError where it runs, has ended, starts with others, or could never run so.
        """
        asked = self._submissions.asked(row)
        self._refuse(core, row, asked)
        name = asked["component_id"][0]
        if not len(self._current_of(row).module):
            raise InputError(
                f"update: component {name} was rejected, as it never fits; allowed: a component that fits"
            )
        changed = self._changes.get(row, {}) | dict(changes)
        placements = self._submissions.placed(_with(asked, changed))
        if not len(placements.module):
            found = ", ".join(f"{field} {value}" for field, value in changes.items())
            raise InputError(
                f"update: component {name} could never run with {found}"
                f" ({', '.join(placements.rejected)}); allowed: values with which it could be"
                " submitted"
            )
        if not placements.rigid:
            self._loader.allow_several()
        self._changes[row] = changed
        return placements

    def carry_out(self, core: FullCore, row: int, placements: Placements) -> FullCore:
        """Place a component anew, if it has yet to start."""
        self._loader.look_at_each(core)
        state = int(core.jobs["state"][row])
        if state >= slot.RUNNING:
            return core
        before = self._current_of(row)
        self._keep_lost(row, before)
        core, where = self._loader.rows_for(core, row, placements)
        waits = operations.unplace(core, row)
        core = self._loader.place_anew(core, Jobs(self._submissions.asked(row), placements, row, where))
        operations.place_anew(core, row, waits, int(placements.held[0]) - int(before.held[0]))
        self._current[row] = placements
        self.updated += state == slot.WAITING
        return core

    def in_result(self, placements: Placements) -> Placements:
        """Return the placements of a result as components have them now."""
        return replaced(placements, self._current)

    def _current_of(self, row: int) -> Placements:
        return self._current[row] if row in self._current else self._submissions.placements_of(row)

    def _keep_lost(self, row: int, before: Placements) -> None:
        """Note the clocks of its runs that were lost, before the placements that tell them are gone."""
        for i, run in enumerate(self._lost):
            if run.row == row and run.clock is None:
                self._lost[i] = run._replace(clock=clock_of(run, before, 0))

    def _refuse(self, core: FullCore, row: int, asked: Workload) -> None:
        """Raise InputError or ConfigError where a component cannot be placed anew."""
        name, app = asked["component_id"][0], str(asked.table["app"].iloc[0])
        if row < core.clock.jobs:
            if core.jobs["state"][row] >= slot.RUNNING:
                raise InputError(
                    f"update: component {name} runs or has ended; allowed: {' and '.join(PLACED_BY)}"
                    " of one that has not started"
                )
            if has(core, "coscheduling") and core.coscheduling.member["whole"][row] >= 0:
                raise InputError(
                    f"update: component {name} starts by one plan with others of its modular job; allowed:"
                    f" {' and '.join(PLACED_BY)} of one that starts on its own"
                )
        models = self._submissions.models
        if not can_be_typed(models, app):
            assert models is not None
            raise ConfigError(
                f"update: models {models.name} draw types only for a whole trace, and component"
                f" {name} has none; allowed: components with {', '.join(models.type_names)} as"
                " app, or draw: hash"
            )


def _with(asked: Workload, changes: Mapping[str, Any]) -> Workload:
    """Return one component with other fields; a partition that an update names is one of the system's."""
    columns = {name: [value] for name, value in changes.items()}
    if "partition" not in changes:
        return asked.replace(**columns)
    return Workload({str(name): asked.table[name] for name in asked.table} | columns)
