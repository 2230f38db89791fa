"""A scheduling policy as data: by name, from a file, or changed by settings.

``fcfs``, ``easy`` and ``conservative`` are one algorithm with one number, the reservation
depth; crossed with an order of the queue they give the classic policies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from scheduler_sim.config.keys import check_keys
from scheduler_sim.config.problem import Location, Problem, listed
from scheduler_sim.config.value import LONGEST_TITLE
from scheduler_sim.config.yaml_file import read_scalar, read_yaml
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.keys import (
    ORDERS,
    OrderFunction,
    PolicyKeys,
    contradictions,
    order_in_file,
    unknown_name,
)
from scheduler_sim.policy.schemes import ALL, BY_NAME, SCHEMES, Scheme

__all__ = ["ALL", "ORDERS", "PRESETS", "Policy"]

PRESETS: dict[str, dict[str, Any]] = {
    scheme.policy: {"order": "fifo", "backfill": scheme.name} for scheme in SCHEMES if scheme.policy
}
NESTED = ("slurm", "preempt")  # keys that have keys
UNSAID = ("name", "slurm")  # not by themselves in the name of a policy that was changed


class Policy(PolicyKeys):
    """How the queue is ordered and which components may overtake which.

    The keys are those of a policy file; each is described in ``policy/keys.py`` and in
    docs/reference/policy.md. A policy never changes; ``with_settings`` makes another.
    Raises ConfigError, with every problem, on values and combinations that mean nothing.
    """

    _folder: Path = PrivateAttr(default_factory=Path)
    _file: Path | None = PrivateAttr(default=None)

    def __init__(self, **keys: Any) -> None:
        checked = _checked(keys, "policy")
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
        keys = file.data["policy"] if wrapped else file.data
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
    def resolve(cls, policy: Policy | str | Path | Mapping[str, Any]) -> Policy:
        """Return the policy that is meant: a policy itself, a name, a YAML file, or keys and values."""
        if isinstance(policy, Policy):
            return policy
        if isinstance(policy, Mapping):
            return cls(**policy)
        if isinstance(policy, Path) or policy.lower().endswith((".yaml", ".yml")):
            return cls.from_yaml(policy)
        if policy.strip().lower() not in _names() and _is_file(policy):
            return cls.from_yaml(policy)
        return cls.named(policy)

    def with_settings(self, settings: Mapping[str, Any]) -> Policy:
        """Return this policy with some keys changed, as by ``--set policy.depth=2``.

        Keys may be written with or without ``policy.`` before them. Text is read as a YAML
        value; ``null`` gives back the default. A path in ``order`` is relative to the
        current directory. Raises ConfigError with every problem.
        """
        changes: dict[str, Any] = {}
        shown: dict[str, str] = {}
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
            if isinstance(before, dict | None):
                changes[outer] = {**(before or {}), inner: read}
        new_order = order_in_file(changes.get("order")) or order_in_file(changes.get("backfill_order"))
        folder = Path() if new_order else self._folder
        keys = {**self.to_dict(), **self._functions(), "name": None, **changes}
        problems = _problems(keys, folder, changed=changes)
        if problems:
            raise ConfigError(listed(_setting_error(problem, shown) for problem in problems))
        policy = self._in_folder(folder, {"name": self._name_with(keys, changes), **_given(keys)})
        policy._file = self._file
        return policy

    def to_dict(self) -> dict[str, Any]:
        """Return every key with its value; a Python function by its name."""
        keys = {key: getattr(self, key) for key in PolicyKeys.model_fields}
        keys["slurm"] = self.slurm.to_dict() if self.backfill == "slurm" else {}
        keys["preempt"] = self.preempt.model_dump() if self.preempt else None
        return {key: _function_name(value) if callable(value) else value for key, value in keys.items()}

    @property
    def files(self) -> list[tuple[str, Path]]:
        """The files that make this policy, each with its role: ``policy``, ``order``, ``backfill_order``."""
        found = [("policy", self._file)] if self._file else []
        for role, order in (("order", self.order), ("backfill_order", self.backfill_order)):
            place = order_in_file(order)
            if place:
                found.append((role, self._folder / place[0]))
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
        """Whether it tells the nodes of a module apart; the others count them."""
        return self.backfill == "slurm" and bool(self.slurm.fixed_nodes)

    def order_function(self) -> OrderFunction | None:
        """Return the user's own order, loaded from its file; None for an order by name."""
        return self._function(self.order, "order")

    def backfill_order_function(self) -> OrderFunction | None:
        """Return the user's own order of the candidates; None for an order by name or none."""
        return self._function(self.backfill_order, "backfill_order")

    @classmethod
    def _in_folder(cls, folder: Path, keys: dict[str, Any]) -> Policy:
        policy = cls(**keys)
        if order_in_file(policy.order) or order_in_file(policy.backfill_order):
            policy._folder = folder
        return policy

    def _name_with(self, keys: Mapping[str, Any], changes: Mapping[str, Any]) -> str:
        """The name, and after it what was changed, as far as a name goes: ``easy (depth=2, and 3 more)``."""
        before = self.to_dict()
        new = [
            f"{key}={_spelt(keys[key])}" for key in changes if key not in UNSAID and keys[key] != before[key]
        ]
        inner, inner_before = changes.get("slurm") or {}, before["slurm"]
        new += [f"{key}={_spelt(value)}" for key, value in inner.items() if value != inner_before.get(key)]
        for told in range(len(new), -1, -1):
            more = [f"and {len(new) - told} more"] if told < len(new) else []
            changed = ", ".join([*new[:told], *more])
            name = f"{self.name} ({changed})".strip() if changed else self.name
            if len(name) <= LONGEST_TITLE:
                return name
        return self.name

    def _functions(self) -> dict[str, OrderFunction]:
        both = {"order": self.order, "backfill_order": self.backfill_order}
        return {key: value for key, value in both.items() if callable(value)}

    def _function(self, order: object, key: str) -> OrderFunction | None:
        if callable(order):
            return order
        place = order_in_file(order)
        return _load(self._folder / place[0], place[1], key) if place else None


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
    for key in ("order", "backfill_order"):
        place = order_in_file(keys.get(key))
        if place and (changed is None or key in changed) and not _is_file(folder / place[0]):
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


def _is_file(path: str | Path) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _spelt(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "default", True: "true", False: "false"}[value]
    return _function_name(value) if callable(value) else str(value)


def _function_name(function: OrderFunction) -> str:
    return (
        f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', type(function).__name__)}"
    )


def _load(path: Path, function: str, key: str) -> OrderFunction:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not _is_file(path):
        raise ConfigError(f"policy.{key}: no such Python file: {path}")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's file raises
        raise ConfigError(f"policy.{key}: {path} fails: {type(error).__name__}: {error}") from error
    if not callable(getattr(module, function, None)):
        raise ConfigError(f"policy.{key}: {path} has no function {function!r}")
    loaded: OrderFunction = getattr(module, function)
    return loaded
