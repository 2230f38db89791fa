"""Branches: independent copies of a simulation at an instant, in memory and in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from scheduler_sim.engine import engine
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.actions import Actions
from scheduler_sim.simulation.environment import OwnEnvironment
from scheduler_sim.simulation.notation import Reader, Writer, places
from scheduler_sim.simulation.origin import Origin, origin_of
from scheduler_sim.simulation.outcome import Input
from scheduler_sim.simulation.saving import core_like, core_text, reading, write
from scheduler_sim.simulation.state import Known, copied

CONSTANTS = (
    *("system", "workload", "policy", "models", "_placements", "_played", "_run", "_meter"),
    *("_reading", "_inputs"),
)
"""What a simulation was made of, and never changes: all its branches share it."""

NOT_SAVED = ("_core", "_steps_at_once", "engine_s", "_foreground", "_told")
"""What else no file holds, or holds in another way."""

OWN = {"own_scheduler": "a scheduler", "vetoes": "a veto", "placement_ranks": "a rank of placements"}
"""Parts of the core with code that no file holds."""

NOT_COPIED = ("env", "progress", "_waiting_for", "_step_event")
"""Who acts and looks on, of whom a branch has none, and the turns in its environment."""


class Branching(Actions):
    """The part of a Simulation that copies, saves and loads it."""

    progress: Callable[[int, int], None] | None
    _inputs: list[Input]
    _reading: dict[str, Any]

    def branch(self) -> Self:
        """Return an independent copy of the simulation at this instant, in a new environment.

        It continues exactly as this one does until one of them is changed; what happens to one does not
        affect the other. It contains everything done so far: submissions, holds, updates, outages, and the
        state of each random stream. It has no ``progress``.

        Your own scheduler is copied with its state, by ``copy.deepcopy``.

        Raises ConfigError if SimPy processes are alive in the environment, or wait for a start or an end,
        because they cannot be copied; and for a scheduler that cannot be copied.
        """
        self._refuse_company("branch")
        core = engine.copied(self._core)
        known: Known = {id(part): part for part in (vars(self)[name] for name in CONSTANTS)}
        known[id(self._core)] = core
        made = object.__new__(type(self))
        for name, part in vars(self).items():
            if name not in NOT_COPIED:
                setattr(made, name, copied(part, known))
        made._loader.be_driven(core)
        made.progress = None
        made._live_in(OwnEnvironment(self.env.now))
        return made

    def save(self, file: str | Path) -> None:
        """Write the simulation at this instant to a file, from which ``load`` restores it.

        The file is written as a whole or not at all, and replaces only a saved simulation; it is compressed
        if the name ends in ``.zst`` or ``.gz``. It contains no code.

        Raises
        ------
        ConfigError as ``branch``.
        InputError if it cannot be written, or another file is there.
        """
        self._refuse_company("save")
        own = [part for part in OWN if engine.has(self._core, part)]
        if own:
            raise ConfigError(
                f"save: found policy {self.policy.name!r:.40} with {OWN[own[0]]} of your own, which no"
                " file can contain; allowed: other policies (branch() copies it)"
            )
        arrays: list[np.ndarray] = []
        inputs = [one() if callable(one) else one for one in self._inputs]
        origin = Origin(self.system, self.policy, self.models, self.workload).text(arrays)
        writer = Writer(places(self._made_of()), arrays)
        parts = {
            name: part
            for name, part in vars(self).items()
            if name not in (*CONSTANTS, *NOT_COPIED, *NOT_SAVED)
        }
        now = self.env.now
        text = {
            "now": now if isinstance(now, float) else int(now),
            "seed": self._seed,
            "inputs": inputs,
            "reading": self._reading,
            "origin": origin,
            "schemes": [self._loader.scheme.name, self._core.scheme.name],
            "state": {name: writer.text(part) for name, part in parts.items()},
            "core": core_text(self._core, arrays),
        }
        write(file, text, arrays)

    @classmethod
    def load(cls, file: str | Path, policy: Policy | str | Path | Mapping[str, Any] | None = None) -> Self:
        """Return the simulation that was saved in a file: it continues exactly as the saved one would.

        Parameters
        ----------
        policy : the policy of the simulation, required if its order is your own function, which no file can
            contain

        Raises
        ------
        InputError for a file that is not a saved simulation, is damaged, or was saved by another version of
        this package. ConfigError for a policy other than the saved one.
        """
        with reading(file) as (text, arrays):
            origin = origin_of(text["origin"], arrays, text["inputs"], policy)
            fresh: Any = cast(Any, cls)(
                *(origin.system, origin.workload, origin.policy), models=origin.models, seed=text["seed"]
            )
            fresh._inputs, fresh._reading = text["inputs"], text["reading"]
            if fresh._loader.scheme.name != text["schemes"][0]:
                fresh._loader.allow_several()
            reader = Reader(places(fresh._made_of()), arrays)
            for name, part in text["state"].items():
                setattr(fresh, name, reader.thing(part))
            fresh._core = core_like(fresh._loader.pattern(text["schemes"][1]), text["core"], arrays)
            fresh._live_in(OwnEnvironment(text["now"]))
        made: Self = fresh
        return made

    def _made_of(self) -> dict[str, Any]:
        """What state refers to, and is not written."""
        constants = {
            name: vars(self)[name] for name in (*CONSTANTS, "_placed") if vars(self)[name] is not None
        }
        return {**constants, "scheme": self._loader.scheme}

    def _refuse_company(self, action: str) -> None:
        """Raise ConfigError where processes would be left behind."""
        if why := self._company():
            raise ConfigError(
                f"{action}: found {why}; a SimPy process cannot be copied; allowed: a simulation"
                " in its own environment, when all processes have ended and none waits for a"
                " start or an end"
            )

    def _company(self) -> str:
        """Who lives in the environment besides; nothing where it is alone."""
        env: Any = self.env
        if not isinstance(env, OwnEnvironment):
            return "an environment that was passed in (env=...)"
        if env.processes:
            return f"{env.processes} unfinished SimPy process{'es' * (env.processes > 1)}"
        if self._waiting_for:
            return f"a process that waits for component {self._ids[next(iter(self._waiting_for))]}"
        if env.foreign:
            return f"{env.foreign} pending event{'s' * (env.foreign > 1)} of other processes"
        return ""
