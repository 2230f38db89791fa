"""The tree of associations that a site keeps, and its form as ``policy.slurm.accounts`` has it.

Slurm has limits of a user's own, and those of the accounts above that stand for all who have none:
``sacctmgr show assoc`` prints what counts, unless WOPLimits is asked for; commands say what was set where.
Here both end as what differs from the account above. What is set on the root for all to inherit is written at
the accounts at the top; group limits of the root, which none inherits, stand beside them as ``root``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_sim.system.slurm_conf.ignored import NOT_ENFORCED
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.options import OF_ASSOCIATIONS, Option, is_counted, tres

ROOT = "root"
NOT_COUNTED = "jobs here do not ask for it, so it is not limited"
DIRECTLY_IN_ROOT = "users without an account below root are not modelled; they have one share"

_INHERITED = tuple(option for option in OF_ASSOCIATIONS if option.inherited)
_OF_THE_FORM = ("shares", "priority", "qos", "default_qos", "parent")


@dataclass
class Association:
    """An account, or a user in one; ``own`` is what it was given, by the names of options."""

    account: str
    user: str
    place: str
    own: dict[str, Any] = field(default_factory=dict)
    parent: str = ROOT

    def give(self, option: Option, value: Any) -> None:
        """Set an option; None clears it. Of amounts of resources, those that are named."""
        if isinstance(value, dict):
            left = {**self.own.get(option.name, {}), **value}
            value = {resource: amount for resource, amount in left.items() if amount is not None} or None
        if value is None or value == []:
            self.own.pop(option.name, None)
        else:
            self.own[option.name] = value


@dataclass
class Associations:
    """All of one cluster, in the order in which they were found.

    Attributes
    ----------
    accounts : by name; with the root.
    users : by account and name.
    default : account of each user that it is in by default, where that is known.
    """

    accounts: dict[str, Association] = field(default_factory=lambda: {ROOT: Association(ROOT, "", "")})
    users: dict[tuple[str, str], Association] = field(default_factory=dict)
    default: dict[str, str] = field(default_factory=dict)

    def in_several(self) -> set[str]:
        """Users of more than one account."""
        seen: dict[str, str] = {}
        return {user for account, user in self.users if seen.setdefault(user, account) != account}


def accounts_form(tree: Associations, notes: Notes) -> dict[str, Any]:
    """The accounts as ``policy.slurm.accounts`` has them; what it has no key for is noted."""
    form: dict[str, Any] = {}
    root = tree.accounts[ROOT].own
    from_root = {option.name: root[option.name] for option in _INHERITED if option.name in root}
    own = {name: value for name, value in root.items() if name not in from_root}
    if limits := _limits(own, tree.accounts[ROOT], notes):
        form[ROOT] = {"limits": limits}
    branches = _Branches(tree, notes)
    for user in branches.users[ROOT]:
        if user.user != ROOT:
            notes.ignore(Pair("User", user.user, user.place), DIRECTLY_IN_ROOT)
    return form | branches.inside(ROOT, from_root)


class _Branches:
    """The accounts as they stand in each other, on their way into the form."""

    def __init__(self, tree: Associations, notes: Notes) -> None:
        self.users: dict[str, list[Association]] = defaultdict(list)
        self._accounts: dict[str, list[Association]] = defaultdict(list)
        for user in tree.users.values():
            self.users[user.account].append(user)
        for account in tree.accounts.values():
            if account.account != ROOT:
                self._accounts[account.parent].append(account)
        self._default, self._several, self._notes = tree.default, tree.in_several(), notes

    def inside(self, parent: str, above: Mapping[str, Any]) -> dict[str, Any]:
        """The accounts in one, of which ``above`` is what counts; those at the top say all that counts."""
        form = {}
        for account in self._accounts[parent]:
            counts = _counting(account.own, above)
            keys = _association(
                counts if parent == ROOT else _differing(account.own, above), account, self._notes
            )
            if users := self._users_of(account.account, counts):
                keys["users"] = users
            if inner := self.inside(account.account, counts):
                keys["accounts"] = inner
            form[account.account] = keys
        return form

    def _users_of(self, account: str, above: Mapping[str, Any]) -> dict[str, Any]:
        """The users of an account: their shares alone, where nothing else is said."""
        form = {}
        for user in self.users[account]:
            keys = _association(_differing(user.own, above), user, self._notes)
            if user.user in self._several and self._default.get(user.user) == account:
                keys["default"] = True
            form[user.user] = keys["shares"] if keys.keys() == {"shares"} else keys
        return form


def _counting(own: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """What an association has and inherits, amounts resource by resource."""
    counts = dict(own)
    for option in _INHERITED:
        inherited = above.get(option.name)
        if inherited is not None:
            both = option.read is tres
            counts[option.name] = (
                {**inherited, **own.get(option.name, {})} if both else own.get(option.name, inherited)
            )
    return counts


def _differing(own: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """What an association has otherwise than the one above."""
    differ = dict(own)
    for option in _INHERITED:
        mine, inherited = own.get(option.name), above.get(option.name)
        if isinstance(mine, dict) and isinstance(inherited, dict):
            mine = {
                resource: amount for resource, amount in mine.items() if inherited.get(resource) != amount
            }
            differ[option.name] = mine
        if mine == inherited or mine == {}:
            differ.pop(option.name, None)
    return differ


def _association(own: Mapping[str, Any], whose: Association, notes: Notes) -> dict[str, Any]:
    """The keys that accounts and users have in common."""
    form: dict[str, Any] = {"shares": own.get("shares", 1)}
    form |= {key: own[key] for key in ("priority", "qos", "default_qos") if key in own}
    limits = _limits(own, whose, notes)
    return form | ({"limits": limits} if limits else {})


def _limits(own: Mapping[str, Any], whose: Association, notes: Notes) -> dict[str, Any]:
    """The limits, in the order of the options, without what is not modelled, which is noted."""
    name = whose.user or whose.account
    limits = {}
    for option in OF_ASSOCIATIONS:
        value = own.get(option.name)
        if value is None or option.name in _OF_THE_FORM:
            continue
        if not option.modelled:
            notes.ignore(Pair(option.name, f"of {name}", whose.place), NOT_ENFORCED)
            continue
        value = counted(value, Pair(option.name, "", whose.place), notes)
        if value != {}:
            limits[option.name] = value
    return limits


def counted(value: Any, pair: Pair, notes: Notes) -> Any:
    """A limit without amounts of resources that are not counted, which are noted; another one as it is."""
    if not isinstance(value, dict):
        return value
    for resource in value:
        if not is_counted(resource):
            notes.ignore(pair, NOT_COUNTED, value=f"{resource}={value[resource]}")
    return {resource: amount for resource, amount in value.items() if is_counted(resource)}
