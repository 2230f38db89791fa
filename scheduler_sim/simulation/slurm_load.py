"""Putting a workload on a system into the tables of Slurm's schedulers."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.room import SlurmSizes
from scheduler_sim.engine.slurm import fair_share
from scheduler_sim.engine.slurm import slots as at
from scheduler_sim.engine.state import Core
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.simulation.slurm_masks import Masks, bits
from scheduler_sim.simulation.slurm_rows import Described, SlurmRows
from scheduler_sim.system.system import System

FIRST_PRIORITY = 4294901759
"""Of the first submission under priority/basic, as observed on Slurm 22.05."""
MINUTE = 60
LONG_AFTER_S = 10 * 366 * 86400

PLAIN = {
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
    at.MAIN_WAIT: "main_wait_ms",
    at.REQUEUE_DELAY: "requeue_delay_s",
    at.EPOCH: "epoch",
    at.FIXED: "fixed_nodes",
    at.INCLUSIVE: "inclusive_end",
    at.SKIP: "skip_idle_passes",
}
"""Parameters that the core takes as they are."""


def slurm_sizes(
    rows: SlurmRows, trace: Described, system: System, keys: SlurmKeys, places: int
) -> SlurmSizes:
    """Room for the components of a trace on this system; ``places``: rows of their placements."""
    count, parts = len(trace.table), len(system.partitions)
    return SlurmSizes(
        rows=count,
        placements=places,
        partitions=parts,
        users=len(rows.users),
        words=int(rows.masks.low[-1]),
        masks=len(rows.masks),
        choices=rows.masks.choices,
        needs=rows.masks.needs,
        pieces=sum(module.nodes for module in system.modules) + 1,
        records=records_for(keys.settled("bf_node_space_size"), count),
        turns=len(trace.placements.module) if not trace.placements.rigid else 0,
    )


def records_for(most: int, rows: int) -> int:
    """How many records the plan may have, with so many components: two boundaries each."""
    return min(most, 2 * rows) + 4


def load_slurm(
    core: Core, rows: SlurmRows, trace: Described, system: System, keys: SlurmKeys, where: Any
) -> Core:
    """Write Slurm's parameters, its nodes, and the trace, whose placements stand in rows ``where``."""
    _write_rules(core, keys, system)
    _write_nodes(core, system, rows.masks)
    core = core._replace(resets=_resets(core, keys))
    return rows.write(core, 0, trace, where)


def _write_rules(core: Core, keys: SlurmKeys, system: System) -> None:
    slurm = core.slurm
    for number, name in PLAIN.items():
        slurm[number] = keys.settled(name)
    origin = int(core.clock[slot.NOW])
    start = origin - keys.starts_before_s
    slurm[at.HOLDING] = 1
    slurm[at.BF_WINDOW] = keys.bf_window * MINUTE
    slurm[at.OVER_TIME] = keys.OverTimeLimit * MINUTE
    slurm[at.BUILTIN] = _builtin(keys, system)
    slurm[at.SCHED_INTERVAL] = max(keys.sched_interval, 0)
    slurm[at.SCHED_MIN_INTERVAL] = keys.sched_min_interval // 1_000_000
    slurm[at.GROUPED] = keys.grouped_ends and keys.SelectType != "select/linear"
    slurm[at.ALIGNED] = keys.version != "19.05"
    slurm[at.AT_END] = keys.version == "19.05" and not keys.defer
    slurm[at.LONGEST] = keys.clock == "simulator"
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
    slurm[at.ALGORITHM] = _algorithm(keys.PriorityFlags)
    slurm[at.CHARGE_ENDS] = keys.charges_ends
    slurm[at.CALC_PERIOD] = keys.PriorityCalcPeriod if aged else 0
    core.weight[at.DECAY_RATE] = fair_share.decay_rate(keys.PriorityDecayHalfLife)
    core.weight[at.DAMPING] = keys.FairShareDampeningFactor
    slurm[at.LAST_MAIN] = start - (keys.clock == "simulator")  # a daemon's first turn is a second later
    slurm[at.LAST_BACKFILL] = slurm[at.LAST_CALC] = slurm[at.STARTS_AT] = start
    slurm[at.LAST_CHANGE] = slurm[at.SEEN_FROM] = slurm[at.LOOKED] = start - 1
    slurm[at.VALID] = slot.INF
    slurm[at.SERIAL] = -FIRST_PRIORITY
    period = max(int(slurm[at.CALC_PERIOD]), 1)
    slurm[at.NEXT_CALC] = start + max(-(-keys.starts_before_s // period), 1) * period


def _builtin(keys: SlurmKeys, system: System) -> int:
    """Whether nothing is backfilled, and if so, whether the list of jobs is walked in its order."""
    if keys.SchedulerType != "sched/builtin":
        return int(keys.bf_interval < 0)
    one_tier = len({partition.priority for partition in system.partitions}) <= 1
    return at.IN_LIST_ORDER if keys.PriorityType == "priority/basic" and one_tier else 1


def _resets(core: Core, keys: SlurmKeys) -> np.ndarray:
    """int64[..]: when usage is forgotten, s of the trace, up to long after the last submission; UTC."""
    last = int(core.comp["submit"].max(initial=0)) + LONG_AFTER_S
    times = fair_share.reset_times(
        keys.PriorityUsageResetPeriod, int(core.clock[slot.NOW]) + keys.epoch, last + keys.epoch
    )
    return np.asarray(times - keys.epoch)


def _algorithm(flags: tuple[str, ...]) -> int:
    """Of fair share."""
    if "NO_FAIR_TREE" not in flags:
        return fair_share.FAIR_TREE
    return fair_share.DEPTH_OBLIVIOUS if "DEPTH_OBLIVIOUS" in flags else fair_share.CLASSIC


def _write_nodes(core: Core, system: System, masks: Masks) -> None:
    """Nodes are numbered through, each module from a new word on; all are idle."""
    for number, partition in enumerate(system.partitions):
        it, i = core.partition[number], system.module_index(partition.module)
        it.module, it.low, it.high = i, masks.low[i], masks.low[i + 1]
        it.members = masks.members[number]
        it.lightest, it.heaviest = masks.lightest[i]
    for i, module in enumerate(system.modules):
        core.sets[at.IDLE] |= bits([range(module.nodes)], int(masks.low[i]), core.sets.shape[1])
    core.sets[at.UP] = core.sets[at.IDLE]
    core.piece["next"][:-1] = np.arange(1, len(core.piece))
    core.piece["next"][-1] = -1
