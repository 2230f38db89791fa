"""What is in a trace: counts, sizes, times, load over time, and what to be careful about."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from scheduler_sim.texts import TextColumn
from scheduler_sim.workload.fields import SKIP_REASONS
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.parts import stated_cores
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.trace_warnings import warnings_of

_SLICES = 12
_UNITS = {"nodes": "nodes", "run_time": "s", "time_limit": "s", "accuracy": "", "inter_arrival": "s"}


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of one quantity over the simulated components: int or float, in ``unit``."""

    unit: str
    mean: float
    minimum: float
    p25: float
    median: float
    p75: float
    p90: float
    p99: float
    maximum: float


@dataclass(frozen=True, slots=True)
class LoadSlice:
    """Work submitted in one slice of the submission span.

    ``load`` is node-seconds submitted over nodes × length of the slice, None if the number of
    nodes is not known; ``start`` and ``end`` are seconds, end excluded except in the last slice.
    """

    start: int
    end: int
    components: int
    node_seconds: int
    load: float | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What components ask for of each node: how many say so, and least, median and largest amount."""

    components: int
    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Summary:
    """Contents of a workload, as numbers; times in seconds, all but counts over what is simulated.

    ``accuracy`` is run time over time limit, of components that give a limit of their own.
    ``load`` is node-seconds over nodes × submission span. ``asked`` has ``cores``, ``memory_kb`` and ``gpus``
    of each node, ``gres`` counts components by other resources of a node as the trace spells them,
    ``exclusive`` those that ask for nodes to themselves, ``measured`` those whose power was measured.
    """

    name: str
    format: str
    header: tuple[str, ...]
    records: int
    simulated: int
    skipped: dict[str, int]
    not_honoured: dict[str, int]
    modular_jobs: int
    heterogeneous_jobs: int
    dependencies: int
    users: int
    applications: int
    partitions: dict[str, int]
    nodes: int | None
    first_submit: int | None
    last_submit: int | None
    node_seconds: int
    load: float | None
    serial_share: float | None
    power_of_two_share: float | None
    spreads: dict[str, Spread]
    slices: tuple[LoadSlice, ...]
    asked: dict[str, Asked]
    gres: dict[str, int]
    exclusive: int
    measured: int
    warnings: tuple[str, ...] = field(default=())


def summarise(workload: Workload, nodes: int | None = None) -> Summary:
    """Return what is in a workload.

    Parameters
    ----------
    workload : the trace
    nodes : nodes of the machine; None = as an SWF header says (MaxNodes, else MaxProcs), if it does.
        SWF counts processors, so MaxProcs goes first there.
    """
    nodes = nodes or header_nodes(workload)
    columns = workload.columns
    live = columns["skipped"] == 0
    column = columns_of(workload, live)
    submit, size = column["submit_time"], column["nodes"]
    work = int((size * column["run_time"]).sum())
    count = len(size)
    span = int(submit.max() - submit.min()) if count else 0
    jobs = pd.Series(column["modular_job_id"]).value_counts()
    return Summary(
        name=workload.source.name,
        format=workload.source.format,
        header=workload.source.header,
        records=len(workload),
        simulated=count,
        skipped=_skipped(columns["skipped"]),
        not_honoured=workload.not_honoured(),
        modular_jobs=len(jobs),
        heterogeneous_jobs=int((jobs > 1).sum()) if workload.source.format != "swf" else 0,
        dependencies=len(workload.edges.row),
        users=_distinct(columns["user"], live),
        applications=_distinct(columns["app"], live),
        partitions=_counted(columns["partition"], live),
        nodes=nodes,
        first_submit=int(submit.min()) if count else None,
        last_submit=int(submit.max()) if count else None,
        node_seconds=work,
        load=work / (nodes * span) if nodes and span else None,
        serial_share=float((size == 1).mean()) if count else None,
        power_of_two_share=float(((size & (size - 1)) == 0).mean()) if count else None,
        spreads=_spreads(column),
        slices=_slices(column, nodes),
        asked=_asked(workload, live),
        gres={text: rows for text, rows in _counted(columns["gres"], live).items() if text},
        exclusive=int(np.count_nonzero(live & (columns["exclusive"] != 0))),
        measured=int(np.count_nonzero(live & (columns["measured_power_w"] > 0))),
        warnings=warnings_of(workload, nodes),
    )


def header_nodes(workload: Workload) -> int | None:
    """Return the nodes of the machine that a header states (MaxProcs, else MaxNodes), or None."""
    return workload.source.header_number("MaxProcs") or workload.source.header_number("MaxNodes") or None


def columns_of(workload: Workload, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is counted of some rows (mask); ``requested`` is the limit the trace itself lists."""
    listed = "listed_time_limit" if workload.source.format == "swf" else "time_limit"
    names = ("nodes", "submit_time", "run_time", "time_limit", "modular_job_id")
    column = {name: workload.columns[name][rows] for name in names}
    return {**column, "requested": workload.columns[listed][rows]}


def quantities_of(column: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the values of each quantity whose distribution matters, as :func:`columns_of` gives them.

    ``nodes``; ``run_time``, ``time_limit`` and ``inter_arrival`` in seconds; ``accuracy``: run time
    over time limit. Limits and accuracy only of components with a limit of their own.
    """
    limited = column["requested"] > 0
    limit = column["time_limit"][limited]
    return {
        "nodes": column["nodes"],
        "run_time": column["run_time"],
        "time_limit": limit,
        "accuracy": column["run_time"][limited] / np.maximum(limit, 1),
        "inter_arrival": np.diff(np.sort(column["submit_time"])),
    }


def work_over_time(column: dict[str, np.ndarray], slices: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edges (s) of equal slices of the submission span, and what was submitted in each.

    Returns
    -------
    edges : int64[n + 1], n at most ``slices``; no slices where all is submitted at once
    components : int64[n]; node_seconds : int64[n], nodes × run time
    """
    submit = column["submit_time"]
    if not len(submit) or submit.min() == submit.max():
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    edges = np.unique(np.linspace(submit.min(), submit.max(), slices + 1).astype(np.int64))
    place = np.clip(np.searchsorted(edges, submit, side="right") - 1, 0, len(edges) - 2)
    components = np.bincount(place, minlength=len(edges) - 1)
    work = np.zeros(len(components), dtype=np.int64)
    np.add.at(work, place, column["nodes"] * column["run_time"])
    return edges, components, work


def _skipped(codes: np.ndarray) -> dict[str, int]:
    counts = np.bincount(codes, minlength=max(SKIP_REASONS) + 1)
    return {reason: int(counts[code]) for code, reason in SKIP_REASONS.items() if counts[code]}


def _distinct(column: TextColumn, live: np.ndarray) -> int:
    return sum(not is_missing(column.categories[code]) for code in np.unique(column.codes[live]))


def _counted(column: TextColumn, live: np.ndarray) -> dict[str, int]:
    """Return how many components have each text, as the trace spells it, the most frequent first."""
    counts = np.bincount(column.codes[live], minlength=len(column.categories))
    order = sorted(range(len(counts)), key=lambda code: (-counts[code], column.categories[code]))
    return {str(column.categories[code]): int(counts[code]) for code in order if counts[code]}


def _asked(workload: Workload, live: np.ndarray) -> dict[str, Asked]:
    amounts = {name: workload.columns[name] for name in ("memory_kb", "gpus")}
    asked = {}
    for name, column in {"cores": stated_cores(workload.columns), **amounts}.items():
        said = column[live & (column > 0)]
        if len(said):
            marks = float(said.min()), float(np.median(said)), float(said.max())
            asked[name] = Asked(len(said), *marks)
    return asked


def _spreads(column: dict[str, np.ndarray]) -> dict[str, Spread]:
    return {name: _spread(_UNITS[name], x) for name, x in quantities_of(column).items() if len(x)}


def _spread(unit: str, values: np.ndarray) -> Spread:
    marks = np.quantile(values, [0, 0.25, 0.5, 0.75, 0.9, 0.99, 1]).tolist()
    return Spread(unit, float(values.mean()), *marks)


def _slices(column: dict[str, np.ndarray], nodes: int | None) -> tuple[LoadSlice, ...]:
    edges, counts, work = work_over_time(column, _SLICES)
    return tuple(
        LoadSlice(
            start=int(start),
            end=int(end),
            components=int(number),
            node_seconds=int(seconds),
            load=float(seconds / (nodes * (end - start))) if nodes else None,
        )
        for start, end, number, seconds in zip(edges[:-1], edges[1:], counts, work, strict=True)
    )
