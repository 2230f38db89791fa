"""Waits and utilisation by partition, user and size: a figure and a table each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scheduler_sim.report.by_class import MOST, by_class, ways
from scheduler_sim.report.column_unit import ColumnUnit, energy_unit, span_unit
from scheduler_sim.report.html.markup import Child, Markup, section, table, tag
from scheduler_sim.report.wording import listing, plain, short, span_text

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

NODES = {"size": "nodes"}
"""What the first column is called, where it is not the way itself."""

WAITS = {
    "wait_mean": "mean wait",
    "wait_median": "median",
    "wait_p90": "90 % below",
    "wait_p99": "99 % below",
}

Tables = Mapping[str, pd.DataFrame]


def classes(result: Result) -> Tables:
    """Return the table of each way of parting the components."""
    return {what: by_class(result, what) for what in ways(result)}


def class_section(tables: Tables) -> list[Markup]:
    """Return the section; nothing where there are no components."""
    if not tables:
        return []
    parts = [part for what, found in tables.items() for part in _part(what, found)]
    return [section("classes", f"Waits and utilisation by {listing(tables)}", parts)]


def drawn(tables: Tables) -> list[dict[str, Any]]:
    """Return what the charts need: for each way the names, shares of node time (%), and waits (s)."""
    return [{"place": f"by-{what}", "rows": _rows(found)} for what, found in tables.items()]


def _rows(found: pd.DataFrame) -> list[dict[str, Any]]:
    unit = _wait_unit(found)
    return [
        {
            "name": plain(name),
            "used": None if np.isnan(row["utilization"]) else round(100 * row["utilization"], 3),
            "share": _share(row["utilization"]),
            "hours": f"{short(row['node_hours'])} node-hours",
            "wait": None
            if np.isnan(row["wait_mean"])
            else [round(row[f"wait_{one}"], 1) for one in ("median", "mean", "p90")],
            "mean": f"{unit.written(row['wait_mean'])} {unit.name}",
        }
        for name, row in found.iterrows()
    ]


def _wait_unit(found: pd.DataFrame) -> ColumnUnit:
    return span_unit(*(found[one] for one in WAITS))


def _share(utilization: float) -> str:
    return "–" if np.isnan(utilization) else f"{100 * utilization:.2f} %"


def _part(what: str, found: pd.DataFrame) -> list[Markup]:
    few = f": the {MOST} that used most, and the others" if found["classes"].iloc[-1] > 1 else ""
    return [tag("h3", f"By {what}{few}"), _figure(what, found), _table(what, found)]


def _figure(what: str, found: pd.DataFrame) -> Markup:
    words = [
        "Bars: share of all node time. Points: mean wait; lines: from the median to what 90 % stayed below,"
        " drawn at 1 s if it is shorter.",
    ]
    named = found["wait_mean"][found["classes"] == 1]
    if named.notna().any():
        words.append(f"Longest on average: {what} {plain(named.idxmax())}, {span_text(named.max())}.")
    name = f"by-{what}"
    place = [
        tag("div", id=f"{name}-{kind}", class_="chart", role="img", aria_labelledby=f"{name}-text")
        for kind in ("used", "waits")
    ]
    return tag(
        "figure", tag("div", place, class_="pair"), tag("figcaption", " ".join(words), id=f"{name}-text")
    )


def _table(what: str, found: pd.DataFrame) -> Markup:
    joules = energy_unit(found["energy_j"]) if found["energy_j"].notna().any() else None
    waited = _wait_unit(found)
    rows: list[Sequence[Child]] = []
    keys: list[Sequence[Any]] = []
    for name, row in found.iterrows():
        waits = [waited.written(row[one]) for one in WAITS]
        used = _share(row["utilization"])
        power = [joules.written(row["energy_j"])] if joules else []
        cells = [f"{row['components']:,.0f}", f"{row['node_hours']:,.0f}", used, *power, *waits]
        rows.append([plain(name), *cells])
        values = ["components", "node_hours", "utilization", *(["energy_j"] if joules else []), *WAITS]
        keys.append([len(keys), *(row[one] for one in values)])
    header = [NODES.get(what, what), "components", "node-hours", "of all node time"]
    header += [*([joules.headed("energy")] if joules else []), *map(waited.headed, WAITS.values())]
    return table(f"Waits and utilisation by {what}", header, rows, keys=keys)
