"""Putting a workload on a system into the tables of Slurm's schedulers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.slurm import fair_share, priority
from scheduler_sim.engine.slurm import slots as at
from scheduler_sim.engine.state import Core, SlurmSizes
from scheduler_sim.placement.table import Placements
from scheduler_sim.policy.shares import Associations, associations
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

WORD = 64
FIRST_PRIORITY = 4294901759
"""Of the first submission under priority/basic, as observed on Slurm 22.05."""
MINUTE = 60

PLAIN = {
    at.SCHED_INTERVAL: "sched_interval",
    at.BATCH_SCHED_DELAY: "batch_sched_delay",
    at.QUEUE_DEPTH: "default_queue_depth",
    at.PARTITION_JOB_DEPTH: "partition_job_depth",
    at.BF_INTERVAL: "bf_interval",
    at.BF_MAX_JOB_TEST: "bf_max_job_test",
    at.BF_RECORDS: "bf_node_space_size",
    at.BF_MAX_JOB_PART: "bf_max_job_part",
    at.BF_MAX_JOB_USER: "bf_max_job_user",
    at.BF_MAX_JOB_USER_PART: "bf_max_job_user_part",
    at.BF_MAX_JOB_START: "bf_max_job_start",
    at.BF_ARRAY_RESERVE: "bf_max_job_array_resv",
    at.BF_WINDOW_LINEAR: "bf_window_linear",
    at.BF_RESOLUTION: "bf_resolution",
    at.BF_MIN_AGE: "bf_min_age_reserve",
    at.BF_MIN_PRIORITY: "bf_min_prio_reserve",
    at.BF_PART_RESERVE: "bf_job_part_count_reserve",
    at.BF_ONE_RESERVATION: "bf_one_resv_per_job",
    at.KILL_INVALID: "kill_invalid_depend",
    at.KILL_WAIT: "KillWait",
    at.CHECK_PERIOD: "limit_check_s",
    at.EPILOG: "epilog_s",
    at.LAUNCH: "launch_s",
    at.KILLED: "killed_epilog_s",
    at.REQUEUE_DELAY: "requeue_delay_s",
    at.EPOCH: "epoch",
    at.FIXED: "fixed_nodes",
    at.INCLUSIVE: "inclusive_end",
    at.SKIP: "skip_idle_passes",
}
"""Parameters that the core takes as they are."""


def slurm_sizes(
    workload: Workload, system: System, placements: Placements, keys: SlurmKeys, places: int
) -> SlurmSizes:
    """Room for these components on this system."""
    rows, parts = len(placements.rows), len(system.partitions)
    words = sum(_words(module.nodes) for module in system.modules)
    nodes = sum(module.nodes for module in system.modules)
    table = workload.table.iloc[placements.rows]
    return SlurmSizes(
        rows=rows,
        placements=places,
        partitions=parts,
        users=max(len(table["user"].cat.categories), 1),
        groups=len(_groups(workload, placements)[1]),
        arrays=rows and int(_arrays(table)[0].max(initial=-1)) + 1,
        words=words,
        masks=len(system.modules) + parts,
        pieces=nodes + 1,
        records=min(keys.settled("bf_node_space_size"), 2 * rows) + 4,
        turns=len(placements.module) if not placements.rigid else 0,
        associations=len(_tree(table, keys).names) if _by_share(keys) else 0,
    )


def load_slurm(
    core: Core, workload: Workload, system: System, placements: Placements, keys: SlurmKeys, where: Any
) -> None:
    """Write Slurm's parameters, partitions, nodes and priorities; placements stand in rows ``where``."""
    _write_rules(core, keys)
    _write_nodes(core, system)
    table = workload.table.iloc[placements.rows]
    _write_jobs(core, table)
    _write_groups(core, workload, placements)
    core.way["partition"][where] = placements.partition
    core.way["mask"][where] = len(system.modules) + placements.partition
    core.way["run"][where] = placements.run
    tiers = np.array([partition.priority for partition in system.partitions], dtype=np.int64)
    core.way["tier"][where] = tiers[placements.partition]
    core.place["limit"][where] = core.place["test"][where] = -(-placements.limit // MINUTE) * MINUTE
    if not core.slurm[at.BASIC]:
        _write_factors(core, table, system, placements, keys, where)


def _write_rules(core: Core, keys: SlurmKeys) -> None:
    slurm = core.slurm
    for number, name in PLAIN.items():
        slurm[number] = keys.settled(name)
    origin = int(core.clock[slot.NOW])
    start = origin - keys.starts_before_s
    slurm[at.HOLDING] = 1
    slurm[at.BF_WINDOW] = keys.bf_window * MINUTE
    slurm[at.OVER_TIME] = keys.OverTimeLimit * MINUTE
    slurm[at.BUILTIN] = keys.SchedulerType == "sched/builtin"
    slurm[at.GROUPED] = keys.grouped_ends and keys.SelectType != "select/linear"
    slurm[at.ALIGNED] = keys.version != "19.05"
    slurm[at.AT_END] = keys.version == "19.05" and not keys.defer
    slurm[at.BACKFILL_FIRST] = keys.looks_first == "backfill"
    if keys.clock == "simulator":
        slurm[at.BF_INTERVAL] += 1
        slurm[at.SCHED_INTERVAL] = slurm[at.BATCH_SCHED_DELAY] = 0
        slurm[at.ALWAYS_MORE] = 1
    slurm[at.BASIC] = keys.PriorityType == "priority/basic"
    aged = keys.AccountingStorageType != "accounting_storage/none" and not slurm[at.BASIC]
    slurm[at.WEIGHT_AGE] = keys.PriorityWeightAge if aged else 0
    slurm[at.WEIGHT_FAIR] = keys.PriorityWeightFairshare if aged else 0
    slurm[at.MAX_AGE] = keys.PriorityMaxAge or slot.INF
    slurm[at.ACCRUE_ALWAYS] = "ACCRUE_ALWAYS" in keys.PriorityFlags
    slurm[at.INCREASE_ONLY] = "INCR_ONLY" in keys.PriorityFlags
    slurm[at.ALGORITHM] = fair_share.CLASSIC if "NO_FAIR_TREE" in keys.PriorityFlags else fair_share.FAIR_TREE
    slurm[at.CALC_PERIOD] = keys.PriorityCalcPeriod if aged else 0
    slurm[at.NEXT_RESET] = slot.INF
    core.weight[at.DECAY_RATE] = fair_share.decay_rate(keys.PriorityDecayHalfLife)
    core.weight[at.DAMPING] = keys.FairShareDampeningFactor
    slurm[at.LAST_MAIN] = slurm[at.LAST_BACKFILL] = slurm[at.LAST_CALC] = slurm[at.STARTS_AT] = start
    slurm[at.LAST_CHANGE] = slurm[at.SEEN_FROM] = slurm[at.LOOKED] = start - 1
    slurm[at.VALID] = slot.INF
    slurm[at.SERIAL] = -FIRST_PRIORITY
    period = max(int(slurm[at.CALC_PERIOD]), 1)
    slurm[at.NEXT_CALC] = origin + (start - origin) % period


def _write_nodes(core: Core, system: System) -> None:
    """Nodes are numbered through, each module from a new word on; all are idle."""
    low = 0
    for i, module in enumerate(system.modules):
        high = low + _words(module.nodes)
        core.masks[i] = _bits([range(module.nodes)], low, core.masks.shape[1])
        for number, partition in enumerate(system.partitions):
            if partition.module.lower() != module.name.lower():
                continue
            it, mask = core.partition[number], len(system.modules) + number
            it.module, it.low, it.high, it.members = i, low, high, mask
            core.masks[mask] = _bits([r for _, r in system.sets_of(partition.name)], low, core.masks.shape[1])
        core.sets[at.IDLE] |= core.masks[i]
        low = high
    core.sets[at.UP] = core.sets[at.IDLE]
    core.piece["next"][:-1] = np.arange(1, len(core.piece))
    core.piece["next"][-1] = -1


def _words(nodes: int) -> int:
    return -(-nodes // WORD)


def _bits(ranges: list[range], low: int, words: int) -> np.ndarray:
    """uint64[words]: nodes, numbered from 0 in their module, whose words begin at ``low``."""
    flags = np.zeros(words * WORD, dtype=np.uint8)
    for numbers in ranges:
        flags[low * WORD + numbers.start : low * WORD + numbers.stop] = 1
    return np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64)


def _write_jobs(core: Core, table: pd.DataFrame) -> None:
    job = core.job[: len(table)]
    job["piece"] = -1
    job["user"] = np.asarray(table["user"].cat.codes)
    job["nice"] = table["nice"]
    numbers, limits = _arrays(table)
    job["array"] = numbers
    if len(limits):
        core.array["limit"][: len(limits)] = limits
    comp = core.comp[: len(table)]
    waits = table["begin_time"].to_numpy() > table["submit_time"].to_numpy()
    job["begin"] = np.where(waits, table["begin_time"], -1)
    comp["missing"] += waits
    comp["held"] = table["hold"].to_numpy() != 0
    comp["missing"] += comp["held"]


def _write_groups(core: Core, workload: Workload, placements: Placements) -> None:
    """Chain those of one user and name, in order of submission, where there are singletons among them."""
    numbers, firsts = _groups(workload, placements)
    job = core.job[: len(numbers)]
    job["group"], job["following"] = numbers, -1
    core.group["first"][: len(firsts)] = firsts
    members = np.flatnonzero(numbers >= 0)
    members = members[np.argsort(numbers[members], kind="stable")]
    same = numbers[members[1:]] == numbers[members[:-1]]
    job["following"][members[:-1][same]] = members[1:][same]
    alone = np.isin(placements.rows, workload.singletons())
    job["singleton"] = alone
    core.comp["missing"][: len(numbers)] += alone


def _groups(workload: Workload, placements: Placements) -> tuple[np.ndarray, np.ndarray]:
    """int64[n]: number of each component's user and name, -1 without singletons; first row of each."""
    table = workload.table.iloc[placements.rows]
    users, names = (np.asarray(table[name].cat.codes, dtype=np.int64) for name in ("user", "name"))
    pair = users * (int(names.max(initial=0)) + 1) + names
    asking = np.unique(pair[np.isin(placements.rows, workload.singletons())])
    found = np.searchsorted(asking, pair)
    found[found == len(asking)] = 0
    numbers = np.where(np.isin(pair, asking), found, -1)
    return numbers, np.array([np.flatnonzero(numbers == i)[0] for i in range(len(asking))], dtype=np.int64)


def _arrays(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Number of the array of each component, -1 without; how many tasks of each array may run, -1 = all."""
    ids, limits = table["array_job_id"].to_numpy(), table["array_limit"].to_numpy()
    known, numbers = np.unique(ids[ids >= 0], return_inverse=True)
    found = np.full(len(ids), -1, dtype=np.int64)
    found[ids >= 0] = numbers
    most = np.full(len(known), -1, dtype=np.int64)
    most[numbers] = np.where(limits[ids >= 0] > 0, limits[ids >= 0], -1)
    return found, most


def _by_share(keys: SlurmKeys) -> bool:
    return keys.PriorityType == "priority/multifactor" and (
        keys.PriorityWeightFairshare > 0 or keys.PriorityWeightAssoc > 0
    )


def _tree(table: pd.DataFrame, keys: SlurmKeys) -> Associations:
    return associations(keys.accounts, table["user"].astype(str), table["account"].astype(str))


def _write_factors(
    core: Core, table: pd.DataFrame, system: System, placements: Placements, keys: SlurmKeys, where: Any
) -> None:
    """The parts of each priority that time does not change."""
    owner = np.repeat(np.arange(len(table)), np.diff(placements.first))
    flags = keys.PriorityFlags
    cores = np.array([module.cores_per_node for module in system.modules])
    nodes, cpus = placements.nodes, placements.nodes * cores[placements.module]
    all_nodes = sum(module.nodes for module in system.modules)
    all_cpus = sum(module.nodes * module.cores_per_node for module in system.modules)
    size = priority.size_factor(
        nodes,
        cpus,
        -(-placements.limit // MINUTE),
        all_nodes,
        all_cpus,
        keys.PriorityFavorSmall,
        "SMALL_RELATIVE_TO_TIME" in flags,
    )
    shares = np.array([partition.priority_job_factor for partition in system.partitions], dtype=np.int64)
    highest = 1 if "NO_NORMAL_PART" in flags else max(int(shares.max()), 1)
    named = table["qos"].astype(str).map(lambda name: keys.qos.get(name, 0)).to_numpy(dtype=np.int64)
    best = 1 if "NO_NORMAL_QOS" in flags else max(keys.qos.values(), default=1)
    association = np.zeros(len(owner))
    if _by_share(keys):
        tree = _tree(table, keys)
        assoc, order = fair_share.association_table(tree.parent, tree.user, tree.shares)
        core.assoc[:], core.order[:] = assoc, order
        core.job["association"][: len(table)] = tree.row
        top = 1 if "NO_NORMAL_ASSOC" in flags else int(tree.priority.max())
        association = priority.normalised(tree.priority[tree.row], top)[owner]
    asked = _requested(table, nodes, cpus, owner, list(keys.PriorityWeightTRES))
    totals = _totals(system, list(keys.PriorityWeightTRES))[placements.partition]
    core.factor[where] = priority.static_factors(
        priority.Weights(
            keys.PriorityWeightAssoc,
            keys.PriorityWeightJobSize,
            keys.PriorityWeightPartition,
            keys.PriorityWeightQOS,
            list(keys.PriorityWeightTRES.values()),
        ),
        size=size,
        partition=priority.normalised(shares, highest)[placements.partition],
        qos=priority.normalised(named, best)[owner],
        association=association,
        tres=asked if "NO_NORMAL_TRES" in flags else priority.tres_factors(asked, totals),
        nice=table["nice"].to_numpy()[owner],
        listed=np.diff(placements.first)[owner] > 1,
    )
    core.job["billing"][: len(table)] = np.maximum(np.bincount(owner, np.maximum(cpus, nodes), len(table)), 1)


def _requested(
    table: pd.DataFrame, nodes: np.ndarray, cpus: np.ndarray, owner: np.ndarray, names: list[str]
) -> np.ndarray:
    """float64[p, t]: what each placement asks for of the resources that have a weight."""
    memory = np.maximum(table["memory_kb"].to_numpy()[owner], 0) * nodes / 1024
    known = {"cpu": cpus, "mem": memory, "node": nodes, "billing": cpus}
    columns = [known.get(name, np.zeros(len(nodes))) for name in names]
    return np.array(columns, dtype=np.float64).reshape(len(names), len(nodes)).T


def _totals(system: System, names: list[str]) -> np.ndarray:
    """float64[partitions, t]: what each partition has of them."""
    totals = np.zeros((len(system.partitions), len(names)))
    for i, partition in enumerate(system.partitions):
        sets = [one for one, _ in system.sets_of(partition.name)]
        cpus = sum(one.nodes * one.cores_per_node for one in sets)
        known = {
            "cpu": cpus,
            "billing": cpus,
            "node": sum(one.nodes for one in sets),
            "mem": sum(one.nodes * one.memory_gb * 1024 for one in sets),
        }
        totals[i] = [known.get(name, 0) for name in names]
    return totals
