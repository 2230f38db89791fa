"""Limits of associations and QOS in the plain model of Slurm: who must wait though there are nodes.

Read in acct_policy.c of 22.05. Limits are looked for in two QOS, then in the associations of the job's user;
of each kind the first QOS that sets it counts alone, else all associations. What is in use is added up anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from tests.oracle.plain_limit_records import Database, Holder, Limits, Tres, Used
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import PENDING, RUNNING, Config, Job, Op

REFUSED = "REFUSED"
RESOURCES = {"cpu": "Cpu", "node": "Node"}
HIDING = {"max_jobs": ("max_jobs_pu", "max_jobs_pa"), "max_submit": ("max_submit_pu", "max_submit_pa")}
"""Limits of QOS that go before those of associations by another name."""


class LimitChecks(Slurm):
    """The controller with limits; a node has one CPU."""

    def __init__(self, config: Config, jobs: list[Job], ops: list[Op], database: Database):
        super().__init__(config, jobs, ops)
        self.db = database
        self.reason: dict[int, str] = {}  # of those that wait for a limit
        self.used: dict[Holder, Used] = {}
        self.charged: dict[int, int] = {}  # up to when, by id of what runs
        self.accrual: dict[int, int] = {}  # since when those that wait accrue age
        self.tested: Holder | None = None  # whose limits were tested last
        self.blocking: dict[int, str] = {}  # the QOS whose limit stood against the nodes of a job, by id
        self.refused: list[Job] = []
        self.heavy: set[int] = set()  # nodes that weigh more than the others
        self.offered: set[int] = set()  # ... of which backfill tries to start one

    # ------------------------------------------------------------------ whose limits

    def qos_of(self, job: Job) -> str:
        return job.qos or self.db.associations[f"{job.account}/{job.user}"].default_qos

    def holders(self, job: Job, part: str) -> list[Holder]:
        """QOS 1 and QOS 2, the partition's first unless the job's says OverPartQOS; then the associations."""
        own = self.qos_of(job)
        names = [name for name in (self.db.of_partition.get(part, ""), own) if name]
        if own and "OverPartQOS" in self.db.qos[own].flags:
            names.reverse()
        names = list(dict.fromkeys(names))
        found = [Holder("QOS", name, before=tuple(names[:i])) for i, name in enumerate(names)]
        name, level = f"{job.account}/{job.user}", 0
        while name:
            found.append(Holder("Assoc", name, level, tuple(names)))
            name, level = self.db.associations[name].parent, level + 1
        return found

    def limits_of(self, holder: Holder) -> Limits:
        return self.db.qos[holder.name] if holder.word == "QOS" else self.db.associations[holder.name].limits

    def limit(self, holder: Holder, kind: str, resource: str = "") -> int | None:
        """The limit, if it counts, and no QOS hides it.

        Max of associations is that of the user, or of the nearest account above that has one.
        """
        if holder.level and kind.startswith("max"):
            return None
        hiding = [kind, *(HIDING.get(kind, ()) if holder.word == "Assoc" else ())]
        hidden = any(self.db.qos[n].of(k, resource) is not None for n in holder.before for k in hiding)
        if hidden:
            return None
        if holder.word == "QOS" or not kind.startswith("max"):
            return self.limits_of(holder).of(kind, resource)
        name, found = holder.name, None
        while name and found is None:
            found = self.db.associations[name].limits.of(kind, resource)
            name = self.db.associations[name].parent
        return found

    def resources(self, holder: Holder, kind: str) -> list[str]:
        """Of which resources it, or an account above, has such a limit."""
        if holder.word == "QOS":
            return list(self.limits_of(holder).of(kind))
        name, found = holder.name, set()
        while name:
            found |= set(self.db.associations[name].limits.of(kind))
            name = self.db.associations[name].parent
        return [resource for resource in RESOURCES if resource in found]

    # ------------------------------------------------------------------ what is in use

    def tres_of(self, job: Job) -> Tres:
        return {"cpu": job.nodes, "node": job.nodes}

    def belongs(self, job: Job, holder: Holder) -> bool:
        """Whether it counts for a QOS or an association."""
        part = job.part or job.partitions[0]
        return any((one.word, one.name) == (holder.word, holder.name) for one in self.holders(job, part))

    def running(self, holder: Holder, like: Job | None = None, by: str = "") -> list[Job]:
        """Who runs in a QOS or below an association; of one user or account if ``by`` says so."""
        return [
            job
            for job in self.seen
            if job.state == RUNNING and (not by or getattr(job, by) == getattr(like, by))
            if self.belongs(job, holder)
        ]

    def in_use(self, jobs: list[Job], resource: str) -> int:
        return sum(self.tres_of(job)[resource] for job in jobs)

    def run_minutes(self, jobs: list[Job], resource: str) -> int:
        """What they may yet use, as of the last computation."""
        left = 0.0
        for job in jobs:
            seconds = job.limit * 60 - (self.charged.get(job.id, job.start) - job.start)
            left += self.tres_of(job)[resource] * max(seconds, 0) * self.factor(job)
        return int(left) // 60

    def left_minutes(self, job: Job, jobs: list[Job], resource: str) -> int:
        """What those that run may yet use; to a job that is not counted, nothing."""
        return self.run_minutes(jobs, resource) if self.factor(job) else 0

    def minutes_used(self, holder: Holder, resource: str) -> int:
        used = self.used.get(self.key(holder), Used())
        return int(used.tres.get(resource, 0) if resource else used.wall) // 60

    def key(self, holder: Holder) -> Holder:
        return Holder(holder.word, holder.name)

    def factor(self, job: Job) -> float:
        own = self.qos_of(job)
        return self.db.qos[own].factor if own else 1.0

    def minutes_asked(self, job: Job) -> int:
        """Its time limit as limits count it."""
        own = self.qos_of(job)
        safe = own and "UsageFactorSafe" in self.db.qos[own].flags
        return int(job.limit * self.factor(job)) if safe else job.limit

    # ------------------------------------------------------------------ before nodes are looked for

    def pre_select(self, job: Job, part: str) -> str:
        """The reason for which it must wait; "" if none. An older one is forgotten."""
        return self._note(job, self._pre_select(job, part))

    def _note(self, job: Job, reasons: Iterator[str]) -> str:
        self.reason.pop(job.id, None)
        found = next(reasons, "")
        if found:
            self.reason[job.id] = found
        return found

    def limit_of(self, job: Job) -> str:
        return self.reason.get(job.id, "")

    def _pre_select(self, job: Job, part: str) -> Iterator[str]:
        for holder in self.holders(job, part):
            qos = holder.word == "QOS"
            for kind, by, word in (
                ("grp_jobs", "", f"{holder.word}GrpJobsLimit"),
                ("grp_wall", "", f"{holder.word}GrpWallLimit"),
                *((("max_jobs_pa", "account", "MaxJobsPerAccount"),) if qos else ()),
                *((("max_jobs_pu", "user", "QOSMaxJobsPerUserLimit"),) if qos else ()),
                *(() if qos else (("max_jobs", "", "AssocMaxJobsLimit"),)),
                ("max_wall", "", f"{holder.word}MaxWallDurationPerJobLimit"),
            ):
                most = self.limit(holder, kind)
                if most is None:
                    continue
                if kind == "grp_wall":
                    used = self.minutes_used(holder, "")
                    reached = used >= most or (self.db.safe and used + self.minutes_asked(job) > most)
                elif kind == "max_wall":
                    reached = self.minutes_asked(job) > most
                else:
                    reached = len(self.running(holder, job, by)) >= most
                if reached:
                    yield word

    def too_many_nodes(self, job: Job, part: str) -> str:
        """The reason for which so many nodes are never allowed at once; "" if none."""
        found = self.has_too_many(job, part)
        if found:
            self.reason[job.id] = found
        return found

    def has_too_many(self, job: Job, part: str) -> str:
        """Of limits of groups of associations counts the first that is less than what else it may have."""
        least, of_job, reason = inf, False, ""
        for kind, word in (
            ("max_tres_pa", "QOSMaxNodePerAccount"),
            ("max_tres", "QOSMaxNodePerJobLimit"),
            ("max_tres_pu", "QOSMaxNodePerUserLimit"),
            ("grp_tres", "QOSGrpNodeLimit"),
        ):
            for holder in self.holders(job, part):
                most = self.limit(holder, kind, "node") if holder.word == "QOS" else None
                of_job = of_job or (most is not None and kind != "grp_tres")
                if most is not None and most < least:
                    least, reason = most, word
        for holder in self.holders(job, part):
            if holder.word == "QOS":
                continue
            most, grouped = self.limit(holder, "grp_tres", "node"), False
            if most is not None and most < least:
                least, reason, grouped = most, "AssocGrpNodeLimit", True
            most = None if of_job else self.limit(holder, "max_tres", "node")
            if most is not None and most < least:
                least, reason = most, "AssocMaxNodePerJobLimit"
            if grouped:
                break
        return reason if job.nodes > least else ""

    # ------------------------------------------------------------------ once there are nodes

    def post_select(self, job: Job, part: str) -> str:
        """The reason for which it must wait with the nodes that it would get; "" if none."""
        found = self._note(job, self._post_select(job, part))
        by_qos = found and self.tested is not None and self.tested.word == "QOS"
        self.blocking[job.id] = self.tested.name if by_qos else ""
        return found

    def _post_select(self, job: Job, part: str) -> Iterator[str]:
        asks = self.tres_of(job)
        for holder in self.holders(job, part):
            self.tested = holder
            mine = {by: self.running(holder, job, by) for by in ("", "account", "user")}
            for kind, by, word in (
                ("grp_tres_mins", "", "Grp{}MinutesLimit"),
                ("grp_tres", "", "Grp{}Limit"),
                ("grp_tres_run_mins", "", "Grp{}RunMinutesLimit"),
                ("max_tres_mins", None, "Max{}MinutesPerJobLimit"),
                ("max_tres", None, "Max{}PerJobLimit"),
                ("min_tres", None, "Min{}NotSatisfied"),
                ("max_tres_pa", "account", "Max{}PerAccount"),
                ("max_tres_pu", "user", "Max{}PerUserLimit"),
            ):
                for resource in self.resources(holder, kind):
                    most = self.limit(holder, kind, resource)
                    if most is None:
                        continue
                    jobs = [] if by is None else mine[by]
                    minutes = asks[resource] * self.minutes_asked(job)
                    if kind == "grp_tres_mins":
                        used = self.minutes_used(holder, resource) * bool(self.factor(job))
                        over = used >= most or (
                            self.db.safe and minutes + self.left_minutes(job, jobs, resource) > most - used
                        )
                    elif kind == "grp_tres_run_mins":
                        over = minutes + self.left_minutes(job, jobs, resource) > most
                    elif kind == "max_tres_mins":
                        over = minutes > most
                    elif kind == "min_tres":
                        over = asks[resource] < most
                    else:
                        over = asks[resource] + self.in_use(jobs, resource) > most
                    if over:
                        name = RESOURCES[resource]
                        yield holder.word + word.format(
                            name.upper() if "Minutes" in word and name == "Cpu" else name
                        )

    # ------------------------------------------------------------------ at submission

    def _submit(self, job: Job, now: int) -> None:
        if self._is_refused(job):
            job.state, job.end, job.released = REFUSED, now, now
            self.by_id[job.id] = job
            self.jobs.remove(job)
            self.refused.append(job)
        else:
            super()._submit(job, now)

    def _is_refused(self, job: Job) -> bool:
        """The tasks of an array are submitted as one: all are refused, or none."""
        tasks = [job]
        if job.array >= 0:
            everyone = sorted([*self.jobs, *self.refused], key=lambda other: other.id)
            tasks = [one for one in everyone if (one.array, one.submit) == (job.array, job.submit)]
        if job is not tasks[0]:
            return tasks[0] in self.refused
        if any(self._denied(job, part) for part in job.partitions):
            return True
        return self._too_many_submitted(job, len(tasks))

    def _denied(self, job: Job, part: str) -> bool:
        """DenyOnLimit: whether it asks for what it can never have, though nobody else were there."""
        holders = self.holders(job, part)
        if not any(h.word == "QOS" and "DenyOnLimit" in self.limits_of(h).flags for h in holders):
            return False
        asks, minutes = self.tres_of(job), self.minutes_asked(job)
        for holder in holders:
            for kind in ("grp_wall", "max_wall"):
                most = self.limit(holder, kind)
                if most is not None and minutes > most:
                    return True
            for kind in (
                *("grp_tres_mins", "grp_tres", "grp_tres_run_mins", "max_tres_mins", "max_tres"),
                *("min_tres", "max_tres_pa", "max_tres_pu"),
            ):
                for resource in self.resources(holder, kind):
                    most = self.limit(holder, kind, resource)
                    wanted = asks[resource] * (minutes if "mins" in kind else 1)
                    if most is not None and (wanted < most if kind == "min_tres" else wanted > most):
                        return True
        return False

    def _too_many_submitted(self, job: Job, tasks: int) -> bool:
        there = self._submitted()
        for holder in self.holders(job, job.partitions[0]):
            own = [other for other in there if self.counts_for(other, holder)]
            for kind, by in (
                ("grp_submit", ""),
                ("max_submit", ""),
                ("max_submit_pa", "account"),
                ("max_submit_pu", "user"),
            ):
                most = self.limit(holder, kind)
                many = sum(not by or getattr(other, by) == getattr(job, by) for other in own)
                if most is not None and many + tasks > most:
                    return True
        return False

    def _submitted(self) -> list[Job]:
        """Who waits or runs; the tasks of an array from the submission of the first of them on."""
        arrays = {(job.array, job.submit) for job in self.seen if job.array >= 0}
        announced = [job for job in self.jobs[len(self.seen) :] if (job.array, job.submit) in arrays]
        return [job for job in (*self.seen, *announced) if job.state in (PENDING, RUNNING)]

    def counts_for(self, job: Job, holder: Holder) -> bool:
        """Whether it counts as submitted: in its first partition."""
        there = self.holders(job, job.partitions[0])
        return any((one.word, one.name) == (holder.word, holder.name) for one in there)
