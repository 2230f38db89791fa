"""Limits of associations and QOS in the plain model of Slurm: who must wait though there are nodes.

Read in acct_policy.c, job_scheduler.c and backfill.c of 22.05. A limit is looked for in two QOS and in the
associations of the job's user, and of each kind only the first that is set counts. What is in use is added up
from the running jobs each time; what they have used, at every computation of priorities and at ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import PENDING, RUNNING, TIMEOUT, Config, Job, Op
from tests.oracle.plain_slurm_space import Space

Tres = dict[str, int]
REFUSED = "REFUSED"
LATER_S = 500  # assoc_limit_stop: a job that is limited and waits for nobody is planned so much later


@dataclass
class Limits:
    """Of an association or a QOS; None and absent resources: no limit. Minutes, resources by name."""

    grp_jobs: int | None = None
    grp_submit: int | None = None
    grp_wall: int | None = None
    grp_tres: Tres = field(default_factory=dict)
    grp_tres_mins: Tres = field(default_factory=dict)
    grp_tres_run_mins: Tres = field(default_factory=dict)
    max_jobs: int | None = None  # associations
    max_jobs_pu: int | None = None  # QOS
    max_jobs_pa: int | None = None
    max_submit: int | None = None
    max_submit_pu: int | None = None
    max_submit_pa: int | None = None
    max_wall: int | None = None
    max_tres: Tres = field(default_factory=dict)
    max_tres_mins: Tres = field(default_factory=dict)
    max_tres_pn: Tres = field(default_factory=dict)
    max_tres_pu: Tres = field(default_factory=dict)
    max_tres_pa: Tres = field(default_factory=dict)
    min_tres: Tres = field(default_factory=dict)
    factor: float = 1.0  # UsageFactor of a QOS
    flags: tuple[str, ...] = ()


@dataclass
class Association:
    """An account, or a user in an account."""

    name: str
    parent: str  # "" of the root
    limits: Limits = field(default_factory=Limits)
    default_qos: str = ""


@dataclass
class Database:
    """What slurmctld has from slurmdbd, and how it is enforced."""

    associations: dict[str, Association]  # "account", "account/user"
    qos: dict[str, Limits]
    of_partition: dict[str, str] = field(default_factory=dict)  # QOS
    safe: bool = False
    stop: bool = False  # assoc_limit_stop
    decay: float = 1.0  # what is left of usage after a second


@dataclass
class Used:
    """What a QOS or an association has used: resource seconds, and seconds."""

    tres: dict[str, float] = field(default_factory=dict)
    wall: float = 0.0


NODE_WORDS = {"cpu": "Cpu", "node": "Node", "mem": "Memory"}


class LimitedSlurm(Slurm):
    """The controller with limits; a node has one CPU."""

    def __init__(self, config: Config, jobs: list[Job], ops: list[Op], database: Database):
        super().__init__(config, jobs, ops)
        self.db = database
        self.used: dict[str, Used] = {}
        self.charged: dict[int, int] = {}  # up to when, by id of what runs
        self.reason: dict[int, str] = {}  # of those that wait for a limit
        self.blocked_until: dict[str, int] = {}  # assoc_limit_stop, in one cycle: by QOS
        self.trying = ""  # the partition
        self.refused: list[Job] = []

    # ------------------------------------------------------------------ whose limits

    def chain(self, job: Job) -> list[str]:
        """The associations of a job, from its user's up to the root."""
        names, name = [], f"{job.account}/{job.user}"
        while name:
            names.append(name)
            name = self.db.associations[name].parent
        return names

    def qos_of(self, job: Job, part: str) -> list[str]:
        """QOS 1 and QOS 2: the partition's first, but where the job's says OverPartQOS."""
        own = job.qos or self.db.associations[self.chain(job)[0]].default_qos
        names = [name for name in (self.db.of_partition.get(part, ""), own) if name]
        if own and "OverPartQOS" in self.db.qos[own].flags:
            names.reverse()
        return list(dict.fromkeys(names))

    def holders(self, job: Job, part: str) -> list[str]:
        """All that count what a job has, as keys."""
        return [f"qos {name}" for name in self.qos_of(job, part)] + [f"assoc {n}" for n in self.chain(job)]

    def tres_of(self, job: Job) -> Tres:
        return {"cpu": job.nodes, "node": job.nodes}

    def running(self, chosen: Callable[[Job], bool]) -> list[Job]:
        return [job for job in self.seen if job.state == RUNNING and chosen(job)]

    def in_qos(self, name: str, job: Job | None = None, by: str = "") -> list[Job]:
        """Who runs in a QOS: all, or those of the job's user or account."""
        return self.running(
            lambda other: (
                name in self.qos_of(other, other.part)
                and (not by or getattr(other, by) == getattr(job, by))
            )
        )

    def in_association(self, name: str) -> list[Job]:
        return self.running(lambda other: name in self.chain(other))

    def sum_tres(self, jobs: list[Job], kind: str) -> int:
        return sum(self.tres_of(job)[kind] for job in jobs)

    def run_minutes(self, jobs: list[Job], kind: str) -> int:
        """What they may yet use, as of the last computation."""
        left = 0.0
        for job in jobs:
            seconds = job.limit * 60 - (self.charged.get(job.id, job.start) - job.start)
            left += self.tres_of(job)[kind] * max(seconds, 0) * self.factor(job)
        return int(left) // 60

    def factor(self, job: Job) -> float:
        own = job.qos or self.db.associations[self.chain(job)[0]].default_qos
        return self.db.qos[own].factor if own else 1.0

    # ------------------------------------------------------------------ before nodes are looked for

    def pre_select(self, job: Job, part: str) -> str:
        """The reason for which it must wait; "" if none. An older reason is gone."""
        self.reason.pop(job.id, None)
        found = next(self._pre_select(job, part), "")
        if found:
            self.reason[job.id] = found
        return found

    def _pre_select(self, job: Job, part: str) -> Iterator[str]:
        names, set_by_qos = self.qos_of(job, part), set()

        def first(kind: str, limits: Limits) -> int | None:
            """The limit, if no QOS before had one of its kind."""
            value = getattr(limits, kind)
            if value is None or kind in set_by_qos:
                return None
            set_by_qos.add(kind)
            return value

        for name in names:
            limits = self.db.qos[name]
            if (most := first("grp_jobs", limits)) is not None and len(self.in_qos(name)) >= most:
                yield "QOSGrpJobsLimit"
            if (most := first("grp_wall", limits)) is not None and self._wall_reached(job, "qos " + name, most):
                yield "QOSGrpWallLimit"
            if (most := first("max_jobs_pa", limits)) is not None:
                if len(self.in_qos(name, job, "account")) >= most:
                    yield "MaxJobsPerAccount"
            if (most := first("max_jobs_pu", limits)) is not None:
                if len(self.in_qos(name, job, "user")) >= most:
                    yield "QOSMaxJobsPerUserLimit"
            if (most := first("max_wall", limits)) is not None and job.limit > most:
                yield "QOSMaxWallDurationPerJobLimit"
        for level, name in enumerate(self.chain(job)):
            limits = self.db.associations[name].limits
            if limits.grp_jobs is not None and "grp_jobs" not in set_by_qos:
                if len(self.in_association(name)) >= limits.grp_jobs:
                    yield "AssocGrpJobsLimit"
            if limits.grp_wall is not None and "grp_wall" not in set_by_qos:
                if self._wall_reached(job, "assoc " + name, limits.grp_wall):
                    yield "AssocGrpWallLimit"
            if level:
                continue
            if limits.max_jobs is not None and not set_by_qos & {"max_jobs_pa", "max_jobs_pu"}:
                if len(self.in_association(name)) >= limits.max_jobs:
                    yield "AssocMaxJobsLimit"
            if limits.max_wall is not None and "max_wall" not in set_by_qos and job.limit > limits.max_wall:
                yield "AssocMaxWallDurationPerJobLimit"

    def _wall_reached(self, job: Job, holder: str, most: int) -> bool:
        used = int(self.used.get(holder, Used()).wall) // 60
        return used >= most or (self.db.safe and used + job.limit > most)

    def too_many_nodes(self, job: Job, part: str) -> str:
        """The reason for which so many nodes are never allowed at once; "" if none."""
        nodes = job.nodes
        for kind, word in (
            ("max_tres_pa", "QOSMaxNodePerAccount"),
            ("max_tres", "QOSMaxNodePerJobLimit"),
            ("max_tres_pu", "QOSMaxNodePerUserLimit"),
            ("grp_tres", "QOSGrpNodeLimit"),
        ):
            values = [getattr(self.db.qos[name], kind).get("node") for name in self.qos_of(job, part)]
            most = next((value for value in values if value is not None), None)
            if most is not None and nodes > most:
                return word
        by_qos = {
            kind: any("node" in getattr(self.db.qos[name], kind) for name in self.qos_of(job, part))
            for kind in ("grp_tres", "max_tres")
        }
        for level, name in enumerate(self.chain(job)):
            limits = self.db.associations[name].limits
            if not by_qos["grp_tres"] and nodes > limits.grp_tres.get("node", nodes):
                return "AssocGrpNodeLimit"
            if level == 0 and not by_qos["max_tres"] and nodes > limits.max_tres.get("node", nodes):
                return "AssocMaxNodePerJobLimit"
        return ""

    # ------------------------------------------------------------------ once there are nodes

    def post_select(self, job: Job, part: str) -> str:
        """The reason for which it must wait with the nodes that it would get; "" if none."""
        self.reason.pop(job.id, None)
        found = next(self._post_select(job, part), "")
        if found:
            self.reason[job.id] = found
        return found

    def _post_select(self, job: Job, part: str) -> Iterator[str]:
        asks, hidden = self.tres_of(job), set()
        for name in self.qos_of(job, part):
            limits = self.db.qos[name]
            jobs = self.in_qos(name)
            mine, ours = self.in_qos(name, job, "user"), self.in_qos(name, job, "account")
            yield from self._group(job, "QOS", limits, f"qos {name}", jobs, hidden)
            for kind, word, used in (
                ("max_tres", "QOSMax{}PerJobLimit", []),
                ("max_tres_pa", "QOSMax{}PerAccount", ours),
                ("max_tres_pu", "QOSMax{}PerUserLimit", mine),
            ):
                for res, most in getattr(limits, kind).items():
                    if (kind, res) in hidden:
                        continue
                    hidden.add((kind, res))
                    if asks[res] + self.sum_tres(used, res) > most:
                        yield word.format(NODE_WORDS[res])
            for res, most in limits.max_tres_mins.items():
                if ("max_tres_mins", res) not in hidden and asks[res] * job.limit > most:
                    yield f"QOSMax{NODE_WORDS[res]}MinutesPerJobLimit"
                hidden.add(("max_tres_mins", res))
            for res, least in limits.min_tres.items():
                if asks[res] < least:
                    yield f"QOSMin{NODE_WORDS[res]}NotSatisfied"
        for level, name in enumerate(self.chain(job)):
            limits = self.db.associations[name].limits
            above = set(hidden)
            yield from self._group(job, "Assoc", limits, f"assoc {name}", self.in_association(name), above)
            if level:
                continue
            for res, most in limits.max_tres.items():
                if ("max_tres", res) not in hidden and asks[res] > most:
                    yield f"AssocMax{NODE_WORDS[res]}PerJobLimit"
            for res, most in limits.max_tres_mins.items():
                if ("max_tres_mins", res) not in hidden and asks[res] * job.limit > most:
                    yield f"AssocMax{NODE_WORDS[res]}MinutesPerJobLimit"

    def _group(
        self, job: Job, whose: str, limits: Limits, holder: str, jobs: list[Job], hidden: set
    ) -> Iterator[str]:
        """Limits of all jobs of a QOS or an association together; those that were met before are hidden."""
        asks = self.tres_of(job)
        for res, most in limits.grp_tres_mins.items():
            if ("grp_tres_mins", res) in hidden:
                continue
            hidden.add(("grp_tres_mins", res))
            used = int(self.used.get(holder, Used()).tres.get(res, 0)) // 60
            wanted = int(asks[res] * job.limit * self.factor(job))
            over = wanted > most or wanted + self.run_minutes(jobs, res) > most - used
            if used >= most or (self.db.safe and over):
                yield f"{whose}Grp{NODE_WORDS[res].upper() if res == 'cpu' else NODE_WORDS[res]}MinutesLimit"
        for res, most in limits.grp_tres.items():
            if ("grp_tres", res) in hidden:
                continue
            hidden.add(("grp_tres", res))
            if asks[res] + self.sum_tres(jobs, res) > most:
                yield f"{whose}Grp{NODE_WORDS[res]}Limit"
        for res, most in limits.grp_tres_run_mins.items():
            if ("grp_tres_run_mins", res) in hidden:
                continue
            hidden.add(("grp_tres_run_mins", res))
            wanted = int(asks[res] * job.limit * self.factor(job))
            if wanted + self.run_minutes(jobs, res) > most:
                yield f"{whose}Grp{NODE_WORDS[res].upper() if res == 'cpu' else NODE_WORDS[res]}RunMinutesLimit"

    # ------------------------------------------------------------------ at submission

    def _submit(self, job: Job, now: int) -> None:
        if self._too_many_submitted(job):
            job.state = REFUSED
            self.by_id[job.id] = job
            self.jobs.remove(job)
            self.refused.append(job)
            return
        super()._submit(job, now)

    def _too_many_submitted(self, job: Job) -> bool:
        part, hidden = job.partitions[0], set()
        there = [other for other in self.seen if other.state in (PENDING, RUNNING)]

        def count(chosen: Callable[[Job], bool]) -> int:
            return sum(map(chosen, there))

        def full(kind: str, limits: Limits, many: int) -> bool:
            most = getattr(limits, kind)
            if most is None or kind in hidden:
                return False
            hidden.add(kind)
            return many >= most

        for name in self.qos_of(job, part):
            limits, own = self.db.qos[name], [o for o in there if name in self.qos_of(o, o.partitions[0])]
            if full("grp_submit", limits, len(own)):
                return True
            if full("max_submit_pa", limits, sum(other.account == job.account for other in own)):
                return True
            if full("max_submit_pu", limits, sum(other.user == job.user for other in own)):
                return True
        by_qos = set(hidden)
        for level, name in enumerate(self.chain(job)):
            limits, many = self.db.associations[name].limits, count(lambda o, name=name: name in self.chain(o))
            if "grp_submit" not in by_qos and limits.grp_submit is not None and many >= limits.grp_submit:
                return True
            if level == 0 and limits.max_submit is not None and not by_qos & {"max_submit_pa", "max_submit_pu"}:
                if many >= limits.max_submit:
                    return True
        return False

    # ------------------------------------------------------------------ what was used

    def _recalculate(self, now: int) -> None:
        for used in self.used.values():
            left = self.db.decay ** self.c.calc_period
            used.wall *= left
            used.tres = {kind: amount * left for kind, amount in used.tres.items()}
        for job in self.running(lambda _: True):
            self._charge(job, now)
        super()._recalculate(now)

    def _charge(self, job: Job, now: int) -> None:
        seconds = (now - self.charged.get(job.id, job.start)) * self.factor(job)
        self.charged[job.id] = now
        if not self.c.multifactor:
            return
        for holder in self.holders(job, job.part):
            used = self.used.setdefault(holder, Used())
            used.wall += seconds
            for kind, amount in self.tres_of(job).items():
                used.tres[kind] = used.tres.get(kind, 0) + amount * seconds

    def _finish(self, job: Job, now: int) -> None:
        self._charge(job, now)
        super()._finish(job, now)

    def _kill(self, job: Job, now: int, state: str) -> None:
        self._charge(job, now)
        super()._kill(job, now, state)

    def _kill_overdue(self, now: int) -> None:
        super()._kill_overdue(now)
        if self.db.safe:
            return
        for job in self.running(lambda _: True):
            if self._used_up(job):
                self._kill(job, now, TIMEOUT)

    def _used_up(self, job: Job) -> bool:
        """Whether a group to which it belongs has used all its minutes, by the last computation."""
        for name in self.holders(job, job.part):
            kind, _, own = name.partition(" ")
            limits = self.db.qos[own] if kind == "qos" else self.db.associations[own].limits
            used = self.used.get(name, Used())
            if any(int(used.tres.get(res, 0)) // 60 >= most for res, most in limits.grp_tres_mins.items()):
                return True
            if limits.grp_wall is not None and int(used.wall) // 60 >= limits.grp_wall:
                return True
        return False

    # ------------------------------------------------------------------ the schedulers

    def waits_for_a_limit(self, job: Job, part: str) -> bool:
        """One that is known to wait for a limit is tested before anything else."""
        return job.id in self.reason and bool(self.pre_select(job, part))

    def may_block(self, job: Job) -> bool:
        return self.db.stop or job.id not in self.reason

    def backfill_cycle(self, now: int) -> None:
        self.blocked_until = {}
        super().backfill_cycle(now)

    def is_limited(self, job: Job, part: str) -> bool:
        if not self.db.stop and self.pre_select(job, part):
            return True
        found = self.too_many_nodes(job, part)
        if found:
            self.reason[job.id] = found
        return bool(found)

    def not_before(self, job: Job, part: str) -> int:
        blocked = [self.blocked_until.get(name, 0) for name in self.qos_of(job, part)]
        return max([super().not_before(job, part), *blocked])

    def after_a_limit(self, now: int, job: Job, later: int) -> int | None:
        reason = self.reason.get(job.id)
        if reason is None:
            return now
        if not self.db.stop:
            return None
        start = later or now + LATER_S
        if reason.startswith("QOSGrp"):
            for name in self.qos_of(job, self.trying):
                self.blocked_until[name] = max(start, self.blocked_until.get(name, 0))
        return start

    def may_plan(self, job: Job, part: str) -> bool:
        return self.db.stop or not self.post_select(job, part)

    def start_on(self, now: int, job: Job, part: str, usable: set[int], by: str) -> bool:
        """select_nodes: a limit may stand against it before nodes are looked for, and once there are."""
        self.trying = part
        found = self.pre_select(job, part) or self.too_many_nodes(job, part)
        if found:
            self.reason[job.id] = found
            return False
        nodes = self.chosen(self.room(), job, part, usable)
        if self.post_select(job, part) or nodes is None:  # also where there will be nodes but later
            return False
        job.part = part
        self._launch(job, now, nodes, by)
        return True
