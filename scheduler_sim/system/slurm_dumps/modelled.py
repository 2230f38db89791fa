"""What policies have keys for, of what a site's Slurm printed of its accounts and QOS."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_sim.system.slurm_conf.ignored import NOT_MODELLED, PREEMPTION
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes

FIRST_ACCOUNT = "jobs that name no account count in the first that lists their user"


@dataclass(frozen=True)
class Modelled:
    """Names of what policies have keys for; what else a folder says is noted.

    Attributes
    ----------
    policy, qos, users, limits : keys of ``policy.slurm``, of a QOS, of users and accounts, of their limits.
    flags : of a QOS.
    """

    policy: Collection[str]
    qos: Collection[str]
    users: Collection[str]
    limits: Collection[str]
    flags: Collection[str]


_WHY_LEFT = {
    "default": FIRST_ACCOUNT,
    **dict.fromkeys(("Preempt", "PreemptMode", "PreemptExemptTime", "GraceTime"), PREEMPTION),
}


class Left:
    """Takes out of accounts and QOS what policies have no key for, and notes it by kind."""

    def __init__(self, said: Pair, notes: Notes) -> None:
        self._said, self._notes = said, notes
        self._whose: dict[tuple[str, str], list[str]] = {}

    def accounts(self, form: Mapping[str, Any], modelled: Modelled) -> dict[str, Any]:
        """The accounts with what is modelled."""
        kept = {name: self._account(name, keys, modelled) for name, keys in form.items()}
        self._note()
        return kept

    def qos(self, form: Mapping[str, Any], modelled: Modelled) -> dict[str, Any]:
        """The QOS with what is modelled."""
        kept = {}
        for name, own in form.items():
            keys = self._kept(name, own, modelled.qos) if isinstance(own, dict) else own
            if isinstance(keys, dict) and "Flags" in keys:
                flags = [flag for flag in keys["Flags"] if flag in modelled.flags]
                for flag in keys.pop("Flags"):
                    if flag not in flags:
                        self._whose.setdefault(("Flags", flag), []).append(name)
                keys |= {"Flags": flags} if flags else {}
            kept[name] = keys
        self._note()
        return kept

    def _account(self, name: str, keys: Mapping[str, Any], modelled: Modelled) -> dict[str, Any]:
        inner = {one: self._account(one, its, modelled) for one, its in keys.get("accounts", {}).items()}
        users = {
            user: self._association(user, its, modelled) if isinstance(its, dict) else its
            for user, its in keys.get("users", {}).items()
        }
        own = {key: value for key, value in keys.items() if key not in ("accounts", "users")}
        kept = self._association(name, own, modelled)
        return kept | ({"users": users} if users else {}) | ({"accounts": inner} if inner else {})

    def _association(self, name: str, keys: Mapping[str, Any], modelled: Modelled) -> dict[str, Any]:
        kept = self._kept(name, keys, modelled.users)
        if limits := self._kept(name, kept.pop("limits", {}), modelled.limits):
            kept["limits"] = limits
        return kept

    def _kept(self, name: str, keys: Mapping[str, Any], modelled: Collection[str]) -> dict[str, Any]:
        for key in keys:
            if key not in modelled:
                self._whose.setdefault((key, ""), []).append(name)
        return {key: value for key, value in keys.items() if key in modelled}

    def _note(self) -> None:
        for (key, value), names in self._whose.items():
            more = f" and {len(names) - 1:,} more" if names[1:] else ""
            shown = f"{value} of {names[0]}{more}".strip()
            self._notes.ignore(self._said, _WHY_LEFT.get(key, NOT_MODELLED), key=key, value=shown)
