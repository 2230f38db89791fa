"""Reading ``sshare --all --parsable2``: what each user had used in each account."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_conf.values import count
from scheduler_sim.system.slurm_dumps.associations import of_cluster
from scheduler_sim.system.slurm_dumps.table import read_table

COMMAND = "sshare --all --parsable2"
NO_ACCOUNT = "has usage, but is not an account of the folder: its users count as new ones"

Usage = dict[tuple[str, str], float]
"""RawUsage of users by account and user: processor seconds, decayed."""


def read_usage(path: str | Path, cluster: str, accounts: Collection[str], notes: Notes) -> Usage:
    """Read what users had used when ``sshare`` was called.

    ``accounts`` are those of the folder, empty where it names none; usage in others is noted. Raises
    ConfigError for files that cannot be read.
    """
    rows = list(read_table(path, COMMAND, ("Account", "User", "RawUsage"), notes.problems))
    used: Usage = {}
    for row in of_cluster(rows, cluster, str(path)):
        amount = notes.read(row.pair("rawusage"), count, 0)
        account, user = row.text("account"), row.text("user")
        if not user:
            continue
        if accounts and account not in accounts:
            if amount:
                notes.ignore(Pair(account, f"{user}: {amount}", row.place), NO_ACCOUNT)
            continue
        used[account, user] = used.get((account, user), 0.0) + float(amount)  # one by partition
    if rows and not used:
        notes.wrong(rows[0].place, "User", f"found no users; allowed: what {COMMAND} prints")
    return used
