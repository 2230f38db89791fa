"""What D2.3's own ratios say of one another: a response is a wait and a run.

With R and w the mean response and wait of the modular system, and as the mean run time is R − w there,

    run(DAM) / run(modular) = (2.4 R − 17.8 w) / (R − w)
    run(ESB) / run(modular) = (2.7 R − 5.4 w) / (R − w)

The first ratio follows from Table 7 and is the same in both readings, so that it gives w/R; the second then
says how long jobs run on the ESB, and so which reading D2.3 has.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pandas as pd

from analysis.modular_vs_homogeneous.cases import DAM, ESB, MOD, PREFERRED, SLOWER, SPEED, table_7
from scheduler_sim.metrics.intervals import Interval

WAIT_DAM, WAIT_ESB, RESPONSE_DAM, RESPONSE_ESB = 17.8, 5.4, 2.4, 2.7
ROUNDING = 0.05
"""D2.3 gives one decimal."""


class Implied(NamedTuple):
    """What follows from the published ratios, given run(DAM) / run(modular), by their rounding.

    ``wait_share`` : w/R of the modular system. ``esb`` : run(ESB) / run(modular).
    """

    wait_share: Interval
    esb: Interval


def implied(dam: float) -> Implied:
    """Solve the two equations, for the published ratios and for the ends of their rounding."""
    middle = _solved(dam, RESPONSE_DAM, WAIT_DAM, RESPONSE_ESB, WAIT_ESB)
    published = (RESPONSE_DAM, WAIT_DAM, RESPONSE_ESB, WAIT_ESB)
    corners = [
        _solved(dam, *corner) for corner in product(*((one - ROUNDING, one + ROUNDING) for one in published))
    ]
    ends = [(min(part), max(part)) for part in zip(*corners, strict=True)]
    return Implied(Interval(middle[0], *ends[0]), Interval(middle[1], *ends[1]))


def _solved(
    dam: float, response_dam: float, wait_dam: float, response_esb: float, wait_esb: float
) -> tuple[float, float]:
    share = (response_dam - dam) / (wait_dam - dam)
    return share, (response_esb - wait_esb * share) / (1 - share)


def by_shares() -> dict[str, float]:
    """Return run time / run time on the modular system, weighted by the shares of Table 7."""
    times = {SLOWER: _mean_times(SLOWER), SPEED: _mean_times(SPEED)}
    return {
        DAM: times[SLOWER]["DAM"] / times[SLOWER]["best"],
        SLOWER: times[SLOWER]["ESB"] / times[SLOWER]["best"],
        SPEED: times[SPEED]["ESB"] / times[SPEED]["best"],
    }


def _mean_times(reading: str) -> dict[str, float]:
    models = table_7(reading)
    types = models.keys.applications
    assert types is not None
    shares = [(one.percent or 0) / 100 for one in types.types]
    ratio = {
        module: [models.time_ratio(number, module, "CM", nodes=1) for number in range(len(shares))]
        for module in ("CM", "DAM", "ESB")
    }
    best = [min(cm, esb) for cm, esb in zip(ratio["CM"], ratio["ESB"], strict=True)]
    return {
        name: sum(share * time for share, time in zip(shares, times, strict=True))
        for name, times in {**ratio, "best": best}.items()
    }


class Agreement(NamedTuple):
    """Over seeds: run(ESB) / run(modular), least and most; how many of them are within what is implied."""

    least: float
    most: float
    within: int
    seeds: int


def of_seeds(runs: pd.DataFrame) -> Agreement:
    """Compare the run times of each seed with what the published ratios imply, given its own DAM.

    Parameters
    ----------
    runs : of the main part and one policy, in one reading.
    """
    own = runs[(runs["system"] != MOD) | (runs["strategy"] == PREFERRED)]
    run = own.pivot(index="seed", columns="system", values="run_h")
    esb, dam = run[ESB] / run[MOD], run[DAM] / run[MOD]
    ends = [implied(one).esb for one in dam]
    within = sum(low <= one <= high for one, (_, low, high) in zip(esb, ends, strict=True))
    return Agreement(float(esb.min()), float(esb.max()), within, len(esb))
