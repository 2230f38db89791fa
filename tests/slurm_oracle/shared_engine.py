"""The recordings of jobs that share nodes played by the engine, from a System and a Workload."""

from __future__ import annotations

import math
from functools import partial
from itertools import groupby
from typing import Any

from scheduler_sim import Simulation, System, Workload
from tests.oracle.plain_cons_tres_records import Node, Settings, SharedPartition
from tests.slurm_oracle.cases import Case, Fate, Run
from tests.slurm_oracle.engine import played, policy_of
from tests.slurm_oracle.shared_nodes import SharedCase, load_shared

MB = 1024
SAID = ("max_cpus_per_node", "def_mem_per_cpu", "def_mem_per_node", "max_mem_per_cpu", "def_cpu_per_gpu")
GANG = ("PreemptType", "PreemptMode", "SchedulerTimeSlice")
SLURMS = ("MaxCPUsPerNode", "DefMemPerCPU", "DefMemPerNode", "MaxMemPerCPU", "DefCpuPerGPU")


def play_shared_engine(case: SharedCase, run: Run, **settings: Any) -> list[Fate]:
    """What the engine makes of the case, with the clock origin and the daemon's start of one run."""
    more = settings_of(case.settings) | {"starts_before_s": started_before(case, run)}
    more |= {key: case.conf[key] for key in GANG if key in case.conf}
    policy = policy_of(case, run, more | settings)
    system = system_of(case.machine, case.partitions)
    return played(case, Simulation(system, workload_of(case), policy))


def started_before(case: Case, run: Run) -> int:
    return min(job["submit"] for job in case.jobs) - run.daemon_start


def shared_orders() -> tuple[Any, ...]:
    """Either scheduler looks first within a second."""
    return tuple(partial(play_shared_engine, looks_first=first) for first in ("main", "backfill"))


def system_of(machine: list[Node], partitions: dict[str, SharedPartition]) -> System:
    """One module: a node set for each run of equal nodes of the same partitions."""
    covers = [
        (node, tuple(name for name, part in partitions.items() if i in part.nodes))
        for i, node in enumerate(machine)
    ]
    sets, of_partition = [], dict[str, list[str]]()
    for (node, names), same in groupby(covers):
        name = f"set{len(sets)}"
        sets.append(_node_set(name, len(list(same)), node))
        for partition in names:
            of_partition.setdefault(partition, []).append(name)
    module = {"name": "m", "nodes": len(machine), "shared": True, "node_sets": sets}
    led = [_partition(part, of_partition[name]) for name, part in partitions.items()]
    return System.from_dict({"modules": [module], "partitions": led})


def _node_set(name: str, nodes: int, node: Node) -> dict[str, Any]:
    return {
        "name": name,
        "nodes": nodes,
        "cores_per_node": node.cpus,
        "sockets": node.sockets,
        "threads_per_core": node.threads,
        "memory_gb": node.memory / MB,
        "weight": node.weight,
        "gres": dict(node.gres),
    }


def _partition(part: SharedPartition, sets: list[str]) -> dict[str, Any]:
    whole = part.oversubscribe == "EXCLUSIVE"
    said = {theirs: getattr(part, ours) or 0 for ours, theirs in zip(SAID, SLURMS, strict=True)}
    return {
        "name": part.name,
        "module": "m",
        "node_sets": sets,
        "priority": part.tier,
        "exclusive": whole,
        **({} if part.max_nodes is None else {"max_nodes": part.max_nodes}),
        "slurm": said
        | {"LLN": part.lln, "DefMemPerGPU": part.def_mem_per_gpu}
        | ({} if whole else {"OverSubscribe": part.oversubscribe}),
    }


def settings_of(settings: Settings) -> dict[str, Any]:
    """The keys of policy.slurm for what is given out, and for memory."""
    given = "CR_SOCKET" if settings.whole_sockets else "CR_CORE"
    return {
        "SelectTypeParameters": given + "_MEMORY" * settings.memory + ",CR_LLN" * settings.lln,
        "DefMemPerCPU": settings.def_mem_per_cpu,
        "DefMemPerNode": settings.def_mem_per_node,
        "MaxMemPerCPU": settings.max_mem_per_cpu,
        "DefCpuPerGPU": settings.def_cpu_per_gpu,
        "DefMemPerGPU": settings.def_mem_per_gpu,
    }


def workload_of(case: SharedCase) -> Workload:
    jobs = case.jobs
    least, most = zip(*(nodes_asked(job) for job in jobs), strict=True)
    return Workload.from_columns(
        component_id=[job["id"] for job in jobs],
        submit_time=[job["submit"] for job in jobs],
        partition=[job.get("partition", case.default) for job in jobs],
        nodes=least,
        max_nodes=most,
        run_time=[math.ceil(job["runtime"]) for job in jobs],
        time_limit=[job["limit_min"] * 60 for job in jobs],
        tasks=[job.get("ntasks", 0) for job in jobs],
        tasks_per_node=[job.get("ntasks_per_node", -1) for job in jobs],
        cores_per_task=[job.get("cpus_per_task", -1) for job in jobs],
        memory_kb=[kb_of(job.get("mem")) for job in jobs],
        memory_per_core_kb=[kb_of(job.get("mem_per_cpu")) for job in jobs],
        gres=[joined(job.get("gres", ""), gpus_asked(job, "gpus_per_node")) for job in jobs],
        gres_per_job=[gpus_asked(job, "gpus") for job in jobs],
        exclusive=[int(bool(job.get("exclusive"))) for job in jobs],
        oversubscribe=[int(bool(job.get("oversubscribe"))) for job in jobs],
    )


def kb_of(mb: int | None) -> int:
    """Memory in KB; -1 where it is not stated."""
    return -1 if mb is None else mb * MB


def nodes_asked(job: dict[str, Any]) -> tuple[int, int]:
    """Least and most; 0 as the most: any number."""
    least, _, most = str(job.get("nodes", "")).partition("-")
    return (int(least), int(most or least)) if least else (1, 0)


def gpus_asked(job: dict[str, Any], key: str) -> str:
    return f"gpu:{job[key]}" if key in job else ""


def joined(*lists: str) -> str:
    return ",".join(filter(None, lists))


__all__ = ["load_shared", "play_shared_engine", "shared_orders"]
