"""Node events in the plain models, node by node: who is out of service, and what becomes of the jobs there.

DOWN ends the jobs on its nodes: they go back into the queue, or fail. DRAIN lets them run on. In both cases
nothing starts there, and no plan has these nodes, until no event keeps them out any more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.oracle.plain_packing import Draw
from tests.oracle.plain_shared import SharedClock
from tests.oracle.plain_shared_records import Node, Request, Taken, request_of, with_job
from tests.oracle.plain_shared_space import State
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import FAILED, RUNNING, Config, Job, Op
from tests.oracle.records import Component, Outcome, Placement, Rules


@dataclass(frozen=True)
class Event:
    """Nodes, when they go, whether their jobs end, when they are back (None: never), and what of the jobs."""

    time: int
    nodes: frozenset[int]
    down: bool
    end: int | None
    requeue: bool = True


class Calendar:
    """What is due of some events, ends first, and which nodes they keep out."""

    def __init__(self, events: list[Event]) -> None:
        turns = [(event.time, 1, i, event) for i, event in enumerate(events)]
        turns += [(event.end, 0, i, event) for i, event in enumerate(events) if event.end is not None]
        self.turns = sorted(turns, key=lambda turn: turn[:3])
        self.open: list[Event] = []

    @property
    def out(self) -> set[int]:
        return {node for event in self.open for node in event.nodes}

    def next(self) -> int | None:
        return self.turns[0][0] if self.turns else None

    def play(self) -> Event | None:
        """Play the next turn; returns the event, if it begins."""
        _, begins, _, event = self.turns.pop(0)
        if begins:
            self.open.append(event)
            return event
        self.open.remove(event)
        return None

    def is_due(self, now: int) -> bool:
        return bool(self.turns) and self.turns[0][0] <= now


class SlurmWithOutages(Slurm):
    """The controller; ``all_nodes`` are those in service."""

    def __init__(
        self, config: Config, jobs: list[Job], events: list[Event], ops: list[Op] = (), **more: object
    ) -> None:
        super().__init__(config, jobs, ops, **more)
        self.every_node = self.all_nodes
        self.calendar = Calendar(events)
        self.requeued = 0
        self.gone: Job | None = None  # failed with its node last

    def open_to(self, now: int, job: Job, part: str, nodes: set[int]) -> set[int]:
        return super().open_to(now, job, part, nodes) & self.all_nodes

    def in_service(self, nodes: set[int]) -> set[int]:
        return nodes & self.all_nodes

    def _world(self, now: int) -> None:
        super()._world(now)
        while self.calendar.is_due(now):
            before, event = self.calendar.out, self.calendar.play()
            self.all_nodes = self.every_node - self.calendar.out
            down = event.nodes if event is not None and event.down else set()
            hit = [job for job in self.seen if job.state == RUNNING and job.where & down]
            if hit or self.calendar.out != before:  # a node that stays as it was is no news
                self.asks.append(now)
                self.last_change = now
            for job in hit:
                self._lose(job, now, requeue=event.requeue)

    def _lose(self, job: Job, now: int, *, requeue: bool) -> None:
        self.gone = None if requeue else job
        self._kill(job, now, FAILED)
        if requeue:
            job.requeue_at = job.released
            self.requeued += 1

    def _clean_after(self, job: Job, now: int) -> None:
        """Nothing is cleaned of a job that failed with its node."""
        if job is self.gone:
            job.released = now + self.c.epilog
        else:
            super()._clean_after(job, now)

    def _over(self) -> bool:
        coming = bool(self.calendar.turns) or any(job.requeue_at is not None for job in self.seen)
        return not coming and super()._over()


class SharedWithOutages(SharedClock):
    """The reference clock on shared nodes. A node that is out is in no partition, and has nothing on it.

    ``aside`` is what running jobs have of such nodes.
    """

    def __init__(
        self,
        components: list[Component],
        nodes: list[Node],
        rules: Rules,
        events: list[Event],
        draw: Draw | None = None,
    ) -> None:
        super().__init__(components, nodes, rules, draw)
        self.every_node = list(self.nodes)
        self.calendar = Calendar(events)
        self.aside: dict[int, Taken] = {}

    def next_instant(self) -> int | None:
        times = [super().next_instant(), self.calendar.next() if self.unfinished() else None]
        return min((time for time in times if time is not None), default=None)

    def unfinished(self) -> bool:
        return bool(self.to_submit or self.running or self.queue)

    def something_new(self) -> bool:
        return self.calendar.is_due(self.now) or super().something_new()

    def due_submissions(self) -> list[Component]:
        while self.calendar.is_due(self.now):
            event = self.calendar.play()
            self.set_service()
            for row in sorted(self.running) if event is not None and event.down else ():
                if event.nodes & {*self.nodes_of[row], *self.aside.get(row, {})}:
                    self.lose(row, requeue=event.requeue)
        return super().due_submissions()

    def set_service(self) -> None:
        """Take out of the picture what is out, and put back what is not any more."""
        for i in sorted(self.calendar.out ^ self.out):
            back = i in self.out
            self.nodes[i] = self.every_node[i] if back else replace(self.every_node[i], partitions=())
            self.state.left[i] = self.nodes[i].idle
            for row in self.running:
                have, give = (self.nodes_of, self.aside) if back else (self.aside, self.nodes_of)
                if i in give.get(row, {}):
                    gpus = give[row].pop(i)
                    have.setdefault(row, {})[i] = gpus
                    if back:
                        request = request_of(self.components[row])
                        self.state.left[i] = with_job(request, self.nodes[i], self.state.left[i], gpus)
        self.out = self.calendar.out
        self.unplanned_end = True

    def lose(self, row: int, *, requeue: bool) -> None:
        component = self.components[row]
        self.state.remove(request_of(component), self.nodes_of[row])
        self.running.remove(row)
        if requeue:
            self.outcomes[row] = Outcome(eligible=self.outcomes[row].eligible)
            self.aside.pop(row, None)
            del self.nodes_of[row]
            self.queue.append(component)
        else:
            self.outcomes[row].end, self.outcomes[row].state = self.now, "FAILED"

    def ever_fits(self, place: Placement) -> bool:
        assert isinstance(place, Request)
        return State(self.every_node, self.packing).fits(place)

    def had(self, row: int) -> list[int]:
        """Nodes of the run that it ended with."""
        return sorted({*self.nodes_of.get(row, {}), *self.aside.get(row, {})})
