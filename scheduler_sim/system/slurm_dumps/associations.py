"""Reading ``sacctmgr show assoc -P``, with any columns."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.errors import ConfigError
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.accounts import ROOT, Association, Associations
from scheduler_sim.system.slurm_dumps.options import OF_ASSOCIATIONS, option_named, reader
from scheduler_sim.system.slurm_dumps.table import Row, read_table

COMMAND = "sacctmgr show assoc -P"
ONE_LEVEL = (
    "no column ParentName, and no account set in (sacctmgr show assoc tree): all accounts are taken as"
    " standing at the top"
)
ONE_PARTITION = "associations for one partition are not modelled: their limits are left out"
IN_SEVERAL = (
    "the default account of users with several accounts is not printed: jobs that"
    " name none count in the first"
)
NOT_READ = "not a column that this reader knows"

_PLACED = ("cluster", "account", "user", "partition", "id", "lft", "rgt", "parentid", "qosraw", "qos_raw")


def read_associations(path: str | Path, cluster: str, notes: Notes) -> Associations:
    """Read the associations of a cluster out of what ``sacctmgr show assoc -P`` printed, also with ``tree``.

    ``cluster`` is the one of the slurm.conf; "" takes the only one there. Raises ConfigError for files that
    cannot be read, and where the cluster is not there.
    """
    rows = list(read_table(path, COMMAND, ("Account", "User"), notes.problems))
    tree = Associations()
    rows = of_cluster(rows, cluster, str(path))
    for header in rows[0].headers.items() if rows else ():
        if header[0] not in _PLACED and option_named(OF_ASSOCIATIONS, header[0]) is None:
            notes.ignore(Pair(header[1], "", f"{path}:1"), NOT_READ)
    depths: list[str] = []
    for row in rows:
        _add(tree, row, _parent(row, depths), notes)
    _name_parents(tree, notes)
    accounts = len(tree.accounts) - 1
    if rows and accounts > 1 and "parentname" not in rows[0].headers and not any(map(_depth, rows)):
        notes.ignore(Pair("ParentName", "", f"{path}:1"), ONE_LEVEL)
    if several := tree.in_several():
        notes.ignore(Pair("Def Acct", f"{len(several)} users", f"{path}:1"), IN_SEVERAL)
    return tree


def of_cluster(rows: list[Row], cluster: str, path: str) -> list[Row]:
    """Those of the cluster; without a column of that name, all."""
    there = dict.fromkeys(row.text("cluster") for row in rows if row.text("cluster"))
    if not there or (not cluster and len(there) == 1):
        return rows
    if cluster.lower() not in map(str.lower, there):
        wanted = f"ClusterName={cluster}" if cluster else "a slurm.conf without ClusterName"
        raise ConfigError(
            f"{path}: Cluster: found {', '.join(there)} with {wanted}; allowed: the cluster of the slurm.conf"
        )
    return [row for row in rows if row.text("cluster").lower() == cluster.lower()]


def _depth(row: Row) -> int:
    """How far an account is set in, as ``tree`` prints it."""
    account = row.cells.get("account", "")
    return len(account) - len(account.lstrip())


def _parent(row: Row, depths: list[str]) -> str:
    """The account that the row's stands in, as it is set in; ``depths`` are the accounts above."""
    if row.text("user"):
        return ""
    del depths[_depth(row) :]
    depths.append(row.text("account"))
    return depths[-2] if len(depths) > 1 else ROOT


def _add(tree: Associations, row: Row, parent: str, notes: Notes) -> None:
    account, user = row.text("account"), row.text("user")
    if not account:
        notes.wrong(row.place, "Account", "found nothing; allowed: a name")
        return
    if row.text("partition"):
        notes.ignore(row.pair("partition"), ONE_PARTITION)
        tree.users.setdefault((account, user), Association(account, user, row.place))
        return
    whose = Association(account, user, row.place, parent=parent)
    for column in row.cells:
        found = option_named(OF_ASSOCIATIONS, column) if column not in _PLACED else None
        if found is not None:
            option, resource = found
            value = notes.read(row.pair(column), reader(option, resource), None)
            whose.give(option, sorted(value) if isinstance(value, list) else value)
    if user:
        _once(tree.users.setdefault((account, user), whose), whose, "User", user, notes)
    elif account != ROOT or not tree.accounts[ROOT].place:
        tree.accounts.pop(ROOT) if account == ROOT else None
        _once(tree.accounts.setdefault(account, whose), whose, "Account", account, notes)


def _once(there: Association, whose: Association, key: str, name: str, notes: Notes) -> None:
    if there is not whose:
        notes.wrong(whose.place, key, f"found {name!r} again, after {there.place}; allowed: each once")


def _name_parents(tree: Associations, notes: Notes) -> None:
    """Put each account where its parent is; accounts that are named and not printed stand at the top."""
    for whose in list(tree.accounts.values()):
        whose.parent = whose.own.pop("parent", whose.parent)
    for whose in [*tree.accounts.values(), *tree.users.values()]:
        above = whose.account if whose.user else whose.parent
        if above not in tree.accounts:
            tree.accounts[above] = Association(above, "", whose.place)
    for account, whose in tree.accounts.items():
        seen = {account}
        above = whose.parent
        while above != ROOT and above not in seen:
            seen.add(above)
            above = tree.accounts[above].parent
        if above != ROOT:
            notes.wrong(
                whose.place,
                "ParentName",
                f"found {whose.parent!r}, which is inside {account!r}; allowed: no circle",
            )
            return
