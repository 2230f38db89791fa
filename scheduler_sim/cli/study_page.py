"""What has come of a study, as text."""

from __future__ import annotations

import pandas as pd

from scheduler_sim.cli.terminal import table
from scheduler_sim.cli.wording import number
from scheduler_sim.report.wording import count, duration, plain
from scheduler_sim.study.conduct import Conducted
from scheduler_sim.study.study import Study

MOST_ROWS = 40


def study_text(study: Study, conducted: Conducted, seconds: float) -> str:
    """Return the page: how many runs, and the mean of each metric over the seeds."""
    index = conducted.index
    new = len(index) - conducted.already - len(conducted.failed)
    overhead = f", {1000 * seconds / new:.0f} ms each" if new else ""
    title = f"{plain(study.name)}: {count(len(index), 'run')}"
    done = f"  {new:,} new in {duration(round(seconds))}{overhead}; {conducted.already:,} were there"
    failed = f"; {len(conducted.failed):,} failed" if conducted.failed else ""
    return "\n\n".join([title, done + failed, _means(study, index), f"  written to {conducted.directory}"])


def _means(study: Study, index: pd.DataFrame) -> str:
    factors = [factor for factor in study.factors[:-1] if index[factor].nunique() > 1] or ["policy"]
    metrics = [metric for metric in study.keys.metrics if metric in index]
    finished = index[index["state"] == "finished"]
    grouped = finished.groupby(factors, sort=False)
    rows: list[tuple[str, ...]] = [(*factors, "seeds", *(metric.replace("_", " ") for metric in metrics))]
    for levels, part in grouped:
        names = levels if isinstance(levels, tuple) else (levels,)
        means = (number(float(part[metric].mean())) for metric in metrics)
        rows.append((*map(plain, map(str, names)), f"{len(part):,}", *means))
    more = len(rows) - 1 - MOST_ROWS
    text = table(rows[: MOST_ROWS + 1], left=len(factors))
    return text + (f"\n  ... and {more} more" if more > 0 else "")
