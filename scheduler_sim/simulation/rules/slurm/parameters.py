"""The parameters of Slurm's schedulers, as the core reads them."""

from __future__ import annotations

import warnings
from typing import get_type_hints

import numpy as np

from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules.slurm.priority import fair_share
from scheduler_sim.engine.rules.slurm.state import IN_LIST_ORDER, SlurmRules
from scheduler_sim.policy.slurm_keys import SlurmKeys
from scheduler_sim.policy.slurm_releases import OF_RULES
from scheduler_sim.system.system import System
from scheduler_sim.units import MINUTE

FIRST_PRIORITY = 4294901759
"""Of the first submission under priority/basic, as observed on Slurm 22.05."""
LONG_AFTER_S = 10 * 366 * 86400
_SAME = sorted(set(get_type_hints(SlurmRules)).intersection(SlurmKeys.model_fields))
"""The parameters that the core knows by Slurm's names."""


def write_parameters(core: FullCore, keys: SlurmKeys, system: System) -> FullCore:
    """Write Slurm's parameters, and where its clocks begin; the core has its jobs."""
    _write_rules(core, keys, system)
    accounts = core.slurm.accounts._replace(resets=_resets(core, keys))
    return core._replace(slurm=core.slurm._replace(accounts=accounts))


def _write_rules(core: FullCore, keys: SlurmKeys, system: System) -> None:
    slurm = core.slurm
    for name in _SAME:
        setattr(slurm.rules, name, keys.settled(name))  # some are put into other units below
    origin = int(core.clock.now)
    start = origin - keys.starts_before_s
    slurm.rules.bf_window = keys.bf_window * MINUTE
    slurm.rules.over_time = keys.OverTimeLimit * MINUTE
    slurm.rules.builtin = _builtin(keys, system)
    slurm.rules.sched_interval = max(keys.sched_interval, 0)
    slurm.rules.sched_min_interval = keys.sched_min_interval // 1_000_000
    slurm.rules.grouped = keys.grouped_ends and keys.SelectType != "select/linear"
    if keys.requeue_delay is not None and not keys.differs("requeue_delay_read"):
        said = f"policy.slurm.requeue_delay: Slurm {keys.version} does not read it: since 25.11"
        warnings.warn(said, UserWarning, stacklevel=2)
    for name in OF_RULES:
        setattr(slurm.rules, name, keys.differs(name))
    slurm.rules.plans_started = keys.plans_started
    slurm.rules.at_end = keys.version == "19.05" and not keys.defer
    slurm.rules.longest = keys.clock == "simulator"
    slurm.rules.backfill_first = keys.looks_first == "backfill"
    if keys.clock == "simulator":
        slurm.rules.bf_interval += 1
        slurm.rules.sched_interval = slurm.rules.batch_sched_delay = 0
        slurm.rules.always_more = 1
    slurm.rules.basic = keys.PriorityType == "priority/basic"
    aged = keys.AccountingStorageType != "accounting_storage/none" and not slurm.rules.basic
    slurm.rules.weight_age = keys.PriorityWeightAge if aged else 0
    slurm.rules.weight_fair = keys.PriorityWeightFairshare if aged else 0
    slurm.rules.max_age = keys.PriorityMaxAge or INF
    slurm.rules.accrue_always = "ACCRUE_ALWAYS" in keys.PriorityFlags
    slurm.rules.increase_only = "INCR_ONLY" in keys.PriorityFlags
    slurm.rules.algorithm = _algorithm(keys.PriorityFlags)
    slurm.rules.charge_ends = keys.charges_ends
    slurm.rules.calc_period = keys.PriorityCalcPeriod if aged else 0
    core.slurm.rules.decay_rate = fair_share.decay_rate(keys.PriorityDecayHalfLife)
    core.slurm.rules.damping = keys.FairShareDampeningFactor
    slurm.memory.last_main = start - (keys.clock == "simulator")  # a daemon's first turn is a second later
    slurm.memory.last_backfill = slurm.memory.last_calc = slurm.rules.starts_at = start
    slurm.memory.hears_at = start
    slurm.memory.last_change = slurm.memory.seen_from = slurm.memory.looked = start - 1
    slurm.memory.valid = INF
    slurm.memory.serial = -FIRST_PRIORITY
    period = max(int(slurm.rules.calc_period), 1)
    slurm.memory.next_calc = start + max(-(-keys.starts_before_s // period), 1) * period


def _builtin(keys: SlurmKeys, system: System) -> int:
    """Whether nothing is backfilled, and if so, whether the list of jobs is walked in its order."""
    if keys.SchedulerType != "sched/builtin":
        return int(keys.bf_interval < 0)
    one_tier = len({partition.priority for partition in system.partitions}) <= 1
    return IN_LIST_ORDER if keys.PriorityType == "priority/basic" and one_tier else 1


def _resets(core: FullCore, keys: SlurmKeys) -> np.ndarray:
    """int64[..]: when usage is forgotten, s of the trace, up to long after the last submission; UTC."""
    last = int(core.jobs["submit"].max(initial=0)) + LONG_AFTER_S
    times = fair_share.reset_times(
        keys.PriorityUsageResetPeriod, int(core.clock.now) + keys.epoch, last + keys.epoch
    )
    return np.asarray(times - keys.epoch)


def _algorithm(flags: tuple[str, ...]) -> int:
    """Of fair share."""
    if "NO_FAIR_TREE" not in flags:
        return fair_share.FAIR_TREE
    return fair_share.DEPTH_OBLIVIOUS if "DEPTH_OBLIVIOUS" in flags else fair_share.CLASSIC
