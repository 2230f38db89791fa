"""What an operator does to components: cancel, hold, release, requeue, update."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core import operations
from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.holds import set_begin
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.components import keys_of
from scheduler_sim.simulation.load import Loader
from scheduler_sim.simulation.lost import LostRun, run_to_lose
from scheduler_sim.simulation.requests import Requests
from scheduler_sim.simulation.rules.coscheduling import write_rects
from scheduler_sim.simulation.submissions import Submissions
from scheduler_sim.units import MINUTE


class Operation(NamedTuple):
    """``cancel``, ``hold``, ``release``, ``requeue``, or a field of ``UPDATES`` and its new value.

    Or ``place``, with the new placements of the component.
    """

    kind: str
    row: int
    value: int = 0
    placements: Placements | None = None


UPDATES = {
    "time_limit": (1, 10**15, "s"),
    "priority": (0, 2**32 - 1, "where 0 holds the component"),
    "nice": (-(2**31), 2**31, "which lower the priority"),
    "begin_time": (0, 10**15, "s on the trace's clock"),
}
"""What may be updated besides PLACED_BY: from which value to which, and what it means."""

ONLY_SLURM = ("priority", "nice")


class Operations:
    """The operations on the components of one simulation, carried out on its core at an instant.

    Attributes
    ----------
    requeued : components that were sent back into the queue, or out of their end
    lost : the runs that they had
    held_back : components that were in the queue, and left it for some time
    limits_changed : running components that were given another time limit than they started with
    shortened : those of them that had run for longer than that
    """

    def __init__(
        self, loader: Loader, submissions: Submissions, lost: list[LostRun], requests: Requests
    ) -> None:
        self._loader, self._submissions, self.lost, self._requests = loader, submissions, lost, requests
        self.requeued = self.held_back = self.limits_changed = self.shortened = 0

    def checked(self, core: FullCore, fields: dict[str, Any]) -> dict[str, int]:
        """Return the fields of an update that are given. Raises InputError and ConfigError."""
        given = {name: value for name, value in fields.items() if value is not None}
        for name, value in given.items():
            least, most, meaning = UPDATES[name]
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not whole or not least <= value <= most:
                raise InputError(
                    f"{name}: found {value!r}; allowed: a whole number from {least} to {most}, {meaning}"
                )
            if name in ONLY_SLURM and not has(core, "slurm"):
                raise ConfigError(f"update: {name!r} has no meaning here; allowed: under policy slurm")
        return {name: int(value) for name, value in given.items()}

    def carry_out(self, core: FullCore, operation: Operation) -> FullCore:
        """Do it, or nothing if the component is in a state to which it does not apply; returns the core."""
        kind, row, value, placements = operation
        state = core.jobs[row].state
        if kind == "cancel":
            _cancel(core, row, state)
        elif kind == "hold" or (kind == "priority" and value == 0):
            operations.hold(core, row)
        elif kind == "release":
            operations.release(core, row)
        elif kind == "requeue":
            self._requeue(core, row, state)
        elif kind == "time_limit":
            self._limit(core, row, value)
        elif kind == "priority":
            from scheduler_sim.engine.rules.slurm.operations import set_priority

            set_priority(core, row, float(value))
        elif kind == "nice":
            from scheduler_sim.engine.rules.slurm.operations import set_nice

            set_nice(core, row, value)
        elif kind == "begin_time":
            core = self._loader.with_rule(core, "holds")
            set_begin(core, row, value)
        elif placements is not None:
            core = self._requests.carry_out(core, row, placements)
        held = kind != "cancel" and state == slot.WAITING and core.jobs[row].state == slot.HELD
        self.held_back += bool(held)
        return core

    def _requeue(self, core: FullCore, row: int, state: int) -> None:
        run = run_to_lose(core, row)
        if state == slot.RUNNING:
            drive.interrupt(core, row)
        else:
            operations.run_again(core, row)
        if core.jobs[row].state < state:
            self.requeued += 1
            self.lost += run

    def _limit(self, core: FullCore, row: int, limit: int) -> None:
        """Set the time limit, under Slurm in whole minutes; an order that counts on it has a new key."""
        slurm = has(core, "slurm")
        core.orders.columns[1, row] = limit
        keys = keys_of(core, slice(row, row + 1), self._loader.scheme)
        key, second_key = (float(keys.get(name, core.ranks[name][row:])[0]) for name in ("key", "second_key"))
        limit = -(-limit // MINUTE) * MINUTE if slurm else limit
        overrun = 0 if slurm else self._loader.scheme.policy.overrun_s
        it = core.jobs[row]
        if it.state == slot.RUNNING:
            self.limits_changed += 1
            self.shortened += bool(core.clock.now - it.start > limit + overrun)
        run_time = int(self._submissions.asked(row)["run_time"][0])
        operations.set_limit(core, row, limit, run_time, overrun, key, second_key)
        one_of_several = has(core, "coscheduling") and core.coscheduling.member["unit"][row] >= 0
        if not slurm and one_of_several and it.first < it.last:  # else no member has a placement
            write_rects(core, int(core.coscheduling.member["unit"][row]))


def _cancel(core: FullCore, row: int, state: int) -> None:
    if state == slot.RUNNING:
        drive.strike(core, row, slot.CANCELLED)
    elif state < slot.RUNNING:
        drive.abandon(core, row, slot.CANCELLED)
