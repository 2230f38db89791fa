"""How much of cores, memory and GPUs a schedule used, where jobs share nodes."""

from __future__ import annotations

from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import ratio
from scheduler_sim.metrics.utilization import integral, window
from scheduler_sim.result.columns import BUSY, TOTAL

NAMES = {
    "cores": "core_utilization",
    "memory_kb": "memory_utilization",
    "gpus": "gpu_utilization",
}


def sharing_of(run: Run) -> dict[str, dict[str, float | None]]:
    """Return the use of each resource over all of it × makespan, by module that jobs share, and ``total``."""
    span = window(run.components)
    return {name: _use(run, resource, span) for resource, name in NAMES.items()}


def _use(run: Run, resource: str, span: tuple[int, int] | None) -> dict[str, float | None]:
    if span is None:
        return dict.fromkeys((*run.shared, TOTAL))
    used = {name: float(integral(run.timeline, name, BUSY[resource], span)) for name in run.shared}
    there = {name: has[resource] * (span[1] - span[0]) for name, has in run.shared.items()}
    found = {name: ratio(used[name], there[name]) for name in run.shared}
    return found | {TOTAL: ratio(sum(used.values()), sum(there.values()))}
