"""What a simulation was made of, as a file holds it: system, policy, models, and workload."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.policy.keys import in_file
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation import outcome
from scheduler_sim.simulation.notation import Reader, Writer, are_alike
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models


class Origin(NamedTuple):
    """What a simulation was made of."""

    system: System
    policy: Policy
    models: Models | None
    workload: Workload

    def text(self, arrays: list[np.ndarray]) -> dict[str, Any]:
        """Return it as JSON has it, arrays aside. Raises InputError for what would be read as another."""
        made: dict[str, Any] = {
            "system": self.system.to_dict(),
            "policy": self.policy.to_dict(),
            "own order": has_own_order(self.policy),
            "models": None if self.models is None else [self.models.name, self.models.to_dict()],
        }
        made = json.loads(json.dumps(made))
        writer = Writer({}, arrays)
        parts = {name: writer.text(getattr(self.workload, name)) for name in ("source", *TABLES)}
        models = _models(made)
        for name, there, again in (
            ("system", self.system, _system(made)),
            ("policy", self.policy, self.policy if made["own order"] else _policy(made)),
            ("models", self.models and self.models.keys, models and models.keys),
        ):
            if not are_alike(there, again):
                raise InputError(
                    f"save: found a {name} that cannot be rebuilt from its keys; allowed: one that is"
                    " read from a file, or made of keys"
                )
        return made | {"workload": parts}


TABLES = ("table", "carried", "repairs")
"""Of a workload."""


def origin_of(
    text: Mapping[str, Any],
    arrays: Sequence[np.ndarray],
    inputs: Sequence[Mapping[str, str]],
    policy: Any,
) -> Origin:
    """Return what a text says; of a ``policy`` that is given once more it says only that it is the same.

    Raises ConfigError where it is another, or is needed.
    """
    made = _policy(text) if policy is None and not text["own order"] else _the_same(text, inputs, policy)
    reader = Reader({}, arrays)
    parts = {name: reader.thing(text["workload"][name]) for name in ("source", *TABLES)}
    columns = {str(name): parts["table"][name].array for name in parts["table"]}
    workload = Workload(columns, parts["source"], carried=parts["carried"], repairs=parts["repairs"])
    return Origin(_system(text), made, _models(text), workload)


def has_own_order(policy: Policy) -> bool:
    """Whether a policy has a function of the user's own, which no file holds."""
    orders = (policy.order, policy.backfill_order)
    return any(callable(order) or in_file(order) is not None for order in orders)


def _system(text: Mapping[str, Any]) -> System:
    return System.from_dict(text["system"])


def _policy(text: Mapping[str, Any]) -> Policy:
    return Policy(**{key: value for key, value in text["policy"].items() if value is not None})


def _models(text: Mapping[str, Any]) -> Models | None:
    if text["models"] is None:
        return None
    from scheduler_sim.applications.models import Models

    name, keys = text["models"]
    return replace(Models.of(**keys), name=name)


def _the_same(text: Mapping[str, Any], inputs: Sequence[Mapping[str, str]], policy: Any) -> Policy:
    """The policy that is given once more."""
    name = str(text["policy"]["name"])
    if policy is None:
        raise ConfigError(
            f"load: found policy {name!r:.40} with an order of your own, which no file can contain; allowed:"
            " together with that policy (policy=...)"
        )
    made = Policy.resolve(policy)
    files = [outcome.digest_of_file(role, Path(file)) for role, file in made.files if role != "policy"]
    known = [one["sha256"] for one in inputs]
    if json.loads(json.dumps(made.to_dict())) != text["policy"] or any(
        one["sha256"] not in known for one in files
    ):
        raise ConfigError(
            f"load: found policy {made.name!r:.40}; allowed: {name!r:.40}, with which the simulation was"
            " saved, and the same order"
        )
    return made
