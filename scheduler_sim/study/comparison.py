"""Comparing the levels of a study's baseline factor, from its directory alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scheduler_sim.metrics.blocks import block_measures, blocks
from scheduler_sim.metrics.comparison import compare
from scheduler_sim.metrics.trimming import trim as trimmed
from scheduler_sim.result.columns import COMPONENTS
from scheduler_sim.result.store import read_table
from scheduler_sim.study.keys import spelt

REPLICATE = "seed"
BLOCK = "block"
NOTHING = pd.DataFrame(columns=["replicates"])


def compared(
    directory: Path, document: Mapping[str, Any], index: pd.DataFrame, metrics: Sequence[str] | None = None
) -> pd.DataFrame:
    """Compare every level of the baseline's factor with the baseline, all else equal.

    Recipes are paired by seed, traces by blocks of time: they have no other replicates. The
    metrics of a trace that have no value in a block, as its utilisation, are left out.

    Parameters
    ----------
    directory : of the study.
    document : ``study.json``; index : ``index.parquet``.
    metrics : columns of the index; None = those the study names.

    Returns
    -------
    The table of ``metrics.comparison.compare``, and ``replicates``: ``seeds`` or ``blocks``. Empty
    without a baseline.
    """
    keys = document["keys"]
    if not keys["baseline"]:
        return NOTHING
    (factor, level), *_ = keys["baseline"].items()
    cells = [name for name in document["factors"] if name not in (factor, REPLICATE)]
    wanted = [name for name in metrics or keys["metrics"] if name in index]
    finished = index[index["state"] == "finished"]
    random = finished["workload"].isin(
        [name for name, workload in document["workloads"].items() if "recipe" in workload]
    )
    shares = (keys["trim"]["warm_up"] / 100, keys["trim"]["cool_down"] / 100)
    parts = []
    for replicates, runs in (("seeds", finished[random]), ("blocks", finished[~random])):
        if spelt(level) not in set(runs[factor]) or runs[factor].nunique() < 2:
            continue
        by_block = replicates == "blocks"
        table = _in_blocks(directory, runs, document["factors"], shares) if by_block else runs
        known = [name for name in wanted if name in table]
        replicate = BLOCK if by_block else REPLICATE
        found = compare(table, known, factor, spelt(level), cells, replicate=replicate, blocks=by_block)
        parts.append(found.assign(replicates=replicates))
    return pd.concat(parts, ignore_index=True) if parts else NOTHING


def _in_blocks(
    directory: Path, runs: pd.DataFrame, factors: Sequence[str], shares: tuple[float, float]
) -> pd.DataFrame:
    """Return a row a run and block of time, with its measures."""
    parts = []
    for _, run in runs.iterrows():
        components = read_table(directory / "runs" / run["id"] / "components.parquet", COMPONENTS)
        block = blocks(components, counted=trimmed(components, *shares))
        parts.append(block_measures(components, block).assign(**{name: run[name] for name in factors}))
    return pd.concat(parts, ignore_index=True)
