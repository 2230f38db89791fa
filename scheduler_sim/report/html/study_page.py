"""The report of a study: what was compared, what was found, in words, figures and tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.report.comparison_figure import BETTER, OPEN, WORSE, open_words, outcome, plain_verdict
from scheduler_sim.report.html.forest import forests
from scheduler_sim.report.html.markup import Child, pairs, section, table, tag
from scheduler_sim.report.html.page import Page
from scheduler_sim.report.html.provenance import of_study, whole
from scheduler_sim.report.measures import OF_BLOCKS, column_of, metric_words, untrimmed
from scheduler_sim.report.model_words import unmatched_in_runs
from scheduler_sim.report.wording import count, listing, plain
from scheduler_sim.result.store import read_document

SCRIPTS = ("data.js", "words.js", "tables.js", "charts.js", "forest.js", "study.js")
SEED = "seed"

MOST_ROWS = 1000
"""Rows of a table in the page; the files of the study have them all."""

MOST_SENTENCES = 8
MOST_FAILED = 200


@dataclass(frozen=True)
class Conducted:
    """A finished study as its directory has it: what was studied, a row a run, what was compared."""

    document: Mapping[str, Any]
    index: pd.DataFrame
    comparison: pd.DataFrame
    slices: pd.DataFrame

    @classmethod
    def load(cls, directory: Path) -> Conducted:
        """Read a study's directory; raises InputError if it is not one, or not yet."""
        document = read_document(directory / "study.json")
        for key in ("name", "factors", "keys"):
            if key not in document:
                raise InputError(f"{directory / 'study.json'}: not of a study: {key} is missing")
        index = parquet(directory / "index.parquet")
        sliced = document["keys"].get("slices")
        slices = parquet(directory / "slice_comparison.parquet") if sliced else pd.DataFrame()
        return cls(document, index, parquet(directory / "comparison.parquet"), slices)

    def words(self, metric: str) -> str:
        """Name a measure; say so if it is of the whole run while others are trimmed."""
        return metric_words(metric) + untrimmed(metric, self.document["keys"].get("trim") or {})

    @property
    def finished(self) -> pd.DataFrame:
        """The runs that have metrics."""
        return self.index[self.index["state"] == "finished"]

    @property
    def metrics(self) -> list[str]:
        """The metrics that the study names and the runs have."""
        return [name for name in self.document["keys"]["metrics"] if name in self.index]

    @property
    def factors(self) -> list[str]:
        """The factors but the seed; those of one level only are left out if any has more."""
        names = [name for name in self.document["factors"] if name != SEED]
        return [name for name in names if self.index[name].nunique() > 1] or names[:1]


def study_page(directory: Path) -> Page:
    """Make the page of a study; raises InputError if the directory holds no study, or not yet."""
    study = Conducted.load(directory)
    charts, places = forests(study.comparison)
    sections = [
        tag("p", _summary(study), class_="lead"),
        tag("p", whole(study.document["keys"].get("description") or "")),
        section("compared", "What was compared", _levels(study)),
        section("found", "What was found", _found(study, places)),
        *([section("slices", "Which jobs gain and which lose", _slices(study))] if len(study.slices) else []),
        section("means", "Means of each level", _means(study)),
        section("failed", "Runs that failed", _failed(study)),
        section("provenance", "What was run, and how to repeat it", of_study(study.document)),
    ]
    data = {"kind": "study", "unix": None, "forests": charts}
    return Page(f"Study: {plain(study.document['name'])}", sections, SCRIPTS, data)


def parquet(path: Path) -> pd.DataFrame:
    """Read a table of a study; raises InputError if it is not there or not whole."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not os.path.isfile(path):
        raise InputError(
            f"{path.parent} is not a finished study: {path.name} is missing; scheduler-sim"
            " study with the same study file continues it"
        )
    try:
        table: pd.DataFrame = pq.read_table(path).to_pandas(ignore_metadata=True)
        return table
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: not a whole parquet file: {error}") from error


def _summary(study: Conducted) -> str:
    names = [name for name in [*study.factors, SEED] if study.index[name].nunique() > 1]
    crossed = " × ".join(f"{_short(study, name)} ({study.index[name].nunique():,})" for name in names)
    lost = len(study.index) - len(study.finished)
    ended = "all finished" if not lost else f"{lost:,} did not finish"
    return f"{count(len(study.index), 'run')}{f': {crossed}' if crossed else ''}; {ended}."


def _short(study: Conducted, factor: str) -> str:
    """Name a factor by its last part where that is enough: ``depth`` for ``policy.depth``."""
    last = [name.rpartition(".")[2] for name in study.document["factors"]]
    own = factor.rpartition(".")[2]
    return plain(own if last.count(own) == 1 else factor)


def _levels(study: Conducted) -> Child:
    names = [name for name in study.document["factors"] if name != SEED]
    levels = {
        plain(name): listing(plain(level) for level in pd.unique(study.index[name]) if level != "")
        for name in names
    }
    seeds = pd.unique(study.index[SEED])
    baseline = study.document["keys"].get("baseline") or {}
    several = f"{len(seeds):,} ({min(seeds)} to {max(seeds)})" if len(seeds) > 1 else listing(seeds)
    facts = {**levels, "seeds": several or "none"}
    if baseline and len(study.comparison):
        facts["compared with"] = listing(f"{plain(name)} {plain(level)}" for name, level in baseline.items())
    nothing = [tag("li", line) for line in unmatched_in_runs(study.index)]
    return [pairs(facts), tag("ul", nothing) if nothing else None]


def _found(study: Conducted, charts: Child) -> Child:
    if study.comparison.empty:
        return tag("p", _nothing_compared(study))
    blocks = (study.comparison["replicates"] == "blocks").any()
    told = tag("p", OF_BLOCKS) if blocks else None
    return [_sentences(study), told, charts, _comparison(study, study.comparison, "All comparisons")]


def _nothing_compared(study: Conducted) -> str:
    baseline = study.document["keys"].get("baseline") or {}
    if not baseline:
        return "The study names no baseline, so nothing was compared."
    (factor, level), *_ = baseline.items()
    if study.index[factor].nunique() < 2:
        return f"{plain(factor)} has no level but the baseline, {plain(level)}, so nothing was compared."
    return f"No run of {plain(factor)} {plain(level)}, or none of the others, finished; nothing was compared."


def _sentences(study: Conducted) -> Child:
    """Say what was found for the first metric; the table says the rest."""
    comparison = study.comparison
    first = comparison[comparison["metric"] == comparison["metric"].iloc[0]]
    treatment, cells = _treatment(comparison), _cells(comparison)
    lines = []
    for _, row in first.head(MOST_SENTENCES).iterrows():
        at = listing(f"{_short(study, name)} {plain(row[name])}" for name in cells)
        where = f" ({at})" if at else ""
        lines.append(
            [tag("strong", plain(row[treatment])), f" against {plain(row['baseline'])}{where}: ",
             f"{study.words(row['metric'])} {plain_verdict(row['verdict'])}.", _noted(row["note"])]
        )  # fmt: skip
    more = len(first) - len(lines)
    are = "is" if more == 1 else "are"
    rest = tag("p", f"{more:,} more of this measure {are} in the table.") if more > 0 else None
    return [tag("ul", [tag("li", line) for line in lines]), rest]


def _noted(note: object) -> str:
    """Write a note as sentences of its own."""
    return (
        "".join(f" {one[:1].upper()}{one[1:]}." for one in plain_verdict(note).split("; "))
        if _said(note)
        else ""
    )


def _treatment(comparison: pd.DataFrame) -> str:
    return str(comparison.columns[list(comparison.columns).index("baseline") - 1])


def _cells(comparison: pd.DataFrame) -> list[str]:
    """Name the factors that tell one comparison of a level from another."""
    before = comparison.columns[: list(comparison.columns).index("baseline") - 1]
    return [str(name) for name in before if comparison[name].nunique() > 1]


def _slices(study: Conducted) -> Child:
    """Show the comparison of each slice, a table for each way of slicing."""
    parts: list[Child] = [
        tag(
            "p",
            "The same comparison among some of the jobs only. Few jobs tell little; many slices differ"
            " here and there by chance, which the verdicts of each table take into account.",
        )
    ]
    for by in pd.unique(study.slices["by"]):
        own = study.slices[study.slices["by"] == by]
        title = f"By {plain(by).replace('_', ' ')}"
        whole_table = _comparison(study, own, title)
        folded = tag("details", tag("summary", f"{title}: every number"), whole_table)
        parts += [tag("h3", title), tag("ul", _winners(study, own)), folded]
    return parts


def _winners(study: Conducted, slices: pd.DataFrame) -> list[Child]:
    """Say for whom each level is better and for whom worse, by the first measure."""
    metric = slices["metric"].iloc[0]
    treatment, cells = _treatment(slices), [name for name in _cells(slices) if name not in ("by", "slice")]
    lines: list[Child] = []
    rows = slices[slices["metric"] == metric]
    for _, own in rows.groupby([*cells, treatment], sort=False):
        kinds = [outcome(row) for _, row in own.iterrows()]
        first = own.iloc[0]
        at = "".join(f", {_short(study, name)} {plain(first[name])}" for name in cells)
        told = "; ".join(
            f"{word} for {_some([name for name, k in zip(own['slice'], kinds, strict=True) if k == look])}"
            for word, look in (("better", BETTER), ("worse", WORSE), (open_words([metric]), OPEN))
        )
        lines.append(
            tag("li", tag("strong", plain(first[treatment])), f"{at}, {study.words(metric)}: {told}.")
        )
        if len(lines) == MOST_SENTENCES:
            break
    return lines


def _some(names: Sequence[object]) -> str:
    shown = [plain(name) for name in names[:MOST_SENTENCES]]
    more = len(names) - len(shown)
    return listing([*shown, *([f"{more:,} more"] if more else [])]) or "none"


def _comparison(study: Conducted, comparison: pd.DataFrame, caption: str) -> Child:
    treatment, cells = _treatment(comparison), _cells(comparison)
    columns = {
        metric: column_of(study.words(str(metric)), str(metric), own["mean"], own["mean_baseline"])
        for metric, own in comparison.groupby("metric")
    }
    rows, keys = [], []
    for _, row in comparison.head(MOST_ROWS).iterrows():
        measure, write = columns[row["metric"]]
        words = [*(plain(row[name]) for name in [treatment, *cells]), measure]
        words.append("; ".join(plain_verdict(row[key]) for key in ("verdict", "note") if _said(row[key])))
        numbers = [row[key] for key in ("change", "change_low", "mean", "mean_baseline", "pairs", "p_holm")]
        rows.append([*words, *_shown(row, write)])
        keys.append([*words, *map(float, numbers)])
    confidence = listing(dict.fromkeys(f"{100 * float(c):g} %" for c in comparison["confidence"]))
    header = [
        *(_short(study, name) for name in [treatment, *cells]),
        "measure",
        "verdict",
        "change",
        f"interval ({confidence})",
    ]
    blocks = comparison["replicates"] == "blocks"
    means = "mean of blocks" if blocks.all() else "mean of seeds, or of blocks" if blocks.any() else "mean"
    header += [means, "the baseline's", "pairs", "p (Holm)"]
    return [
        table(caption, header, rows, text=len(cells) + 3, keys=keys, cards=True),
        _more(comparison, "comparison"),
    ]


def _said(text: object) -> bool:
    return isinstance(text, str) and text != ""


def _shown(row: Any, write: Callable[[float], str]) -> list[str]:
    """Write the numbers of a comparison, its means by ``write``."""
    numbers = {
        "change": f"{_percent(row['change'])} %",
        "change_low": f"{_percent(row['change_low'])} to {_percent(row['change_high'])} %",
        "mean": write(row["mean"]),
        "mean_baseline": write(row["mean_baseline"]),
        "pairs": f"{row['pairs']:,.0f}",
        "p_holm": f"{row['p_holm']:.2g}",
    }
    return ["–" if pd.isna(row[key]) else text for key, text in numbers.items()]


def _percent(change: float) -> str:
    text = f"{change:+,.0f}" if abs(change) >= 100 else f"{change:+.2g}"
    return text.replace("-", "−")


def _means(study: Conducted) -> Child:
    if study.finished.empty or not study.metrics:
        return tag("p", "No run has finished.")
    grouped = study.finished.groupby(study.factors, sort=False, observed=True)[study.metrics]
    means = grouped.mean().assign(runs=grouped.size()).reset_index()
    columns = {name: column_of(study.words(name), name, means[name]) for name in study.metrics}
    rows: list[Sequence[Child]] = []
    keys: list[Sequence[Any]] = []
    for row in means.head(MOST_ROWS).to_dict("records"):
        names = [plain(row[name]) for name in study.factors]
        shown = [write(row[name]) for name, (_, write) in columns.items()]
        rows.append([*names, f"{row['runs']:,}", *shown])
        keys.append([*names, row["runs"], *(row[name] for name in study.metrics)])
    header = [
        *(_short(study, name) for name in study.factors),
        "runs",
        *(title for title, _ in columns.values()),
    ]
    caption = "Means over the runs of each combination; of each run all jobs count;"
    caption += " see what was found for how certain differences are"
    return [table(caption, header, rows, text=len(study.factors), keys=keys), _more(means, "mean")]


def _more(whole_table: pd.DataFrame, noun: str) -> Child:
    more = len(whole_table) - MOST_ROWS
    are = "is" if more == 1 else "are"
    return tag("p", f"{count(more, f'more {noun}')} {are} in the files of the study.") if more > 0 else None


def _failed(study: Conducted) -> Child:
    lost = study.index[study.index["state"] != "finished"]
    if lost.empty:
        return tag("p", "None.")
    names = [*study.factors, SEED]
    rows: list[Sequence[Child]] = [
        [plain(row["id"]), *(plain(row[name]) for name in names), whole(row["error"]) or plain(row["state"])]
        for _, row in lost.head(MOST_FAILED).iterrows()
    ]
    more = f", the first {MOST_FAILED} of {len(lost):,}" if len(lost) > MOST_FAILED else ""
    header = ["run", *(_short(study, name) for name in names), "error"]
    return table(f"Runs without a result{more}", header, rows, text=len(header))
