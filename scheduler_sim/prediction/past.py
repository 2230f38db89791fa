"""What decisions of policy slurm depend on beside what runs and waits: how long, and what users have used."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.placement.table import expand
from scheduler_sim.policy.policy import Policy
from scheduler_sim.policy.shares import with_usage
from scheduler_sim.prediction.history import History
from scheduler_sim.prediction.state import NO_LIMIT, State
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

AGES = "ACCRUE_ALWAYS"
"""In draws jobs are held until the instant, but have waited since they were submitted."""

Used = Mapping[tuple[str, str], float]
"""Processor seconds of users by account and user, decayed, at the instant."""


def with_past(policy: Policy, system: System, state: State, history: History, used: Used | None) -> Policy:
    """Return a policy under which draws go on from the past that a state has; only policy slurm has one.

    What users had used is what ``sshare`` printed at the instant (``used``), else what jobs of the history
    were charged, half of it after each half-life.
    """
    slurm = policy.slurm
    if policy.backfill != "slurm" or slurm.PriorityType != "priority/multifactor":
        return policy
    flags = (*slurm.PriorityFlags, *(() if AGES in slurm.PriorityFlags else (AGES,)))
    update: dict[str, object] = {"PriorityFlags": flags}
    if slurm.PriorityWeightFairshare:
        at_begin = used_before(system, state, history, slurm.PriorityDecayHalfLife, used)
        update["accounts"] = with_usage(slurm.accounts, at_begin)
    return policy.model_copy(update={"slurm": slurm.model_copy(update=update)})


def used_before(
    system: System, state: State, history: History, half_life: float, used: Used | None
) -> dict[tuple[str, str], float]:
    """Return what users have to have used when draws begin, so that they have used what they had by then.

    Draws begin with the first job of the state, whose jobs are charged for as they run.
    """
    begin = int(np.min(np.where(state.waits, state.jobs["submit_time"], state.start), initial=state.at))
    if used is None:
        charged = _charged(system, history.jobs, history.end - history.run, history.end, state.at, half_life)
    else:
        runs = np.flatnonzero(~state.waits)
        start = state.start[runs]
        running = _charged(
            system, state.jobs.select(runs), start, np.full(len(runs), state.at), state.at, half_life
        )
        charged = {who: max(amount - running.get(who, 0.0), 0.0) for who, amount in used.items()}
    left = _left(np.array([state.at - begin]), half_life)[0]
    return {who: amount / left for who, amount in charged.items()}


def _charged(
    system: System, jobs: Workload, start: Ints, end: Ints, at: int, half_life: float
) -> dict[tuple[str, str], float]:
    """Return what is left at an instant of the processor seconds of each user's jobs, by account and user.

    A processor that is held from start to end counts the integral of what is left of each of its seconds.
    """
    if half_life > 0:
        seconds = (_left(at - end, half_life) - _left(at - start, half_life)) * half_life / np.log(2)
    else:
        seconds = (end - start).astype(np.float64)
    table = pd.DataFrame({name: jobs.table[name].astype(str) for name in ("account", "user")})
    table["amount"] = processors_of(jobs, system) * seconds
    sums = table.groupby(["account", "user"], sort=True, as_index=False)["amount"].sum()
    return {
        (account, user): float(amount)
        for account, user, amount in zip(*(sums[name].tolist() for name in sums), strict=True)
    }


def processors_of(jobs: Workload, system: System) -> Floats:
    """Return the processors that each job holds, float64[rows]: its cores, or all of its nodes.

    On nodes of different sizes the mean of its partition counts, as Slurm charges before it has chosen.
    """
    placements = expand(jobs.replace(run_time=NO_LIMIT, skipped=0), system)
    of_a_node = np.array(
        [_mean_processors(system, partition.name) for partition in system.partitions], dtype=np.float64
    )
    first = placements.first[:-1]
    nodes, partition = placements.nodes[first], placements.partition[first]
    cores = np.asarray(jobs["cores"])[placements.rows]
    found = np.ones(len(jobs), dtype=np.float64)
    found[placements.rows] = nodes * np.where(cores > 0, cores, of_a_node[partition])
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
