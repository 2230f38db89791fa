"""Random sites and workloads for Slurm's schedulers, played by the engine and by the plain model."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from scheduler_sim import Policy, Result, System, Workload, simulate
from tests.oracle.plain_slurm import Slurm
from tests.oracle.plain_slurm_records import FIRST_PRIORITY, Config, Job, Partition

UNTIL_S = 6000
ARRAY = 900
FIRST, SECOND = "a", "b"  # node sets of every module

Fates = dict[int, tuple[str, int | None]]  # id -> state, start


@dataclass(frozen=True)
class Queue:
    """A partition: node sets of one module."""

    name: str
    module: str
    sets: tuple[str, ...]
    tier: int = 1
    factor: int = 1


@dataclass(frozen=True)
class Case:
    """``modules``: nodes in each one's two sets; ``keys`` by Slurm's names."""

    modules: dict[str, tuple[int, int]]
    queues: tuple[Queue, ...]
    jobs: tuple[Job, ...]
    keys: dict[str, Any] = field(default_factory=dict)
    licences: int = 3
    begins_s: int = 1  # the daemon, before the first submission

    def but(self, **keys: Any) -> Case:
        return replace(self, keys=self.keys | keys)


# -------------------------------------------------------------------- strategies


@st.composite
def cases(draw: st.DrawFn, jobs: int = 10) -> Case:
    """Partitions with tiers, dependencies, arrays, licences, holds, over-runs, and most parameters."""
    count = draw(st.integers(1, 3))
    modules = {f"m{i}": (draw(st.integers(1, 4)), draw(st.integers(1, 3))) for i in range(count)}
    queues = []
    for name in modules:
        for number in range(draw(st.integers(1, 2))):
            sets = draw(st.sampled_from([(FIRST, SECOND), (FIRST, SECOND), (FIRST,), (SECOND,)]))
            tier, factor = draw(st.sampled_from([1, 1, 2])), draw(st.integers(1, 3))
            queues.append(Queue(f"{name}p{number}", name, sets, tier, factor))
    size = draw(st.integers(2, jobs))
    rows = [draw(_jobs(number, modules, queues)) for number in range(1, size + 1)]
    times = sorted(row.submit for row in rows)
    rows = [
        replace(row, submit=time, begin=row.begin and time + row.begin)
        for row, time in zip(rows, times, strict=True)
    ]
    drawn = draw(keys())
    return Case(modules, tuple(queues), tuple(rows), drawn, begins_s=draw(st.integers(1, 90)))


def nodes_of(modules: dict[str, tuple[int, int]], queue: Queue) -> int:
    return sum(modules[queue.module][name == SECOND] for name in queue.sets)


@st.composite
def _jobs(draw: st.DrawFn, number: int, modules: dict[str, tuple[int, int]], queues: list[Queue]) -> Job:
    named = draw(st.lists(st.sampled_from(queues), min_size=1, max_size=3, unique=True))
    most = min(nodes_of(modules, queue) for queue in named)
    return Job(
        id=number,
        submit=draw(st.integers(0, 150)),
        partitions=[queue.name for queue in named],
        nodes=draw(st.integers(1, most)),
        runtime=draw(st.integers(1, 200)),
        limit=draw(st.integers(1, 4)),
        exit_code=draw(st.sampled_from([0, 0, 0, 1])),
        depends=draw(_dependencies(number)),
        name=draw(st.sampled_from("xy")),
        user=draw(st.sampled_from("uv")),
        nice=draw(st.sampled_from([0, 0, 0, -100, 50])),
        begin=draw(st.sampled_from([0, 0, 0, 20, 95])),
        held=draw(st.sampled_from([False] * 9 + [True])),
        array=draw(st.sampled_from([-1, -1, -1, ARRAY])),
        array_limit=2,
        licences=draw(st.sampled_from([0, 0, 1, 2])),
    )


@st.composite
def _dependencies(draw: st.DrawFn, number: int) -> tuple[str, list[tuple[str, list[int], int]]]:
    if number == 1 or draw(st.integers(0, 2)):
        return ",", []
    terms = []
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["after", "afterany", "afterok", "afternotok", "singleton"]))
        others = [] if kind == "singleton" else [draw(st.integers(1, number - 1))]
        terms.append((kind, others, draw(st.integers(0, 2)) if kind == "after" else 0))
    return draw(st.sampled_from(",?")), terms


OFTEN_DEFAULT: dict[str, list[Any]] = {
    "batch_sched_delay": [0, 1, 3, 10],
    "sched_interval": [60, 60, 7, 30],
    "default_queue_depth": [100, 0, 2],
    "partition_job_depth": [0, 0, 1, 3],
    "bf_interval": [30, 1, 2, 7],
    "bf_resolution": [60, 60, 1, 7],
    "bf_window": [1440, 1440, 1, 4],
    "bf_max_job_test": [500, 500, 1, 3],
    "bf_node_space_size": [500, 500, 3],
    "bf_max_job_part": [0, 0, 0, 1, 2],
    "bf_max_job_user": [0, 0, 0, 1, 2],
    "bf_max_job_user_part": [0, 0, 0, 1],
    "bf_max_job_start": [0, 0, 0, 1],
    "bf_max_job_array_resv": [20, 20, 1],
    "bf_min_age_reserve": [0, 0, 0, 25],
    "bf_min_prio_reserve": [0, 0, 0, FIRST_PRIORITY - 3],
    "bf_job_part_count_reserve": [0, 0, 0, 1, 2],
    "bf_one_resv_per_job": [False, False, True],
    "kill_invalid_depend": [False, True],
    "defer": [False, False, True],
    "OverTimeLimit": [0, 0, 1],
    "KillWait": [30, 2, 0],
    "limit_check_s": [30, 30, 1, 7],
    "epoch": [0, 17, 1_700_000_041],
    "SchedulerType": ["sched/backfill"] * 5 + ["sched/builtin"],
}


@st.composite
def keys(draw: st.DrawFn) -> dict[str, Any]:
    drawn = {name: draw(st.sampled_from(values)) for name, values in OFTEN_DEFAULT.items()}
    drawn["looks_first"] = draw(st.sampled_from(["main", "backfill"]))
    drawn["latency"] = "measured"
    if draw(st.integers(0, 2)) == 0:
        drawn |= {
            "PriorityType": "priority/multifactor",
            "AccountingStorageType": draw(
                st.sampled_from(["accounting_storage/none", "accounting_storage/slurmdbd"])
            ),
            "PriorityMaxAge": 300,
            "PriorityCalcPeriod": draw(st.sampled_from([5, 45])),
            "PriorityWeightAge": draw(st.sampled_from([0, 1000])),
            "PriorityWeightJobSize": draw(st.sampled_from([0, 512])),
            "PriorityWeightPartition": draw(st.sampled_from([0, 300])),
        }
        drawn["bf_min_prio_reserve"] = draw(st.sampled_from([0, 0, 200]))
    return drawn


# -------------------------------------------------------------------- the engine


def system_of(case: Case) -> System:
    return System.from_dict(
        {
            "modules": [
                {
                    "name": name,
                    "nodes": sum(sizes),
                    "cores_per_node": 1,
                    "node_sets": [
                        {"name": s, "nodes": n} for s, n in zip((FIRST, SECOND), sizes, strict=True)
                    ],
                }
                for name, sizes in case.modules.items()
            ],
            "partitions": [
                {
                    "name": queue.name,
                    "module": queue.module,
                    "node_sets": list(queue.sets),
                    "priority": queue.tier,
                    "priority_job_factor": queue.factor,
                }
                for queue in case.queues
            ],
            "resources": {"licences": {"l": case.licences}},
        }
    )


def workload_of(case: Case, **more: Any) -> Workload:
    """The jobs, with more columns beside or instead."""
    jobs = case.jobs
    kinds, ids, anyway = zip(*(_as_columns(job) for job in jobs), strict=True)
    columns = {
        "component_id": [job.id for job in jobs],
        "modular_job_id": [job.het or job.id for job in jobs],
        "submit_time": [job.submit for job in jobs],
        "partition": [",".join(job.partitions) for job in jobs],
        "nodes": [job.nodes for job in jobs],
        "run_time": [job.runtime for job in jobs],
        "time_limit": [job.limit * 60 for job in jobs],
        "exit_code": [job.exit_code for job in jobs],
        "name": [job.name for job in jobs],
        "user": [job.user for job in jobs],
        "reservation": [job.reservation for job in jobs],
        "nice": [job.nice for job in jobs],
        "begin_time": [job.begin or -1 for job in jobs],
        "hold": [int(job.held) for job in jobs],
        "array_job_id": [job.array for job in jobs],
        "array_limit": [job.array_limit for job in jobs],
        "licences": [f"l:{job.licences}" if job.licences else "" for job in jobs],
        "dependency_kinds": kinds,
        "dependency_ids": ids,
        "dependency_any": anyway,
    }
    return Workload.from_columns(**columns | more)


def _as_columns(job: Job) -> tuple[str, str, int]:
    joiner, terms = job.depends
    kinds, ids = [], []
    for kind, others, minutes in terms:
        kinds.append(kind.upper() + (f"+{minutes}" if minutes else ""))
        ids += [str(other) for other in others]
    return ",".join(kinds), ",".join(ids), int(joiner == "?")


def played(case: Case, **keys: Any) -> Result:
    """What the engine makes of it."""
    given = {"starts_before_s": case.begins_s} | case.keys | keys
    result = simulate(system_of(case), workload_of(case), Policy(name="slurm", backfill="slurm", slurm=given))
    result.check()
    return result


def fates(result: Result) -> Fates:
    columns = ("component_id", "state", "start_time")
    rows = result.components[list(columns)].itertuples(index=False)
    return {int(i): (str(state), None if start < 0 else int(start)) for i, state, start in rows}


# -------------------------------------------------------------------- the plain model

RENAMED = {
    "limit_check_s": "time_limit_period",
    "epoch": "origin",
    "OverTimeLimit": "over_time_limit",
    "KillWait": "kill_wait",
    "PriorityMaxAge": "max_age",
    "PriorityCalcPeriod": "calc_period",
    "PriorityWeightAge": "weight_age",
    "PriorityWeightJobSize": "weight_size",
    "PriorityWeightPartition": "weight_partition",
}


def told(case: Case) -> Fates:
    """What the plain model makes of it."""
    slurm = plain(case)
    slurm.run(UNTIL_S)
    return {job.id: (job.state, job.start) for job in slurm.jobs}


def plain(case: Case) -> Slurm:
    nodes = sum(sum(sizes) for sizes in case.modules.values())
    kinds = tuple(map(frozenset, _numbers(case).values()))
    config = Config(_partitions(case), nodes=nodes, kinds=kinds, licences=case.licences)
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    config.multifactor = case.keys.get("PriorityType") == "priority/multifactor"
    if case.keys.get("AccountingStorageType") == "accounting_storage/none":
        config.calc_period = 10**9
    return Slurm(config, deepcopy(list(case.jobs)))


def configure(config: Config, keys: dict[str, Any], daemon_start: int) -> None:
    """Set what keys of ``policy.slurm`` say, with the latencies that were measured."""
    config.daemon_start = daemon_start
    config.launch_latency, config.main_wait_ms = True, 400
    config.kill_epilog, config.kill_epilog_ms = 1, 730
    for name, value in keys.items():
        if hasattr(config, RENAMED.get(name, name)):
            setattr(config, RENAMED.get(name, name), value)
    config.bf_window *= 60
    config.backfill_first = keys.get("looks_first") == "backfill"
    config.builtin = keys.get("SchedulerType") == "sched/builtin"


def _numbers(case: Case) -> dict[tuple[str, str], list[int]]:
    """The nodes of each node set of each module; those of two modules are not next to each other."""
    numbers, first = {}, 0
    for name, sizes in case.modules.items():
        for which, size in zip((FIRST, SECOND), sizes, strict=True):
            numbers[name, which] = list(range(first, first + size))
            first += size
        first += 1
    return numbers


def _partitions(case: Case) -> dict[str, Partition]:
    numbers = _numbers(case)
    return {
        queue.name: Partition(
            [node for which in queue.sets for node in numbers[queue.module, which]], queue.tier, queue.factor
        )
        for queue in case.queues
    }
