"""What decisions of policy slurm depend on beside what runs and waits: how long, and what users have used."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.engine.rules.slurm.priority.fair_share import reset_times
from scheduler_sim.placement.table import expand
from scheduler_sim.policy.policy import Policy
from scheduler_sim.policy.shares import with_usage
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.state import NO_LIMIT, State
from scheduler_sim.system.system import System
from scheduler_sim.units import DAY
from scheduler_sim.workload.table import Workload

AGES = "ACCRUE_ALWAYS"
"""In draws jobs are held until the instant, but have waited since they were submitted."""

LONG_AGO = -(1 << 62)
LEAST = 2.0**-900
"""As little is left of usage at the least: what it was stays a finite number."""

Used = Mapping[tuple[str, str], float]
"""Processor seconds of users by account and user, decayed, at the instant."""


def with_past(policy: Policy, system: System, state: State, history: History, used: Used | None) -> Policy:
    """Return a policy under which draws go on from the past that a state has; only policy slurm has one.

    What users had used is what ``sshare`` printed at the instant (``used``), else what jobs of the history
    were charged, half of it after each half-life.
    """
    if policy.backfill != "slurm":
        return policy
    policy = _accepting(policy)
    slurm = policy.slurm
    if slurm.PriorityType != "priority/multifactor":
        return policy
    flags = (*slurm.PriorityFlags, *(() if AGES in slurm.PriorityFlags else (AGES,)))
    update: dict[str, object] = {"PriorityFlags": flags, "PriorityUsageResetPeriod": "NONE"}
    if slurm.PriorityWeightFairshare:
        since = last_reset(slurm.PriorityUsageResetPeriod, state)
        factors = {name: qos.UsageFactor for name, qos in slurm.qos.items()}
        half_life = slurm.PriorityDecayHalfLife
        at_begin = used_before(system, state, history, half_life, used, since, factors)
        update["accounts"] = with_usage(slurm.accounts, at_begin)
    return policy.model_copy(update={"slurm": slurm.model_copy(update=update)})


def _accepting(policy: Policy) -> Policy:
    """Jobs of the queue and of the history were accepted, whoever has an association now."""
    words = policy.slurm.AccountingStorageEnforce
    kept = tuple(word for word in words if word != "associations") or ("none",)
    if kept == words:
        return policy
    return policy.model_copy(
        update={"slurm": policy.slurm.model_copy(update={"AccountingStorageEnforce": kept})}
    )


def last_reset(period: str, state: State) -> int:
    """Return when usage was last forgotten before the instant, s; ``LONG_AGO`` where nobody knows.

    ``period`` : PriorityUsageResetPeriod
    """
    if state.origin is None:
        return LONG_AGO
    now = state.at + state.origin
    times = reset_times(period, now - 366 * DAY, now)
    return int(times[-1]) - state.origin if len(times) else LONG_AGO


def used_before(
    system: System,
    state: State,
    history: History,
    half_life: float,
    used: Used | None,
    since: int = LONG_AGO,
    factors: Mapping[str, float] = MappingProxyType({}),
) -> dict[tuple[str, str], float]:
    """Return what users have to have used when draws begin, so that they have used what they had by then.

    Draws begin with the first job of the state, whose jobs are charged for as they run. What was used before
    ``since`` (s) is forgotten. ``factors`` : UsageFactor of each QOS, for jobs that name it.
    """
    begin = int(np.min(np.where(state.waits, state.jobs["submit_time"], state.start), initial=state.at))
    if used is None:
        start, end = (np.maximum(time, since) for time in (history.end - history.run, history.end))
        held = processors_of(history.jobs, system) * _factors(history.jobs, factors)
        left = _charged(history.jobs, held, start, end, state.at, half_life)
    else:
        runs = np.flatnonzero(~state.waits)
        jobs, start, end = state.jobs.select(runs), state.start[runs], np.full(len(runs), state.at)
        held = processors_of(jobs, system) * _factors(jobs, factors)
        running = _charged(jobs, held, start, end, state.at, half_life)
        left = {who: max(amount - running.get(who, 0.0), 0.0) for who, amount in used.items()}
    by_then = max(float(_left(np.array([state.at - begin]), half_life)[0]), LEAST)
    return {who: amount / by_then for who, amount in left.items()}


def _factors(jobs: Workload, factors: Mapping[str, float]) -> Floats:
    named = jobs.table["qos"].astype(str).tolist()
    return np.array([factors.get(name, 1.0) for name in named], dtype=np.float64)


def _charged(
    jobs: Workload, held: Floats, start: Ints, end: Ints, at: int, half_life: float
) -> dict[tuple[str, str], float]:
    """Return what is left at an instant of the processor seconds of each user's jobs, by account and user.

    A processor that is held from start to end counts the integral of what is left of each of its seconds;
    ``held`` are those of each job, by the factors of its QOS.
    """
    if half_life > 0:
        seconds = (_left(at - end, half_life) - _left(at - start, half_life)) * half_life / np.log(2)
    else:
        seconds = (end - start).astype(np.float64)
    table = pd.DataFrame({name: jobs.table[name].astype(str) for name in ("account", "user")})
    table["amount"] = held * seconds
    sums = table.groupby(["account", "user"], sort=True, as_index=False)["amount"].sum()
    return {
        (account, user): float(amount)
        for account, user, amount in zip(*(sums[name].tolist() for name in sums), strict=True)
    }


def processors_of(jobs: Workload, system: System) -> Floats:
    """Return the processors that each job holds, float64[rows]: its cores, or all of its nodes.

    On nodes of different sizes the mean of its partition counts, as Slurm charges before it has chosen. Of a
    job that no partition would take now, its nodes count with a processor each.
    """
    placements = expand(jobs.replace(run_time=NO_LIMIT, skipped=0), system)
    partitions = system.partitions
    of_a_node = np.array([_mean_processors(system, one.name) for one in partitions], dtype=np.float64)
    in_parts = np.array([system.module(one.module).shared and not one.exclusive for one in partitions])
    able = np.flatnonzero(np.diff(placements.first))
    first, row = placements.first[able], placements.rows[able]
    partition, cores = placements.partition[first], np.asarray(jobs["cores"])[row]
    by_core = in_parts[partition] & (cores > 0) & (np.asarray(jobs["exclusive"])[row] == 0)
    found = np.asarray(jobs["nodes"]).astype(np.float64)
    found[row] = placements.nodes[first] * np.where(by_core, cores, of_a_node[partition])
    return found


def _mean_processors(system: System, partition: str) -> float:
    sets = [one for one, _ in system.sets_of(partition)]
    return sum(one.nodes * one.processors for one in sets) / sum(one.nodes for one in sets)


def _left(seconds: Ints, half_life: float) -> Floats:
    """Return what is left of usage after so many seconds; all of it where it does not decay."""
    if half_life <= 0:
        return np.ones(len(seconds))
    left: Floats = np.exp2(-seconds / half_life)
    return left
