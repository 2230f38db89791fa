"""A slow, plain model of Slurm's two schedulers: whole seconds, node identities as Python sets.

The rules were read in Slurm 22.05's source (job_scheduler.c, backfill.c, controller.c, job_test.c of
cons_common) and checked on recordings of a running Slurm. One second of the world is handled after the other;
nothing is skipped and nothing is clever. Features are left out, and of heterogeneous jobs all that has to do
with limits: their components end together.

The daemon has two threads that look at the world once a second. Main passes happen only in the background
loop: when something was queued and batch_sched_delay has passed since the last, and every sched_interval.
Backfill sleeps bf_interval after a cycle, then asks every second whether anything has changed since.
"""

from __future__ import annotations

from math import floor

from tests.oracle.plain_slurm_passes import Passes
from tests.oracle.plain_slurm_reasons import BEGIN, DEPENDENCY, HELD, NEVER_MET, NONE
from tests.oracle.plain_slurm_records import (
    CANCELLED,
    COMPLETED,
    FAILED,
    FIRST_PRIORITY,
    PENDING,
    RUNNING,
    TIMEOUT,
    Config,
    Job,
    Op,
)


class Slurm(Passes):
    """The controller: `run` plays a workload and leaves the fates in the jobs."""

    def __init__(self, config: Config, jobs: list[Job], ops: list[Op] = ()):
        self.c = config
        self.jobs = sorted(jobs, key=lambda job: (job.submit, job.het or job.id, job.id))
        self.ops = sorted(ops, key=lambda op: op.time)
        self.all_nodes = set().union(*(set(p.nodes) for p in config.partitions.values()))
        self.seen: list[Job] = []
        self.by_id: dict[int, Job] = {}
        self.families: dict[int, list[Job]] = {}
        self.next_priority = FIRST_PRIORITY
        d = config.daemon_start
        self.last_limit = self.last_full = self.last_sched = self.last_calc = d
        self.asks: list[int] = []  # when passes of main are asked for
        self.cleaned_ms = 500  # of the cleaning of nodes: how late in a second jobs are killed, on average
        self.killed_at: int | None = None
        self.cleans_for = 0
        self.killed: list[int] = []  # by id, since the last pass began
        self.on_first: set[int] = set()  # killed, and COMPLETING on their first node only
        self.at_once = False  # main passes without a delay (`_slurm_rpc_epilog_complete`)
        self.waited_ms = 0  # of main's waits after ends: what whole seconds have yet to make up for
        self.ended_late = False  # something ended in the second before, behind main's look
        self.last_backfill = d
        self.next_poll = d + config.bf_interval
        self.last_change = d - 1
        self.unseen = 0  # 1: nodes that are cleaned up in this second are still COMPLETING
        self.why: dict[int, str] = {}
        self.noted: dict[int, str] = {}
        self.trace: list[tuple] = []
        self.plans = []
        self.cycles = 0

    # ------------------------------------------------------------------ the clock

    def run(self, until: int) -> None:
        for now in range(self.c.daemon_start, until + 1):
            self._ends(now, 0)
            self._world(now)
            self._tick(now)
            self._ends(now, 2)
            if self._over():
                return

    def _over(self) -> bool:
        if len(self.seen) < len(self.jobs) or self.ops:
            return False
        return all(
            job.state not in (PENDING, RUNNING) or (job.state == PENDING and self._stuck(job))
            for job in self.seen
        )

    def _stuck(self, job: Job) -> bool:
        if any(other.state == RUNNING for other in self.seen):
            return False
        return self.now > self.last_change + 200

    def _world(self, now: int) -> None:
        """What happens outside the daemon: completions, submissions, operators."""
        self.now = now
        if not self.c.backfill_first:
            self._clean_up(now)
        while len(self.seen) < len(self.jobs) and self.jobs[len(self.seen)].submit <= now:
            self._submit(self.jobs[len(self.seen)], now)
        while self.ops and self.ops[0].time <= now:
            self._operate(self.ops.pop(0), now)

    def _clean_up(self, now: int) -> None:
        """Slurmd says that nodes are clean of what was killed, or an epilog is over: main passes at once."""
        for job in self.seen:
            if job.released == now and job.state != RUNNING and job.end < now:
                self.asks += [now] if self.c.defer else []
                self.at_once = self.at_once or not self.c.defer
                self.last_change = now
                if job.requeue_at is not None:
                    self._back_to_queue(job, now)

    def _ends(self, now: int, phase: int) -> None:
        """Jobs that end in this second: before both threads look (phase 0), between (1) or after them (2)."""
        ended = False
        for job in self.seen:
            if self._is_done(job, now) and self._ends_in(job, phase):
                self._finish(job, now)
                ended = ended or job.released == now
        if phase == 2:
            self.ended_late = ended
        if ended:
            self.asks.append(now + (0 if phase == 2 or self.ended_late else self._wait_of_main()))

    def _ends_in(self, job: Job, phase: int) -> bool:
        return self._end_phase(job) <= phase

    def _is_done(self, job: Job, now: int) -> bool:
        works = job.state == RUNNING and job.paused_since is None
        return works and job.start + job.paused + job.runtime <= now

    def _wait_of_main(self) -> int:
        """Whole seconds until main looks at what ended, fractions added up; what ended late has waited."""
        self.waited_ms += self.c.main_wait_ms
        wait, self.waited_ms = divmod(self.waited_ms, 1000)
        return wait

    def _end_phase(self, job: Job) -> int:
        """With a launch latency a job that backfill started ends just after a look of backfill, as it began.

        One that main started ends just before main's look: the loop's drift is longer than the latency.
        """
        if not self.c.launch_latency:
            return 0
        if self.c.backfill_first:
            return 1
        return 2 if job.by == "backfill" else 0

    def _tick(self, now: int) -> None:
        """The two threads of the daemon, in the order of their looks within the second."""
        if self.c.backfill_first:
            self.unseen = 1
            self._poll_backfill(now)
            self.unseen = 0
            self._ends(now, 1)
            self._clean_up(now)
            self._loop(now)
        else:
            self._loop(now)
            self._ends(now, 1)
            self._poll_backfill(now)

    def _loop(self, now: int) -> None:
        """One turn of the background loop; the first is a second after the start."""
        c = self.c
        if now == c.daemon_start:
            return
        if c.multifactor and now - self.last_calc >= c.calc_period:
            self.last_calc = now
            self._recalculate(now)
        if now - self.last_limit >= c.time_limit_period:
            self.last_limit = now
            self._kill_overdue(now)
        full = now - self.last_full >= c.sched_interval
        if full:
            self.last_full = now
        asked = any(time <= now for time in self.asks)
        if full or (asked and now - self.last_sched >= c.batch_sched_delay):
            self.asks = [time for time in self.asks if time > now]
            self.last_sched = now
            self.at_once = False
            self.main_pass(now, full)
            self._test_all(now)
        elif (
            self.at_once
        ):  # no turn of the loop: its delays count on, and what was asked for is still to come
            self.at_once = False
            self.main_pass(now, False)
            self._test_all(now)

    def _poll_backfill(self, now: int) -> None:
        if self.c.builtin or now < self.next_poll:
            return
        if now - self.last_backfill < self.c.bf_interval or self.last_change < self.last_backfill:
            self.next_poll = now + 1
            return
        self.backfill_cycle(now)
        self.cycles += 1
        self.last_backfill = now
        self.next_poll = now + self.c.bf_interval

    # ------------------------------------------------------------------ lives of jobs

    def _submit(self, job: Job, now: int) -> None:
        self.seen.append(job)
        self.by_id[job.id] = job
        if job.het:
            self.families.setdefault(job.het, []).append(job)
        self._set_first_priority(job, now)
        self.asks.append(now)
        self.last_change = now
        if job.held:
            self.waits_for(job, HELD)
        self._test(job, now)

    def _finish(self, job: Job, now: int) -> None:
        job.end = now
        allowed = job.planned_end + self.c.over_time_limit * 60
        job.state = FAILED if job.exit_code else TIMEOUT if allowed < now else COMPLETED
        job.released = now + self.c.epilog
        self.last_change = now

    def _kill(self, job: Job, now: int, state: str) -> None:
        job.state = state
        job.end = now
        self._clean_after(job, now)
        self.last_change = now

    def _clean_after(self, job: Job, now: int) -> None:
        """Its nodes are cleaned of what was killed."""
        self.killed.append(job.id)
        job.released = now + self.c.kill_wait + self.c.kill_epilog + self._seconds_of_cleaning(now)

    def clean_unused(self) -> None:
        """Slurmd says of nodes on which a killed job has no process that they are clean, behind a pass."""
        if self.c.script_alone:
            self.on_first |= set(self.killed)
        self.killed.clear()

    def _seconds_of_cleaning(self, now: int) -> int:
        """Whole seconds of the further ms that nodes take, the same for all that are killed in a second."""
        if self.killed_at != now:
            self.killed_at = now
            self.cleans_for, self.cleaned_ms = divmod(self.cleaned_ms + self.c.kill_epilog_ms, 1000)
        return self.cleans_for

    def _kill_overdue(self, now: int) -> None:
        for job in self.seen:
            if job.state == RUNNING and job.planned_end + self.c.over_time_limit * 60 <= now:
                self.end_overdue(job, now)

    def end_overdue(self, job: Job, now: int) -> None:
        self._kill(job, now, TIMEOUT)

    def _back_to_queue(self, job: Job, now: int) -> None:
        job.submit = now
        job.begin = now + self.c.requeue_delay
        job.state, job.start, job.end, job.released, job.requeue_at = PENDING, None, None, None, None
        job.eligible = None
        job.where = set()
        self.forget_reasons(job)
        self.on_first.discard(job.id)

    def _operate(self, op: Op, now: int) -> None:
        job = self.by_id.get(op.id)
        if job is None:
            return
        self.asks.append(now)
        self.last_change = now
        if op.kind == "cancel" and job.state == RUNNING:
            self._kill(job, now, CANCELLED)
        elif op.kind == "cancel" and job.state == PENDING:
            job.state, job.end, job.released = CANCELLED, now, now
        elif op.kind == "hold" and job.state == PENDING:
            job.held = True
            self.waits_for(job, HELD)
        elif op.kind == "release" and job.state == PENDING:
            if job.held:
                job.held, job.eligible = False, None
                self.waits_for(job, NONE)
            self._set_first_priority(job, now)
        elif op.kind == "requeue" and job.state == RUNNING:
            self._kill(job, now, CANCELLED)
            job.requeue_at = job.released
        elif op.kind == "requeue" and job.state not in (PENDING, RUNNING):
            self._back_to_queue(job, now)
        elif op.kind == "limit":
            job.limit = op.value
        elif op.kind == "nice" and job.state == PENDING:
            job.priority += job.nice - op.value
            job.nice = op.value
        elif op.kind == "priority" and job.state == PENDING:
            job.priority = op.value
            job.part_priority = {}

    # ------------------------------------------------------------------ priorities

    def _set_first_priority(self, job: Job, now: int) -> None:
        if self.c.multifactor:
            self._weigh(job, now)
        else:
            job.priority = self.next_priority - job.nice
            self.next_priority -= 1

    def _recalculate(self, now: int) -> None:
        for job in self.seen:
            if job.state == PENDING and not job.held:
                self._weigh(job, now)
                self.last_change = now

    def _weigh(self, job: Job, now: int) -> None:
        c = self.c
        begun = job.begin if job.free and 0 < job.begin <= now else now  # known before a pass looks at it
        since = self.age_counts_from(job, job.eligible if job.eligible is not None else begun, now)
        age = min(1.0, max(0, now - since) / c.max_age)
        size = job.nodes / (c.nodes or len(self.all_nodes))  # nodes and CPUs alike: one CPU per node
        most = max(p.factor for p in c.partitions.values())
        for name in job.partitions:
            part = c.partitions[name].factor / most
            value = c.weight_age * age + c.weight_size * size + c.weight_partition * part - job.nice
            job.part_priority[name] = max(1, floor(value))
        job.priority = job.part_priority[job.partitions[0]]

    def age_counts_from(self, job: Job, eligible: int, now: int) -> int:
        """From when on its age counts."""
        return eligible

    # ------------------------------------------------------------------ eligibility

    def _test_all(self, now: int) -> None:
        for job in self.seen:
            if job.state == PENDING:
                self._test(job, now)

    def _test(self, job: Job, now: int) -> bool:
        """Whether the job may be tried now; kills what can never start, if that is configured.

        Nothing is tested of a job that is held.
        """
        if job.held:
            return False
        verdict = self._dependencies(job, now)
        if verdict == "never" and self.c.kill_invalid_depend:
            job.state, job.end, job.released = CANCELLED, now, now
            self.last_change = now
            return False
        if verdict != "met":
            self.waits_for(job, NEVER_MET if verdict == "never" else DEPENDENCY)
            if job.begin < now:
                job.begin = 0  # it is eligible when the dependencies are met
            return False
        if self.reason_of(job) in (DEPENDENCY, NEVER_MET):
            self.waits_for(job, NONE)
        if job.begin > now:
            self.waits_for(job, BEGIN)
            return False
        if job.eligible is None:
            job.eligible = job.begin or now
        if self.reason_of(job) == BEGIN:
            self.waits_for(job, NONE)
        return True

    def _dependencies(self, job: Job, now: int) -> str:
        """Each dependency is tested until it is met or can never be, all of them until the job is free."""
        joiner, terms = job.depends
        each = [(kind, other, minutes) for kind, ids, minutes in terms for other in ids or [0]]
        for term in each:
            if job.verdicts.get(term, "wait") == "wait":
                job.verdicts[term] = self._term(job, *term, now)
        verdicts = ["met"] if job.free or not each else list(job.verdicts.values())
        job.free = self._joined(joiner, verdicts) == "met"
        return self._joined(joiner, verdicts)

    def _joined(self, joiner: str, verdicts: list[str]) -> str:
        if joiner == "?":
            if "met" in verdicts:
                return "met"
            return "never" if all(v == "never" for v in verdicts) else "wait"
        if "never" in verdicts:
            return "never"
        return "wait" if "wait" in verdicts else "met"

    def _term(self, job: Job, kind: str, other_id: int, minutes: int, now: int) -> str:
        if kind == "singleton":
            same = [o for o in self.seen if o.user == job.user and o.name == job.name and o is not job]
            busy = any(o.state == RUNNING or (o.state == PENDING and o.id < job.id) for o in same)
            return "wait" if busy else "met"
        other = self.by_id.get(other_id)
        if other is None:
            return "met"
        if kind == "after":
            if other.state == PENDING:
                return "wait"
            begun = other.start if other.start is not None else other.end
            return "met" if begun + minutes * 60 <= now else "wait"
        if not other.done_at(now - (self.unseen if other.where else 0)):
            return "wait"
        if other.requeue_at is not None:
            return "wait"
        if kind == "afterany":
            return "met"
        good = other.state == COMPLETED
        return "met" if good == (kind == "afterok") else "never"

    # ------------------------------------------------------------------ nodes

    def allocated(self) -> set[int]:
        return set().union(*(job.where for job in self.seen if job.state == RUNNING))

    def completing(self, now: int) -> set[int]:
        ended = (j for j in self.seen if j.state not in (PENDING, RUNNING) and j.released > now - self.unseen)
        return set().union(
            *({min(job.where)} if job.id in self.on_first else job.where for job in ended if job.where)
        )

    def _launch(self, job: Job, now: int, nodes: set[int], by: str) -> None:
        job.state, job.start, job.where, job.by = RUNNING, now, nodes, by
        self.last_change = now
        self.trace.append((now, by, job.id))
