"""How near a simulation is to the record, and what explains the difference, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scheduler_sim.causes.one_at_a_time import nearer
from scheduler_sim.cli.terminal import table
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.metrics.agreement.slices import SLICES, day_names, hours_of_week, sliced
from scheduler_sim.metrics.agreement.use import use_of
from scheduler_sim.metrics.agreement.waits import Distance, Order, Waits, spread, waits_of, within
from scheduler_sim.report.agreement_words import apart, correlation, difference, slice_word
from scheduler_sim.report.wording import count, listing, paragraph, percent, plain, printable, span_text

if TYPE_CHECKING:
    from scheduler_sim.causes.one_at_a_time import Causes, Tried
    from scheduler_sim.result.result import Result

MOST_SLICES = 12
"""Slices with a row of their own; the others are put together."""

BLOCK = 6
"""Hours of a cell in the table by hour of the week."""


MEANINGS = "difference of mean waits, by day of submission (absolute) and in all; of starts, one by one"


def compare_text(result: Result, by: Sequence[str]) -> str:
    """Return the page: who is compared, waits, their distance and order, nodes in use, slices."""
    for name in by:
        if name not in SLICES:
            allowed = f"{', '.join(SLICES)}{did_you_mean(name, list(SLICES))}"
            raise InputError(f"--by: found {name!r}; allowed: {allowed}")
    waits = waits_of(result)
    parts = [
        _title(result),
        _compared(waits),
        _waits(waits),
        "\n".join(f"  {line}" for line in _measures(result, waits)),
        *(_week(result, waits) if name == "hour_of_week" else _slices(result, waits, name) for name in by),
    ]
    return "\n\n".join(parts)


def _title(result: Result) -> str:
    manifest = result.manifest
    trace = next((one["name"] for one in manifest.get("inputs") or [] if one["role"] == "workload"), "")
    policy = manifest.get("policy") or {}
    name = plain((manifest.get("system") or {}).get("name") or "")
    return (
        f"{plain(trace)} on {name} under {plain(policy.get('name') or policy.get('order'))},"
        " beside what was recorded"
    )


def _compared(waits: Waits) -> str:
    lines = [f"  compared  {count(len(waits.rows), 'component')}"]
    return "\n".join([*lines, *(f"  left out  {number:,} {why}" for why, number in waits.left_out.items())])


def _waits(waits: Waits) -> str:
    rows: list[Sequence[str]] = [("wait", "mean", "median", "90 % below")]
    for name, values in (("recorded", waits.recorded), ("simulated", waits.simulated)):
        rows.append((name, *map(span_text, spread(values).values())))
    return table(rows)


def _measures(result: Result, waits: Waits) -> Iterator[str]:
    distance, order, use = Distance.of(waits), Order.of(waits), use_of(result, waits)
    shares = listing(f"{percent(share)} within {name}" for name, share in within(waits).items())
    yield (
        f"starts       half at most {span_text(distance.median_absolute)} apart, on average"
        f" {span_text(distance.mean_absolute)}; {shares}"
    )
    yield (
        f"mean wait    {difference(distance.mean)} than recorded; {span_text(distance.by_day)} apart from day"
        " to day"
    )
    yield (
        f"order        of starts: Kendall's tau {correlation(order.kendall)}, Spearman's rho"
        f" {correlation(order.spearman)}; of waits: rho {correlation(order.waits)}"
    )
    recorded, simulated = use.mean()
    yield (
        f"utilisation  {100 * recorded:.1f} % recorded, {100 * simulated:.1f} % simulated; in an hour"
        f" {100 * use.mean_absolute_difference():.1f} points apart, on average"
    )


def _slices(result: Result, waits: Waits, by: str) -> str:
    found = sliced(result, waits, by)
    if by in ("user", "partition"):
        found = _largest(found)
    rows: list[Sequence[str]] = [
        (slice_word(result, by), "components", "recorded", "simulated", "difference", "apart")
    ]
    for name, row in found.iterrows():
        means = (span_text(row[key]) for key in ("recorded", "simulated"))
        number = f"{int(row['components']):,}"
        rows.append((plain(name), number, *means, apart(row["difference"]), span_text(row["absolute"])))
    return table(rows)


def _largest(found: pd.DataFrame) -> pd.DataFrame:
    """Keep those with most components, most first, and put the others together."""
    ordered = found.iloc[np.argsort(-found["components"].to_numpy(), kind="stable")]
    if len(ordered) <= MOST_SLICES + 1:
        return ordered
    others = ordered.iloc[MOST_SLICES:]
    weights = others["components"].to_numpy()
    means = {name: np.average(others[name], weights=weights) for name in others.columns[1:]}
    together = pd.DataFrame(
        [{"components": weights.sum(), **means}], index=pd.Index([f"{len(others):,} others"])
    )
    return pd.concat([ordered.iloc[:MOST_SLICES], together])


def _week(result: Result, waits: Waits) -> str:
    """Mean waits by day of the week and quarter of the day, recorded and simulated."""
    hours = hours_of_week(waits.submit, result.manifest)
    quarters = 24 // BLOCK
    cell = hours // BLOCK
    counts = np.bincount(cell, minlength=7 * quarters)
    means = [
        np.bincount(cell, weights=values, minlength=7 * quarters) / np.maximum(counts, 1)
        for values in (waits.recorded, waits.simulated)
    ]
    header = [f"{BLOCK * i} to {BLOCK * (i + 1)} h" for i in range(quarters)]
    rows = [("submitted", *header)]
    for day, name in enumerate(day_names(result.manifest)):
        cells = range(day * quarters, (day + 1) * quarters)
        texts = (
            " → ".join(span_text(values[one]) for values in means) if counts[one] else "-" for one in cells
        )
        rows.append((name, *texts))
    return f"{table(rows)}\n  mean wait, recorded → simulated"


def causes_text(found: Causes) -> str:
    """Return the table of runs with one thing changed, the one that comes nearest first."""
    out = found.kept_out
    names = ["what is changed", "by day", "in all", "one by one"]
    header = [*names, *(() if out is None else (f"{out.name}: by day",))]
    rows = [tuple(header), _row("nothing", found.base)]
    rows += [_row(_said(one), one) for one in found.tried]
    if found.together is not None:
        rows.append(_row(f"the first and {len(found.together.names) - 1} more at once", found.together))
    parts = [
        "What explains the difference: the run repeated with one change at a time",
        f"{table(rows)}\n  {MEANINGS}",
        "\n".join(f"  {line}" for line in _verdict(found)),
    ]
    waiting = [
        f"{_said(one)} leaves {count(one.waiting, 'component')} waiting" for one in found.tried if one.waiting
    ]
    notes = [*waiting, *(f"not tried: {printable(one.name)}: {one.why}" for one in found.not_tried)]
    if notes:
        parts.append("\n".join(line for one in notes for line in paragraph(one, 2)))
    return "\n\n".join(parts)


def _said(one: Tried) -> str:
    return printable(" + ".join(f"{name}: {to}" for name, to in one.names))


def _row(name: str, one: Tried) -> tuple[str, ...]:
    checked = () if one.kept_out is None else _cells(one.kept_out)[:1]
    return (name, *_cells(one.chosen), *checked)


def _cells(side: Distance) -> tuple[str, ...]:
    if not side.components:
        return ("-", "-", "-")
    return span_text(side.by_day), apart(side.mean), span_text(side.mean_absolute)


def _verdict(found: Causes) -> Iterator[str]:
    """Say what comes nearest, and whether it holds where it was not chosen."""
    out, base = found.kept_out, found.base
    best = found.together or next(iter(found.tried), base)
    if not base.chosen.by_day:
        yield "Mean waits equal the recorded ones on every day: there is nothing to explain."
    elif not nearer(best, base):
        yield "None of these changes comes closer: something else explains the difference."
    else:
        yield f"Closest: {_said(best)}."
        share = 1 - best.chosen.by_day / base.chosen.by_day
        checked = ""
        if out is not None and best.kept_out is not None and base.kept_out is not None:
            held = _held(best.kept_out, base.kept_out)
            checked = f"; in the {out.name}, which was held out, {held}"
        yield f"It explains {percent(share)} of the difference from day to day{checked}."
    if out is None:
        yield "The record is shorter than two days: no part of it was held out to check the choice."


def _held(best: Distance, base: Distance) -> str:
    if not base.components or not base.by_day:
        return "there was nothing to explain"
    share = 1 - best.by_day / base.by_day
    return f"{percent(share)}" if share > 0 else f"it comes no closer ({span_text(best.by_day)})"
