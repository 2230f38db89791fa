"""A scheduling policy as data: by name, from a file, or changed by settings.

``fcfs``, ``easy`` and ``conservative`` are one algorithm with one parameter, the reservation depth; combined
with an order of the queue they give the classic policies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Location, Problem, listed
from scheduler_sim.config.value import LONGEST_TITLE
from scheduler_sim.config.yaml_file import read_scalar, read_yaml
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.inner_settings import is_inside, with_inner
from scheduler_sim.policy.keys import (
    ORDERS,
    OrderFunction,
    PolicyKeys,
    completed,
    contradictions,
    in_file,
    schedules,
    unknown_name,
)
from scheduler_sim.policy.python_file import load, refuse_without_name
from scheduler_sim.policy.schemes import ALL, BY_NAME, SCHEMES, Scheme

__all__ = ["ALL", "ORDERS", "PRESETS", "Policy"]

PRESETS: dict[str, dict[str, Any]] = {
    scheme.policy: {"order": "fifo", "backfill": scheme.name} for scheme in SCHEMES if scheme.policy
}
NESTED = ("slurm", "preempt", "parameters")  # keys that have keys
FROM_FILES = (
    "order",
    "backfill_order",
    "placement",
    "may_start",
    "scheduler",
)  # keys that may name something in a Python file
UNSAID = ("name", "slurm")  # not by themselves in the name of a policy that was changed


class Policy(PolicyKeys):
    """How the queue is ordered and which components may overtake which.

    The keys are those of a policy file; each is described in ``policy/keys.py`` and in
    docs/reference/policy.md. A policy never changes; ``with_settings`` returns a new one. Raises ConfigError,
    with every problem, for invalid values and combinations.
    """

    _folder: Path = PrivateAttr(default_factory=Path)
    _file: Path | None = PrivateAttr(default=None)

    def __init__(self, **keys: Any) -> None:
        checked = _checked(completed(keys), "policy")
        super().__init__(**checked.__dict__)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        return self.to_dict() == other.to_dict() and self._folder == other._folder

    def __hash__(self) -> int:
        return hash((self.name, self.backfill, self.depth, self.replan, self.placement))

    @classmethod
    def named(cls, name: str) -> Policy:
        """Return a policy by name: a preset, or a bare order, which is that order without backfill."""
        return _named(name.strip().lower())

    @classmethod
    def from_yaml(cls, path: str | Path) -> Policy:
        """Read a policy file: its keys at the top, or all under ``policy:``.

        Raises ConfigError with every problem, each with its line.
        """
        file = read_yaml(path)
        wrapped = isinstance(file.data.get("policy"), dict)
        keys = completed(file.data["policy"] if wrapped else file.data)
        above: tuple[str, ...] = ("policy",) if wrapped else ()
        problems = [Problem((*above, *p.where), p.text) for p in _problems(keys, file.path.parent)]
        if wrapped:
            beside = (key for key in file.data if key != "policy")
            problems.extend(Problem((key,), "unknown key beside policy; allowed: policy") for key in beside)
        if problems:
            raise file.error(problems)
        policy = cls._in_folder(file.path.parent, {"name": file.path.stem, **_given(keys)})
        policy._file = file.path
        return policy

    @classmethod
    def resolve(cls, policy: Policy | str | Path | Mapping[str, Any] | Any, folder: Path = Path()) -> Policy:
        """Return the given policy.

        It may be a Policy, a name, a YAML file, keys and values, or your own scheduler: an object with a
        method ``schedule``, or ``path.py:Class``. Python files that it names are looked up in ``folder``.
        """
        if isinstance(policy, Policy):
            return policy
        if isinstance(policy, Mapping):
            return cls._in_folder(folder, dict(policy))
        if schedules(policy):
            return cls(name=type(policy).__name__, scheduler=policy)
        if place := in_file(policy):
            if not os.path.isfile(folder / place[0]):
                raise ConfigError(f"policy {policy!r}: no such file: {folder / place[0]}")
            return cls._in_folder(folder, {"name": place[1], "scheduler": policy})
        if str(policy).endswith(".py"):
            refuse_without_name(policy, folder)
        if isinstance(policy, Path) or policy.lower().endswith((".yaml", ".yml")):
            return cls.from_yaml(policy)
        if policy.strip().lower() not in _names() and os.path.isfile(policy):
            return cls.from_yaml(policy)
        return cls.named(policy)

    def with_settings(self, settings: Mapping[str, Any]) -> Policy:
        """Return a policy with some keys changed, as with ``--set policy.depth=2``.

        Keys may be written with or without ``policy.`` before them. Text is read as a YAML
        value; ``null`` gives back the default. A path in ``order`` is relative to the
        current directory. Raises ConfigError with every problem.
        """
        changes: dict[str, Any] = {}
        shown: dict[str, str] = {}
        inner_shown: dict[str, Any] = {}
        for written, value in settings.items():
            key = written.removeprefix("policy.")
            try:
                read = read_scalar(value) if isinstance(value, str) else value
            except ConfigError as error:
                raise ConfigError(f"--set {written}: {error}") from None
            shown[key] = f"--set {written}={value}"
            outer, dot, inner = key.partition(".")
            if not dot or outer not in NESTED:
                changes[key] = read
                continue
            before = changes[outer] if outer in changes else self.to_dict()[outer]
            if outer == "slurm" and is_inside(inner):
                try:
                    changes[outer] = with_inner(before or {}, inner, read)
                except ConfigError as error:
                    raise ConfigError(f"{shown[key]}: {error}") from None
                inner_shown[inner] = read
            elif isinstance(before, dict | None):
                changes[outer] = {**(before or {}), inner: read}
        folder = Path() if any(in_file(changes.get(key)) for key in FROM_FILES) else self._folder
        keys = completed({**self.to_dict(), **self._objects(), "name": None, **changes})
        problems = _problems(keys, folder, changed=changes)
        if problems:
            raise ConfigError(listed(_setting_error(problem, shown) for problem in problems))
        name = self._name_with(keys, changes, inner_shown)
        policy = self._in_folder(folder, {"name": name, **_given(keys)})
        policy._file = self._file
        return policy

    def to_dict(self) -> dict[str, Any]:
        """Return every key with its value; a Python function by its name."""
        keys = {key: getattr(self, key) for key in PolicyKeys.model_fields}
        keys["slurm"] = self.slurm.to_dict() if self.backfill == "slurm" else {}
        keys["preempt"] = self.preempt.model_dump() if self.preempt else None
        if schedules(self.scheduler):
            keys["scheduler"] = _name_of(type(self.scheduler))
            keys["parameters"] = plain_state(self.scheduler)
        return {key: _name_of(value) if callable(value) else value for key, value in keys.items()}

    @property
    def files(self) -> list[tuple[str, Path]]:
        """The files that make this policy, each with its role: ``policy``, or the key that names it."""
        found = [("policy", self._file)] if self._file else []
        for role in FROM_FILES:
            if place := in_file(getattr(self, role)):
                found.append((role, self._folder / place[0]))
        code = getattr(getattr(self.scheduler, "schedule", None), "__code__", None)
        if code is not None and os.path.isfile(code.co_filename):
            found.append(("scheduler", Path(code.co_filename)))
        return found

    @property
    def scheme(self) -> Scheme:
        """Which components may pass one that cannot start: the row of the table of schemes."""
        return BY_NAME[self.backfill]

    @property
    def reservation_depth(self) -> int:
        """Reservations per module: 0 without backfill, 1 under easy, k with ``depth: k``, -1 for all."""
        return self.depth or self.scheme.depth

    @property
    def names_nodes(self) -> bool:
        """Whether it treats the nodes of a module as individual nodes; other policies count them."""
        return self.backfill == "slurm" and bool(self.slurm.fixed_nodes)

    def order_function(self) -> OrderFunction | None:
        """Return the user's own order, loaded from its file; None for an order by name."""
        return self._function(self.order, "order")

    def backfill_order_function(self) -> OrderFunction | None:
        """Return the user's own order of the candidates; None for an order by name or none."""
        return self._function(self.backfill_order, "backfill_order")

    def placement_function(self) -> OrderFunction | None:
        """Return the user's own rank of placements; None for a rule by name."""
        return self._function(self.placement, "placement")

    def may_start_function(self) -> OrderFunction | None:
        """Return the user's own veto; None without one."""
        return self._function(self.may_start, "may_start")

    def own_scheduler(self) -> Any:
        """Return the user's own scheduler, a new object of its class or a copy of the given object.

        Raises ConfigError for a file without such a class, and for a class that cannot be called so.
        """
        if schedules(self.scheduler):
            return deepcopy(self.scheduler)
        path, name = in_file(self.scheduler) or ("", "")
        where = f"policy.scheduler: {self._folder / path}"
        made = load(self._folder / path, name, "scheduler")
        try:
            scheduler = made(**self.parameters)
        except Exception as error:  # whatever the user's class raises
            given = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
            raise ConfigError(f"{where}: {name}({given}) fails: {type(error).__name__}: {error}") from error
        if not schedules(scheduler):
            raise ConfigError(f"{where}: {name} has no method schedule(self, view)")
        return scheduler

    @classmethod
    def _in_folder(cls, folder: Path, keys: dict[str, Any]) -> Policy:
        policy = cls(**keys)
        if any(in_file(getattr(policy, key)) for key in FROM_FILES):
            policy._folder = folder
        return policy

    def _name_with(
        self, keys: Mapping[str, Any], changes: Mapping[str, Any], inside: Mapping[str, Any]
    ) -> str:
        """The name, and after it what was changed, as far as a name goes: ``easy (depth=2, and 3 more)``."""
        before = self.to_dict()
        new = [
            f"{key}={_spelt(keys[key])}" for key in changes if key not in UNSAID and keys[key] != before[key]
        ]
        inner, inner_before = changes.get("slurm") or {}, before["slurm"]
        rooms = {key.partition(".")[0] for key in inside}
        changed_keys = {key: value for key, value in inner.items() if key not in rooms} | dict(inside)
        new += [
            f"{k}={_spelt(value)}" for k, value in changed_keys.items() if value != inner_before.get(k, {})
        ]
        for told in range(len(new), -1, -1):
            more = [f"and {len(new) - told} more"] if told < len(new) else []
            changed = ", ".join([*new[:told], *more])
            name = f"{self.name} ({changed})".strip() if changed else self.name
            if len(name) <= LONGEST_TITLE:
                return name
        return self.name

    def _objects(self) -> dict[str, Any]:
        given = {key: getattr(self, key) for key in FROM_FILES}
        return {key: value for key, value in given.items() if callable(value) or schedules(value)}

    def _function(self, order: object, key: str) -> OrderFunction | None:
        if callable(order):
            return order
        place = in_file(order)
        return load(self._folder / place[0], place[1], key) if place else None


@cache
def _named(name: str) -> Policy:
    """The policy of that name, checked once: policies never change."""
    if name in PRESETS:
        return Policy(name=name, **PRESETS[name])
    if name in ORDERS:
        return Policy(name=name, order=name)
    raise ConfigError(unknown_name(name, _names()))


def _names() -> tuple[str, ...]:
    return (*PRESETS, *ORDERS)


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}


def _checked(keys: dict[str, Any], source: str) -> PolicyKeys:
    checked, problems = check_keys(PolicyKeys, keys)
    problems = _merged(list(contradictions(keys)), problems)
    if problems or checked is None:
        raise ConfigError(listed(f"{source}: {problem}" for problem in problems))
    return checked


def _problems(keys: dict[str, Any], folder: Path, changed: Mapping[str, Any] | None = None) -> list[Problem]:
    """Everything wrong with some keys; order files are looked for where they were written anew."""
    problems = _merged(list(contradictions(keys)), check_keys(PolicyKeys, keys)[1])
    for key in FROM_FILES:
        place = in_file(keys.get(key))
        if place and (changed is None or key in changed) and not os.path.isfile(folder / place[0]):
            problems.append(Problem((key,), f"found {keys[key]!r}; no such file: {folder / place[0]}"))
    return problems


def _merged(first: list[Problem], second: list[Problem]) -> list[Problem]:
    """Both lists, one problem a key: what ``first`` says of a key is the better explanation."""
    explained: dict[Location, Problem] = {}
    for problem in (*first, *second):
        explained.setdefault(problem.where, problem)
    return list(explained.values())


def _setting_error(problem: Problem, shown: Mapping[str, str]) -> str:
    key = ".".join(str(step) for step in problem.where)
    if key not in shown:
        return f"with {', '.join(shown.values())}: policy.{problem}"
    return f"{shown[key]}: {problem.text}"


def _spelt(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "default", True: "true", False: "false"}[value]
    return _name_of(value) if callable(value) else str(value)


def _name_of(thing: Any) -> str:
    """A function or class by its module and name."""
    return f"{getattr(thing, '__module__', '')}:{getattr(thing, '__qualname__', type(thing).__name__)}"


def plain_state(scheduler: Any) -> dict[str, Any]:
    """Return the state of a scheduler given as an object, as far as it is numbers and words."""
    state = getattr(scheduler, "__dict__", {})
    return {key: value for key, value in state.items() if isinstance(value, bool | int | float | str)}
