"""How much of cores, memory and GPUs a schedule used, and could not use, where jobs share nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from scheduler_sim.metrics.fragmentation import NodeHistory, stranded
from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.metrics.utilization import integral, window_of
from scheduler_sim.result import steps
from scheduler_sim.result.columns import BUSY, TOTAL, rows_named
from scheduler_sim.result.node_use import unit
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.texts import data_frame

USED = {
    "cores": "core_utilization",
    "memory_kb": "memory_utilization",
    "gpus": "gpu_utilization",
}
STRANDED = {"cores": "core_fragmentation", "gpus": "gpu_fragmentation"}

Span = tuple[int, int]

Shares = dict[str, float | None]
"""By module that jobs share, and ``total``."""


def sharing_of(run: Run) -> dict[str, Shares]:
    """Return what was used of each resource, and what was stranded of cores and GPUs, over all × makespan."""
    span = window_of(run.jobs)
    used = {name: _use(run, resource, span) for resource, name in USED.items()}
    return used | _fragmentation(run)


def cores_had_twice(run: Run) -> Iterator[str]:
    """Yield a warning for each module of which jobs had more cores at once than there are, sharing them."""
    for name, has in run.shared.items() if window_of(run.jobs) else ():
        busy = np.asarray(run.timeline[BUSY["cores"]])[rows_named(run.timeline["module"], name)]
        if busy.max(initial=0) > has["cores"]:
            yield (
                f"jobs shared cores of module {name} and had up to {busy.max():,.0f} of its"
                f" {has['cores']:,.0f} at once: cores_busy and core_utilization count a core for each job"
                " that has it"
            )


def sharing_within(schedule: Schedule, modules: Sequence[str], spans: Sequence[Span]) -> pd.DataFrame:
    """Return the shares of modules that jobs share, and of all, within spans of time.

    Returns
    -------
    One row a span, a column for each share and module: ``core_utilization_CM``; NaN where it is not known.
    """
    columns: dict[str, list[float | None]] = {}
    histories = {name: NodeHistory.of(schedule, name) for name in modules}
    for kind in BUSY:
        used = {name: schedule.recorded(name, BUSY[kind]) for name in modules}
        there = {name: schedule.shared[name][kind] for name in modules}
        columns |= _within(USED[kind], used, there, spans)
    for kind, key in STRANDED.items():
        lost = {name: None if one is None else stranded(one, kind) for name, one in histories.items()}
        there = {name: schedule.shared[name][kind] * unit(kind) for name in modules}
        columns |= _within(key, lost, there, spans)
    return pd.DataFrame(columns, dtype=np.float64)


def _within(
    key: str, amounts: Mapping[str, steps.Steps | None], there: Mapping[str, float], spans: Sequence[Span]
) -> dict[str, list[float | None]]:
    """Return the share of each module, and of all if it is known of all, within each span."""
    areas = {name: None if one is None else steps.areas(one, spans) for name, one in amounts.items()}
    lengths = [last - first for first, last in spans]
    found: dict[str, list[float | None]] = {
        f"{key}_{name}": [None] * len(spans) if area is None else _shares(area, there[name], lengths)
        for name, area in areas.items()
    }
    known = [area for area in areas.values() if area is not None]
    whole = _shares(np.sum(known, axis=0), sum(there.values()), lengths) if len(known) == len(areas) else None
    return found | {f"{key}_{TOTAL}": whole or [None] * len(spans)}


def _shares(areas: np.ndarray, there: float, lengths: Sequence[int]) -> list[float | None]:
    return [ratio(float(area), there * length) for area, length in zip(areas, lengths, strict=True)]


def _use(run: Run, resource: str, span: tuple[int, int] | None) -> Shares:
    if span is None:
        return dict.fromkeys((*run.shared, TOTAL))
    used = {name: float(integral(run.timeline, name, BUSY[resource], span)) for name in run.shared}
    there = {name: has[resource] * (span[1] - span[0]) for name, has in run.shared.items()}
    found = {name: ratio(used[name], there[name]) for name in run.shared}
    return found | {TOTAL: ratio(sum(used.values()), sum(there.values()))}


def _fragmentation(run: Run) -> dict[str, Shares]:
    """Return the shares that were stranded; None where that is not known of a module, or of any."""
    schedule = _schedule(run)
    histories = {name: NodeHistory.of(schedule, name) for name in run.shared}
    return {name: _stranded(histories, kind) for kind, name in STRANDED.items()}


def _stranded(histories: dict[str, NodeHistory | None], kind: str) -> Shares:
    known = {name: history for name, history in histories.items() if history is not None}
    area = {name: steps.integral(stranded(history, kind)) for name, history in known.items()}
    there = {name: history.in_all(kind) for name, history in known.items()}
    found = {name: ratio(area[name], there[name]) if name in known else None for name in histories}
    whole = ratio(sum(area.values()), sum(there.values())) if len(known) == len(histories) else None
    return found | {TOTAL: whole}


def _schedule(run: Run) -> Schedule:
    """Return the run as checks see it."""
    told = {"modules": run.modules, "shared_nodes": run.shared, "counts": run.counts, "system": run.system}
    timeline = {name: run.timeline[name] for name in ("time", "module", "nodes_down")}
    return Schedule(data_frame(run.components), data_frame(timeline), {}, told)
