"""What Slurm's accounting database held in a recording: accounts, users and their shares, QOS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Accounts = dict[str, dict[str, Any]]
QosPriorities = dict[str, int]


def accounts_of(commands: Sequence[Sequence[str]]) -> Accounts:
    """The keys of ``policy.slurm.accounts`` that ``sacctmgr add account`` and ``add user`` come to.

    What jobs say themselves (``defaultqos``), what ``qos_of`` reads and limits are passed over; anything else
    that is not understood is an error.
    """
    accounts: Accounts = {}
    for verb, kind, name, *rest in commands:
        options = dict(item.split("=", 1) for item in rest if "=" in item)
        shares = int(options.get("fairshare", 1))
        if (verb, kind) == ("add", "account"):
            accounts[name] = {"shares": shares, "users": {}}
        elif (verb, kind) == ("add", "user"):
            accounts[options["account"]]["users"][name] = shares
        elif (verb, kind) not in (("add", "qos"), ("modify", "user"), ("modify", "account")):
            raise ValueError(f"sacctmgr {verb} {kind} {name}: not understood")
    return accounts


def qos_of(lines: Sequence[str]) -> QosPriorities:
    """Priorities of all QOS of the database, from ``sacctmgr show qos``: it served all recordings."""
    return {name: int(priority) for name, priority, *_ in (line.split("|") for line in lines[1:])}
