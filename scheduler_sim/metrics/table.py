"""The one table of metrics, read from ``metrics.csv``: what each is, and the function that computes it.

From it follow ``metrics.json``, the measures of studies and their slices, the words, units and directions
of reports, and the tables of ``docs/reference/metrics.md`` and ``statistics.md``. Metrics of workflows and
of energy, which are computed together, have no function: ``metrics.workflows`` and the energy model do it.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import cast

from scheduler_sim.metrics.formulas import OF_JOBS, OF_PART, OF_RUN
from scheduler_sim.metrics.metric import Better, Metric


def _load() -> tuple[Metric, ...]:
    text = files("scheduler_sim.metrics").joinpath("metrics.csv").read_text(encoding="utf-8")
    return tuple(_metric(row) for row in csv.DictReader(text.splitlines()))


def _metric(row: dict[str, str]) -> Metric:
    name, at_the_top = row["name"], not row["block"]
    return Metric(
        name=name,
        block=row["block"],
        unit=row["unit"],
        by=row["by"],
        better=cast(Better, row["better"]),
        words=row["words"],
        shown=tuple(row["shown"].split()),
        table=row["table"],
        equation=row["equation"],
        trimmed=row["trimmed"] == "yes",
        instant=row["instant"] == "yes",
        formula=row["formula"],
        of_jobs=OF_JOBS.get(name) if at_the_top else None,
        of_part=OF_PART.get(name) if at_the_top else None,
        of_run=OF_RUN.get(name) if at_the_top else None,
    )


METRICS: tuple[Metric, ...] = _load()


def shown_in(place: str) -> list[str]:
    """Name the metrics of single jobs whose statistics a page on a run has: ``terminal`` or ``report``."""
    return [metric.name for metric in METRICS if place in metric.shown]


def of_block(block: str = "") -> list[Metric]:
    """Return the metrics of a block of ``metrics.json``, by default those at its top."""
    return [metric for metric in METRICS if metric.block == block]
