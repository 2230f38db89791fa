"""What a person wants to know of a trace, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from scheduler_sim.cli.terminal import bar, table
from scheduler_sim.cli.wording import number
from scheduler_sim.report.wording import NOT_HONOURED, clock, count, date, duration, percent, plain
from scheduler_sim.system.module import KB_PER_GB
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.summary import LoadSlice, Summary
from scheduler_sim.workload.table import HONOURED_BY_ALL, HONOURED_BY_SLURM, HONOURED_WHERE_SHARED

SHOWN_HEADER = 12
MOST_LISTED = 8
BAR_WIDTH = 40
LONGEST_LINE = 110
TITLES = {
    "nodes": "nodes",
    "run_time": "run time (s)",
    "time_limit": "time limit (s)",
    "accuracy": "run time / limit",
    "inter_arrival": "inter-arrival (s)",
}

OF_NODES = {"cores": ("cores", "", 1), "memory_kb": ("memory", " GB", KB_PER_GB), "gpus": ("GPUs", "", 1)}
"""What is asked for of nodes: in words, with its unit, and how many of the table's are one of it."""


def trace_text(said: Summary, source: TraceSource) -> str:
    """Return the page on a trace: header, counts, spreads, load over time, warnings."""
    title = f"{plain(Path(said.name).name)} ({said.format.upper()}): {count(said.records, 'record')}"
    warnings = [f"  - {warning}" for warning in said.warnings]
    parts = [
        title,
        _header(said),
        _facts_in_columns(said),
        _spreads(said),
        _load(said, source.header_number("UnixStartTime")),
        "\n".join(["warnings", *warnings]) if warnings else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _header(said: Summary) -> str:
    lines = [f"  {_printable(line)}" for line in said.header[:SHOWN_HEADER]]
    more = len(said.header) - len(lines)
    return "\n".join([*lines, *([f"  ... and {count(more, 'line')} more"] if more > 0 else [])])


def _facts_in_columns(said: Summary) -> str:
    facts = list(_facts(said))
    width = max(len(word) for word, _ in facts)
    return "\n".join(f"  {word:<{width}}  {text}" for word, text in facts)


def _facts(said: Summary) -> Iterator[tuple[str, str]]:
    yield "simulated", count(said.simulated, "component")
    for reason, records in said.skipped.items():
        yield "skipped", f"{count(records, 'record')}: {reason}"
    for name, lines in said.not_honoured.items():
        if name not in HONOURED_BY_ALL:
            but = " (honoured by --policy slurm)" if name in HONOURED_BY_SLURM else ""
            but = ", unless jobs share nodes" if name in HONOURED_WHERE_SHARED else but
            yield "not honoured", f"{count(lines, 'line')}: {NOT_HONOURED.get(name, name)}{but}"
    several = f", {said.heterogeneous_jobs:,} with several components" if said.heterogeneous_jobs else ""
    yield "jobs", f"{said.modular_jobs:,}{several}"
    named = (("dependencies", said.dependencies), ("users", said.users), ("applications", said.applications))
    for word, known in named:
        if known:
            yield word, f"{known:,}"
    yield "partitions", _listed(said.partitions)
    if said.nodes:
        yield "machine", f"{count(said.nodes, 'node')}, says the header"
    if said.first_submit is not None and said.last_submit is not None:
        span = duration(said.last_submit - said.first_submit)
        yield "submissions", f"from {said.first_submit:,} s to {said.last_submit:,} s: {span}"
    load = "" if said.load is None else f", an offered load of {said.load:.2f}"
    yield "work", f"{said.node_seconds:,} node-seconds{load}"
    if said.serial_share is not None and said.power_of_two_share is not None:
        serial, power = percent(said.serial_share), percent(said.power_of_two_share)
        yield "sizes", f"{serial} on one node, {power} a power of two (one included)"
    yield from _of_nodes(said)
    if said.measured:
        yield "power", f"measured of {count(said.measured, 'component')}"


def _of_nodes(said: Summary) -> Iterator[tuple[str, str]]:
    """What is asked for of each node."""
    for name, asked in said.asked.items():
        word, unit, scale = OF_NODES[name]
        least, median, most = (number(value / scale) for value in (asked.least, asked.median, asked.most))
        amounts = f"{least} to {most}" if least != most else least
        half = f", half of them for {median} at most" if least != most else ""
        each = f"{amounts}{unit} of each node{half}"
        yield word, f"{_askers(asked.components)} for {each}"
    if said.gres:
        yield "resources", f"of each node: {_listed(said.gres)}"
    if said.exclusive:
        yield "whole nodes", f"{_askers(said.exclusive)} for nodes to themselves"


def _askers(components: int) -> str:
    return f"{count(components, 'component')} {'asks' if components == 1 else 'ask'}"


def _listed(counts: Mapping[str, int]) -> str:
    known = [f"{plain(name) or 'none given'} ({rows:,})" for name, rows in counts.items()]
    more = len(known) - MOST_LISTED
    return ", ".join(known[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _spreads(said: Summary) -> str:
    if not said.spreads:
        return ""
    rows: list[tuple[str, ...]] = [("", "mean", "min", "25 %", "median", "75 %", "90 %", "99 %", "max")]
    for name, s in said.spreads.items():
        marks = (s.mean, s.minimum, s.p25, s.median, s.p75, s.p90, s.p99, s.maximum)
        rows.append((TITLES.get(name, name), *map(number, marks)))
    return table(rows)


def _load(said: Summary, unix_start: int | None) -> str:
    """Draw the work submitted over time, in bars."""
    if not said.slices:
        return ""
    known = said.nodes is not None
    heights = [_height(part) for part in said.slices]
    top = max(*heights, 1.0 if known else 0.0)
    rows = [("from", "components", "load" if known else "nodes")]
    for part, height in zip(said.slices, heights, strict=True):
        start = date(unix_start + part.start) if unix_start else ""
        start = start or clock(part.start - said.slices[0].start)
        rows.append((start, f"{part.components:,}", f"{height:.2f}" if known else number(height)))
    what = "work submitted over time, as " + ("load of the machine" if known else "nodes it would keep busy")
    since = "" if unix_start else "; times are since the first submission"
    bars = ["", *(bar(height / top if top else 0.0, BAR_WIDTH) for height in heights)]
    lines = table(rows).split("\n")
    drawn = (f"{line}  {cells}".rstrip() for line, cells in zip(lines, bars, strict=True))
    return "\n".join([f"{what}{since}", *drawn])


def _height(part: LoadSlice) -> float:
    """Load of the slice; where the machine is not known, the nodes its work would keep busy."""
    return part.load if part.load is not None else part.node_seconds / (part.end - part.start)


def _printable(line: str) -> str:
    text = "".join(sign if sign.isprintable() else " " for sign in line)
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."
