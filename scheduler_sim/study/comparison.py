"""Comparing the levels of a study's baseline factor, from its directory alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from scheduler_sim.metrics.comparison import compare
from scheduler_sim.result.result import Result
from scheduler_sim.study.keys import spelt
from scheduler_sim.study.measuring import measured_in_blocks, sliced_in_blocks

REPLICATE = "seed"
BLOCK = "block"
SEEDS, BLOCKS = "seeds", "blocks"
SLICE = ("by", "slice")
Load = Callable[[str], Result]
NOTHING = pd.DataFrame(columns=["replicates"])

STOPPED_WHEN_NARROW = (
    "seeds were added until this interval was narrow, which favours intervals that"
    " are narrow by chance: about 92 % of such 95 % intervals contain the true value"
)
"""Measured, see docs/reference/statistics.md."""

NOT_OF_A_BLOCK = "nothing to compare: a block of time has no value of this metric"


def compared(
    load: Load, document: Mapping[str, Any], index: pd.DataFrame, metrics: Sequence[str] | None = None
) -> pd.DataFrame:
    """Compare every level of the baseline's factor with the baseline, all else equal.

    Recipes are paired by seed, traces by blocks of time: they have no other replicates. What has no
    value in a block, as the makespan, has a row that says so.

    Parameters
    ----------
    load : reads the result of a run by its id.
    document : ``study.json``; index : ``index.parquet``.
    metrics : columns of the index; None = those the study names.

    Returns
    -------
    The table of ``metrics.comparison.compare``, and ``replicates``: ``seeds`` or ``blocks``. Empty
    without a baseline.
    """
    question = Question.of(document, metrics)
    if question is None:
        return NOTHING
    random, traces = _by_kind(document, index)
    blocks = _in_blocks(load, document, traces, question, measured_in_blocks)
    return _joined([question.answered(random, SEEDS), question.answered(blocks, BLOCKS)])


def compared_slices(load: Load, document: Mapping[str, Any], slices: pd.DataFrame) -> pd.DataFrame:
    """Compare as :func:`compared`, slice by slice.

    Parameters
    ----------
    slices : a row a run and slice, with ``by`` (the way of slicing) and ``slice``; the measures of each.

    Returns
    -------
    The columns of :func:`compared`, and ``by`` and ``slice`` among the factors. Each way of
    slicing is a family of its own for the correction.
    """
    question = Question.of(document, None)
    if question is None or slices.empty:
        return NOTHING
    random, traces = _by_kind(document, slices.assign(state="finished"))
    found = []
    for by in document["keys"]["slices"]:
        runs = traces[traces["by"] == by].drop_duplicates(document["factors"])
        blocks = _in_blocks(load, document, runs, question, partial(sliced_in_blocks, by=by))
        own = [(random[random["by"] == by], SEEDS), (blocks.assign(by=by), BLOCKS)]
        found += [question.answered(table, replicates, SLICE) for table, replicates in own]
    return _joined(found)


class Question(NamedTuple):
    """What is compared: the levels of a factor with one of them, within cells, by some metrics."""

    factor: str
    level: str
    cells: list[str]
    metrics: list[str]
    stopped_by: str

    @classmethod
    def of(cls, document: Mapping[str, Any], metrics: Sequence[str] | None) -> Question | None:
        """Return the question of a study, None if it has no baseline."""
        keys = document["keys"]
        if not keys["baseline"]:
            return None
        (factor, level), *_ = keys["baseline"].items()
        cells = [name for name in document["factors"] if name not in (factor, REPLICATE)]
        stopped_by = (keys.get("replicates") or {}).get("metric", "")
        return cls(factor, spelt(level), cells, list(metrics or keys["metrics"]), stopped_by)

    def answered(self, runs: pd.DataFrame, replicates: str, within: Sequence[str] = ()) -> pd.DataFrame:
        """Compare runs, or blocks of runs; empty if they have not both baseline and another level."""
        if runs.empty or self.level not in set(runs[self.factor]) or runs[self.factor].nunique() < 2:
            return NOTHING
        without = [name for name in dict.fromkeys(self.metrics) if name not in runs]
        table = runs.reindex(columns=[*runs.columns, *without])
        by_block = replicates == BLOCKS
        replicate = BLOCK if by_block else REPLICATE
        cells = [*self.cells, *within]
        found = compare(
            table, self.metrics, self.factor, self.level, cells, replicate=replicate, blocks=by_block
        )
        if by_block:
            found.loc[found["metric"].isin(without), "verdict"] = NOT_OF_A_BLOCK
        else:
            stopped = (found["metric"] == self.stopped_by) & found["change_low"].notna()
            notes = found["note"].where(~stopped, found["note"].add("; ").str.removeprefix("; "))
            found["note"] = notes.where(~stopped, notes + STOPPED_WHEN_NARROW)
        return found.assign(replicates=replicates)


def _by_kind(document: Mapping[str, Any], runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the finished runs of recipes, and those of traces."""
    finished = runs[runs["state"] == "finished"]
    recipes = [name for name, workload in document["workloads"].items() if "recipe" in workload]
    random = finished["workload"].isin(recipes)
    return finished[random], finished[~random]


def _in_blocks(
    load: Load,
    document: Mapping[str, Any],
    runs: pd.DataFrame,
    question: Question,
    measure: Callable[..., pd.DataFrame],
) -> pd.DataFrame:
    """Return a row a run and block of time, with its measures; nothing where there is nothing to compare."""
    if runs.empty or question.level not in set(runs[question.factor]):
        return runs.iloc[:0]
    trim = document["keys"]["trim"]
    parts = []
    for _, run in runs.iterrows():
        table = measure(load(run["id"]), trim["warm_up"] / 100, trim["cool_down"] / 100)
        parts.append(table.assign(**{name: run[name] for name in document["factors"]}))
    return pd.concat(parts, ignore_index=True)


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    some = [part for part in parts if len(part)]
    return pd.concat(some, ignore_index=True) if some else NOTHING
