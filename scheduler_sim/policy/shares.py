"""Accounts, their users and their shares: the tree that Slurm's fair share is computed on.

Slurm keeps it in its accounting database (``sacctmgr``); here it is ``policy.slurm.accounts``.
A user that a trace names beyond it gets one share where Slurm's administrator would add them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.problem import Location, Problem
from scheduler_sim.config.value import Amount, Check, Name, whole
from scheduler_sim.policy.limits import AssociationLimits
from scheduler_sim.texts import TextColumn, combined

PARENT = -1
"""Shares of a user that counts as a part of the account above."""

ROOT = "root"
"""The account at the top; Slurm's database has a user of this name in it, with one share."""
MOST_SHARES = 2**31 - 1
MOST_PRIORITY = 2**32 - 1


def _shares(written: Any) -> int | str:
    if isinstance(written, str) and written.strip().lower() == "parent":
        return "parent"
    if isinstance(written, bool) or int(written) != float(written):
        raise ValueError
    if not 0 <= int(written) <= MOST_SHARES:
        raise ValueError
    return int(written)


_SHARES = Check(f"an integer from 0 to {MOST_SHARES}, or parent", _shares, ("parent",))
Shares = Annotated[int | str, BeforeValidator(_SHARES)]


class UserKeys(Keys):
    """A user of an account."""

    shares: Shares = Field(default=1, description="Shares, as of an account.")
    priority: Annotated[int | None, whole(0, MOST_PRIORITY)] = Field(
        default=None, description="Priority of the association, by default that of the account."
    )
    usage: Amount = Field(default=0.0, description="Usage at the beginning, as of an account.")
    limits: AssociationLimits = Field(default=AssociationLimits(), description="Limits, as below.")
    default_qos: Name | None = Field(
        default=None, description="QOS of jobs that name none, by default that of the account."
    )
    qos: list[Name] | None = Field(
        default=None,
        description="The QOS that its jobs may have, if AccountingStorageEnforce contains qos; by"
        " default those of the account, any at the top.",
    )

    @model_validator(mode="before")
    @classmethod
    def _shares_alone(cls, data: Any) -> Any:
        """A number, or ``parent``, are its shares."""
        return {"shares": data} if isinstance(data, int | float | str) else data

    @model_serializer(mode="wrap")
    def _what_is_said(self, dump: SerializerFunctionWrapHandler) -> Any:
        """As a file would have it: shares alone, or what is said beside."""
        said = {name: value for name, value in dump(self).items() if name in self.model_fields_set}
        return said.get("shares", 1) if set(said) <= {"shares"} else said


class AccountKeys(Keys):
    """An account: its shares among its neighbours, and what is inside it."""

    shares: Shares = Field(
        default=1,
        description="Shares among all accounts and users of the account above; parent = its users and"
        " accounts compete as if they were in the account above.",
    )
    priority: Annotated[int | None, whole(0, MOST_PRIORITY)] = Field(
        default=None,
        description="Priority of the association, for PriorityWeightAssoc; by default that of the account "
        "above, 0 at the top.",
    )
    usage: Amount | None = Field(
        default=None,
        description="What it had used when the run begins, with its users: processor seconds, decayed, as"
        " RawUsage of sshare. Counts for fair share. By default the sum of what is inside.",
    )
    limits: AssociationLimits = Field(
        default=AssociationLimits(), description="Limits of everything inside the account, as below."
    )
    default_qos: Name | None = Field(
        default=None, description="QOS of jobs that name none, by default that of the account above."
    )
    qos: list[Name] | None = Field(
        default=None,
        description="The QOS that its jobs may have, if AccountingStorageEnforce contains qos; by"
        " default those of the account above, any at the top.",
    )
    users: dict[Name, UserKeys] = Field(
        default={},
        description="Users and their shares, or a mapping with shares and more. Other users of a"
        " trace get 1 share each.",
    )
    accounts: dict[Name, AccountKeys] = Field(
        default={},
        description="Accounts below this one. Accounts in a trace that are not listed get 1 share each "
        "at the top level.",
    )


def account_problems(accounts: Mapping[str, AccountKeys], where: Location = ()) -> Iterator[Problem]:
    """Check that every account has a name of its own: it is all a trace says.

    The account root, at the top, stands for the top of the tree.
    """
    seen = {ROOT: "the top of the tree"}
    for place, name in _places(accounts, where):
        if place == (*where, ROOT):
            continue
        if name in seen:
            yield Problem(place, f"also the name of {seen[name]}; allowed: a name that occurs once")
        seen.setdefault(name, "another account")


def _places(accounts: Mapping[str, AccountKeys], where: Location) -> Iterator[tuple[Location, str]]:
    for name, account in accounts.items():
        yield (*where, name), name
        yield from _places(account.accounts, (*where, name, "accounts"))


AN_ACCOUNT, A_USER = AccountKeys(), UserKeys()
"""Of which nothing is written: made once, as nobody changes them."""


class Associations(NamedTuple):
    """The tree as columns, a row for each association, each above those inside it.

    Attributes
    ----------
    names : [a], ``account`` or ``account/user``; the first is the root
    parent : int64[a], row of the account above, -1 of the root
    user : bool[a], False for accounts
    shares : int64[a], PARENT = those of the account above
    priority : int64[a]
    usage : float64[a], at the beginning, processor seconds, decayed
    keys : [a], as they were written, with limits; of those that stand nowhere nothing
    row : int64[n], which of them each component is charged to
    """

    names: tuple[str, ...]
    parent: NDArray[np.int64]
    user: NDArray[np.bool_]
    shares: NDArray[np.int64]
    priority: NDArray[np.int64]
    usage: NDArray[np.float64]
    keys: tuple[AccountKeys | UserKeys, ...]
    row: NDArray[np.int64]


def associations(
    accounts: Mapping[str, AccountKeys], users: Sequence[str], charged: Sequence[str]
) -> Associations:
    """Build the tree, and find each user's place in it. User root is there as in every database of Slurm.

    Users without an account belong to the first that lists them, else to the root. Users an account
    does not list become users with 1 share in it, and accounts that stand nowhere accounts with
    1 share at the top, in the order in which the trace first names them.

    Parameters
    ----------
    accounts : as in ``policy.slurm.accounts``, without ``account_problems``
    users, charged : [n], user and account of each component; empty if unknown
    """
    tree = _Tree()
    tree.add_user(ROOT, 0, A_USER)
    for name, account in accounts.items():
        tree.add_all(name, account, above=0)
    codes, pairs = combined(TextColumn.of(users), TextColumn.of(charged))
    places = [tree.row_of(user, account) for user, account in pairs]
    return Associations(
        names=tuple(tree.names),
        parent=np.array(tree.parent, dtype=np.int64),
        user=np.array(tree.user, dtype=np.bool_),
        shares=np.array(tree.shares, dtype=np.int64),
        priority=np.array(tree.priority, dtype=np.int64),
        usage=_usage(tree.parent, tree.keys),
        keys=tuple(tree.keys),
        row=np.array(places, dtype=np.int64)[codes],
    )


def with_usage(
    accounts: Mapping[str, AccountKeys], used: Mapping[tuple[str, str], float]
) -> dict[str, AccountKeys]:
    """Return accounts in which users, by account and name, have used so much at the beginning, others none.

    Users and accounts that stand nowhere are added, as where a trace names them (``associations``). Usage
    that is written at an account no longer counts.
    """
    of_account: dict[str, dict[str, float]] = {}
    first = _first_accounts(accounts)
    for (account, user), amount in used.items():
        mine = of_account.setdefault(account or first.get(user, ROOT), {})
        mine[user] = mine.get(user, 0.0) + amount
    found = {name: _used_in(name, keys, of_account) for name, keys in accounts.items()}
    return found | {name: _used_in(name, AN_ACCOUNT, of_account) for name in list(of_account)}


def _first_accounts(accounts: Mapping[str, AccountKeys]) -> dict[str, str]:
    """Return the first account that lists each user."""
    first: dict[str, str] = {}
    for name, account in accounts.items():
        for user in account.users:
            first.setdefault(user, name)
        for user, inner in _first_accounts(account.accounts).items():
            first.setdefault(user, inner)
    return first


def _used_in(name: str, account: AccountKeys, of_account: dict[str, dict[str, float]]) -> AccountKeys:
    """Return an account whose users have used what stands under its name, which is taken out."""
    used = of_account.pop(name, {})
    names = dict.fromkeys((*account.users, *used))
    users = {
        user: account.users.get(user, A_USER).model_copy(update={"usage": used.get(user, 0.0)})
        for user in names
    }
    inner = {one: _used_in(one, keys, of_account) for one, keys in account.accounts.items()}
    return account.model_copy(update={"usage": None, "users": users, "accounts": inner})


def _usage(parent: Sequence[int], keys: Sequence[AccountKeys | UserKeys]) -> NDArray[np.float64]:
    """Return the usage of each association at the beginning: its own, or the sum of what is inside."""
    usage = np.zeros(len(parent))
    for row in range(len(parent) - 1, -1, -1):
        said = keys[row].usage
        if said is not None:
            usage[row] = said
        if row:
            usage[parent[row]] += usage[row]
    return usage


@dataclass
class _Tree:
    """Associations as they are added; row 0 is the root."""

    names: list[str] = field(default_factory=lambda: [ROOT])
    parent: list[int] = field(default_factory=lambda: [-1])
    user: list[bool] = field(default_factory=lambda: [False])
    shares: list[int] = field(default_factory=lambda: [1])
    priority: list[int] = field(default_factory=lambda: [0])
    keys: list[AccountKeys | UserKeys] = field(default_factory=lambda: [AN_ACCOUNT])
    account_rows: dict[str, int] = field(default_factory=lambda: {ROOT: 0})
    user_rows: dict[tuple[int, str], int] = field(default_factory=dict)
    default_account: dict[str, int] = field(default_factory=dict)

    def add_all(self, name: str, account: AccountKeys, above: int) -> None:
        """Add an account, its users and the accounts inside it."""
        if name == ROOT:
            here, self.keys[0] = 0, account
        else:
            here = self.add_account(name, above, account)
        for user, its in account.users.items():
            self.add_user(user, here, its)
            self.default_account.setdefault(user, here)
        for inner, keys in account.accounts.items():
            self.add_all(inner, keys, here)

    def add_account(self, name: str, above: int, keys: AccountKeys) -> int:
        self.account_rows[name] = self._add(name, above, False, keys)
        return self.account_rows[name]

    def add_user(self, user: str, above: int, keys: UserKeys) -> int:
        row = self._add(f"{self.names[above]}/{user}", above, True, keys)
        self.user_rows[above, user] = row
        return row

    def row_of(self, user: str, account: str) -> int:
        """Return the row of a user in an account, and add what is missing of the two."""
        if not account:
            above = self.default_account.get(user, 0)
        elif account in self.account_rows:
            above = self.account_rows[account]
        else:
            above = self.add_account(account, 0, AN_ACCOUNT)
        known = self.user_rows.get((above, user))
        return self.add_user(user, above, A_USER) if known is None else known

    def _add(self, name: str, above: int, user: bool, keys: AccountKeys | UserKeys) -> int:
        self.names.append(name)
        self.parent.append(above)
        self.user.append(user)
        self.keys.append(keys)
        self.shares.append(PARENT if keys.shares == "parent" else int(keys.shares))
        self.priority.append(self.priority[above] if keys.priority is None else keys.priority)
        return len(self.names) - 1


def default_qos(tree: Associations, row: int) -> str:
    """Return the QOS of jobs that name none: the default or the only one of the nearest account that says so.

    Else ``normal``, which every database of Slurm has (assoc_mgr_get_default_qos_info).
    """
    while row >= 0:
        keys = tree.keys[row]
        if keys.default_qos:
            return str(keys.default_qos)
        if keys.qos is not None and len(keys.qos) == 1:
            return str(keys.qos[0])
        row = int(tree.parent[row])
    return "normal"
