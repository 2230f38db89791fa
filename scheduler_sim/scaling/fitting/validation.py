"""Held-out validation: predicted against measured, in the manner of Rosas et al. 2014, Tables 2 to 5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.fitting.factor_fit import fit_factor
from scheduler_sim.scaling.names import FACTORS

PRODUCT = "product"


@dataclass(frozen=True)
class ErrorTable:
    """Predictions at points that were not fitted.

    Attributes
    ----------
    fitted : float64[k], the P that were learnt from
    rows : columns ``processes``, ``factor``, ``predicted``, ``actual``, ``error`` (predicted / actual − 1;
        above 0 = optimistic); the factor ``product`` is all of them multiplied
    """

    fitted: Floats
    rows: pd.DataFrame

    def text(self) -> str:
        """Return the table as text: a row a P, a column a factor, cells such as ``0.391(-9.39%)``."""
        cells = self.rows.assign(
            cell=[
                f"{p:.3f}({100 * e:+.2f}%)"
                for p, e in zip(self.rows["predicted"], self.rows["error"], strict=True)
            ]
        ).pivot(index="processes", columns="factor", values="cell")
        names = list(dict.fromkeys(self.rows["factor"]))
        heads = ["processes", *(FACTORS[name].label if name in FACTORS else name for name in names)]
        widths = [max(len(head), 14) for head in heads]
        lines = ["  ".join(head.rjust(width) for head, width in zip(heads, widths, strict=True))]
        for p, row in cells.iterrows():
            shown = [f"{p:g}", *(row[name] for name in names)]
            lines.append("  ".join(cell.rjust(width) for cell, width in zip(shown, widths, strict=True)))
        return "\n".join(lines)


def validated(
    table: pd.DataFrame,
    factors: list[str],
    holdout: int,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> ErrorTable:
    """Fit each factor to all but the last points and predict those.

    Parameters
    ----------
    table : ``processes`` and a column a factor, shares of 1
    factors : to fit; their product is a column of its own
    holdout : points of the largest P that are kept from the fits
    settings : by factor, keywords of ``fit_factor``

    Raises InputError where no point would be left to learn from, or a value is missing.
    """
    table = table.sort_values("processes", ignore_index=True)
    if not 1 <= holdout < len(table):
        raise InputError(f"holdout: found {holdout}; allowed: 1 to {len(table) - 1} of {len(table)} points")
    learn, test = table.iloc[:-holdout], table.iloc[-holdout:]
    p = test["processes"].to_numpy(dtype=np.float64)
    predicted, actual = {}, {}
    for name in factors:
        fit = fit_factor(learn["processes"], learn[name], name, **(settings or {}).get(name, {}))
        predicted[name], actual[name] = fit.curve.values(p), test[name].to_numpy(dtype=np.float64)
    if len(factors) > 1:
        predicted[PRODUCT] = np.prod(list(predicted.values()), axis=0)
        actual[PRODUCT] = np.prod(list(actual.values()), axis=0)
    return ErrorTable(learn["processes"].to_numpy(dtype=np.float64), error_rows(p, predicted, actual))


def error_rows(p: Floats, predicted: Mapping[str, Floats], actual: Mapping[str, Floats]) -> pd.DataFrame:
    """Return the rows of an ``ErrorTable`` from values by factor, float64[n] each."""
    parts = [
        pd.DataFrame(
            {
                "processes": p,
                "factor": name,
                "predicted": predicted[name],
                "actual": actual[name],
                "error": predicted[name] / actual[name] - 1,
            }
        )
        for name in predicted
    ]
    return pd.concat(parts, ignore_index=True)
