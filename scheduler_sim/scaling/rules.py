"""Do measured tables of efficiencies keep the product rules, to the rounding they were printed with?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.scaling.names import RULES


class RuleCheck(NamedTuple):
    """One product rule in one row; efficiencies as shares of 1."""

    processes: float
    whole: str
    parts: tuple[str, ...]
    stated: float
    product: float
    allowed: float
    kept: bool


def check_rules(table: pd.DataFrame, decimals: int) -> list[RuleCheck]:
    """Check every product rule in every row of a table.

    Parameters
    ----------
    table : column ``processes`` and columns named as in ``names.FACTORS``, shares of 1; NaN = not known
    decimals : digits after the point of the shares as printed (4 for 98.94 %)

    A deviation is allowed up to what rounding can do: half a digit of the product, and half a digit of
    each factor times the others. Raises InputError where the table holds no rule at all.
    """
    half = 0.5 * 10.0**-decimals
    found = []
    rules = [(whole, parts) for whole, parts in RULES if {whole, *parts} <= set(table.columns)]
    if not rules:
        raise InputError("no product rule can be checked; allowed: a table with a factor and its parts")
    for whole, parts in rules:
        columns = table[list(parts)].to_numpy(dtype=np.float64)
        stated = table[whole].to_numpy(dtype=np.float64)
        product = columns.prod(axis=1)
        others = (product[:, None] / columns).sum(axis=1)
        allowed = half * (1 + others) * (1 + 1e-9)
        for row in np.flatnonzero(np.isfinite(stated) & np.isfinite(product)):
            kept = bool(abs(stated[row] - product[row]) <= allowed[row])
            at = float(table["processes"].iloc[row])
            found.append(
                RuleCheck(
                    at, whole, parts, float(stated[row]), float(product[row]), float(allowed[row]), kept
                )
            )
    return found


def suspects(checks: list[RuleCheck]) -> list[tuple[float, str]]:
    """Return the cells (processes, factor) in every broken rule of their row and in none that is kept.

    One broken rule alone accuses several cells; a misprint inside two rules is found alone.
    """
    found = []
    for at in sorted({check.processes for check in checks if not check.kept}):
        row = [check for check in checks if check.processes == at]
        broken = [{check.whole, *check.parts} for check in row if not check.kept]
        cleared = set().union(*({check.whole, *check.parts} for check in row if check.kept))
        found += [(at, name) for name in sorted(set.intersection(*broken) - cleared)]
    return found
