"""The plain model of Slurm on the clock of a real daemon, in milliseconds.

A daemon's background loop and its backfill thread look at the world once a second, each at a phase of its
own. The loop's phase drifts, because each turn takes a little over a second. What ends just after a look is
seen a second later. Slurm itself computes in whole seconds, and so does the model it inherits from. It shows
that what whole seconds leave unexplained is the phase of the two threads: given it, most recordings are met
to the second.
"""

from __future__ import annotations

from heapq import heappop, heappush

from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import RUNNING, Config, Job, Op


class TimedSlurm(Slurm):
    """`main_phase`, `backfill_phase`: ms into the second of the first looks; the rest is measured (ms)."""

    def __init__(
        self,
        config: Config,
        jobs: list[Job],
        ops: list[Op] = (),
        *,
        main_phase: int,
        backfill_phase: int,
        launch: int = 35,
        submit: int = 50,
        loop_turn: float = 1003.5,
        poll_turn: float = 1000.5,
    ):
        super().__init__(config, jobs, ops)
        self.main_phase, self.backfill_phase = main_phase, backfill_phase
        self.launch, self.submit = launch, submit
        self.loop_turn, self.poll_turn = loop_turn, poll_turn
        self.heap: list[tuple[float, int, str, object]] = []
        self.count = 0

    def at(self, ms: float, kind: str, what: object = None) -> None:
        self.count += 1
        heappush(self.heap, (ms, self.count, kind, what))

    def run(self, until: int) -> None:
        base = self.c.daemon_start * 1000
        for job in self.jobs:
            self.at(job.submit * 1000 + self.submit, "submit", job)
        for op in self.ops:
            self.at(op.time * 1000 + self.submit, "op", op)
        self.ops = []
        self.at(base + self.main_phase, "loop")
        self.at(base + 2000 + self.backfill_phase, "poll")
        while self.heap:
            ms, _, kind, what = heappop(self.heap)
            now = int(ms // 1000)
            if now > until:
                return
            self.now, self.ms = now, ms
            getattr(self, f"_on_{kind}")(now, what)
            if kind == "loop" and self._over():
                return

    def _on_submit(self, now: int, job: Job) -> None:
        self._submit(job, now)

    def _on_op(self, now: int, op: Op) -> None:
        self._operate(op, now)

    def _on_end(self, now: int, what: tuple[Job, int]) -> None:
        job, start = what
        if job.state == RUNNING and job.start == start:
            self._finish(job, now)
            job.released = now  # the epilog is over within the same look
            self.asks.append(now)

    def _on_released(self, now: int, job: Job) -> None:
        self.last_change = now
        job.released = now
        if job.requeue_at is not None:
            self._back_to_queue(job, now)
        if self.c.defer:
            self.asks.append(now)
        else:
            self.main_pass(now, False)
            self._test_all(now)

    def _on_loop(self, now: int, _: None) -> None:
        self.at(self.ms + self.loop_turn, "loop")
        self._loop(now)

    def _on_poll(self, now: int, _: None) -> None:
        if self.c.builtin:
            return
        self.next_poll = now
        cycles = self.cycles
        self._poll_backfill(now)
        turns = self.c.bf_interval if self.cycles > cycles else 1
        self.at(self.ms + 1000 * turns + (self.poll_turn - 1000) * turns, "poll")

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        super()._launch(job, now, nodes, by)
        self.at(self.ms + job.runtime * 1000 + self.launch, "end", (job, now))

    def _kill(self, job: Job, now: int, state: str) -> None:
        super()._kill(job, now, state)
        wait = self.c.kill_wait + self.c.kill_epilog
        job.released = now + wait + 2
        self.at(self.ms + wait * 1000 + self.c.kill_epilog_ms, "released", job)
