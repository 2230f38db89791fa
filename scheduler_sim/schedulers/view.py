"""What a scheduler of the user's own sees in a pass, and what it may do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any, NamedTuple, NoReturn

import numpy as np

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.engine.core.jit import bound
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.own_scheduler import asking
from scheduler_sim.engine.rules.shared_nodes.state import CORES, GPUS, MEMORY, THOUSANDTHS, UP
from scheduler_sim.schedulers.job import Job, Jobs, Placement
from scheduler_sim.schedulers.unlawful import refused

NEVER = INF
"""Later than anything that happens."""


class Queue(Sequence[Job]):
    """Waiting jobs, in the order of the policy; a job that starts leaves it at once."""

    def __init__(self, jobs: Jobs, numbers: list[int]) -> None:
        self._jobs, self._numbers = jobs, numbers

    def __iter__(self) -> Iterator[Job]:
        jobs = self._jobs
        for number in self._numbers:
            job = jobs[number]
            if job.pending:
                yield job

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, at: Any) -> Any:
        return list(self)[at]

    def columns(self, *names: str) -> dict[str, np.ndarray]:
        """Return columns of the jobs that wait, in order: ``nodes``, ``limit``, ``submit``, ``priority``.

        By default all of these, each int64[n].
        """
        wanted = names or ("nodes", "limit", "submit", "priority")
        waiting = list(self)
        return {name: np.array([getattr(job, name) for job in waiting], dtype=np.int64) for name in wanted}


class FreeOnNodes(NamedTuple):
    """Free resources of each node of a shared module; 0 on nodes out of service.

    Attributes
    ----------
    cores, gpus : float64[nodes]
    memory_kb : int64[nodes], KB
    """

    cores: Floats
    memory_kb: Ints
    gpus: Floats


class View:
    """One pass.

    Attributes
    ----------
    now : s on the trace's clock
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs, self.now = jobs, 0
        self._queue: Queue | None = None
        self._free: dict[str, int] | None = None
        self._core: FullCore

    def look_at(self, core: FullCore) -> None:
        """Be a view of this core from now on."""
        self._core = self._jobs.core = core
        self._clock = _numbers(core.clock)
        self._ends = _numbers(core.queue.at)
        self._counted = not (core.rules.complex or core.rules.named)
        self._asked: dict[str, Callable[..., int]] = {}
        self._jobs.forget()
        self.begin()

    def begin(self) -> None:
        """A pass begins."""
        self.now = self._clock.item(0)
        self._queue = self._free = None

    # -- what there is

    @property
    def queue(self) -> Queue:
        """The waiting jobs, in the order of the policy."""
        if self._queue is None:
            head, tail = self._ends.item(1), self._ends.item(2)
            self._queue = Queue(self._jobs, self._core.queue.waiting[head:tail].tolist())
        return self._queue

    @property
    def running(self) -> list[Job]:
        """The running jobs, module by module in order of planned ends, those in reservations last."""
        core, found = self._core, []
        for module in self._jobs.pools:
            pool = core.pools[module]
            rows = core.releases[module]["row"][pool.release_head : pool.release_tail]
            found += [self._jobs[number] for number in rows.tolist() if number >= 0]
        return found

    @property
    def free(self) -> dict[str, int]:
        """Idle nodes in service, by module, and by what each advance reservation has of one."""
        if self._free is None:
            idle = self._core.pools["free"].tolist()
            self._free = {self._jobs.name_of(pool): idle[pool] for pool in self._jobs.pools}
        return self._free

    @property
    def nodes(self) -> dict[str, FreeOnNodes]:
        """Free resources of each node, by module, where jobs share nodes."""
        if not has(self._core, "shared_nodes"):
            return {}
        part, found = self._core.shared_nodes, {}
        for i, name in enumerate(self._jobs.modules):
            of = slice(int(part.module[i].begin), int(part.module[i].end))
            if of.start < of.stop:
                in_service = np.asarray(part.node)["service"][of] == UP
                free = np.where(in_service, np.maximum(part.free[:, of], 0), 0)
                found[name] = FreeOnNodes(free[CORES] / THOUSANDTHS, free[MEMORY], free[GPUS] / THOUSANDTHS)
        return found

    # -- what it may do

    def fits(self, job: Job, placement: Placement | None = None) -> bool:
        """Whether a job could start now, in a placement or in any."""
        if self._counted and job.nodes > self.free[job.module]:
            return False  # as the core would say
        return bool(self._ask("fits")(job.number, _number(placement)))

    def start(self, job: Job, placement: Placement | None = None) -> bool:
        """Start a job now, in a placement.

        By default in the one in which the plan of this pass starts it now, else in the first that fits.
        Returns False, and changes nothing, if it does not fit now. Raises UnlawfulError for a job that cannot
        start whatever is free: it is not pending, is held, or has no such placement.
        """
        if self._counted and job.pending and job.nodes > self.free[job.module]:
            return False  # as the core would say
        answer = self._ask("start")(job.number, _number(placement))
        if answer == asking.DONE:
            self._note(job, pending=False)
            job.take(int(self._core.jobs[job.number].placed))
            self._free = None
            return True
        if answer != asking.NOT_NOW:
            self._refuse("start", job, answer)
        return False

    def earliest_start(self, job: Job, placement: Placement | None = None) -> int:
        """When a job could start, s, given running jobs, planned ends, and the reservations of this pass.

        NEVER if it never fits.
        """
        time = self._ask("earliest_start")(job.number, _number(placement))
        return time if time >= 0 else self._refuse("earliest_start", job, time)

    def reserve(self, job: Job, at: int | None = None, placement: Placement | None = None) -> int:
        """Reserve nodes for a job from ``at`` (s) on, or at its earliest start, for the rest of this pass.

        Returns the start, or NEVER if it does not fit then. If ``at`` is given, a pass is made at that time.
        """
        when = asking.EARLIEST if at is None else min(index(at), NEVER) if at >= 0 else asking.BEFORE_ALL
        time = self._ask("reserve")(job.number, _number(placement), when)
        return time if time >= 0 else self._refuse("reserve", job, time)

    def wake_at(self, time: int) -> None:
        """Request a pass at a time (s), whatever happens; NEVER or later is never."""
        answer = self._ask("wake_at")(min(index(time), NEVER))
        if answer < 0:
            raise refused(f"wake_at({time})", None, self.now, answer)

    def hold(self, job: Job) -> None:
        """Hold a job: it is not in the queue from the next pass on, until ``release``."""
        answer = self._ask("hold")(job.number)
        if answer < 0:
            self._refuse("hold", job, answer)
        self._note(job, pending=False)

    def release(self, job: Job) -> bool:
        """Release a held job, with another pass at this instant; False if it is not held."""
        released = self._ask("release")(job.number) == asking.DONE
        if released:
            self._note(job, pending=True)
        return released

    def _ask(self, what: str) -> Callable[..., int]:
        """What asks the core: made when it is needed first, for some may have to be compiled."""
        if what not in self._asked:
            self._asked[what] = bound(getattr(asking, f"ask_{what}"), self._core)
        return self._asked[what]

    def _note(self, job: Job, *, pending: bool) -> None:
        """Whether a job is in the queue; a scheduler may have kept it since an earlier call of the loop."""
        job.pending = self._jobs[job.number].pending = pending

    def _refuse(self, what: str, job: Job, answer: int) -> NoReturn:
        raise refused(what, job.id, self.now, answer)


def _number(placement: Placement | None) -> int:
    return -1 if placement is None else placement.number


def _numbers(record: Any) -> np.ndarray:
    """The fields of a record, all int64, as they are at any time."""
    return np.frombuffer(record, dtype=np.int64)
