"""Waits and utilisation of parts of the workload, as a person reads them: the largest few, and the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scheduler_sim.metrics.slices import NOT_KNOWN, SLICES
from scheduler_sim.metrics.statistics import summary
from scheduler_sim.report.module_view import ints
from scheduler_sim.result.columns import NEVER, TOTAL
from scheduler_sim.units import HOUR

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

MOST = 12
"""Partitions, modules or users with a row of their own."""


def by_class(result: Result, what: str) -> pd.DataFrame:
    """Measure each class of the components.

    Classes of size in their order; of others those that used most first, and all beyond ``MOST`` as one.

    Parameters
    ----------
    what : a key of ``metrics.slices.SLICES``, such as ``size``, ``user`` or ``partition``.

    Returns
    -------
    One row a class that has components. Columns: classes, how many it stands for; components; node_hours
    (nodes · run time); energy_j, NaN without a model of it; utilization, its share of all node time, NaN
    where that is not known; and wait_mean, wait_median, wait_p90, wait_p99 (s) of those that ran, NaN where
    none did.
    """
    table = result.components
    classes = SLICES[what](table)
    start, submit, end = (ints(table, f"{moment}_time") for moment in ("start", "submit", "end"))
    ran = start != NEVER
    seconds = np.where(ran, ints(table, "nodes") * (end - start), 0)
    code, names = np.asarray(classes.codes, dtype=np.int64), [str(name) for name in classes.categories]
    together = 1
    if not classes.ordered:
        code, names, together = _largest(code, names, seconds)
    used = (result.metrics.get("utilization") or {}).get(TOTAL)
    joules = table["energy_j"].to_numpy(dtype=np.float64)
    if np.isfinite(joules).any():
        joules = np.where(ran, joules, 0)
    found = pd.DataFrame(
        {
            "components": np.bincount(code, minlength=len(names)),
            "node_hours": np.bincount(code, seconds, minlength=len(names)) / HOUR,
            "energy_j": np.bincount(code, joules, minlength=len(names)),
        },
        index=pd.Index(names, name=what),
    )
    found.insert(0, "classes", 1)
    found.iloc[-1:, 0] = together
    work = found["node_hours"].sum()
    found["utilization"] = found["node_hours"] * (used / work if used is not None and work else np.nan)
    waits = [summary((start - submit)[ran & (code == one)]) for one in range(len(names))]
    for name in ("mean", "median", "p90", "p99"):
        found[f"wait_{name}"] = np.array([one[name] for one in waits], dtype=np.float64)
    return found[found["components"] > 0]


def ways(result: Result) -> list[str]:
    """Return how to part the components of a result: by partition or else module, by user, and by size."""
    table = result.components
    several = {what: _several(SLICES[what](table)) for what in ("partition", "module", "user")}
    where = [what for what in ("partition", "module") if several[what]][:1]
    return [*where, *(["user"] if several["user"] else []), "size"] if len(table) else []


def _several(classes: pd.Categorical) -> bool:
    known = [str(name) for name in classes.categories if str(name) not in (NOT_KNOWN, "-1", "NA")]
    return len(known) > 1


def _largest(code: np.ndarray, names: list[str], seconds: np.ndarray) -> tuple[np.ndarray, list[str], int]:
    """Number classes by node-seconds, the most first, and give those beyond ``MOST`` one number.

    Also return how many the last number stands for.
    """
    used = np.bincount(code, seconds, minlength=len(names))
    order = np.argsort(-used, kind="stable")
    kept = order if len(order) <= MOST + 1 else order[:MOST]
    place = np.full(len(names), len(kept), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    own, others = [names[i] for i in kept], len(order) - len(kept)
    return place[code], [*own, *([f"{others:,} others"] if others else [])], max(others, 1)
