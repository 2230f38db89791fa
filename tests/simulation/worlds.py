"""Small simulations, which have every rule there is between them: for what is to hold of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scheduler_sim import Policy, Simulation, System, Workload
from tests.engine.test_every_rule import LIMITS, RESERVED, shares
from tests.engine.test_every_rule import simulation as ruled
from tests.simulation.test_power_cap import models as capped
from tests.simulation.test_power_cap import series

JOBS = 40
WHOLE: dict[str, Any] = {"modules": [{"name": "A", "nodes": 6}, {"name": "B", "nodes": 4}]}
TIERED = WHOLE | {
    "partitions": [
        {"name": "low", "module": "A", "priority": 1},
        {"name": "high", "module": "A", "priority": 2},
    ]
}
BOOKED = WHOLE | {"reservations": RESERVED}
SHARED: dict[str, Any] = {
    "modules": [{"name": "A", "nodes": 12, "shared": True, "cores_per_node": 4, "gpus_per_node": 2}]
}
FAILING = {"failures": [{"module": name, "mtbf": 60, "repair": {"mean": 5}} for name in "AB"]}
WRITING = {"types": [{"name": "a", "percent": 100, "checkpoint": {"interval": 4, "cost": 1, "restart": 2}}]}
EVENTS: dict[str, Any] = {
    "events": [
        {"time": 7, "state": "DOWN", "module": "A", "nodes": "0-2", "end": 25},
        {"time": 9, "state": "DRAIN", "module": "A", "nodes": "1,4", "end": 30},
        {"time": 30, "state": "DRAIN", "module": "B", "count": 2, "end": 44},
    ]
}
TREE = {"topology": {"levels": [4]}}
LEAVES = {"topology": {"switches": [{"name": "s", "nodes": ["A[0-2]"]}, {"name": "t", "nodes": ["A[3-5]"]}]}}


def jobs(**columns: Any) -> Workload:
    """Jobs on partition A, most of them of users with an account and a QOS."""
    draw = np.random.default_rng(11)
    submit = np.cumsum(draw.integers(0, 4, JOBS))
    run = draw.integers(1, 30, JOBS)
    made: dict[str, Any] = {
        "submit_time": submit,
        "run_time": run,
        "time_limit": run + draw.integers(0, 30, JOBS),
        "nodes": draw.integers(1, 5, JOBS),
        "user": draw.choice(["u", "v", "w"], JOBS),
        "partition": draw.choice(["A", "A", "B"], JOBS),
        "begin_time": submit + draw.choice([-1, -1, -1, 12], JOBS),
    }
    return Workload.from_columns(**(made | columns))


def drawn(*kinds: Any) -> list[Any]:
    """One of some kinds for each job."""
    return np.random.default_rng(len(kinds)).choice(kinds, JOBS).tolist()  # type: ignore[no-any-return]


def on(system: dict[str, Any], policy: Any, workload: Workload | None = None, **more: Any) -> Simulation:
    """A simulation of these jobs."""
    given = Policy(**policy) if isinstance(policy, dict) else policy
    return Simulation(System.from_dict(system), workload or jobs(), given, seed=3, **more)


def slurm(**keys: Any) -> dict[str, Any]:
    return {"backfill": "slurm", "slurm": keys}


def with_slack(limit: float, wait: float, nodes: float) -> float:
    """An order of the user's own, which depends on time."""
    return limit * nodes - 3 * wait


def in_turns(nodes: float, now: float) -> bool:
    """A veto: large jobs start in every other span of 20 s."""
    return nodes < 3 or now % 40 < 20


def by_size(nodes: float, limit: float) -> float:
    """A rank of placements."""
    return nodes * limit


class Wavering:
    """A scheduler of the user's own, with state: what it has seen, and a random stream."""

    def __init__(self) -> None:
        self.draw = np.random.default_rng(5)
        self.seen: list[Any] = []
        self.started = 0

    def schedule(self, view: Any) -> None:
        """Start jobs in an order that depends on all that was before."""
        queue = list(view.queue)
        self.draw.shuffle(queue)
        for job in sorted(queue, key=lambda job: job in self.seen):
            self.started += view.start(job)
        self.seen = [*self.seen[-4:], *queue[:2]]


def parts_of_nodes(**more: Any) -> Workload:
    """Jobs that ask for cores and GPUs, some for parts of one."""
    none = np.zeros(JOBS, dtype=np.int64)
    each = {"cores": drawn(1, 2, 4), "partition": ["A"] * JOBS, "begin_time": none - 1}
    return jobs(**(each | more))


def shared_slurm() -> Simulation:
    module = {"name": "CM", "nodes": 6, "shared": True, "cores_per_node": 16, "gpus_per_node": 4}
    partitions = [
        {"name": name, "module": "CM", "priority": tier}
        for tier, name in enumerate(("low", "mid", "high"), 1)
    ]
    preempt = slurm(PreemptType="preempt/partition_prio", PreemptMode="REQUEUE")
    return on({"modules": [module], "partitions": partitions}, preempt, shares(25))


def rows_of_cores() -> Simulation:
    partition = {"name": "A", "module": "A", "slurm": {"OverSubscribe": "FORCE:2"}}
    return on(SHARED | {"partitions": [partition]}, "slurm", parts_of_nodes())


def slicing() -> Simulation:
    partition = {"name": "A", "module": "A", "slurm": {"OverSubscribe": "FORCE:2"}}
    turns = slurm(PreemptMode="GANG", SchedulerTimeSlice=5)
    return on(SHARED | {"partitions": [partition]}, turns, parts_of_nodes())


def gang() -> Simulation:
    preempt = slurm(PreemptType="preempt/partition_prio", PreemptMode="SUSPEND,GANG")
    return on(TIERED, preempt, jobs(nodes=drawn(1, 2, 3), partition=drawn("low", "high")))


def limited() -> Simulation:
    return on(WHOLE, slurm(**LIMITS))


def spreading() -> Simulation:
    law = {"by": "leaves", "percent": 50}
    models = {"applications": {"named": False, "types": [{"name": "a", "percent": 100, "spread": law}]}}
    return on(SHARED | TREE, {"backfill": "easy", "topology": "compact"}, parts_of_nodes(), models=models)


def capped_power(policy: dict[str, Any], **cap: Any) -> Simulation:
    power = series((0, 900), (20, 700), (45, 1000))
    return on(
        {"modules": [{"name": "cluster", "nodes": 6}]},
        policy,
        jobs(partition=[""] * JOBS, nodes=drawn(1, 2, 3)),
        models=capped(power, **cap),
    )


def easy(**keys: Any) -> dict[str, Any]:
    return {"backfill": "easy"} | keys


WORLDS: dict[str, Callable[[], Simulation]] = {
    **{
        name: lambda name=name: ruled(name, operated=False)
        for name in ("fcfs", "easy", "conservative", "keep")
    },
    "slurm": lambda: ruled("slurm", operated=False),
    "slurm, plain": lambda: ruled("slurm", operated=False, accelerate=False),
    "operated": lambda: ruled("conservative"),
    "operated slurm": lambda: ruled("slurm"),
    "first fit": lambda: on(WHOLE, {"backfill": "first_fit", "order": "unicef"}),
    "two reservations": lambda: on(WHOLE, easy(depth=2, order="f1")),
    "two orders": lambda: on(WHOLE, easy(order="f1", backfill_order="sjf")),
    "single events": lambda: on(WHOLE, easy(passes="event", backfill_order="wfp3")),
    "own order": lambda: on(WHOLE, easy(order=with_slack)),
    "veto": lambda: on(WHOLE, easy(may_start=in_turns)),
    "rank": lambda: on(WHOLE, {"backfill": "conservative", "placement": by_size}),
    "own scheduler": lambda: on(WHOLE, {"scheduler": Wavering()}),
    "making room": lambda: on(WHOLE, easy(order="sjf", preempt={"by": "priority", "grace_s": 5})),
    "suspending": lambda: on(WHOLE, easy(order="sjf", preempt={"by": "priority", "how": "suspend"})),
    "holes": lambda: on(
        WHOLE | {"reservations": RESERVED}, "easy", jobs(reservation=drawn("", "lab", "more"))
    ),
    "checkpoints": lambda: on(WHOLE | FAILING, "easy", models={"applications": {"named": False, **WRITING}}),
    "events": lambda: on(WHOLE | EVENTS, "conservative"),
    "events, slurm": lambda: on(WHOLE | EVENTS | FAILING, "slurm", jobs(run_time=drawn(1, 4))),
    "running jobs in plans, slurm": lambda: on(WHOLE, slurm(bf_running_job_reserve=True)),
    "reservations, slurm": lambda: on(BOOKED, "slurm", jobs(reservation=drawn("", "lab", "more"))),
    "topology, slurm": lambda: on(WHOLE | LEAVES, slurm(TopologyPlugin="topology/tree")),
    "preemption, shared": shared_slurm,
    "rows": rows_of_cores,
    "gang": gang,
    "time slices": slicing,
    "limits": limited,
    "leaves": spreading,
    "devices": lambda: on(
        SHARED, easy(packing="fragmentation_gradient"), parts_of_nodes(gpus=drawn(0, 0.5, 1, 2), nodes=1)
    ),
    "shared, conservative": lambda: on(SHARED, "conservative", parts_of_nodes(gpus=drawn(0, 1, 2))),
    "power cap": lambda: capped_power({"backfill": "easy", "order": "wfp3"}),
    "power cap that slows": lambda: capped_power(easy(), slow_running=True),
    "power cap, slurm": lambda: capped_power(slurm(bf_interval=1, bf_resolution=1)),
    "power saving, slurm": lambda: on(
        WHOLE, slurm(SuspendTime=8, SuspendTimeout=2, ResumeTimeout=5, SuspendRate=0, ResumeRate=0)
    ),
    "power saving, shared": lambda: on(
        SHARED,
        slurm(SuspendTime=8, SuspendTimeout=2, ResumeTimeout=5, SuspendRate=0, ResumeRate=0),
        parts_of_nodes(),
    ),
}
"""By what they have."""
