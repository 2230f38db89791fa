"""How much of cores, memory and GPUs a schedule used, and could not use, where jobs share nodes."""

from __future__ import annotations

import pandas as pd

from scheduler_sim.metrics.fragmentation import NodeHistory, stranded
from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.metrics.utilization import integral, window
from scheduler_sim.result import steps
from scheduler_sim.result.columns import BUSY, TOTAL
from scheduler_sim.result.schedule import Schedule

USED = {
    "cores": "core_utilization",
    "memory_kb": "memory_utilization",
    "gpus": "gpu_utilization",
}
STRANDED = {"cores": "core_fragmentation", "gpus": "gpu_fragmentation"}

Shares = dict[str, float | None]
"""By module that jobs share, and ``total``."""


def sharing_of(run: Run) -> dict[str, Shares]:
    """Return what was used of each resource, and what was stranded of cores and GPUs, over all × makespan."""
    span = window(run.components)
    used = {name: _use(run, resource, span) for resource, name in USED.items()}
    return used | _fragmentation(run)


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
    return Schedule(pd.DataFrame(dict(run.components)), pd.DataFrame(timeline), {}, told)
