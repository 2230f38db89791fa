"""EASY and EASY-SJBF as pyss makes them: three rules of its own about what happens at one instant.

1. A job that has reached its planned end counts as gone, though its end is still to be handled.
2. Submissions of an instant are handled before its ends.
3. Ends of an instant are handled in the order in which the jobs have started.

After every single event there is a pass. With these rules all recorded starts are met, which the dialects of
the engine miss by a few: none of them has an order of its own for the events of one instant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

SUBMITTED, ENDS = 0, 1


@dataclass(frozen=True)
class Job:
    """A job; times in s."""

    number: int
    submit: int
    nodes: int
    run: int
    limit: int


@dataclass
class Machine:
    """The state of a run: ``running`` has planned ends (s), ``starts`` what is asked for."""

    nodes: int
    shortest_first: bool
    idle: int = 0
    queue: list[Job] = field(default_factory=list)
    running: dict[int, tuple[Job, int]] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    events: list[tuple[int, int, int, Job]] = field(default_factory=list)

    def simulate(self, jobs: list[Job]) -> dict[int, int]:
        """Return the start (s) of each job, by its number."""
        self.idle = self.nodes
        for place, job in enumerate(jobs):
            heappush(self.events, (job.submit, SUBMITTED, place, job))
        while self.events:
            now, kind, _, job = heappop(self.events)
            if kind == ENDS:
                self.idle += job.nodes
                del self.running[job.number]
            else:
                self.queue.append(job)
            self.make_pass(now)
        return self.starts

    def make_pass(self, now: int) -> None:
        """Start jobs in order while they fit, then those that do not delay the first that does not."""
        while self.queue and self.queue[0].nodes <= self.free(now):
            self.start(self.queue[0], now)
        if not self.queue:
            return
        shadow, extra = self.reservation(self.queue[0], now)
        behind = self.queue[1:]
        for job in sorted(behind, key=lambda job: job.limit) if self.shortest_first else behind:
            ends_before = now + job.limit <= shadow
            if job.nodes <= self.free(now) and (ends_before or job.nodes <= extra):
                extra -= 0 if ends_before else job.nodes
                self.start(job, now)

    def free(self, now: int) -> int:
        """Idle nodes, and those of jobs that are past their planned ends."""
        return self.idle + sum(job.nodes for job, end in self.running.values() if end <= now)

    def reservation(self, first: Job, now: int) -> tuple[int, int]:
        """When a job starts at the latest, and what is left over then."""
        there, planned = (
            self.free(now),
            sorted((end, job.nodes) for job, end in self.running.values() if end > now),
        )
        time = now
        for end, nodes in planned:
            if there >= first.nodes and end > time:
                break
            time, there = end, there + nodes
        return time, there - first.nodes

    def start(self, job: Job, now: int) -> None:
        """Start a job; its end stands behind those of jobs that started before it."""
        self.queue.remove(job)
        self.idle -= job.nodes
        self.running[job.number] = job, now + job.limit
        heappush(self.events, (now + job.run, ENDS, len(self.starts), job))
        self.starts[job.number] = now
