"""How much of the nodes in service a schedule used, and the energy it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.metrics.statistics import ratio, rounded, summary
from scheduler_sim.result.columns import NEVER, TOTAL, rows_named

Window = tuple[int, int]


def window(components: pd.DataFrame) -> Window | None:
    """First submission of a component that ran, and last end; None if none ran."""
    ran = components["start_time"].to_numpy() != NEVER
    if not ran.any():
        return None
    return int(components["submit_time"].to_numpy()[ran].min()), int(
        components["end_time"].to_numpy()[ran].max()
    )


def makespan(components: pd.DataFrame) -> int | None:
    """Seconds from the first submission of a component that ran to the last end; None if none ran."""
    span = window(components)
    return None if span is None else span[1] - span[0]


def utilization(
    components: pd.DataFrame, timeline: pd.DataFrame, modules: Mapping[str, int]
) -> dict[str, float | None]:
    """Node-seconds used over nodes in service × makespan, per module and ``total``."""
    span = window(components)
    if span is None:
        return dict.fromkeys((*modules, TOTAL))
    ran = components["start_time"].to_numpy() != NEVER
    run = components["end_time"].to_numpy() - components["start_time"].to_numpy()
    node_seconds = np.where(ran, run * components["nodes"].to_numpy(), 0)
    any_down = bool(timeline["nodes_down"].to_numpy().any())
    used, offered = {}, {}
    for name, nodes in modules.items():
        used[name] = int(node_seconds[rows_named(components["module"], name)].sum())
        down = int(integral(timeline, name, "nodes_down", span)) if any_down else 0
        offered[name] = nodes * (span[1] - span[0]) - down
    result = {name: ratio(used[name], offered[name]) for name in modules}
    result[TOTAL] = ratio(sum(used.values()), sum(offered.values()))
    return result


def utilization_within(
    timeline: pd.DataFrame, modules: Mapping[str, int], span: Window
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


def energy_of(
    components: pd.DataFrame, timeline: pd.DataFrame, accounted: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Energy of the components and of the whole system, its mean and largest power; None without a model.

    With what an energy model has ``accounted`` for: that, and the energy-delay product of components, J·s.
    """
    found: dict[str, Any] = dict.fromkeys(("components_j", "system_j", "mean_power_w", "max_power_w"))
    span = window(components)
    if span is None:
        return found
    ran = components["start_time"].to_numpy() != NEVER
    joules = components["energy_j"].to_numpy()[ran]
    found["components_j"] = rounded(float(joules.sum()))
    if accounted is not None:
        delays = joules * components["run_time"].to_numpy()[ran]
        return found | dict(accounted) | {"energy_delay_product": summary(delays)}
    rows = rows_named(timeline["module"], TOTAL)
    time, power = timeline["time"].to_numpy()[rows], timeline["power_w"].to_numpy()[rows]
    inside = (time >= span[0]) & (time < span[1])
    if inside.any() and not np.isnan(power[inside]).any():
        whole = float(integral(timeline, TOTAL, "power_w", span))
        found["system_j"] = rounded(whole)
        found["mean_power_w"] = ratio(whole, span[1] - span[0])
        found["max_power_w"] = rounded(float(power[inside].max()))
    return found


def integral(timeline: pd.DataFrame, module: str, column: str, span: Window) -> float:
    """Integrate a column of the timeline of one module over ``span``; it is 0 before its first row."""
    rows = rows_named(timeline["module"], module)
    values = timeline[column].to_numpy()[rows]
    edges = np.append(np.clip(timeline["time"].to_numpy()[rows], *span), span[1])
    area: float = (values * np.diff(edges)).sum()
    return area
