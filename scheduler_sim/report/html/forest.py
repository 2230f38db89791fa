"""Each level against the baseline as a row with its interval: what the page draws of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.report.comparison_figure import (
    BETTER,
    MARKS,
    OPEN,
    WORSE,
    axis_ends,
    axis_marks,
    metric_title,
    open_words,
    outcome,
    plain_verdict,
    row_names,
)
from scheduler_sim.report.html.markup import Child, chart, tag
from scheduler_sim.report.measures import metric_words
from scheduler_sim.report.wording import count, listing, plain

MOST = 60
"""Rows of a chart; the table has them all."""

KINDS = {"better": BETTER, "worse": WORSE, "open": OPEN}


def forests(comparison: pd.DataFrame) -> tuple[list[dict[str, Any]], Child]:
    """Return what the page draws, one chart a metric, and the places for the charts with their words."""
    if comparison.empty:
        return [], None
    names = np.array(row_names(comparison), dtype=object)
    charts, places = [], []
    for i, metric in enumerate(pd.unique(comparison["metric"])):
        own = (comparison["metric"] == metric).to_numpy()
        part = comparison[own]
        shown = part[np.isfinite(part["ratio"]) & (part["ratio"] >= 0)].head(MOST)
        charts.append(_chart(f"forest-{i}", metric, shown, names[comparison.index.get_indexer(shown.index)]))
        places += [tag("h3", metric_title(metric)), chart(f"forest-{i}", _caption(metric, part, shown))]
    return charts, places


def _chart(place: str, metric: str, rows: pd.DataFrame, names: Any) -> dict[str, Any]:
    low, high = axis_ends(rows)
    return {
        "place": place,
        "against": plain(rows["baseline"].iloc[0]) if len(rows) else "",
        "ends": [low, high],
        "marks": [[mark, MARKS[mark]] for mark in axis_marks(low, high)],
        "rows": [_row(row, name, low, high) for (_, row), name in zip(rows.iterrows(), names, strict=True)],
    }


def _row(row: Any, name: str, low: float, high: float) -> dict[str, Any]:
    """Describe a row; an interval is cut at the ends of the chart, an unknown one has no length.

    A ratio of 0, which a logarithmic axis does not have, stands at the left end.
    """
    ratio = float(row["ratio"])
    ends = [row[key] if np.isfinite(row[key]) else ratio for key in ("ratio_low", "ratio_high")]
    kind = next(kind for kind, look in KINDS.items() if look == outcome(row))
    return {
        "name": name,
        "ratio": max(ratio, low * (high / low) ** 0.02),
        "low": float(np.clip(ends[0], low, high)),
        "high": float(np.clip(ends[1], low, high)),
        "kind": kind,
        "verdict": plain_verdict(row["verdict"]),
    }


def _caption(metric: str, part: pd.DataFrame, shown: pd.DataFrame) -> str:
    """Say in words what the chart shows."""
    words = metric_words(metric)
    kinds = [outcome(row) for _, row in part.iterrows()]
    better, worse, still = (kinds.count(look) for look in (BETTER, WORSE, OPEN))
    baseline = listing(dict.fromkeys(plain(one) for one in part["baseline"]))
    confidence = listing(dict.fromkeys(f"{100 * float(one):g} %" for one in part["confidence"]))
    blocks = " of blocks of time" if (part["replicates"] == "blocks").all() else ""
    zeros = int((shown["ratio"] == 0).sum())
    edge = f" At the left edge: {count(zeros, 'ratio')} of 0." if zeros else ""
    left = f" Not drawn: {count(len(part) - len(shown), 'row')}." if len(shown) < len(part) else ""
    return (
        f"{words[0].upper()}{words[1:]} against {baseline}: ratio of the means{blocks}, with the"
        f" {confidence} interval. Of {count(len(part), 'comparison')}, {better} found better (circles),"
        f" {worse} worse (squares), {still} {open_words([metric])} (diamonds). Verdicts consider"
        f" all comparisons together: one interval alone may miss “same” by chance.{edge}{left}"
        " The table below has every number."
    )
