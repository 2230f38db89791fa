"""Random sites whose nodes jobs share under Slurm, played by the engine and by the plain model."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from scheduler_sim import Policy, Result, Workload, simulate
from tests.oracle.plain_cons_tres import place
from tests.oracle.plain_cons_tres_records import Ask, Node, Settings, SharedJob, SharedPartition
from tests.oracle.plain_cons_tres_room import Room
from tests.oracle.plain_cons_tres_slurm import SharedSlurm
from tests.oracle.plain_slurm_records import Config
from tests.oracle.test_plain_cons_tres_properties import SETTINGS, asks
from tests.slurm.engine_cases import UNTIL_S, configure, keys
from tests.slurm_oracle.shared_engine import settings_of, system_of

MB = 1024
NODES = st.builds(
    Node,
    cores=st.sampled_from([2, 4, 8]),
    sockets=st.sampled_from([1, 2]),
    threads=st.sampled_from([1, 1, 2]),
    memory=st.sampled_from([8_000, 16_000]),
    gres=st.sampled_from([{}, {}, {"gpu": 4}, {"gpu": 2}, {"gpu:a": 2}]),
    weight=st.sampled_from([1, 1, 2]),
)
ANY_ASKS = asks()
MIXED_NODES = st.builds(
    Node,
    cores=st.just(8),
    memory=st.just(16_000),
    gres=st.sampled_from([{"gpu:a": 2, "gpu:b": 3}, {"gpu:b": 2, "gpu:c": 1, "gpu:a": 1}, {"gpu:b": 2}])
    | st.sampled_from([{}, {"gpu": 2}, {"gpu:a": 2}, {"gpu:b": 1}]),
)
"""GPUs of several types on a node, in its order; of one on others; of none, or no GPUs, on some."""
TYPED_ASKS = st.builds(
    Ask,
    nodes=st.sampled_from([None, (1, 1), (2, 2)]),
    tasks=st.sampled_from([1, 2, 3]),
    gres=st.sampled_from(
        [{}, {"gpu": 1}, {"gpu": 2}, {"gpu:a": 1}, {"gpu:b": 1}, {"gpu:b": 2}, {"gpu:c": 1}]
    ),
    cpus_per_gpu=st.sampled_from([0, 0, 0, 2]),
) | st.builds(
    Ask,
    tasks=st.sampled_from([1, 2, 3]),
    gpus=st.sampled_from([{"gpu": 3}, {"gpu:a": 2}, {"gpu:b": 4}]),
    mem_per_gpu=st.sampled_from([0, 0, 1_000]),
)
"""Nearly all ask for GPUs, of a type or of any."""


EQUAL_NODES = st.builds(Node, cores=st.just(4), memory=st.just(8_000), weight=st.sampled_from([1, 1, 1, 2]))
ALIKE_NODES = st.just(Node(4, memory=8_000))
RIGID_ASKS = st.builds(
    Ask,
    nodes=st.sampled_from([(1, 1), (1, 1), (2, 2), (3, 3)]),
    tasks_per_node=st.sampled_from([1, 2, 3, 4, 4, 4]),
    mem=st.sampled_from([None, None, 500, 4_000]),
    exclusive=st.sampled_from([False, False, False, True]),
)
"""Any so many nodes will do that have enough, the same on each: these are planned without trying them."""

RUN, LIMIT = st.integers(1, 200), st.integers(1, 4)


@dataclass(frozen=True)
class SharedCase:
    nodes: list[Node]
    partitions: dict[str, SharedPartition]
    settings: Settings
    jobs: list[SharedJob]
    keys: dict[str, Any]
    begins_s: int = 1


@st.composite
def shared_cases(
    draw: st.DrawFn,
    most: int = 14,
    of: st.SearchStrategy[Node] = NODES,
    ask: st.SearchStrategy[Ask] = ANY_ASKS,
    of_main: Sequence[str] = ("NO",),
    sharing: Sequence[str] = ("NO", "NO", "EXCLUSIVE"),
    crowded: bool = False,
) -> SharedCase:
    """Nodes of several kinds, a partition of all and one of some, jobs that ask for all there is to ask.

    ``of_main`` and ``sharing``: what OverSubscribe of the first and of the second may say. ``crowded``: jobs
    come faster, to fewer nodes that all have the same GRES.
    """
    nodes = draw(st.lists(of, min_size=1, max_size=3 if crowded else 5))
    nodes = [replace(node, gres=nodes[0].gres) for node in nodes] if crowded else nodes
    some = draw(st.lists(st.sampled_from(range(len(nodes))), min_size=1, unique=True))
    partitions = {
        "main": SharedPartition(
            list(range(len(nodes))), name="main", oversubscribe=draw(st.sampled_from(of_main))
        ),
        "other": SharedPartition(
            sorted(some),
            draw(st.sampled_from([1, 1, 2])),
            name="other",
            place=1,
            oversubscribe=draw(st.sampled_from(sharing)),
            max_nodes=draw(st.sampled_from([None, None, 1, 2])),
            max_cpus_per_node=draw(st.sampled_from([None, None, 2, 5])),
            lln=draw(st.booleans()),
            def_mem_per_cpu=draw(st.sampled_from([0, 700])),
            def_mem_per_node=draw(st.sampled_from([0, 3_000])),
            max_mem_per_cpu=draw(st.sampled_from([0, 0, 2_000])),
            def_cpu_per_gpu=draw(st.sampled_from([0, 0, 1])),
            def_mem_per_gpu=draw(st.sampled_from([0, 0, 900])),
        ),
    }
    lists = [["main"], ["main"], ["other"], ["other", "main"]]
    last, least = (20, most // 2) if crowded else (150, 1)
    times = sorted(draw(st.lists(st.integers(0, last), min_size=least, max_size=most)))
    jobs = [
        _expressible(
            SharedJob(number, time, draw(st.sampled_from(lists)), 0, draw(RUN), draw(LIMIT), ask=draw(ask))
        )
        for number, time in enumerate(times, 1)
    ]
    drawn = {name: value for name, value in draw(keys()).items() if not name.startswith(("Priority", "Acc"))}
    drawn["bf_min_prio_reserve"] = 0
    return SharedCase(nodes, partitions, draw(SETTINGS), jobs, drawn, draw(st.integers(1, 90)))


def _expressible(job: SharedJob) -> SharedJob:
    """Without what sbatch itself would make fewer nodes of, and partitions that have not as many nodes."""
    ask = job.ask
    few = min([ask.tasks or 9, *ask.gpus.values()])
    nodes = None if ask.nodes is None or ask.nodes[0] > few else ask.nodes
    several = nodes is not None and nodes[0] > 1
    ask = replace(ask, nodes=nodes)
    return replace(job, ask=ask, partitions=job.partitions[-1:] if several else job.partitions)


# -------------------------------------------------------------------- the engine


def played(case: SharedCase, **more: Any) -> Result:
    """What the engine makes of it."""
    given = {"starts_before_s": case.begins_s} | case.keys | settings_of(case.settings) | more
    system = system_of(case.nodes, case.partitions)
    result = simulate(system, workload_of(case.jobs), Policy(name="slurm", backfill="slurm", slurm=given))
    result.check()
    return result


def workload_of(jobs: list[SharedJob], **more: Any) -> Workload:
    asked = [job.ask for job in jobs]
    return Workload.from_columns(
        component_id=[job.id for job in jobs],
        modular_job_id=[job.het or job.id for job in jobs],
        submit_time=[job.submit for job in jobs],
        partition=[",".join(job.partitions) for job in jobs],
        nodes=[(one.nodes or (1, 0))[0] for one in asked],
        max_nodes=[(one.nodes or (1, 0))[1] for one in asked],
        run_time=[job.runtime for job in jobs],
        time_limit=[job.limit * 60 for job in jobs],
        tasks=[one.tasks or 0 for one in asked],
        tasks_per_node=[one.tasks_per_node or -1 for one in asked],
        cores_per_task=[one.cpus_per_task or -1 for one in asked],
        memory_kb=[_kb(one.mem) for one in asked],
        memory_per_core_kb=[_kb(one.mem_per_cpu) for one in asked],
        gres=[_listed(one.gres) for one in asked],
        gres_per_job=[_listed(one.gpus) for one in asked],
        cores_per_gpu=[one.cpus_per_gpu or -1 for one in asked],
        memory_per_gpu_kb=[_kb(one.mem_per_gpu or None) for one in asked],
        exclusive=[int(one.exclusive) for one in asked],
        oversubscribe=[int(one.oversubscribe) for one in asked],
        user=[job.user for job in jobs],
        reservation=[job.reservation for job in jobs],
        **more,
    )


def _kb(mb: int | None) -> int:
    return -1 if mb is None else mb * MB


def _listed(counts: dict[str, int]) -> str:
    return ",".join(f"{name}:{count}" for name, count in counts.items())


def fates(result: Result) -> dict[int, tuple[Any, ...]]:
    """State, start, nodes, cores, memory and GPUs of each job; nothing of one that never ran."""
    columns = ("component_id", "state", "start_time", "node_list", "cores", "memory_kb", "gpus")
    rows = result.components[list(columns)].itertuples(index=False)
    had = {int(i): (str(s), int(t), str(n), *map(float, rest)) for i, s, t, n, *rest in rows}
    return {i: one if one[1] >= 0 else (*one[:3], 0.0, 0.0, 0.0) for i, one in had.items()}


# -------------------------------------------------------------------- the plain model


def plain(case: SharedCase) -> SharedSlurm:
    config = Config(case.partitions)
    configure(config, case.keys, min(job.submit for job in case.jobs) - case.begins_s)
    return SharedSlurm(config, deepcopy(case.jobs), nodes=case.nodes, settings=case.settings)


def possible(case: SharedCase, *, everywhere: bool = False) -> SharedCase:
    """Without the jobs that Slurm refuses at submission; ``everywhere``: nor where they never fit."""
    slurm, empty, jobs = plain(case), Room(case.nodes, case.settings), []
    for job in case.jobs:
        fitting = [
            part
            for part in job.partitions
            if place(empty, slurm.needs(job, part), set(slurm.c.partitions[part].nodes))
        ]
        if fitting:
            jobs.append(replace(job, partitions=fitting) if everywhere else job)
    return replace(case, jobs=jobs)


def told(case: SharedCase) -> dict[int, tuple[Any, ...]]:
    """What the plain model makes of it."""
    slurm = plain(case)
    slurm.run(UNTIL_S)
    return fates_told(slurm)


def fates_told(slurm: SharedSlurm) -> dict[int, tuple[Any, ...]]:
    """As of ``fates``."""
    return {job.id: (job.state, -1 if job.start is None else job.start, *had(job)) for job in slurm.jobs}


def had(job: SharedJob) -> tuple[Any, ...]:
    """Nodes, cores, memory and GPUs of a job of the plain model."""
    nodes, shares = sorted(job.shares), job.shares.values()
    return (
        ",".join(map(str, nodes)),
        float(sum(share.cpus for share in shares)),
        float(sum(share.memory for share in shares) * MB),
        float(sum(sum(share.gres.values()) for share in shares)),
    )
