"""Jobs of users in no association: where associations are enforced Slurm refuses them at submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from scheduler_sim.arrays import Bools
from scheduler_sim.placement.candidate_placements import REASONS
from scheduler_sim.placement.placements import Placements, kept
from scheduler_sim.policy.policy import Policy
from scheduler_sim.policy.shares import ROOT, AccountKeys
from scheduler_sim.texts import combined
from scheduler_sim.workload.table import Workload

REASON = "association"
"""Of jobs that are rejected, and of those that Slurm would reject if it enforced associations."""


def unlisted(policy: Policy, workload: Workload) -> Bools | None:
    """bool[rows of the workload]: whose user stands in no account, or not in the one that it names.

    None where no account lists any user, so that nothing can be told. A job that names no user is none.
    """
    there = set(_associations(policy.slurm.accounts)) if policy.backfill == "slurm" else set()
    if not there:
        return None
    users = {user for _, user in there} | {ROOT}
    codes, pairs = combined(workload.columns["user"], workload.columns["account"])
    missing = [
        bool(user)
        and (user.lower() not in users if not account else (account.lower(), user.lower()) not in there)
        for user, account in pairs
    ]
    found: Bools = np.array(missing, dtype=bool)[codes]
    return found


def without_unlisted(placements: Placements, policy: Policy, workload: Workload) -> Placements:
    """Return the placements without those of such jobs, where associations are enforced."""
    missing = unlisted(policy, workload) if policy.slurm.enforces_associations else None
    if missing is None or not missing.any():
        return placements
    owner, refused = placements.owner, missing[placements.rows]
    had_some = refused & (np.diff(placements.first) > 0)
    count = int(had_some.sum())
    if not count:
        return placements
    why = np.where(had_some, REASONS.index(REASON), placements.why)
    rejected = {**placements.rejected, REASON: count}
    return replace(kept(placements, ~refused[owner]), why=why, rejected=rejected)


def not_enforced(policy: Policy, workload: Workload) -> dict[str, int]:
    """Return how many such jobs run all the same, if any."""
    missing = None if policy.slurm.enforces_associations else unlisted(policy, workload)
    count = 0 if missing is None else int((missing & (workload.columns["skipped"] == 0)).sum())
    return {REASON: count} if count else {}


def _associations(accounts: Mapping[str, AccountKeys]) -> Iterator[tuple[str, str]]:
    """Account and user of each, in lower case, as Slurm keeps them."""
    for name, account in accounts.items():
        for user in account.users:
            yield name.lower(), user.lower()
        yield from _associations(account.accounts)
