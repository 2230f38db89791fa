"""What a person wants to know of a run, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler_sim.cli.terminal import red, table
from scheduler_sim.cli.wording import number
from scheduler_sim.report.energy_words import energy, energy_lines, power
from scheduler_sim.report.measures import summaries
from scheduler_sim.report.model_words import TITLE, unmatched_lines
from scheduler_sim.report.module_use import shares_of_modules
from scheduler_sim.report.pending_words import pending_lines, rejected_first
from scheduler_sim.report.wording import REJECTED, doubts, duration, plain
from scheduler_sim.result.columns import NEVER, TOTAL, numbers
from scheduler_sim.result.documents import SPREAD
from scheduler_sim.result.table import pieces

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result


NOTHING: Mapping[str, str] = MappingProxyType({})


def run_text(result: Result, trace: str, engine_s: float) -> str:
    """Return the page on a run: what speaks against it, counts, waits, utilisation, speed."""
    policy = result.manifest["policy"]
    parts = [
        f"{plain(Path(trace).name)} on {plain(result.manifest['system']['name'])}"
        f" under {plain(policy['name'] or policy['order'])}",
        _doubts(result),
        _counts(result),
        _waits(result.metrics),
        _utilisation(result),
        _energy(result),
        _totals(result.metrics, engine_s),
    ]
    return "\n\n".join(part for part in parts if part)


def _started(result: Result) -> int:
    """Count those that started, some rows at a time: no table is made for that."""
    starts = (numbers(piece, "start_time") for piece in pieces(result.tables[0]))
    return sum(int(np.count_nonzero(start != NEVER)) for start in starts)


def _counts(result: Result) -> str:
    counts = result.metrics["counts"]
    shown = {
        "components": result.metrics["jobs"],
        "started": _started(result),
        "rejected": counts["rejected"],
        "timed out": counts["timed_out"],
        **{state: counts[state] for state in ("failed", "cancelled") if counts[state]},
        "pending": counts["pending"],
        "skipped": counts["skipped"],
    }
    first = rejected_first(result)
    why = [
        *_reasons(counts, "rejected_because", _why_rejected(result.manifest), first),
        *(pending_lines(result) if counts["pending"] else ()),
        *_reasons(counts, "skipped_because", {}),
    ]
    numbers = table([tuple(shown), tuple(f"{value:,}" for value in shown.values())], left=0)
    return "\n".join([numbers, *(f"  {line}" for line in why)])


def _reasons(
    counts: Mapping[str, Any], key: str, meaning: Mapping[str, str], first: Mapping[str, str] = NOTHING
) -> Iterator[str]:
    for reason, how_many in counts.get(key, {}).items():
        who = f" ({first[reason]})" if reason in first else ""
        yield f"{key.split('_')[0]}: {how_many:,} {meaning.get(reason, reason)}{who}"


def _why_rejected(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """What the reasons mean: of a system without partitions of its own none speaks of them."""
    partitions = manifest["system"]["partitions"]
    if any(one["name"] != one["module"] for one in partitions):
        return REJECTED
    return REJECTED | {"too_large": "larger than their module"}


def _waits(metrics: Mapping[str, Any]) -> str:
    if metrics["makespan"] is None:
        return "  no component ran"
    return table([("", *SPREAD), *summaries(metrics)])


def _utilisation(result: Result) -> str:
    sizes = result.manifest["modules"]
    nodes = {**sizes, TOTAL: sum(sizes.values())}
    names = list(nodes) if len(sizes) > 1 else [TOTAL]
    shares = shares_of_modules(result, names)
    rows = [("module", "nodes", *(word or "utilisation" for word in shares))]
    for name, *own in zip(names, *shares.values(), strict=True):
        percents = ("-" if share is None else f"{100 * share:.2f} %" for share in own)
        rows.append((plain(name), f"{nodes[name]:,}", *percents))
    return table(rows)


def _energy(result: Result) -> str:
    """What nodes drew, of which quality the figures are, and what it costs."""
    found, model = result.metrics["energy"], result.manifest.get("energy")
    if not model or found["system_j"] is None:
        return ""
    parts = {"job_j": "jobs", "idle_j": "idle", "transition_j": "transitions", "off_j": "off"}
    shown = {key: word for key, word in parts.items() if found[key] or key in ("job_j", "idle_j")}
    rows = [("energy", *shown.values(), "all", "mean power", "peak")]
    modules = found["modules"] if len(found["modules"]) > 1 else {}
    for name, one in {**modules, "total": found}.items():
        joules = [energy(one[key]) for key in (*shown, "system_j")]
        watts = ["-" if one[key] is None else power(one[key]) for key in ("mean_power_w", "max_power_w")]
        rows.append((plain(name), *joules, *watts))
    lines = [table(rows), *(f"  {line}" for line in energy_lines(found, model))]
    return "\n".join(lines)


def _doubts(result: Result) -> str:
    """What a reader of the numbers has to know first."""
    found = doubts(result.metrics)
    parts = {
        "not honoured": [text for kind, text in found if kind == "not honoured"],
        TITLE: list(unmatched_lines(result.manifest)),
    }
    titled = [line for title, lines in parts.items() if lines for line in (title, *lines)]
    warnings = [f"warning: {text}" for kind, text in found if kind == "warning"]
    return red("\n".join(f"  {line}" for line in (*titled, *warnings)))


def _totals(metrics: Mapping[str, Any], engine_s: float) -> str:
    makespan, jobs = metrics["makespan"], metrics["jobs"]
    rows = [("makespan", "-" if makespan is None else f"{duration(makespan)}  ({makespan:,} s)")]
    if jobs and engine_s > 0:
        rows.append(("engine", f"{number(jobs / engine_s)} components/s  ({engine_s:.3g} s)"))
    return "\n".join(f"  {word:<9} {text}" for word, text in rows)
