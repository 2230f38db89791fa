"""What has come of a search, as text."""

from __future__ import annotations

import pandas as pd

from scheduler_sim.cli.terminal import table
from scheduler_sim.report.measures import metric_words, with_unit
from scheduler_sim.report.wording import count, duration, plain
from scheduler_sim.study.checks import SEED
from scheduler_sim.study.keys import COST
from scheduler_sim.study.search import INFEASIBLE, Searched
from scheduler_sim.study.study import Study

MOST_ROWS = 15


def search_text(study: Study, found: Searched, seconds: float) -> str:
    """Return the page: how many candidates, those that are left, and how sure the winner is."""
    states = found.table["state"]
    infeasible = int((states == INFEASIBLE).sum())
    lost = f"; {infeasible:,} infeasible: they reject what others run" if infeasible else ""
    title = f"{plain(study.name)}: {count(len(found.table), 'candidate')}, {len(found.left):,} left after"
    title += f" {count(found.seeds, 'seed')}{lost}"
    done = f"  {count(found.evaluated, 'simulation')} in {duration(round(seconds))}"
    parts = [title, done, _rows(study, found), _verdict(study, found)]
    return "\n\n".join([*filter(None, parts), f"  written to {found.directory}"])


def _rows(study: Study, found: Searched) -> str:
    """List the candidates that are left, the best first; of a front those that are on it."""
    metrics = _metrics(study)
    shown = found.left if found.loss is not None else found.left[found.left["front"]]
    factors = [
        name for name in study.factors if name in ("system", *study.keys.parameters) or _varies(found, name)
    ]
    header = ("mix", *factors[1:], *(metric_words(name) for name in metrics), "seeds")
    rows = [
        (
            *(plain(row[name]) for name in factors),
            *(_value(row[name], name) for name in metrics),
            f"{row['seeds']}",
        )
        for _, row in shown.head(MOST_ROWS).iterrows()
    ]
    more = len(shown) - len(rows)
    text = table([header, *rows], left=len(factors))
    return text + (f"\n  ... and {more} more: search.parquet" if more > 0 else "")


def _varies(found: Searched, name: str) -> bool:
    return name != SEED and name in found.table and found.table[name].nunique() > 1


def _verdict(study: Study, found: Searched) -> str:
    percent = f"{100 * found.confidence:g} %"
    if found.loss is None:
        return f"  with {percent} confidence all that are on the front are among the {len(found.left):,} left"
    winner: pd.Series = found.winner
    if len(found.left) == 1:
        return f"  with {percent} confidence {plain(winner['system'])} is the best of all"
    metric = _metrics(study)[0]
    mean = float(winner[metric])
    worse = _value(found.loss, metric) + (f", {100 * found.loss / mean:.0f} %" if mean > 0 else "")
    text = (
        f"  with {percent} confidence the best one is among them, and better than the first by no more than"
    )
    return f"{text} {worse}"


def _value(value: float, metric: str) -> str:
    return with_unit(value, metric) or f"{value:,.4g}"


def _metrics(study: Study) -> list[str]:
    return list(study.keys.search.metrics) if study.keys.search else [COST]
