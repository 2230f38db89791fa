"""The same measures for parts of the workload: by size, run time, time limit, user, partition, and so on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.metrics.measures import Jobs
from scheduler_sim.result.columns import NEVER

SMALL = 30
"""A slice in which fewer components ran is marked."""

SIZE_FACTOR = 4
RUN_TIMES = {
    "< 1 min": 60,
    "1 to 10 min": 600,
    "10 min to 1 h": 3_600,
    "1 to 6 h": 21_600,
    "6 h to 1 d": 86_400,
}
"""Run-time classes and the run time in seconds at which each ends; what runs as long is in the next."""

LONGEST = "≥ 1 d"
ACCURACIES = {"< 10 %": 0.1, "10 to 25 %": 0.25, "25 to 50 %": 0.5, "50 to 75 %": 0.75, "75 to 95 %": 0.95}
"""Classes of run time / time limit, and the share at which each ends."""

MOST_ACCURATE = "≥ 95 %"
NEVER_RAN = "never ran"
NOT_KNOWN = "not known"
NONE = "none"


def sliced(components: pd.DataFrame, by: str, counted: np.ndarray | None = None) -> pd.DataFrame:
    """Measure each slice of the components that count.

    Parameters
    ----------
    components : the table of a result.
    by : a key of ``SLICES``.
    counted : bool[components]; None for all.

    Returns
    -------
    One row a slice that has components, classes in their order, names by the alphabet; the index
    is called ``by``. Columns: the measures, and ``small``, whether fewer than 30 of them ran.

    Raises
    ------
    InputError : if ``by`` is no way of slicing.
    """
    classes = _classes(components, by)
    jobs = Jobs.of(components)
    groups = _groups(classes.codes, len(classes.categories), counted)
    rows = {
        name: jobs.measures(group)
        for name, group in zip(classes.categories, groups, strict=True)
        if len(group)
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(jobs.measures(np.zeros(0, dtype=int))))
    table.index.name = by
    return table.assign(small=table["ran"].to_numpy() < SMALL)


def two_way(
    components: pd.DataFrame,
    measure: str,
    counted: np.ndarray | None = None,
    by: tuple[str, str] = ("size", "run_time"),
) -> pd.DataFrame:
    """Give one measure for each pair of classes, as for a heat map.

    Returns
    -------
    float64, the classes of ``by[0]`` down and those of ``by[1]`` across; NaN where there is nothing
    to measure. Components that never ran are left out. ``measure="ran"`` tells how many there are.

    Raises
    ------
    InputError : if ``by`` or ``measure`` is not known.
    """
    ran = components["start_time"].to_numpy() != NEVER
    counted = ran if counted is None else ran & counted
    down, across = (_classes(components, one) for one in by)
    width = len(across.categories)
    jobs = Jobs.of(components)
    groups = _groups(
        down.codes.astype(np.int64) * width + across.codes, len(down.categories) * width, counted
    )
    known = list(jobs.measures(np.zeros(0, dtype=int)))
    if measure not in known:
        raise InputError(f"measure {measure}; allowed: {', '.join(known)}{did_you_mean(measure, known)}")
    cells = [jobs.measures(group)[measure] for group in groups]
    table = pd.DataFrame(
        np.array(cells, dtype=np.float64).reshape(len(down.categories), width),
        index=pd.Index(down.categories, name=by[0]),
        columns=pd.Index(across.categories, name=by[1]),
    )
    return table.drop(index=NEVER_RAN, columns=NEVER_RAN, errors="ignore")


def size_classes(nodes: np.ndarray) -> pd.Categorical:
    """1, 2–4, 5–16, 17–64, … nodes, each four times as large, up to the largest there is."""
    limits = [1]
    while len(nodes) and limits[-1] < nodes.max():
        limits.append(limits[-1] * SIZE_FACTOR)
    lows = [1] + [limit + 1 for limit in limits[:-1]]
    names = [str(low) if low == high else f"{low}–{high}" for low, high in zip(lows, limits, strict=True)]
    return _ordered(np.searchsorted(limits, nodes), names)


def amount_classes(components: pd.DataFrame, column: str) -> pd.Categorical:
    """None, less than 1, then as sizes of what components ask for of cores or GPUs, on all their nodes.

    Where no jobs share nodes that is not known.
    """
    if column not in components:
        return _ordered(np.zeros(len(components), dtype=np.int64), [NOT_KNOWN])
    amounts = components[column].to_numpy()
    sizes = size_classes(np.ceil(amounts).astype(np.int64))
    codes = np.where(amounts >= 1, sizes.codes.astype(np.int64) + 2, amounts > 0)
    return _ordered(codes, [NONE, "< 1", *sizes.categories])


def run_time_classes(components: pd.DataFrame) -> pd.Categorical:
    """Classes of ``RUN_TIMES`` by the run time as simulated; what never ran has one of its own."""
    names = [*RUN_TIMES, LONGEST, NEVER_RAN]
    codes = np.searchsorted(list(RUN_TIMES.values()), components["run_time"].to_numpy(), side="right")
    codes[components["start_time"].to_numpy() == NEVER] = len(names) - 1
    return _ordered(codes, names)


def time_limit_classes(components: pd.DataFrame) -> pd.Categorical:
    """The same classes by the time limit; of what never ran, too."""
    names = [*RUN_TIMES, LONGEST, NOT_KNOWN]
    limit = components["time_limit"].to_numpy()
    codes = np.searchsorted(list(RUN_TIMES.values()), limit, side="right")
    codes[limit <= 0] = names.index(NOT_KNOWN)
    return _ordered(codes, names)


def accuracy_classes(components: pd.DataFrame) -> pd.Categorical:
    """Classes of ``ACCURACIES``: how much of its time limit a component ran."""
    names = [*ACCURACIES, MOST_ACCURATE, NOT_KNOWN, NEVER_RAN]
    limit = components["time_limit"].to_numpy()
    share = components["run_time"].to_numpy() / np.maximum(limit, 1)
    codes = np.searchsorted(list(ACCURACIES.values()), share, side="right")
    codes[limit <= 0] = names.index(NOT_KNOWN)
    codes[components["start_time"].to_numpy() == NEVER] = names.index(NEVER_RAN)
    return _ordered(codes, names)


def _names(column: str) -> Callable[[pd.DataFrame], pd.Categorical]:
    """Classes by a column; not known where a result has none."""

    def classes(components: pd.DataFrame) -> pd.Categorical:
        if column not in components:
            return _ordered(np.zeros(len(components), dtype=np.int64), [NOT_KNOWN])
        names = components[column].astype(str).to_numpy(dtype=object)
        return pd.Categorical(np.where(names == "", NOT_KNOWN, names).astype(object))

    return classes


SLICES: dict[str, Callable[[pd.DataFrame], pd.Categorical]] = {
    "size": lambda components: size_classes(components["nodes"].to_numpy()),
    "cores": lambda components: amount_classes(components, "cores"),
    "gpus": lambda components: amount_classes(components, "gpus"),
    "run_time": run_time_classes,
    "time_limit": time_limit_classes,
    "accuracy": accuracy_classes,
    "user": _names("user"),
    "app": _names("app"),
    "module": _names("module"),
    "partition": _names("partition"),
    "qos": _names("qos"),
    "account": _names("account"),
}
"""The ways of slicing."""


def _ordered(codes: np.ndarray, names: list[str]) -> pd.Categorical:
    return pd.Categorical(np.array(names, dtype=object)[codes], categories=names, ordered=True)


def _classes(components: pd.DataFrame, by: str) -> pd.Categorical:
    if by not in SLICES:
        raise InputError(f"slices by {by}; allowed: {', '.join(SLICES)}{did_you_mean(by, list(SLICES))}")
    return SLICES[by](components)


def _groups(codes: np.ndarray, count: int, counted: np.ndarray | None) -> list[np.ndarray]:
    """Row numbers of each class, in the order of the table."""
    rows = np.arange(len(codes)) if counted is None else np.flatnonzero(counted)
    ordered = rows[np.argsort(codes[rows], kind="stable")]
    limits = np.searchsorted(codes[ordered], np.arange(count + 1))
    return [ordered[low:high] for low, high in pairwise(limits)]
