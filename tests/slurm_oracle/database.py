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


Rows = list[dict[str, str]]


def table(lines: list[str]) -> Rows:
    """The lines of ``sacctmgr show -P`` as rows by column."""
    names, *rows = (line.split("|") for line in lines)
    return [dict(zip(names, row, strict=True)) for row in rows]


def limits_as_keys(recorded: dict) -> dict[str, Any]:
    """Accounts and QOS of a recording as keys of ``policy.slurm``, with their limits."""
    accounts: dict = {}
    for row in table(recorded["sacctmgr_assoc"]):
        keys = {"shares": row["Share"], "limits": _stated(row, OF_ASSOCIATIONS)}
        keys |= {"default_qos": row["Def QOS"]} if row["Def QOS"] else {}
        if row["User"]:
            accounts[row["Account"]]["users"][row["User"]] = keys
        else:
            accounts[row["Account"]] = keys | {"users": {}}
    accounts["root"]["users"].pop("root", None)
    qos = {
        row["Name"]: _stated(row, OF_QOS) | {"priority": row["Priority"]}
        for row in table(recorded["sacctmgr_qos"])
    }
    return {"accounts": accounts, "qos": qos}


OF_BOTH = {
    **{name: name for name in ("GrpTRES", "GrpTRESMins", "GrpTRESRunMins", "GrpJobs", "GrpWall", "MaxWall")},
    "GrpSubmit": "GrpSubmitJobs",
    "MaxTRES": "MaxTRESPerJob",
    "MaxTRESMins": "MaxTRESMinsPerJob",
}
OF_ASSOCIATIONS = OF_BOTH | {"MaxJobs": "MaxJobs", "MaxSubmit": "MaxSubmitJobs"}
OF_QOS = OF_BOTH | {
    "MaxTRESPU": "MaxTRESPerUser",
    "MaxTRESPA": "MaxTRESPerAccount",
    "MinTRES": "MinTRESPerJob",
    "MaxJobsPU": "MaxJobsPerUser",
    "MaxJobsPA": "MaxJobsPerAccount",
    "MaxSubmitPU": "MaxSubmitJobsPerUser",
    "MaxSubmitPA": "MaxSubmitJobsPerAccount",
    "Flags": "Flags",
}


def _stated(row: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    return {key: row[column] for column, key in names.items() if row.get(column)}
