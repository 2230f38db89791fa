"""What has come of a study, as text."""

from __future__ import annotations

from math import isnan

import pandas as pd

from scheduler_sim.cli.terminal import table
from scheduler_sim.cli.wording import number
from scheduler_sim.report.measures import OF_BLOCKS, untrimmed, with_unit, without_unit
from scheduler_sim.report.model_words import unmatched_in_runs
from scheduler_sim.report.wording import count, duration, listing, paragraph, plain
from scheduler_sim.study.comparison import BLOCKS
from scheduler_sim.study.conduct import Conducted
from scheduler_sim.study.keys import spelt
from scheduler_sim.study.study import Study

MOST_ROWS = 40


def study_text(study: Study, conducted: Conducted, seconds: float, pace: float | None) -> str:
    """Return the page: how many runs, and the mean of each metric over the seeds.

    ``seconds`` is what it took, ``pace`` what a run took of it without starting up, if that is known.
    """
    index = conducted.index
    new = conducted.new
    different = int(index["id"].nunique())
    already = different - new - len(conducted.failed)
    each = f", {1000 * pace:.0f} ms each once started" if pace is not None else ""
    twice = f", {different:,} of them different" if different < len(index) else ""
    title = f"{plain(study.name)}: {count(len(index), 'run')}{twice}"
    done = f"  {new:,} new in {duration(round(seconds))}{each}; {already:,} were there"
    failed = f"; {len(conducted.failed):,} failed" if conducted.failed else ""
    nothing = "\n".join(f"  {line}" for line in unmatched_in_runs(index))
    parts = [title, done + failed, nothing, _means(study, index), _comparison(study, conducted.comparison)]
    return "\n\n".join([*filter(None, parts), f"  written to {conducted.directory}"])


def _comparison(study: Study, comparison: pd.DataFrame) -> str:
    """Say how each level compares with the baseline, in every cell."""
    if comparison.empty:
        return ""
    (factor, level), *_ = study.keys.baseline.items()
    cells = [name for name in study.factors[:-1] if name != factor and comparison[name].nunique() > 1]
    rows: list[tuple[str, ...]] = [(factor, *cells, "metric", "pairs", f"against {plain(spelt(level))}")]
    for _, row in comparison.iterrows():
        names = (plain(str(row[name])) for name in (factor, *cells))
        rows.append((*names, _words(study, row["metric"]), f"{row['pairs']:,}", row["verdict"]))
    more = len(rows) - 1 - MOST_ROWS
    text = table([(*row[:-2], row[-1], row[-2]) for row in rows[: MOST_ROWS + 1]], left=len(rows[0]) - 1)
    text += f"\n  ... and {more} more: comparison.parquet" if more > 0 else ""
    return "\n\n".join(
        [text, *filter(None, [_blocks(comparison), _notes(comparison, factor), _slices(study)])]
    )


def _blocks(comparison: pd.DataFrame) -> str:
    """Say why the changes of traces are not those of the means above."""
    if not (comparison["replicates"] == BLOCKS).any():
        return ""
    return "\n".join(paragraph(OF_BLOCKS, indent=2))


def _notes(comparison: pd.DataFrame, factor: str) -> str:
    """Say what a reader of the verdicts has to know besides, each note once with what it is about."""
    lines: list[str] = []
    noted = comparison[comparison["note"].fillna("") != ""]
    for note, rows in noted.groupby("note", sort=False):
        levels = listing(plain(str(level)) for level in pd.unique(rows[factor]))
        metrics = listing(without_unit(name).replace("_", " ") for name in pd.unique(rows["metric"]))
        lines += paragraph(f"{levels}, {metrics}: {note}", indent=2)
    more = len(lines) - MOST_ROWS
    return "\n".join(
        lines[:MOST_ROWS] + ([f"  ... and {more} more lines: comparison.parquet"] if more > 0 else [])
    )


def _slices(study: Study) -> str:
    if not study.keys.slices:
        return ""
    ways = listing(way.replace("_", " ") for way in study.keys.slices)
    return f"  slice by slice ({ways}): slice_comparison.parquet, and in the report"


def _words(study: Study, metric: str) -> str:
    return without_unit(metric).replace("_", " ") + untrimmed(metric, study.keys.trim.model_dump())


def _means(study: Study, index: pd.DataFrame) -> str:
    factors = [factor for factor in study.factors[:-1] if index[factor].nunique() > 1] or ["policy"]
    metrics = [metric for metric in study.keys.metrics if metric in index]
    finished = index[index["state"] == "finished"]
    grouped = finished.groupby(factors, sort=False)
    rows: list[tuple[str, ...]] = [(*factors, "seeds", *(_words(study, metric) for metric in metrics))]
    for levels, part in grouped:
        names = levels if isinstance(levels, tuple) else (levels,)
        means = ((float(part[metric].mean()), metric) for metric in metrics)
        shown = ("" if isnan(mean) else with_unit(mean, metric) or number(mean) for mean, metric in means)
        rows.append((*map(plain, map(str, names)), f"{len(part):,}", *shown))
    more = len(rows) - 1 - MOST_ROWS
    text = table(rows[: MOST_ROWS + 1], left=len(factors))
    return text + (f"\n  ... and {more} more" if more > 0 else "")
