"""Which limits of QOS and associations bind which jobs, worked out anew from the policy in the manifest.

Of each limit the first QOS that sets it counts, the partition's or with OverPartQOS the job's, else the
associations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.result.schedule import Schedule

Keys = Mapping[str, Any]

JOBS = ""
"""What limits of jobs and times count, beside resources by name."""

HIDING = {
    "MaxJobs": ("MaxJobsPerUser", "MaxJobsPerAccount"),
    "MaxSubmitJobs": ("MaxSubmitJobsPerUser", "MaxSubmitJobsPerAccount"),
}
SCALED = ("GrpTRES", "MaxTRESPerJob")
"""Limits of associations that LimitFactor multiplies."""

ROOT = "root"


class Bound(NamedTuple):
    """A limit that binds jobs: of whom, and how much."""

    holder: str  # a QOS, or an association
    by: str  # user or account whose jobs of a QOS it counts
    most: int

    @property
    def whose(self) -> str:
        """In a message."""
        return f"{self.holder.removeprefix('/')}{' of ' + self.by if self.by else ''}"


class Bounds:
    """Some jobs of a schedule, and who they were.

    Attributes
    ----------
    rows : int64[jobs]
    """

    def __init__(self, schedule: Schedule, rows: np.ndarray) -> None:
        slurm = schedule.policy["slurm"]
        self.rows = rows
        self._qos: dict[str, Keys] = {
            name: keys if isinstance(keys, dict) else {} for name, keys in slurm["qos"].items()
        }
        self._associations, self._above = dict[str, Keys](), dict[str, str]()
        self._list(slurm["accounts"], ROOT)
        partitions = schedule.system.get("partitions", [])
        self._of_partition = {one["name"]: one.get("slurm", {}).get("QOS", "") for one in partitions}
        table = schedule.components.iloc[rows]
        who = [table[name].astype(str) for name in ("user", "account", "qos", "partition")]
        self._who = list(zip(*who, strict=True))

    def _list(self, accounts: Keys, above: str) -> None:
        for name, keys in accounts.items():
            self._associations[name] = keys.get("limits") or {}
            if name != ROOT:
                self._above[name] = above
            for user, its in keys.get("users", {}).items():
                limits = its.get("limits") if isinstance(its, dict) else None
                self._associations[f"{name}/{user}"] = limits or {}
            self._list(keys.get("accounts", {}), name)

    @property
    def partitions_have_qos(self) -> bool:
        """Whether any has."""
        return any(self._of_partition.values())

    @property
    def resources(self) -> set[str]:
        """All that some limit names."""
        said = (
            value for one in (*self._qos.values(), *self._associations.values()) for value in one.values()
        )
        return {resource for value in said if isinstance(value, dict) for resource in value}

    def flags(self, at: int) -> Keys:
        """What is said of a job's own QOS."""
        return self._qos.get(self._who[at][2], {})

    def keys_of(self, bound: Bound) -> Keys:
        """What is said of the QOS that holds jobs to a limit; nothing for an association."""
        return self._qos.get(bound.holder, {})

    @cached_property
    def as_used(self) -> np.ndarray:
        """bool[jobs]: whether what a job uses counts once, not by the UsageFactor of its QOS."""
        found = [float(self.flags(at).get("UsageFactor", 1.0)) == 1.0 for at in range(len(self._who))]
        return np.array(found, dtype=bool)

    def counts_by_factor(self, at: int) -> bool:
        """Whether its time limit counts otherwise than it stands there."""
        return "UsageFactorSafe" in self.flags(at).get("Flags", ())

    # -- who is bound by what

    def _levels(self, user: str, account: str) -> list[str]:
        found = [f"{account}/{user}", account]
        while found[-1] != ROOT:
            found.append(self._above.get(found[-1], ROOT))
        return found

    def _names(self, qos: str, partition: str) -> list[str]:
        names = [name for name in (self._of_partition.get(partition, ""), qos) if name in self._qos]
        if "OverPartQOS" in self._qos.get(qos, {}).get("Flags", ()):
            names.reverse()
        return list(dict.fromkeys(names))

    def _of(self, who: tuple[str, ...], key: str, resource: str) -> Iterator[Bound]:
        """The limits of a kind that bind a job."""
        user, account, qos, partition = who
        names = self._names(qos, partition)
        by = user if key.endswith("User") else account if key.endswith("Account") else ""
        for name in names:
            most = _most(self._qos[name], key, resource)
            if most is not None:
                yield Bound(name, by, most)
                return
        hiding = HIDING.get(key, ())
        if by or any(_most(self._qos[name], other, JOBS) is not None for name in names for other in hiding):
            return
        factor = next((self._qos[n]["LimitFactor"] for n in names if "LimitFactor" in self._qos[n]), 1.0)
        levels = self._levels(user, account)
        found = [(level, _most(self._associations.get(level, {}), key, resource)) for level in levels]
        said = [(level, most) for level, most in found if most is not None]
        if not key.startswith("Grp"):
            said = [(levels[0], most) for _, most in said[:1]]
        for level, most in said:
            yield Bound(f"/{level}", "", int(most * factor) if key in SCALED else most)

    def each(self, key: str, resource: str = JOBS) -> Iterator[tuple[int, Bound]]:
        """Yield jobs, by their places in ``rows``, with each limit of a kind that binds them."""
        if not any(key in one for one in (*self._qos.values(), *self._associations.values())):
            return
        known: dict[tuple[str, ...], list[Bound]] = {}
        for at, who in enumerate(self._who):
            if who not in known:
                known[who] = list(self._of(who, key, resource))
            for bound in known[who]:
                yield at, bound

    def bound_by(self, key: str, resource: str = JOBS) -> dict[Bound, np.ndarray]:
        """Return the jobs that each limit of a kind binds."""
        found: dict[Bound, list[int]] = {}
        for at, bound in self.each(key, resource):
            found.setdefault(bound, []).append(at)
        return {bound: np.array(its) for bound, its in found.items()}

    def members(self, bound: Bound) -> np.ndarray:
        """Return the jobs that count together with those that a limit binds."""
        return self._members[bound.holder, bound.by]

    @cached_property
    def _members(self) -> dict[tuple[str, str], np.ndarray]:
        """By QOS, by QOS and user or account, and by association."""
        rows: dict[tuple[str, str], list[int]] = {}
        counts: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for at, who in enumerate(self._who):
            if who not in counts:
                user, account, qos, partition = who
                names = self._names(qos, partition)
                found = [(name, by) for name in names for by in dict.fromkeys(("", user, account))]
                counts[who] = found + [(f"/{level}", "") for level in self._levels(user, account)]
            for holder in counts[who]:
                rows.setdefault(holder, []).append(at)
        return {holder: np.array(its) for holder, its in rows.items()}


def _most(keys: Keys, key: str, resource: str) -> int | None:
    """A limit of jobs or minutes, or of a resource."""
    value = keys.get(key)
    return value.get(resource) if isinstance(value, dict) else value
