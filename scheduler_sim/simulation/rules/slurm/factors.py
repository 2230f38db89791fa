"""What Slurm's priorities are made of, as far as time does not change it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules.slurm.priority import priority
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.simulation.rules.numbers import Jobs, Run
from scheduler_sim.simulation.rules.slurm_needs import KB_PER_MB
from scheduler_sim.system.module import NodeSet
from scheduler_sim.system.system import System
from scheduler_sim.units import MINUTE
from scheduler_sim.workload.table import Workload


def write_factors(
    core: FullCore, jobs: Jobs, run: Run, shared: np.ndarray, usage_factors: np.ndarray
) -> None:
    """Write the parts of priorities that time does not change.

    Parameters
    ----------
    shared : [n], the association factor of each component
    usage_factors : [n], the UsageFactor of its QOS, by which its usage counts for fair share
    """
    placements, system, keys = jobs.placements, run.system, run.policy.slurm
    ways, owner, partition = np.diff(placements.first), placements.owner, placements.partition
    flags, there = keys.PriorityFlags, _of_partitions(system)
    nodes = placements.nodes
    cpus = -(-nodes * there["cpu"][partition] // there["node"][partition])  # the mean: which nodes is open
    memory = np.maximum(jobs.column("memory_kb")[owner], 0) * nodes / KB_PER_MB
    if jobs.needs is not None:
        needs = jobs.needs.numbers
        cpus = np.where(needs["whole"] > 0, cpus, needs["min_cpus"])
        memory = needs["memory"] * np.where(needs["per_cpu"] > 0, cpus, nodes) / KB_PER_MB
    size = priority.size_factor(
        nodes,
        cpus,
        -(-placements.limit // MINUTE),
        system.nodes,
        sum(_cpus(module.sets) for module in system.modules),
        keys.PriorityFavorSmall,
        "SMALL_RELATIVE_TO_TIME" in flags,
    )
    shares = np.array([partition.priority_job_factor for partition in system.partitions], dtype=np.int64)
    highest = 1 if "NO_NORMAL_PART" in flags else max(int(shares.max()), 1)
    priorities = {name: one.priority for name, one in keys.qos.items()}
    qos = jobs.text("qos")
    named = np.array([priorities.get(name, 0) for name in qos.categories], dtype=np.int64)[qos.codes]
    best = 1 if "NO_NORMAL_QOS" in flags else max(priorities.values(), default=1)
    asked = {"cpu": cpus, "mem": memory, "node": nodes, "billing": cpus}
    requested = _columns(asked, keys.PriorityWeightTRES, len(nodes))
    totals = _columns(there, keys.PriorityWeightTRES, len(shares))[partition]
    core.slurm.accounts.factor[jobs.where] = priority.static_factors(
        priority.Weights(
            keys.PriorityWeightAssoc,
            keys.PriorityWeightJobSize,
            keys.PriorityWeightPartition,
            keys.PriorityWeightQOS,
            list(keys.PriorityWeightTRES.values()),
        ),
        size=size,
        partition=priority.normalised(shares, highest)[partition],
        qos=priority.normalised(named, best)[owner],
        association=shared[owner],
        tres=requested if "NO_NORMAL_TRES" in flags else priority.tres_factors(requested, totals),
        nice=core.slurm.job["nice"][jobs.rows][owner],
        listed=ways[owner] > 1,
    )
    charged = np.bincount(owner, cpus, len(ways)) / np.maximum(ways, 1)
    core.slurm.job["billing"][jobs.rows] = np.maximum(charged, 1) * usage_factors


def unlisted_qos(workload: Workload, keys: SlurmKeys) -> dict[str, int]:
    """Count, under ``qos``, jobs that name a QOS without a priority, if QOS has a weight; empty if none."""
    if keys.PriorityType != "priority/multifactor" or not keys.PriorityWeightQOS:
        return {}
    qos = workload.columns["qos"]
    strange = np.array([name not in ("", *keys.qos) for name in qos.categories], dtype=bool)
    count = int(np.count_nonzero(strange[qos.codes] & (workload.columns["skipped"] == 0)))
    return {"qos": count} if count else {}


def _of_partitions(system: System) -> dict[str, np.ndarray]:
    """What each partition has of the resources that may have a weight; memory in MB."""
    sets = [[one for one, _ in system.sets_of(partition.name)] for partition in system.partitions]
    cpus = np.array([_cpus(ours) for ours in sets], dtype=np.int64)
    nodes = np.array([sum(one.nodes for one in ours) for ours in sets], dtype=np.int64)
    memory = np.array([sum(one.nodes * one.memory_gb * 1024 for one in ours) for ours in sets])
    return {"cpu": cpus, "billing": cpus, "node": nodes, "mem": memory}


def _columns(amounts: dict[str, np.ndarray], names: Iterable[str], rows: int) -> np.ndarray:
    """float64[rows, t]: so much of each resource that has a weight."""
    columns = [amounts[name] for name in names]
    return np.array(columns, dtype=np.float64).reshape(len(columns), rows).T


def _cpus(sets: Iterable[NodeSet]) -> int:
    """Processors of node sets."""
    return sum(one.nodes * one.processors for one in sets)
