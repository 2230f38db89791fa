"""Learning from what jobs drew: a mean a group, drawn towards the group around it where it has few jobs.

The means of the groups within one are taken as draws around its own, of variance τ², what jobs drew as draws
around the mean of their group, of variance σ². Both are estimated, for all groups of a level together, from
the sums of squares between groups and within them (analysis of variance of one way, groups of any sizes). The
best linear guess of a group of n jobs of mean x within one of power m is (n · x + κ · m) / (n + κ) with
κ = σ² / τ².
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.energy.fitting.errors import bias, mape
from scheduler_sim.energy.learnt import (
    APPLICATION,
    COLUMNS,
    LEVELS,
    NODES,
    USER,
    Learnt,
    by_level,
    size_class,
)
from scheduler_sim.errors import InputError

FEWEST = 10
"""Jobs, below which nothing is learnt: eight to learn from, and two that are held out."""

ONE_OF = 5
"""One job of so many is held out: those that were submitted last."""

LEARNT, OF_USER, OF_ALL = "learnt", "mean of the user", "mean of all"
"""Ways of telling what a job will draw."""

_NOTHING = 1e-12
"""Share of the square of the mean power, up to which a variance is what rounding leaves of none."""

Group = tuple[str, str, int]


class Drew(NamedTuple):
    """What n jobs drew, in the order in which they were submitted.

    Attributes
    ----------
    power_w : (n,) mean power of a node, W, above 0.
    user, application : (n,) text, empty where they are not known; nodes : (n,) int64.
    node_seconds : (n,) how much work each was.
    """

    power_w: Floats
    user: np.ndarray
    application: np.ndarray
    nodes: Ints
    node_seconds: Floats

    def rows(self, which: slice) -> Drew:
        """Return some of the jobs."""
        return Drew(
            *(self.power_w[which], self.user[which], self.application[which], self.nodes[which]),
            self.node_seconds[which],
        )


class HeldOut(NamedTuple):
    """How near what the first jobs teach is to what the last ones drew.

    Attributes
    ----------
    errors : a row a way of telling, :data:`LEARNT` first: ``mape`` and ``bias`` of a job's power, %, and
        ``energy``: how much more all jobs together are told to take than they took, %.
    measured : (n,) W of a node under each job that was held out; told : (n,) the same by each way of telling.
    learnt_from, held_out : jobs.
    levels : how many of the latter have their power from which of LEVELS, the innermost first.
    """

    errors: pd.DataFrame
    measured: Floats
    told: dict[str, Floats]
    learnt_from: int
    held_out: int
    levels: dict[str, int]


def learn(drew: Drew) -> Learnt:
    """Learn the power of a node by user, application and size.

    A level is left out where its groups differ no more than the jobs within them let expect, or where none
    has two jobs, or none has another beside it. Raises InputError for too few jobs.
    """
    _refuse_few(drew)
    return _learnt(drew)


def _refuse_few(drew: Drew) -> None:
    if (found := len(drew.power_w)) < FEWEST:
        raise InputError(f"jobs with a measured power: found {found}; allowed: {FEWEST} or more")


def _learnt(drew: Drew) -> Learnt:
    watts = drew.power_w
    around, groups, power = np.zeros(len(watts), np.int64), [("", "", 0)], np.array([watts.mean()])
    rows = [(*groups[0], float(power[0]), len(watts))]
    for code, inner in _levels(drew):
        parent = np.empty(len(inner), np.int64)
        parent[code] = around
        kappa = _kappa(watts, code, around, parent)
        jobs, power = np.bincount(code), power[parent]
        if kappa is not None:
            power = (np.bincount(code, watts) + kappa * power) / (jobs + kappa)
            told = zip(inner, power.tolist(), jobs.tolist(), parent.tolist(), strict=True)
            rows += [(*group, one, n) for group, one, n, at in told if group != groups[at]]
        around, groups = code, inner
    return Learnt.of(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def judged(drew: Drew) -> HeldOut:
    """Learn from the first jobs, and hold that against the last. Raises InputError for too few jobs."""
    _refuse_few(drew)
    held = len(drew.power_w) // ONE_OF
    before, after = drew.rows(slice(-held)), drew.rows(slice(-held, None))
    told, level = _learnt(before).predict(after.user, after.application, after.nodes)
    mean = before.power_w.mean()
    of_user = pd.Series(before.power_w).groupby(before.user).mean()
    ways = {
        LEARNT: told,
        OF_USER: of_user.reindex(after.user).fillna(mean).to_numpy(),
        OF_ALL: np.full(held, mean),
    }
    work = after.node_seconds
    took = after.power_w @ work
    rows = [
        (way, mape(after.power_w, watts), bias(after.power_w, watts), 100 * (watts @ work / took - 1))
        for way, watts in ways.items()
    ]
    errors = pd.DataFrame(rows, columns=["way", "mape", "bias", "energy"])
    return HeldOut(errors, after.power_w, ways, len(before.power_w), held, by_level(level))


def _levels(drew: Drew) -> Iterator[tuple[Ints, list[Group]]]:
    """Yield of each level, from the outermost in, which of its groups each job is of; and the groups."""
    keys = pd.DataFrame({USER: drew.user, APPLICATION: drew.application, NODES: size_class(drew.nodes)})
    for depth in range(1, len(LEVELS)):
        told = list(keys.columns[:depth])
        code = np.asarray(keys.groupby(told, sort=False).ngroup(), dtype=np.int64)
        first = keys.drop_duplicates(told)
        any_ = {name: value for name, value in ((APPLICATION, ""), (NODES, 0)) if name not in told}
        yield code, list(first.assign(**any_).itertuples(index=False, name=None))


def _kappa(watts: Floats, code: Ints, around: Ints, parent: Ints) -> float | None:
    """Return σ² / τ² of a level: ``code`` is the group of each job, ``around`` the one around that.

    None where the level teaches nothing; ``parent`` is the group around each group.
    """
    jobs, all_around = np.bincount(code), np.bincount(around)
    of_jobs, of_groups = len(watts) - len(jobs), len(jobs) - len(all_around)
    if not of_jobs or not of_groups:
        return None
    mean, mean_around = np.bincount(code, watts) / jobs, np.bincount(around, watts) / all_around
    within = float(((watts - mean[code]) ** 2).sum()) / of_jobs
    between = float((jobs * (mean - mean_around[parent]) ** 2).sum()) / of_groups
    size = (len(watts) - float((jobs**2 / all_around[parent]).sum())) / of_groups
    variance = (between - within) / size
    return within / variance if variance > _NOTHING * watts.mean() ** 2 else None
