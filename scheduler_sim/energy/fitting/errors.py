"""How far projections are from measurements."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats


def rmse(measured: Floats, projected: Floats) -> float:
    """Return the root of the mean squared error, in the unit of both (D2.3 eq. 5.3)."""
    return float(np.sqrt(np.mean((measured - projected) ** 2)))


def rmse_percent(measured: Floats, projected: Floats) -> float:
    """Return 100 · RMSE over the largest value of either (D2.3 eq. 5.4).

    Dividing by the largest flatters: look at :func:`mape` beside it.
    """
    return 100.0 * rmse(measured, projected) / float(max(measured.max(), projected.max()))


def mape(measured: Floats, projected: Floats) -> float:
    """Return the mean of 100 · |projected − measured| / measured."""
    return float(100.0 * np.mean(np.abs(projected - measured) / measured))


def bias(measured: Floats, projected: Floats) -> float:
    """Return the mean of 100 · (projected − measured) / measured; above 0 is too much."""
    return float(100.0 * np.mean((projected - measured) / measured))


def errors_by_pair(projections: pd.DataFrame) -> pd.DataFrame:
    """Return ``workloads, rmse_percent, mape, bias`` for each split, quantity, law and pair of frequencies.

    The same as the functions above, for all groups at once; columns as in :class:`.validation.Validation`.
    """
    keys = ["split", "quantity", "law", "from_khz", "to_khz"]
    measured, projected = projections["measured"], projections["projected"]
    relative = 100.0 * (projected - measured) / measured
    terms = projections[keys].assign(
        square=(measured - projected) ** 2,
        largest=np.maximum(measured, projected),
        absolute=relative.abs(),
        relative=relative,
    )
    groups = terms.groupby(keys, sort=False, as_index=False)
    made = groups.agg(
        workloads=("square", "size"),
        rmse_percent=("square", "mean"),
        largest=("largest", "max"),
        mape=("absolute", "mean"),
        bias=("relative", "mean"),
    )
    made["rmse_percent"] = 100.0 * np.sqrt(made["rmse_percent"]) / made.pop("largest")
    return made
