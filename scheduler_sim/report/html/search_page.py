"""The report of a search: the mixes that are left or on the front, how sure that is, how to repeat it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.report.column_unit import ColumnUnit
from scheduler_sim.report.html.markup import Child, chart, pairs, section, table, tag
from scheduler_sim.report.html.page import Page
from scheduler_sim.report.html.provenance import of_study, whole
from scheduler_sim.report.html.study_page import MOST_ROWS, SEED, parquet
from scheduler_sim.report.measures import column_of, is_span, metric_words, unit_of, written
from scheduler_sim.report.wording import count, listing, plain
from scheduler_sim.result.store import read_document

SCRIPTS = ("data.js", "words.js", "tables.js", "charts.js", "mixes.js", "search.js")
STATES = {"winner": "the best found", "left": "may be best", "dropped": "worse", "infeasible": "rejects jobs"}
COST = "cost"
ABOVE = {"above": "above the best", "above_low": "at least", "above_high": "at most"}
MOST_DRAWN = 15
"""Candidates of the chart of one metric; the table has more."""


@dataclass(frozen=True)
class Searched:
    """A finished search as its directory has it: what was searched, and a row a candidate, the best first."""

    document: Mapping[str, Any]
    table: pd.DataFrame

    @classmethod
    def load(cls, directory: Path) -> Searched:
        """Read a search's directory; raises InputError if it is none, or not yet finished."""
        document = read_document(
            directory / "search.json", {"name": str, "factors": [str], "keys": {"search": {}}}
        )
        found = parquet(directory / "search.parquet")
        metrics = (document.get("keys") or {}).get("search", {}).get("metrics")
        needed = {"system", "state", "seeds", COST} | set(metrics or ["?"])
        needed |= {"front"} if len(metrics or ()) == 2 else {"above", "above_low", "above_high"}
        if not needed <= set(found.columns) or not set(found["state"]) <= set(STATES):
            raise InputError(f"{directory / 'search.parquet'}: not the table of this search")
        return cls(document, found)

    @property
    def keys(self) -> Mapping[str, Any]:
        """The keys of the search."""
        keys: Mapping[str, Any] = self.document["keys"]["search"]
        return keys

    @property
    def metrics(self) -> list[str]:
        """The metrics searched: one, or the two of a front."""
        return list(self.keys["metrics"])

    @property
    def left(self) -> pd.DataFrame:
        """The candidates among which the best is, or which may be on the front."""
        return self.table[self.table["state"].isin(("winner", "left"))]

    @property
    def compared(self) -> pd.DataFrame:
        """The candidates that run all jobs that any runs."""
        return self.table[self.table["state"] != "infeasible"]

    @property
    def shown(self) -> pd.DataFrame:
        """Of a front those that are on it, else those that are left."""
        return self.left if len(self.metrics) == 1 else self.left[self.left["front"]]

    @property
    def factors(self) -> list[str]:
        """The mix, and the other factors that differ."""
        others = [name for name in self.document["factors"] if name not in ("system", SEED)]
        return ["system", *(name for name in others if self.table[name].nunique() > 1)]

    @property
    def confidence(self) -> str:
        """The confidence asked for, in words."""
        return f"{self.keys['confidence']:g} %"

    @property
    def unit_above(self) -> ColumnUnit | None:
        """The unit of what candidates that are left are above the best one, in the chart and their table."""
        return unit_of(self.metrics[0], *(self.left[name] for name in ABOVE))

    @property
    def loss(self) -> float:
        """By how much the winner may be above the best one, in the unit of the metric."""
        return max(0.0, float(-self.left["above_low"].min()))


def search_page(directory: Path) -> Page:
    """Make the page of a search; raises InputError if the directory holds none, or not yet."""
    found = Searched.load(directory)
    title = f"Search: {plain(found.document['name'])}"
    sections = [
        tag("p", _summary(found), class_="lead"),
        tag("p", whole(found.document["keys"].get("description") or "")),
        section(
            "found",
            "What was found",
            [tag("p", _verdict(found)), chart("mixes", _caption(found)), _best(found)],
        ),
        section("searched", "What was searched", _searched(found)),
        section("all", "All candidates", _all(found)),
        section("provenance", "What was run, and how to repeat it", of_study(found.document)),
    ]
    return Page(title, sections, SCRIPTS, {"kind": "search", "unix": None, "mixes": _drawn(found)})


def _summary(found: Searched) -> str:
    states = found.table["state"].value_counts()
    gone = {"dropped": "found worse", "infeasible": "reject jobs that others run"}
    lost = listing(f"{states[state]:,} {words}" for state, words in gone.items() if states.get(state))
    seeds = int(found.table["seeds"].max())
    left = f"{len(found.left):,} of {count(len(found.table), 'candidate')} are left"
    return f"{left} after {count(seeds, 'seed')}{f'; {lost}' if lost else ''}."


def _verdict(found: Searched) -> Child:
    best = found.left.iloc[0]
    name = tag("strong", _name(found, best))
    if len(found.metrics) == 2:
        first, second = map(metric_words, found.metrics)
        on = f"{len(found.shown):,} of those left are on the front of {first} and {second}."
        return [on, f" With {found.confidence} confidence all that truly are on it are among those left."]
    metric = found.metrics[0]
    value = f"{metric_words(metric)} {written(best[metric], metric)}"
    if len(found.left) == 1:
        return [name, f" is the best of all with {found.confidence} confidence: {value}."]
    more = written(found.loss, metric)
    share = f" ({100 * found.loss / best[metric]:.0f} %)" if best[metric] > 0 else ""
    return [
        name,
        f" is the best found: {value}. With {found.confidence} confidence the best of all is among those"
        f" left, and better than this one by no more than {more}{share}.",
    ]


def _name(found: Searched, row: Any) -> str:
    others = [f"{name.rpartition('.')[2]} {plain(row[name])}" for name in found.factors[1:]]
    return plain(row["system"]) + (f" ({listing(others)})" if others else "")


def _label(found: Searched, row: Any, among: pd.DataFrame) -> str:
    """Name a candidate as short as tells it from those ``among`` which it stands."""
    others = [plain(row[name]) for name in found.factors[1:] if among[name].nunique() > 1]
    return ", ".join([plain(row["system"]), *others])


def _above(found: Searched, row: Any) -> str:
    """Write by how much a candidate is above the best found, and of that one its own value."""
    metric, unit = found.metrics[0], found.unit_above
    if row["state"] == "winner":
        return written(row[metric], metric)
    if unit is not None:
        return f"{unit.signed(row['above'])} {unit.name}"
    return f"{'' if row['above'] < 0 else '+'}{written(row['above'], metric)}"


def _caption(found: Searched) -> str:
    if len(found.metrics) == 2:
        first, second = map(metric_words, found.metrics)
        return (
            f"Each candidate by {first} and {second}; of both, less is better. Blue, with a line through"
            " them: the front, named where there is room. Grey dots: may be on it; rings: worse."
            " The tables below have every number."
        )
    feasible = len(found.compared)
    drawn = f"The first {MOST_DRAWN:,} of {feasible:,}" if feasible > MOST_DRAWN else f"All {feasible:,}"
    return (
        f"By how much {metric_words(found.metrics[0])} is above the best found, over the seeds of both,"
        f" with the interval of the last look at {found.confidence} confidence in all. Circles: may be best;"
        f" squares: worse, below all others. {drawn} that run all jobs; the tables below have every number."
    )


def _drawn(found: Searched) -> dict[str, Any]:
    """Return what the chart needs: rows with intervals, or points of two metrics."""
    if len(found.metrics) == 2:
        names = [metric_words(metric) + (" [h]" if is_span(metric) else "") for metric in found.metrics]
        units = [3600.0 if is_span(metric) else 1.0 for metric in found.metrics]
        rows = found.compared.dropna(subset=found.metrics)
        points = [
            {
                "name": _name(found, row),
                "label": _label(found, row, found.shown),
                "x": float(row[found.metrics[0]]) / units[0],
                "y": float(row[found.metrics[1]]) / units[1],
                "kind": "front"
                if row["front"]
                else "left"
                if row["state"] in ("winner", "left")
                else "dropped",
            }
            for _, row in rows.iterrows()
        ]
        return {"kind": "front", "axes": names, "spans": [*map(is_span, found.metrics)], "points": points}
    drawn = found.compared.head(MOST_DRAWN)
    rows = drawn.dropna(subset=["above", "above_low", "above_high"])
    unit = found.unit_above
    size = 1.0 if unit is None else unit.size
    words = f"{metric_words(found.metrics[0])} above the best found"
    rows_drawn = [
        {
            "name": _label(found, row, drawn),
            "value": _above(found, row),
            "above": float(row["above"]) / size,
            "low": float(row["above_low"]) / size,
            "high": float(row["above_high"]) / size,
            "kind": "dropped" if row["state"] == "dropped" else "left",
        }
        for _, row in rows.iterrows()
    ]
    return {
        "kind": "above",
        "axes": [words if unit is None else unit.headed(words)],
        "rows": rows_drawn,
    }


def _best(found: Searched) -> Child:
    caption = "Candidates that are left" if len(found.metrics) == 1 else "Candidates on the front"
    return _table(found, found.shown, f"{caption}, the best of {metric_words(found.metrics[0])} first")


def _all(found: Searched) -> Child:
    folded = tag("summary", f"Every candidate with its state ({len(found.table):,})")
    more = len(found.table) - MOST_ROWS
    rest = tag("p", f"{more:,} more are in search.parquet.") if more > 0 else None
    return [tag("details", folded, _table(found, found.table, "All candidates")), rest]


def _table(found: Searched, shown: pd.DataFrame, caption: str) -> Child:
    columns = _columns(found, shown)
    rows: list[Sequence[Child]] = []
    keys: list[Sequence[Any]] = []
    for row in shown.head(MOST_ROWS).to_dict("records"):
        state = "on the front" if row.get("front") else STATES[row["state"]]
        words = [*(plain(row[name]) for name in found.factors), state]
        rows.append([*words, *(write(row[name]) for _, name, write in columns)])
        keys.append([*words, *(row[name] for _, name, _ in columns)])
    header = ["mix", *(name.rpartition(".")[2] for name in found.factors[1:]), "state"]
    header += [title for title, _, _ in columns]
    return table(caption, header, rows, text=len(found.factors) + 1, keys=keys)


def _columns(found: Searched, shown: pd.DataFrame) -> list[tuple[str, str, Callable[[float], str]]]:
    """Return the columns of numbers: the title of each, its name in the table, and how it is written."""
    columns: list[tuple[str, str, Callable[[float], str]]] = []
    for name in found.metrics:
        title, write = column_of(metric_words(name), name, shown[name])
        columns.append((title, name, write))
    if COST not in found.metrics:
        columns.append((metric_words(COST), COST, "{:,.6g}".format))
    columns.append(("seeds", "seeds", "{:,}".format))
    if len(found.metrics) == 1:
        values = [shown[name] for name in ABOVE]
        for name, words in ABOVE.items():
            title, write = column_of(words, found.metrics[0], *values)
            columns.append((title, name, write))
    return columns


def _searched(found: Searched) -> Child:
    keys, document = found.keys, found.document
    prices = {
        plain(module["name"]): f"{module['cost_per_node']:g}"
        for system in (document.get("systems") or {}).values()
        for module in system.get("modules") or []
    }
    facts: dict[str, Child] = {
        "budget": listing(f"{budget:g}" for budget in keys["budget"]),
        "cost of a node": listing(f"{name} {price}" for name, price in prices.items()),
        "step": count(keys["step"], "node"),
        "searched for the least": listing(map(metric_words, found.metrics)),
        "confidence": found.confidence,
        "good enough within": f"{keys['indifference_percent']:g} %",
        "seeds": f"{keys['first_seeds']:,} to {keys['most_seeds']:,} a candidate",
    }
    for name in found.factors[1:]:
        facts[plain(name)] = listing(plain(level) for level in pd.unique(found.table[name]))
    words = (
        "All candidates run the same jobs, seed by seed. One goes when it is worse than another beyond"
        " chance, after the first seeds and each time their number has doubled; the confidence is that of"
        " all decisions together."
    )
    return [pairs(facts), tag("p", words, class_="note")]
