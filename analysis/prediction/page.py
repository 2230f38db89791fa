"""The page: text around the figure and tables, every number from the predictions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from analysis.common.markdown import table
from analysis.common.numbers import number, with_interval
from analysis.common.page import text_of, write_page
from analysis.prediction.cases import TRACES
from analysis.prediction.conduct import Conducted
from analysis.prediction.figures import coverage_figure
from analysis.prediction.findings import findings
from analysis.prediction.measures import (
    PREDICTORS,
    by_instant,
    by_job,
    coverage,
    error,
    median_error,
    outside,
    width,
)

PAGE, RESULTS = "prediction.md", "prediction/results"
_text = partial(text_of, Path(__file__).parent / "texts")


def write(conducted: Conducted, folder: Path) -> Path:
    """Write page and figure; return the page."""
    figures = {"coverage": coverage_figure(conducted.runs)}
    return write_page(folder / PAGE, page_text(conducted), folder / RESULTS, figures)


def page_text(conducted: Conducted) -> str:
    """Return the page in Markdown."""
    said = {"version": conducted.version, "draws": conducted.setup.draws, "results": RESULTS}
    parts = [_text("head").format(**said), *(f"- {one}\n" for one in findings(conducted))]
    parts.append(_text("what").format(**said))
    header = (
        "trace",
        "instants",
        "predictions",
        "in the band (%)",
        "by instant (%)",
        "by job (%)",
        "before it (%)",
        "behind it (%)",
    )
    parts.append(table((*header, "width (h)"), _bands(conducted)))
    parts.append(_text("errors").format(**said))
    parts.append(table(("trace", "predictor", "mean (h)", "median (h)"), _errors(conducted)))
    return "".join([*parts, _text("end").format(**said)])


def _bands(conducted: Conducted) -> Iterator[tuple[str, ...]]:
    for name, trace in TRACES.items():
        runs = conducted.where(trace=name)
        yield (
            trace.title,
            f"{runs['at'].nunique():,}",
            f"{len(runs):,}",
            with_interval(coverage(runs)),
            number(by_instant(runs)),
            number(by_job(runs)),
            number(outside(runs, "below").value),
            number(outside(runs, "above").value),
            with_interval(width(runs)),
        )


def _errors(conducted: Conducted) -> Iterator[tuple[str, ...]]:
    for name, trace in TRACES.items():
        runs = conducted.where(trace=name)
        for column, title in PREDICTORS.items():
            yield trace.title, title, with_interval(error(runs, column)), number(median_error(runs, column))
