"""What the plain model of Slurm is told: jobs, operations, partitions, parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_PRIORITY = 4294901759  # priority/basic counts down from here

PENDING, RUNNING, COMPLETED, FAILED, TIMEOUT, CANCELLED = (
    "PENDING",
    "RUNNING",
    "COMPLETED",
    "FAILED",
    "TIMEOUT",
    "CANCELLED",
)


@dataclass
class Job:
    """A job as submitted, and what became of it. Times in whole seconds, limits in minutes."""

    id: int
    submit: int
    partitions: list[str]
    nodes: int
    runtime: int
    limit: int
    exit_code: int = 0
    depends: tuple[str, list[tuple[str, list[int], int]]] = (",", [])
    name: str = ""
    user: str = ""
    nice: int = 0
    begin: int = 0
    held: bool = False
    array: int = -1
    array_limit: int = -1  # how many tasks of its array may run at once
    licences: int = 0  # of the one kind that there is
    het: int = 0  # id of the first component of its heterogeneous job, 0 = it is in none
    account: str = ""
    qos: str = ""
    reservation: str = ""
    switches: int = -1  # leaves that it waits for
    switch_wait: int = -1  # seconds, -1 = max_switch_wait

    state: str = PENDING
    eligible: int | None = None
    start: int | None = None
    end: int | None = None
    released: int | None = None  # when its nodes are no longer COMPLETING
    where: set[int] = field(default_factory=set)
    priority: int = 0
    part_priority: dict[str, int] = field(default_factory=dict)
    verdicts: dict[tuple, str] = field(default_factory=dict)  # of each dependency
    free: bool = False  # of all of them
    requeue_at: int | None = None
    by: str = ""
    part: str = ""  # in which it has started
    requeue: bool = True  # whether it may be requeued where it is preempted
    paused: int = 0  # seconds for which it was suspended, up to its last resumption
    paused_since: int | None = None  # it is suspended
    sought: int | None = None  # when nodes were first sought for it
    grace_end: int | None = None  # it is to be preempted, by then at the latest

    @property
    def planned_end(self) -> int:
        end = self.start + self.paused + self.limit * 60
        return end if self.grace_end is None else min(end, self.grace_end)

    def done_at(self, now: int) -> bool:
        """Finished, and its epilog too."""
        return self.state not in (PENDING, RUNNING) and self.released <= now


@dataclass
class Op:
    """Something an operator does to a job."""

    time: int
    kind: str  # cancel, hold, release, requeue, limit, nice, priority
    id: int
    value: int = 0


@dataclass
class Partition:
    nodes: list[int]
    tier: int = 1
    factor: int = 1


@dataclass
class Config:
    """Slurm's parameters by Slurm's names, and the moments of the daemon. Seconds unless said otherwise."""

    partitions: dict[str, Partition]
    nodes: int = 0  # of the cluster; 0: those of the partitions
    kinds: tuple[frozenset[int], ...] = ()  # the nodes of each line NodeName; none: all are of one kind
    origin: int = 0  # epoch of second 0
    daemon_start: int = -8  # all timers of the daemon start here
    builtin: bool = False
    batch_sched_delay: int = 3
    defer: bool = False  # main does not pass at once when nodes are clean
    sched_interval: int = 60
    default_queue_depth: int = 100
    partition_job_depth: int = 0
    bf_interval: int = 30
    bf_resolution: int = 60
    as_19_05: bool = False  # tries at every boundary, counts every turn, tries once more at an overlap
    bf_window: int = 1440 * 60
    bf_max_job_test: int = 500
    bf_node_space_size: int = 0  # 0: as bf_max_job_test
    bf_max_job_user: int = 0
    bf_max_job_part: int = 0
    bf_max_job_user_part: int = 0
    bf_max_job_start: int = 0
    bf_max_job_array_resv: int = 20
    bf_min_age_reserve: int = 0
    bf_min_prio_reserve: int = 0
    bf_one_resv_per_job: bool = False
    bf_running_job_reserve: bool = False
    bf_job_part_count_reserve: int = 0
    kill_invalid_depend: bool = False
    licences: int = 0
    over_time_limit: int = 0  # minutes
    kill_wait: int = 30
    time_limit_period: int = 30
    multifactor: bool = False
    calc_period: int = 300
    max_age: int = 7 * 86400
    weight_age: int = 0
    weight_size: int = 0
    weight_partition: int = 0
    epilog: int = 0  # from the end of a job until its nodes are free
    kill_epilog: int = 1  # the same for a killed job, after KillWait
    kill_epilog_ms: int = 0  # ... and ms that add up to whole seconds
    script_alone: bool = False  # killed jobs have processes on their first node only
    requeue_delay: int = 121
    launch_latency: bool = False
    main_wait_ms: int = 0  # from an end to main's look at it, on average
    backfill_first: bool = False  # which thread looks first within a second
