"""What holds under limits of QOS and associations: of what a result tells, jobs, nodes and time limits.

Which limit binds a job is worked out anew here, from the policy in the manifest: of each limit the first QOS
that sets it, the partition's or with OverPartQOS the job's, else the associations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import sum_of_intervals, value_at
from scheduler_sim.units import MINUTE

Breach = str | None
Keys = Mapping[str, Any]

TOGETHER = ("GrpJobs", "MaxJobsPerUser", "MaxJobsPerAccount", "MaxJobs")
NODES_TOGETHER = ("GrpTRES", "MaxTRESPerUser", "MaxTRESPerAccount")
HIDING = {"MaxJobs": ("MaxJobsPerUser", "MaxJobsPerAccount")}
ROOT = "root"


class Bound(NamedTuple):
    """A limit that binds jobs: of whom, and how much."""

    holder: str  # a QOS, or an association
    by: str  # user or account whose jobs of a QOS it counts
    most: int


def limits(schedule: Schedule) -> Breach:
    """No job starts beyond a limit of running jobs, nodes or time that binds it (QOS, associations)."""
    if not schedule.further.limited:
        return None
    told = _Told(schedule)
    return told.wall() or told.together(TOGETHER) or told.together(() if told.shared else NODES_TOGETHER)


class _Told:
    """The jobs that ran, and who they were."""

    def __init__(self, schedule: Schedule) -> None:
        slurm = schedule.policy["slurm"]
        self._schedule, self.shared = schedule, bool(schedule.shared)
        self._qos: dict[str, Keys] = {
            name: keys if isinstance(keys, dict) else {} for name, keys in slurm["qos"].items()
        }
        self._associations, self._above = dict[str, Keys](), dict[str, str]()
        self._list(slurm["accounts"], ROOT)
        partitions = schedule.system.get("partitions", [])
        self._of_partition = {one["name"]: one.get("slurm", {}).get("QOS", "") for one in partitions}
        table = schedule.components[schedule.ran]
        names = ("user", "account", "qos", "partition")
        self._rows = np.flatnonzero(schedule.ran)
        who = [table[name].astype(str) for name in names]
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

    def _bounds(self, who: tuple[str, ...], key: str) -> Iterator[Bound]:
        """The limits of a kind that bind a job; of resources those of nodes."""
        user, account, qos, partition = who
        names = self._names(qos, partition)
        by = user if key.endswith("User") else account if key.endswith("Account") else ""
        for name in names:
            most = _most(self._qos[name], key)
            if most is not None:
                yield Bound(name, by, most)
                return
        hiding = HIDING.get(key, ())
        if by or any(_most(self._qos[name], other) is not None for name in names for other in hiding):
            return
        factor = next((self._qos[n]["LimitFactor"] for n in names if "LimitFactor" in self._qos[n]), 1.0)
        levels = self._levels(user, account)
        found = [(level, _most(self._associations.get(level, {}), key)) for level in levels]
        said = [(level, most) for level, most in found if most is not None]
        if not key.startswith("Grp"):
            said = [(levels[0], most) for _, most in said[:1]]
        for level, most in said:
            yield Bound(f"/{level}", "", int(most * factor) if key == "GrpTRES" else most)

    # -- the laws

    def wall(self) -> Breach:
        """The time limit of each is within the longest that it may have."""
        limit = self._schedule.of("time_limit")[self._rows]
        for at, most in self._each("MaxWall"):
            if limit[at] // MINUTE > most.most and not self._scaled(at):
                row = self._rows[at]
                return (
                    f"{self._schedule.name(row)} has a time limit of {limit[at]} s, MaxWall is"
                    f" {most.most} minutes"
                )
        return None

    def _scaled(self, at: int) -> bool:
        """Whether its time limit counts otherwise than it stands there."""
        return "UsageFactorSafe" in self._qos.get(self._who[at][2], {}).get("Flags", ())

    def together(self, keys: Iterable[str]) -> Breach:
        """What runs when a job starts is within each limit that binds it."""
        for key in keys:
            bound: dict[tuple[Bound, str], list[int]] = {}
            for at, most in self._each(key):
                bound.setdefault((most, key), []).append(at)
            for (most, _), rows in bound.items():
                breach = self._exceeded(key, most, np.array(rows))
                if breach:
                    return breach
        return None

    def _each(self, key: str) -> Iterator[tuple[int, Bound]]:
        known: dict[tuple[str, ...], list[Bound]] = {}
        for at, who in enumerate(self._who):
            if who not in known:
                known[who] = list(self._bounds(who, key))
            for bound in known[who]:
                yield at, bound

    def _exceeded(self, key: str, bound: Bound, rows: np.ndarray) -> Breach:
        """Those that start in the same second and are not bound by it may have started after them."""
        start, end = (self._schedule.of(name)[self._rows] for name in ("start_time", "end_time"))
        amount = (
            self._schedule.of("nodes")[self._rows] if "TRES" in key else np.ones(len(start), dtype=np.int64)
        )
        of = self._members[bound.holder, bound.by]
        begin = np.where(np.isin(of, rows), start[of], np.minimum(start[of] + 1, end[of]))
        used = value_at(sum_of_intervals(begin, end[of], amount[of]), start[rows])
        over = np.flatnonzero((used > bound.most) & (end[rows] > start[rows]))
        if not len(over):
            return None
        row, here = self._rows[rows[over[0]]], used[over[0]]
        whose = f"{bound.holder.removeprefix('/')}{' of ' + bound.by if bound.by else ''}"
        return f"{self._schedule.name(row)} starts when {whose} has {here} in use, {key} is {bound.most}"

    @cached_property
    def _members(self) -> dict[tuple[str, str], np.ndarray]:
        """Whose jobs count together, by QOS, by QOS and user or account, and by association."""
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


def _most(keys: Keys, key: str) -> int | None:
    """A limit of jobs or minutes, or of nodes."""
    value = keys.get(key)
    return value.get("node") if isinstance(value, dict) else value
