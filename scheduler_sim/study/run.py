"""One run of a study: what determines it, its identity, and how it is carried out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import scheduler_sim
from scheduler_sim.applications.models import Models
from scheduler_sim.errors import InputError
from scheduler_sim.generation.generate import generate
from scheduler_sim.generation.recipe import Recipe
from scheduler_sim.loaders.read import read_trace
from scheduler_sim.policy.policy import Policy
from scheduler_sim.result.result import Result
from scheduler_sim.simulation import simulate
from scheduler_sim.study.measuring import Trim
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

DIGITS = 20
"""Hexadecimal digits of a run's id."""


@dataclass(frozen=True)
class Run:
    """A run, plain data that any worker can carry out.

    Attributes
    ----------
    factors : level of each factor, as the index has them.
    system : keys of the system.
    workload : ``trace`` (sha256) or ``recipe`` (keys) with ``seed``, and ``scenario``.
    models : keys of the models, None without.
    policy : as it is carried out; files : sha256 of the Python files that order its queue.
    seed : of the simulation's own draws.
    digests : of system, workload, policy and models, hashed once for all runs that share them.
    honour_status : whether components fail whose status is not success.
    trace_path : where the trace stands; trim : what does not count; slices : ways of slicing it is
        measured by; own_directory : whether its result is to have one; jobs : about how many it has. None
        of them is part of the identity.
    """

    factors: Mapping[str, str]
    system: Mapping[str, Any]
    workload: Mapping[str, Any]
    policy: Policy
    seed: int
    digests: Mapping[str, str]
    models: Mapping[str, Any] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    honour_status: bool = False
    trace_path: str = ""
    trim: Trim = field(default_factory=Trim)
    slices: tuple[str, ...] = ()
    own_directory: bool = False
    jobs: int = 0

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines the result."""
        return {
            "system": self.system,
            "workload": self.workload,
            "policy": nameless(self.policy, self.files),
            **({"models": self.models} if self.models is not None else {}),
            "seed": self.seed,
            "honour_status": self.honour_status,
            "code": code_digest(),
        }

    @cached_property
    def id(self) -> str:
        """Hash of all that determines the result, as hexadecimal text."""
        rest = {"seed": self.seed, "honour_status": self.honour_status, "code": code_digest()}
        return digest({**self.digests, **rest})[:DIGITS]

    @property
    def workload_id(self) -> str:
        """Hash of what determines the workload: runs with the same one may share it."""
        return self.digests["workload"][:DIGITS]

    def carry_out(self) -> Result:
        """Simulate; the manifest says what to repeat."""
        result = simulate(
            _system(json.dumps(self.system)),
            _workload(self.trace_path, json.dumps(self.workload)),
            self.policy,
            models=None if self.models is None else _models(json.dumps(self.models)),
            seed=self.seed,
            honour_status=self.honour_status,
        )
        result.manifest["run"] = {"id": self.id, "factors": dict(self.factors), **self.identity}
        return result


def nameless(policy: Policy, files: Mapping[str, str]) -> dict[str, Any]:
    """Return what determines a policy: its keys but the name, and the files that order its queue."""
    return {**policy.to_dict(), "name": None, "files": dict(files)}


@lru_cache(maxsize=64)
def _system(spelt: str) -> System:
    """Check the keys of a system; the runs that follow often want the same one."""
    return System.from_dict(json.loads(spelt))


@lru_cache(maxsize=8)
def _models(spelt: str) -> Models:
    return Models.of(**json.loads(spelt))


@lru_cache(maxsize=64)
def _recipe(spelt: str) -> Recipe:
    return Recipe.of(**json.loads(spelt))


@lru_cache(maxsize=2)
def _workload(trace_path: str, spelt: str) -> Workload:
    """Read or generate a workload; the runs that follow often want the same one."""
    workload = json.loads(spelt)
    if "recipe" in workload:
        recipe = _recipe(json.dumps(workload["recipe"]))
        return generate(recipe, seed=workload["seed"], scenario=workload.get("scenario"))
    if file_digest(trace_path) != workload["trace"]:
        raise InputError(f"{trace_path}: the trace has changed since the study began")
    return read_trace(trace_path)


def digest(data: Any) -> str:
    """Return the sha256 of plain data, whatever the order of its keys."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the sha256 of a file."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return the sha256 of this package's sources: other code may give other results."""
    package = Path(scheduler_sim.__file__).parent
    rooms = ("applications", "config", "energy", "engine", "generation", "metrics", "placement", "policy",
             "result", "scaling", "simulation", "system", "workload")  # fmt: skip
    files = [path for room in rooms for path in (package / room).rglob("*") if path.suffix in (".py", ".csv")]
    named = {path.relative_to(package).as_posix(): file_digest(path) for path in files}
    return digest(named)
