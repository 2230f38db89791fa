"""Compare the levels of a factor, such as policies, pair by pair.

Pairs have the same jobs: the same seed of the same workload under both levels (common random
numbers), or the same block of one trace. Paired differences of such runs vary much less than
the runs themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.metrics.blocks import FEWEST as FEWEST_BLOCKS
from scheduler_sim.metrics.blocks import LARGE, merged
from scheduler_sim.metrics.intervals import (
    CONFIDENCE,
    Finding,
    Interval,
    difference_finding,
    ratio_finding,
    standard_error,
)
from scheduler_sim.metrics.names import better
from scheduler_sim.metrics.significance import holm, wilcoxon
from scheduler_sim.metrics.verdicts import MINIMUM_PAIRS, verdict

RAN = "ran"


def compare(
    runs: pd.DataFrame,
    metric: str | Sequence[str],
    treatment: str,
    baseline: Any,
    pairing: Sequence[str] = (),
    *,
    replicate: str = "replicate",
    blocks: bool = False,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare every level of a factor with the baseline, in every cell of the other factors.

    Parameters
    ----------
    runs : one row a run (or a block of one): the columns named below, and the metrics. Of ``ran``, the
        components that ran, it is noted if they are not as many on both sides.
    metric : the metric, or several; one call is one family for Holm's correction.
    treatment : the factor whose levels are compared, such as ``policy``.
    baseline : the level that the others are compared with.
    pairing : the factors that make a cell, such as ``["system", "workload"]``.
    replicate : the column that pairs runs within a cell: the seed, or the block.
    blocks : replicates are blocks of one trace in order of time, see ``blocks.merged``.
    confidence : of the intervals; the tests are at 1 − confidence.
    seed : of the bootstrap.

    Returns
    -------
    One row a cell, level and metric, in the order of the runs, with the columns of
    ``docs/reference/statistics.md``. Pairs without a value on both sides are dropped and counted.

    Raises
    ------
    InputError : for a column that is missing, a baseline that is no level, or a replicate that
        stands twice.
    """
    metrics = [metric] if isinstance(metric, str) else list(metric)
    _check(runs, metrics, treatment, baseline, pairing, replicate)
    columns = [*metrics, RAN] if RAN in runs and RAN not in metrics else metrics
    rows = [
        {
            **cell,
            treatment: level,
            "baseline": baseline,
            "metric": name,
            "confidence": confidence,
            **_compared(one, other, name, blocks, confidence, seed, _other_jobs(pairs)),
        }
        for cell, level, pairs in _pairs(runs, columns, treatment, baseline, list(pairing), replicate)
        for name in metrics
        for one, other in [(pairs[name, "level"].to_numpy(), pairs[name, "baseline"].to_numpy())]
    ]
    table = pd.DataFrame(rows, columns=[*pairing, treatment, *COLUMNS])
    table["p_holm"] = holm(table["p"].to_numpy(dtype=np.float64))
    significant = table["p_holm"].to_numpy() <= 1 - confidence
    least = FEWEST_BLOCKS if blocks else MINIMUM_PAIRS
    family = int(table["p"].notna().sum())
    table["verdict"] = [
        verdict(row, found, least, family)
        for row, found in zip(table.to_dict("records"), significant, strict=True)
    ]
    return table


COLUMNS = (
    *("baseline", "metric", "confidence", "pairs", "dropped", "mean", "mean_baseline"),
    *("change", "change_low", "change_high", "d_z", "probability_better"),
    *("difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high"),
    *("p", "p_holm", "p_wilcoxon", "autocorrelation", "verdict", "note"),
)
"""The columns of a comparison, after the factors."""


def _other_jobs(pairs: pd.DataFrame) -> str:
    """Say it if not as many components ran on both sides of each pair: then their jobs are not the same."""
    if (RAN, "level") not in pairs:
        return ""
    both = pairs[[(RAN, "level"), (RAN, "baseline")]].dropna().to_numpy(dtype=np.int64)
    if (both[:, 0] == both[:, 1]).all():
        return ""
    here, there = (
        f"{low:,}" if low == high else f"{low:,} to {high:,}"
        for low, high in zip(both.min(axis=0), both.max(axis=0), strict=True)
    )
    return f"not the same jobs ran: {here} of them here, {there} with the baseline"


def _compared(
    level: np.ndarray,
    baseline: np.ndarray,
    metric: str,
    blocks: bool,
    confidence: float,
    seed: int,
    other_jobs: str,
) -> dict[str, Any]:
    """Compare the paired values of one metric."""
    valid = np.isfinite(level) & np.isfinite(baseline)
    dropped = int(len(level) - valid.sum())
    level, baseline = level[valid], baseline[valid]
    before, autocorrelation, inflation = len(level), np.nan, 1.0
    if blocks:
        level, baseline, autocorrelation, inflation = merged(level, baseline)
    found: dict[str, Any] = {"pairs": len(level), "dropped": dropped, "autocorrelation": autocorrelation}
    if len(level) == 0:
        return found
    differences = level - baseline
    ratio = ratio_finding(level, baseline, confidence, inflation, seed)
    difference = Finding(Interval(float(differences.mean()), np.nan, np.nan), np.nan)
    if np.isnan(ratio.interval.value) or not differences.any():  # one inference a row: none can disagree
        difference = difference_finding(level, baseline, confidence, inflation)
    check = np.nan if autocorrelation > LARGE else wilcoxon(differences)  # it asks for independent pairs
    if blocks and len(level) < FEWEST_BLOCKS:
        difference, ratio, check = _without_ends(difference), _without_ends(ratio), np.nan
    p = difference.p if np.isnan(ratio.interval.value) else ratio.p
    return {
        **found,
        "mean": float(level.mean()),
        "mean_baseline": float(baseline.mean()),
        **_named("change", Interval(*(100.0 * (part - 1.0) for part in ratio.interval))),
        "d_z": _effect_size(differences),
        "probability_better": _probability_better(differences, metric),
        **_named("difference", difference.interval),
        **_named("ratio", ratio.interval),
        "p": p,
        "p_wilcoxon": check,
        "note": "; ".join(_notes(found, before, inflation, ratio.interval, other_jobs)),
    }


def _without_ends(found: Finding) -> Finding:
    return Finding(Interval(found.interval.value, np.nan, np.nan), np.nan)


def _effect_size(differences: np.ndarray) -> float:
    """Cohen's d_z, mean / standard deviation of the differences; 0 if all are 0, NaN if all are equal."""
    if not differences.any():
        return 0.0
    error = standard_error(differences) if len(differences) > 1 else 0.0
    return float(differences.mean()) / (error * float(np.sqrt(len(differences)))) if error > 0 else np.nan


def _probability_better(differences: np.ndarray, metric: str) -> float:
    """Share of pairs in which the level is better, ties half; NaN of a metric that has no better values."""
    which = better(metric)
    if which == "neither":
        return np.nan
    won = differences > 0 if which == "more" else differences < 0
    return float(won.mean() + (differences == 0).mean() / 2)


def _notes(
    found: dict[str, Any],
    before: int,
    inflation: float,
    ratio: Interval,
    other_jobs: str,
) -> list[str]:
    """Say what a reader of the numbers has to know besides."""
    notes = [other_jobs] if other_jobs else []
    if found["pairs"] < 2:
        notes.append("one pair has no spread, so there is no interval")
    if found["dropped"]:
        notes.append(f"{found['dropped']} pairs without a value on both sides dropped")
    if found["pairs"] < before:
        notes.append(f"{before} blocks merged to {found['pairs']}")
    if inflation > 1:
        worth = f"they are worth {found['pairs'] / inflation:.1f} independent ones"
        notes.append(f"autocorrelation of blocks {found['autocorrelation']:.2f}: {worth}")
    if np.isnan(ratio.value):
        notes.append("the baseline is 0 on average, so there is no ratio")
    return notes


def _named(name: str, interval: Interval) -> dict[str, float]:
    return {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _pairs(
    runs: pd.DataFrame, metrics: list[str], treatment: str, baseline: Any, pairing: list[str], replicate: str
) -> Iterator[tuple[dict[str, Any], Any, pd.DataFrame]]:
    """Yield cell, level and the metrics of both sides, a row a replicate, NaN where one is missing."""
    groups = runs.groupby(pairing, sort=False, observed=True, dropna=False) if pairing else [((), runs)]
    for key, cell in groups:
        sides = {
            level: side.set_index(replicate)[metrics].astype(np.float64)
            for level, side in cell.groupby(treatment, sort=False, observed=True)
        }
        others = sides.pop(baseline, cell.iloc[:0].set_index(replicate)[metrics].astype(np.float64))
        for level, side in sides.items():
            both = pd.concat({"level": side, "baseline": others}, axis=1).sort_index()
            yield dict(zip(pairing, key, strict=True)), level, both.swaplevel(axis=1)


def _check(
    runs: pd.DataFrame,
    metrics: list[str],
    treatment: str,
    baseline: Any,
    pairing: Sequence[str],
    replicate: str,
) -> None:
    columns = [str(column) for column in runs.columns]
    for name in (treatment, replicate, *pairing, *metrics):
        if name not in columns:
            raise InputError(
                f"no column {name} in the runs; allowed: {', '.join(columns)}{did_you_mean(name, columns)}"
            )
    levels = list(pd.unique(runs[treatment]))
    if baseline not in levels:
        raise InputError(f"baseline {baseline} is no {treatment}; allowed: {', '.join(map(str, levels))}")
    keys = [*pairing, treatment, replicate]
    twice = runs.duplicated(keys)
    if twice.any():
        first = ", ".join(f"{key} {runs.loc[twice, key].iloc[0]}" for key in keys)
        raise InputError(f"two runs with {first}; allowed: one, with {replicate} to tell runs apart")
