"""Power saving in the plain model of Slurm: every node by itself, second by second (power_save.c).

Where jobs share nodes, too: a node with any job on it is not idle, and one that is off or boots may get more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.oracle.plain_cons_tres_records import SharedJob
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_preemption import PreemptingSlurm
from tests.oracle.plain_preemption_shared import PreemptingSharedSlurm
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import RUNNING, Config, Job
from tests.oracle.plain_slurm_space import best_fit
from tests.oracle.plain_topology import TopologySharedSlurm, TopologySlurm


@dataclass(frozen=True)
class Power:
    """Slurm's parameters, seconds; a shutdown takes ``stop``, and no more than ``suspend_timeout``."""

    suspend_time: int
    suspend_timeout: int
    boot: int
    stop: int
    suspend_rate: int = 60
    resume_rate: int = 300
    interval: int = 10
    never: frozenset[int] = frozenset()
    kept: tuple[tuple[frozenset[int], int], ...] = ()


class PowerSavingSlurm(Slurm):
    """The controller; ``all_nodes`` are those that jobs may have, ``every`` has those of no partition."""

    def __init__(
        self, config: Config, jobs: list[Job], power: Power, every: Iterable[int], **shared: Any
    ) -> None:
        super().__init__(config, jobs, **shared)
        self.power, self.every = power, frozenset(every)
        self.served = frozenset(self.all_nodes)
        self.off: set[int] = set()
        self.booting: dict[int, int] = {}  # until when
        self.stopping: dict[int, int] = {}
        self.leaving: dict[int, int] = {}  # since when
        self.unheld: set[int] = set()
        self.configuring: list[Job] = []
        first = min(job.submit for job in jobs)
        self.idle = dict.fromkeys(self.every, first)  # since when
        self.looked = self.changed = first - 1
        self.begins = first
        self.suspended = self.resumed = 0.0

    # ------------------------------------------------------------------ the thread

    def _ends(self, now: int, phase: int) -> None:
        if phase == int(self.c.backfill_first) and now >= self.begins:
            self._power(now)
        super()._ends(now, phase)
        if phase == 2:
            self._note_idle(now)

    def _power(self, now: int) -> None:
        for node in [node for node, until in self.stopping.items() if until <= now]:
            del self.stopping[node]
            self.off.add(node)
        for node in [node for node, until in self.booting.items() if until <= now]:
            del self.booting[node]
            self.changed = now
            if node in self.unheld:
                self.unheld.remove(node)
                self.idle[node] = now
                self.last_change = now
        for job in [job for job in self.configuring if self._is_ready(job)]:
            self.configuring.remove(job)
            job.start, job.by, self.last_change = now, "main", now
            if job.grace_end is not None:
                job.grace_end = now + job.limit * 60
        following = self.looked + self.power.interval
        if self.changed >= self.looked:
            following = min(following, self.changed + 1)
        if now == following:
            self._look(now)
        self._serve()

    def _is_ready(self, job: Job) -> bool:
        return not job.where & (self.off | set(self.booting))

    def _look(self, now: int) -> None:
        rest = max(60 - (now - self.looked), 0) / 60
        self.suspended, self.resumed, self.looked = self.suspended * rest, self.resumed * rest, now
        self._resume(now)
        stays = set(self.power.never)
        for nodes, number in self.power.kept:
            stays |= set(sorted(nodes & self._on_and_idle())[:number])
        count = int(self.suspended + 0.5)
        for node in sorted(self._on_and_idle() - stays):
            if self.idle[node] + self.power.suspend_time >= now:
                continue
            if self.power.suspend_rate and count >= self.power.suspend_rate:
                break
            self.leaving[node] = now
            del self.idle[node]
            if self.power.stop:
                self.stopping[node] = now + self.power.stop
            else:
                self.off.add(node)
            self.suspended, count = self.suspended + 1, count + 1
        over = now - self.power.suspend_timeout
        for node in [node for node, since in self.leaving.items() if since < over]:
            del self.leaving[node]

    def _resume(self, now: int) -> None:
        """A node for which several jobs wait counts for each of them."""
        count, woken = int(self.resumed + 0.5), set()
        for job in self.configuring:
            for node in sorted(job.where & self.off):
                if self.power.resume_rate and count >= self.power.resume_rate:
                    break
                woken.add(node)
                self.resumed, count = self.resumed + 1, count + 1
        self.off -= woken
        self.booting |= dict.fromkeys(woken, now + self.power.boot)

    def _on_and_idle(self) -> set[int]:
        return set(self.idle) - self.off - set(self.booting) - set(self.leaving)

    def _serve(self) -> None:
        self.all_nodes = set(self.served) - set(self.leaving) - self.unheld

    def _note_idle(self, now: int) -> None:
        """Nodes that nobody has are idle since they were given back, or once they are up."""
        held = self.allocated() | self.completing(now)
        for node in self.every - held - self.off - set(self.leaving) - self.unheld - set(self.idle):
            if node in self.booting:
                self.unheld.add(node)
            else:
                self.idle[node] = now
        self._serve()

    # ------------------------------------------------------------------ jobs

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        super()._launch(job, now, nodes, by)
        self.changed = now
        for node in nodes:
            self.idle.pop(node, None)
        if nodes & (self.off | set(self.booting)):
            self.configuring.append(job)

    def _is_done(self, job: Job, now: int) -> bool:
        return job not in self.configuring and super()._is_done(job, now)

    def end_overdue(self, job: Job, now: int) -> None:
        if job not in self.configuring:
            super().end_overdue(job, now)

    def _kill(self, job: Job, now: int, state: str) -> None:
        """One that waits for its nodes has not begun."""
        if job in self.configuring:
            job.start = now
        super()._kill(job, now, state)
        if job in self.configuring:
            self.configuring.remove(job)

    def _finish(self, job: Job, now: int) -> None:
        super()._finish(job, now)
        if job.released == now:
            self.changed = now

    def _clean_up(self, now: int) -> None:
        back = any(job.released == now and job.state != RUNNING and job.end < now for job in self.seen)
        super()._clean_up(now)
        if back:
            self.changed = now
            self._note_idle(now)

    def _over(self) -> bool:
        return not self.configuring and not self.leaving and not self.booting and super()._over()

    # ------------------------------------------------------------------ nodes

    def chosen(self, room: set[int], job: Job, part: str, usable: set[int]) -> set[int] | None:
        """Nodes that are off come last."""
        idle = room & usable
        if len(idle) < job.nodes:
            return None
        on = idle - self.off
        if len(on) >= job.nodes:
            return best_fit(on, job.nodes)
        return on | best_fit(idle & self.off, job.nodes - len(on))


class PowerSavingHetSlurm(PowerSavingSlurm):
    """With heterogeneous jobs: the components wait for one another's nodes, and begin together."""

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        super()._launch(job, now, nodes, by)
        together = self._running(job)
        if any(other in self.configuring for other in together):
            self.configuring += [other for other in together if other not in self.configuring]

    def _is_ready(self, job: Job) -> bool:
        return all(super(PowerSavingHetSlurm, self)._is_ready(other) for other in self._running(job))

    def _running(self, job: Job) -> list[Job]:
        """It, and the other components of its job that run."""
        family = self.families[job.het] if job.het else [job]
        return [other for other in family if other.state == RUNNING]


class PowerSavingSharedSlurm(PowerSavingSlurm, SharedSlurm):
    """The same where jobs share nodes."""

    def room(self) -> Room:
        room = super().room()
        room.asleep = frozenset(self.off)
        return room

    def chosen(self, room: Room, job: SharedJob, part: str, usable: set[int]) -> set[int] | None:
        return SharedSlurm.chosen(self, room, job, part, usable & self.all_nodes)

    def start_on(self, now: int, job: SharedJob, part: str, usable: set[int], by: str) -> bool:
        return super().start_on(now, job, part, usable & self.all_nodes, by)


class PowerSavingTopologySlurm(PowerSavingSlurm, TopologySlurm):
    """Whole nodes that are chosen by where they lie: those that are off weigh most."""

    def chosen(self, room: set[int], job: Job, part: str, usable: set[int]) -> set[int] | None:
        if self.optional and job.switches <= 0:
            return PowerSavingSlurm.chosen(self, room, job, part, usable)
        stated = self.weights
        self.weights = stated | dict.fromkeys(self.off, max(stated.values()) + 1)
        found = TopologySlurm.chosen(self, room, job, part, usable)
        self.weights = stated
        return found


class PowerSavingTopologySharedSlurm(PowerSavingSharedSlurm, TopologySharedSlurm):
    """The same where jobs share nodes."""

    def chosen(self, room: Room, job: SharedJob, part: str, usable: set[int]) -> set[int] | None:
        return TopologySharedSlurm.chosen(self, room, job, part, usable & self.all_nodes)


class PowerSavingPreemptingSlurm(PowerSavingSlurm, PreemptingSlurm):
    """Beside preemption: to make room for a job others go only if those that are off do not do."""

    def _note_run(self, job: Job) -> None:
        if job not in self.configuring:
            super()._note_run(job)


class PowerSavingPreemptingSharedSlurm(PowerSavingSharedSlurm, PreemptingSharedSlurm):
    """The same where jobs share nodes."""

    def _note_run(self, job: SharedJob) -> None:
        if job not in self.configuring:
            super()._note_run(job)
