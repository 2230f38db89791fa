"""How much of the nodes in service a schedule used, and the energy it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.metrics.metric import JobColumns, Run
from scheduler_sim.metrics.statistics import ratio, rounded, summary
from scheduler_sim.result.columns import NEVER, TOTAL, Columns, numbers, rows_named

Window = tuple[int, int]


def window(components: Columns) -> Window | None:
    """First submission of a component that ran, and last end; None if none ran."""
    return window_of(JobColumns.of(components, numbers(components, "start_time") != NEVER))


def window_of(ran: JobColumns) -> Window | None:
    """The same of columns of those that ran."""
    return (int(ran.submit.min()), int(ran.end.max())) if len(ran.submit) else None


def makespan(run: Run) -> int | None:
    """Seconds from the first submission of a component that ran to the last end; None if none ran."""
    span = window_of(run.jobs)
    return None if span is None else span[1] - span[0]


def utilization(run: Run) -> dict[str, float | None]:
    """Node-seconds used over nodes in service × makespan, per module and ``total``.

    A node that several jobs share is used as long as anything runs on it.
    """
    span = window_of(run.jobs)
    if span is None:
        return dict.fromkeys((*run.modules, TOTAL))
    any_down = bool(numbers(run.timeline, "nodes_down").any())
    offered = {}
    for name, nodes in run.modules.items():
        down = int(integral(run.timeline, name, "nodes_down", span)) if any_down else 0
        offered[name] = nodes * (span[1] - span[0]) - down
    used = {name: int(integral(run.timeline, name, "nodes_busy", span)) for name in run.shared}
    used = {name: used[name] if name in used else run.work[name] for name in run.modules}
    result = {name: ratio(used[name], offered[name]) for name in run.modules}
    result[TOTAL] = ratio(sum(used.values()), sum(offered.values()))
    return result


def utilization_within(
    timeline: Columns, modules: Mapping[str, int], span: Window
) -> dict[str, float | None]:
    """Busy node-seconds over node-seconds in service within a span of time, per module and ``total``."""
    length = span[1] - span[0]
    used = {name: float(integral(timeline, name, "nodes_busy", span)) for name in modules}
    offered = {
        name: nodes * length - float(integral(timeline, name, "nodes_down", span))
        for name, nodes in modules.items()
    }
    result = {name: ratio(used[name], offered[name]) for name in modules}
    result[TOTAL] = ratio(sum(used.values()), sum(offered.values()))
    return result


def energy_of(run: Run, accounted: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Energy of the components and of the whole system, its mean and largest power; None without a model.

    With what an energy model has ``accounted`` for: that, and the energy-delay product of components, J·s.
    """
    found: dict[str, Any] = dict.fromkeys(("components_j", "system_j", "mean_power_w", "max_power_w"))
    span, timeline = window_of(run.jobs), run.timeline
    if span is None or "energy_j" not in run.components:
        return found
    joules = numbers(run.components, "energy_j")[run.ran]
    found["components_j"] = rounded(float(joules.sum()))
    if accounted is not None:
        delays = joules * run.jobs.run
        return found | dict(accounted) | {"energy_delay_product": summary(delays)}
    rows = rows_named(timeline["module"], TOTAL)
    time, power = numbers(timeline, "time")[rows], numbers(timeline, "power_w")[rows]
    inside = (time >= span[0]) & (time < span[1])
    if inside.any() and not np.isnan(power[inside]).any():
        whole = float(integral(timeline, TOTAL, "power_w", span))
        found["system_j"] = rounded(whole)
        found["mean_power_w"] = ratio(whole, span[1] - span[0])
        found["max_power_w"] = rounded(float(power[inside].max()))
    return found


def integral(timeline: Columns, module: str, column: str, span: Window) -> float:
    """Integrate a column of the timeline of one module over ``span``; it is 0 before its first row."""
    rows = rows_named(timeline["module"], module)
    values = numbers(timeline, column)[rows]
    edges = np.append(np.clip(numbers(timeline, "time")[rows], *span), span[1])
    area: float = (values * np.diff(edges)).sum()
    return area
