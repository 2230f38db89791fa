"""Slurm's multifactor priority: what is constant of a component in a partition, and the sum at a moment.

Formulas and roundings are those of ``src/plugins/priority/multifactor`` in Slurm 22.05; sums are
taken in its order, so that even the last bit before the truncation is the same. The flags:

- ACCRUE_ALWAYS: age counts from submission; give ``age_factor`` that moment.
- SMALL_RELATIVE_TO_TIME: ``size_factor(relative_to_time=True)``.
- NO_NORMAL_ASSOC, _PART, _QOS, _TRES: the plain number stands where its normalised value would.
- NO_FAIR_TREE, DEPTH_OBLIVIOUS: see ``fair_share``.
- INCR_ONLY: at a recalculation the larger of the old and the new priority stays.
- MAX_TRES weighs several billed resources; usage here is billed by processors alone, as by default.
- CALCULATE_RUNNING shows priorities of what runs and orders nothing.

Without Slurm's accounting database 22.05 ignores the weights of age and fair share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scheduler_sim.engine.core.jit import part
from scheduler_sim.engine.core.records import Floats, Table, table
from scheduler_sim.engine.rules.slurm.state import Factors

HIGHEST = 4294967295.0
"""The largest priority: 32 bits without a sign."""


class Weights(NamedTuple):
    """PriorityWeight*, of the factors that do not change with time."""

    association: int
    job_size: int
    partition: int
    qos: int
    tres: ArrayLike  # [t], in Slurm's order: cpu, mem, energy, node, billing, ...


def size_factor(
    nodes: NDArray[np.int64],
    cpus: NDArray[np.int64],
    limit_minutes: NDArray[np.int64],
    cluster_nodes: int,
    cluster_cpus: int,
    favor_small: bool,
    relative_to_time: bool,
) -> Floats:
    """Return the job size factor of what asks for ``nodes`` and ``cpus`` of the whole cluster.

    Large jobs gain half by nodes and half by processors, with PriorityFavorSmall small ones.
    SMALL_RELATIVE_TO_TIME counts processors (or the nodes' average, if that is more) per minute of limit.

    Parameters
    ----------
    nodes, cpus, limit_minutes : [p]; cpus 0 = unknown, only nodes count; the limit is the job's own
        or else MaxTime of the partition
    cluster_nodes, cluster_cpus : all there are, in every partition

    Returns
    -------
    float64[p], from 0 to 1
    """
    if relative_to_time:
        average = nodes.astype(float) * float(cluster_cpus) / float(cluster_nodes)
        size = np.maximum(average, cpus) / limit_minutes / cluster_cpus
        size = 1.0 - size if favor_small else size
    else:
        by_nodes = _part_of(nodes, cluster_nodes, favor_small)
        by_cpus = _part_of(cpus, cluster_cpus, favor_small)
        if favor_small:
            by_nodes = np.maximum(by_nodes, 0.0)
        size = np.where(cpus > 0, (by_nodes + by_cpus) / 2, by_nodes)
    return np.clip(size, 0.0, 1.0)


def _part_of(asked: NDArray[np.int64], total: int, favor_small: bool) -> Floats:
    return ((total - asked) if favor_small else asked) / float(total)


def normalised(value: NDArray[np.int64], highest: int) -> Floats:
    """Return priorities as parts of the highest one: of partitions, QOS or associations.

    ``highest`` is taken over all there are, used or not; of partitions at least 1. 0 makes every factor 0.
    """
    return value / float(highest) if highest else np.zeros(len(value))


def tres_factors(requested: NDArray[np.float64], totals: NDArray[np.float64]) -> Floats:
    """Return what is asked for of each trackable resource as part of what the partition has.

    Parameters
    ----------
    requested, totals : [p, t]: asked for by the component, and in its partition; memory in MB.
        What a partition has nothing of counts 0.

    Returns
    -------
    float64[p, t]
    """
    factors = np.zeros(np.shape(requested))
    np.divide(requested, totals, out=factors, where=np.asarray(totals) > 0)
    return factors


def static_factors(
    weights: Weights,
    *,
    association: Floats,
    size: Floats,
    partition: Floats,
    qos: Floats,
    tres: Floats,
    nice: NDArray[np.int64],
    listed: NDArray[np.bool_],
) -> Table[Factors]:
    """Weigh what does not change with time, of every component in each of its partitions.

    Parameters
    ----------
    weights : PriorityWeight*
    association, size, partition, qos : [p] factors; tres : [p, t]
    nice : [p], subtracted as it is
    listed : [p], True where the component names several partitions: Slurm sums there in another order

    Returns
    -------
    FACTORS[p]
    """
    found = table(Factors, len(size))
    found["association"] = association * float(weights.association)
    found["job_size"] = size * float(weights.job_size)
    found["partition"] = partition * float(weights.partition)
    found["qos"] = qos * float(weights.qos)
    for column, weight in zip(np.transpose(tres), np.atleast_1d(weights.tres), strict=True):
        found["tres"] += column * weight
    found["nice"] = nice
    found["listed"] = listed
    return found


@part
def age_factor(now: int, accrual: int, max_age: int) -> float:
    """Time since ``accrual`` (s; below 0: not eligible yet) as part of PriorityMaxAge (s), at most 1."""
    if accrual < 0 or now <= accrual:
        return 0.0
    if now - accrual >= max_age:
        return 1.0
    return (now - accrual) / max_age


@part
def priority(factors: Factors, age: float, fair: float) -> int:
    """Sum of a record of FACTORS and the weighted ``age`` and ``fair`` share: from 1 to 2^32 - 1, truncated.

    0 is the priority of what is held, never the outcome of the formula.
    """
    value = age + factors.association + fair + factors.job_size
    if factors.listed:
        value = factors.partition + (value + factors.qos + factors.tres - factors.nice)
    else:
        value = value + factors.partition + factors.qos + factors.tres - factors.nice
    return int(min(max(value, 1.0), HIGHEST))
