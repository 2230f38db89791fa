"""Branches: independent copies of a simulation at an instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from scheduler_sim.engine import engine
from scheduler_sim.errors import ConfigError
from scheduler_sim.simulation.actions import Actions
from scheduler_sim.simulation.environment import OwnEnvironment
from scheduler_sim.simulation.state import Known, copied

CONSTANTS = ("system", "workload", "policy", "models", "_placements", "_meter", "_reading", "_inputs", "_run")
"""What a simulation was made of, and never changes: all its branches share it."""

NOT_COPIED = ("env", "progress", "_waiting_for", "_step_event")
"""Who acts and looks on, of whom a branch has none, and the turns in its environment."""


class Branching(Actions):
    """The part of a Simulation that is there a second time."""

    progress: Callable[[int, int], None] | None

    def branch(self) -> Self:
        """Return an independent copy of the simulation at this instant, in an environment of its own.

        It runs on as this one does, to the byte, until somebody acts on one of them; nothing that happens to
        one is seen by the other. What was done so far is part of it: submissions, holds, updates, outages,
        and how far each random stream has come. It has no ``progress``.

        Raises ConfigError where SimPy processes live in the environment, or somebody waits there for a start
        or an end: they cannot be copied.
        """
        self._refuse_company("branch")
        known: Known = {id(part): part for part in (vars(self)[name] for name in CONSTANTS)}
        known[id(self._core)] = engine.copied(self._core)
        made = object.__new__(type(self))
        for name, part in vars(self).items():
            if name not in NOT_COPIED:
                setattr(made, name, copied(part, known))
        made.progress = None
        made._live_in(OwnEnvironment(self.env.now))
        return made

    def _refuse_company(self, action: str) -> None:
        """Raise ConfigError where processes would be left behind."""
        if why := self._company():
            raise ConfigError(
                f"{action}: found {why}; a SimPy process cannot be copied; allowed: a simulation in an"
                " environment of its own, all processes of which are over, and in which nobody waits for a"
                " start or an end"
            )

    def _company(self) -> str:
        """Who lives in the environment besides; nothing where it is alone."""
        env: Any = self.env
        if not isinstance(env, OwnEnvironment):
            return "the environment of others, which it has joined (env=...)"
        if env.processes:
            return f"{env.processes} SimPy process{'es' * (env.processes > 1)} yet to end"
        if self._waiting_for:
            return f"somebody who waits for component {self._ids[next(iter(self._waiting_for))]}"
        if env.foreign:
            return f"{env.foreign} event{'s' * (env.foreign > 1)} of others yet to happen"
        return ""
