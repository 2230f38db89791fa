"""What holds under limits of QOS and associations, as far as a result tells: jobs, nodes, processors, time.

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

JOBS_TOGETHER = ("GrpJobs", "MaxJobsPerUser", "MaxJobsPerAccount", "MaxJobs")
TOGETHER = ("GrpTRES", "MaxTRESPerUser", "MaxTRESPerAccount")
JOBS, NODE, CPU = "", "node", "cpu"
"""What limits count."""

HIDING = {"MaxJobs": ("MaxJobsPerUser", "MaxJobsPerAccount")}
ROOT = "root"


class Bound(NamedTuple):
    """A limit that binds jobs: of whom, and how much."""

    holder: str  # a QOS, or an association
    by: str  # user or account whose jobs of a QOS it counts
    most: int


def limits(schedule: Schedule) -> Breach:
    """No job starts beyond a limit of jobs, nodes, processors or time that binds it (QOS, associations)."""
    if not schedule.further.limited:
        return None
    told = _Told(schedule)
    breach = told.wall() or told.together(JOBS_TOGETHER, JOBS)
    for resource in told.resources:
        breach = breach or told.together(TOGETHER, resource)
    return breach


class _Told:
    """The jobs that ran, and who they were."""

    def __init__(self, schedule: Schedule) -> None:
        slurm = schedule.policy["slurm"]
        self._schedule = schedule
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

    @property
    def resources(self) -> Iterable[str]:
        """What can be counted: nodes that jobs have to themselves and, where these are alike, processors."""
        if self._schedule.shared:
            return ()
        return (NODE, CPU) if all(map(_is_plain, self._schedule.system["modules"])) else (NODE,)

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

    def _bounds(self, who: tuple[str, ...], key: str, resource: str) -> Iterator[Bound]:
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
            yield Bound(f"/{level}", "", int(most * factor) if key == "GrpTRES" else most)

    # -- the laws

    def wall(self) -> Breach:
        """The time limit of each is within the longest that it may have."""
        limit = self._schedule.of("time_limit")[self._rows]
        for at, most in self._each("MaxWall", JOBS):
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

    def together(self, keys: Iterable[str], resource: str) -> Breach:
        """What runs when a job starts is within each limit that binds it."""
        amount = self._amount(resource)
        for key in keys:
            bound: dict[Bound, list[int]] = {}
            for at, most in self._each(key, resource):
                bound.setdefault(most, []).append(at)
            for most, rows in bound.items():
                over = self._exceeded(most, np.array(rows), amount)
                if over is not None:
                    row, used = over
                    whose = f"{most.holder.removeprefix('/')}{' of ' + most.by if most.by else ''}"
                    unit = " cpu" if resource == CPU else ""
                    return (
                        f"{self._schedule.name(row)} starts when {whose} has {used}{unit} in use,"
                        f" {key} is {most.most}"
                    )
        return None

    def _each(self, key: str, resource: str) -> Iterator[tuple[int, Bound]]:
        known: dict[tuple[str, ...], list[Bound]] = {}
        for at, who in enumerate(self._who):
            if who not in known:
                known[who] = list(self._bounds(who, key, resource))
            for bound in known[who]:
                yield at, bound

    def _exceeded(self, bound: Bound, rows: np.ndarray, amount: np.ndarray) -> tuple[int, int] | None:
        """The first of those it binds that starts beyond it, and what is in use then.

        Those that start in the same second and are not bound by it may have started after them.
        """
        start, end = (self._schedule.of(name)[self._rows] for name in ("start_time", "end_time"))
        of = self._members[bound.holder, bound.by]
        begin = np.where(np.isin(of, rows), start[of], np.minimum(start[of] + 1, end[of]))
        used = value_at(sum_of_intervals(begin, end[of], amount[of]), start[rows])
        over = np.flatnonzero((used > bound.most) & (end[rows] > start[rows]))
        if not len(over):
            return None
        return int(self._rows[rows[over[0]]]), int(used[over[0]])

    def _amount(self, resource: str) -> np.ndarray:
        """int64[jobs that ran]: how much each has."""
        if resource == JOBS:
            return np.ones(len(self._rows), dtype=np.int64)
        amount: np.ndarray = self._schedule.of("nodes")[self._rows]
        if resource == CPU:
            each = {one["name"]: _processors(one) for one in self._schedule.system["modules"]}
            of_modules = self._schedule.components["module"].astype(str).map(each)
            amount = amount * of_modules.to_numpy(dtype=np.int64)[self._rows]
        return amount

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


def _most(keys: Keys, key: str, resource: str) -> int | None:
    """A limit of jobs or minutes, or of a resource."""
    value = keys.get(key)
    return value.get(resource) if isinstance(value, dict) else value


def _is_plain(module: Keys) -> bool:
    """Whether its nodes have equally many processors."""
    return not any(one.get("cores_per_node") for one in module.get("node_sets", ()))


def _processors(module: Keys) -> int:
    """Of a node; one where nothing is said, as in Slurm."""
    return max(int(module.get("cores_per_node", 0)), 1)
