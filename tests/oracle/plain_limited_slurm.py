"""Slurm's schedulers with limits of associations and QOS, in the plain model: use, and who is passed over.

Read in priority_multifactor.c, job_scheduler.c and backfill.c of 22.05.
"""

from __future__ import annotations

from tests.oracle.plain_limit_checks import LimitChecks
from tests.oracle.plain_limit_records import Used
from tests.oracle.plain_slurm_records import PENDING, RUNNING, TIMEOUT, Job
from tests.oracle.plain_slurm_space import Space, best_fit

ACCRUAL = ("grp_accrue", "max_accrue", "max_accrue_pu", "max_accrue_pa")
LATER_S = 500
"""assoc_limit_stop: so much later one is planned that waits for a limit, where no more nodes are to come."""


class LimitedSlurm(LimitChecks):
    """The controller: what jobs have used is charged, and both schedulers heed limits."""

    # ------------------------------------------------------------------ what was used

    def _recalculate(self, now: int) -> None:
        left = self.db.decay**self.c.calc_period
        for used in self.used.values():
            used.wall *= left
            used.tres = {kind: amount * left for kind, amount in used.tres.items()}
        for job in self.seen:
            if job.state == RUNNING:
                self._charge(job, now)
        super()._recalculate(now)

    def _charge(self, job: Job, now: int) -> None:
        seconds = (now - self.charged.get(job.id, job.start)) * self.factor(job)
        self.charged[job.id] = now
        if not self.c.multifactor:
            return
        for holder in self.holders(job, job.part):
            used = self.used.setdefault(self.key(holder), Used())
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
        for job in self.seen:
            if job.state == RUNNING and not self.db.safe and self._used_up(job):
                self._kill(job, now, TIMEOUT)

    def _used_up(self, job: Job) -> bool:
        """Whether all of a QOS or an association have used their minutes, by the last computation."""
        for holder in self.holders(job, job.part):
            for resource in ("", *self.limits_of(holder).grp_tres_mins):
                most = self.limit(holder, "grp_tres_mins" if resource else "grp_wall", resource)
                if most is not None and self.minutes_used(holder, resource) >= most:
                    return True
        return False

    # ------------------------------------------------------------------ who accrues age

    def age_counts_from(self, job: Job, eligible: int, now: int) -> int:
        return self.accrual.get(job.id, now) if self.limits_age else eligible

    @property
    def limits_age(self) -> bool:
        said = [*self.db.qos.values(), *(one.limits for one in self.db.associations.values())]
        return any(one.of(kind) is not None for one in said for kind in ACCRUAL)

    def give_places(self, now: int) -> None:
        """As a pass begins: one that waits, known to be eligible, accrues age if its limit allows it."""
        for job in self.seen if self.limits_age else ():
            if job.state != PENDING or job.held:
                self.accrual.pop(job.id, None)
                continue
            begun = job.free and 0 < job.begin <= now
            if job.id in self.accrual or (job.eligible is None and not begun):
                continue
            known = job.eligible if job.eligible is not None else job.begin
            if known > now:
                continue
            holder, by, most = self.accrual_limit(job)
            if holder is None:
                self.accrual[job.id] = known
            elif self.accruing(holder, job, by) < most:
                self.accrual[job.id] = now

    def accrual_limit(self, job: Job) -> tuple[str | None, str, int]:
        """The first that is set: of its own QOS, of its association, and of those above."""
        own = self.qos_of(job)
        kinds = (("grp_accrue", ""), ("max_accrue_pa", "account"), ("max_accrue_pu", "user"))
        for kind, by in kinds if own in self.db.qos else ():
            if (most := self.db.qos[own].of(kind)) is not None:
                return f"qos {own}", by, most
        name = f"{job.account}/{job.user}"
        levels = [name]
        while self.db.associations[levels[-1]].parent:
            levels.append(self.db.associations[levels[-1]].parent)
        for level in levels:
            if (most := self.db.associations[level].limits.of("grp_accrue")) is not None:
                return level, "", most
            handed = [self.db.associations[one].limits.of("max_accrue") for one in levels]
            if level == name and (most := next((one for one in handed if one is not None), None)) is not None:
                return level, "", most
        return None, "", 0

    def accruing(self, holder: str, job: Job, by: str) -> int:
        """How many do of those that count together."""
        found = [other for other in self.seen if other.id in self.accrual and other.state == PENDING]
        if holder.startswith("qos "):
            mine = [other for other in found if f"qos {self.qos_of(other)}" == holder]
            return sum(not by or getattr(other, by) == getattr(job, by) for other in mine)
        return sum(holder in self._above(other) for other in found)

    def _above(self, job: Job) -> list[str]:
        levels = [f"{job.account}/{job.user}"]
        while self.db.associations[levels[-1]].parent:
            levels.append(self.db.associations[levels[-1]].parent)
        return levels

    # ------------------------------------------------------------------ the schedulers

    def main_pass(self, now: int, full: bool) -> None:
        self.give_places(now)
        super().main_pass(now, full)

    def waits_for_a_limit(self, job: Job, part: str) -> bool:
        return job.id in self.reason and bool(self.pre_select(job, part))

    def may_block(self, job: Job) -> bool:
        return self.db.stop or job.id not in self.reason

    def backfill_cycle(self, now: int) -> None:
        self.blocked_until: dict[str, int] = {}  # QOS
        self.give_places(now)
        super().backfill_cycle(now)

    def is_limited(self, job: Job, part: str) -> bool:
        if not self.db.stop and self.pre_select(job, part):
            return True
        return bool(self.too_many_nodes(job, part))

    def not_before(self, job: Job, part: str) -> int:
        blocked = [self.blocked_until.get(holder.name, 0) for holder in self.holders(job, part)]
        return max([super().not_before(job, part), *blocked])

    def after_a_limit(self, now: int, job: Job, later: int) -> int | None:
        if job.id not in self.reason:
            return now
        if not self.db.stop:
            return None
        start = later or now + LATER_S
        name = self.blocking.get(job.id, "")
        if name and self.reason[job.id].startswith("QOSGrp"):
            self.blocked_until[name] = max(start, self.blocked_until.get(name, 0))
        return start

    def forgoes_plan(self, job: Job) -> bool:
        own = self.qos_of(job)
        return own in self.db.qos and "NoReserve" in self.db.qos[own].flags

    def may_plan(self, job: Job, part: str) -> bool:
        return self.db.stop or not self.post_select(job, part)

    def start_on(self, now: int, job: Job, part: str, usable: set[int], by: str) -> bool:
        """A limit may stand against it before nodes are looked for, and once there are, now or later."""
        if self.pre_select(job, part) or self.too_many_nodes(job, part):
            return False
        whole = set(self.c.partitions[part].nodes)
        self.weigh_nodes(job, part, whole if by == "main" else self.offered)
        nodes = self.chosen(self.room(), job, part, usable)
        if self.post_select(job, part) or nodes is None:
            return False
        job.part = part
        self._launch(job, now, nodes, by)
        return True

    # ------------------------------------------------------------------ which nodes go first

    def _submit(self, job: Job, now: int) -> None:
        """Slurm looks whether it could ever start, and nodes stay weighed for it."""
        super()._submit(job, now)
        part = job.partitions[0]
        if job.state == PENDING and not (any(self._pre_select(job, part)) or self.has_too_many(job, part)):
            self.nodes_looked_for(job)

    def nodes_looked_for(self, job: Job) -> None:
        self.weigh_nodes(job, job.partitions[0], set(self.c.partitions[job.partitions[0]].nodes))

    def start_planned(self, now: int, job: Job, part: str, avail: set[int], space: Space) -> bool:
        self.offered = avail
        return super().start_planned(now, job, part, avail, space)

    def weigh_nodes(self, job: Job, part: str, nodes: set[int]) -> None:
        """Nodes that count already for a limit of nodes weigh less than others of their kind.

        They do until nodes are looked for again: no matter for which job they are weighed, all predictions of
        starts go by that. A kind of which none counts keeps its weight (``_build_node_list``).
        """
        counted = nodes & self.counted_already(job, part)
        self.heavy -= nodes
        for kind in self.c.kinds or (self.all_nodes,):
            if counted & kind:
                self.heavy |= (nodes & kind) - counted

    def counted_already(self, job: Job, part: str) -> set[int]:
        """The nodes of those that run and count for the limits of nodes that apply to the job."""
        found: set[int] = set()
        for kind, by in (("grp_tres", ""), ("max_tres_pu", "user"), ("max_tres_pa", "account")):
            limits = [(holder, self.limit(holder, kind, "node")) for holder in self.holders(job, part)]
            applies = [(holder, most) for holder, most in limits if most is not None]
            if applies and applies[0][1] < len(self.all_nodes):  # else it binds nobody
                found = found.union(*(other.where for other in self.running(applies[0][0], job, by)))
        return found

    def chosen(self, room: set[int], job: Job, part: str, usable: set[int]) -> set[int] | None:
        idle = room & usable
        if len(idle) < job.nodes:
            return None
        light = idle - self.heavy
        first = min(job.nodes, len(light))
        return best_fit(light, first) | best_fit(idle - light, job.nodes - first)
