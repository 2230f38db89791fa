"""The invariants of a schedule, tested from the result alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from scheduler_sim.errors import InvariantError
from scheduler_sim.result import (
    component_laws,
    energy_laws,
    limit_laws,
    reservation_laws,
    run_laws,
    sharing_laws,
    timeline_laws,
)
from scheduler_sim.result.documents import MANIFEST, METRICS, shape_problem
from scheduler_sim.result.schedule import Schedule

Law = Callable[[Schedule], str | None]

INVARIANTS: dict[str, Law] = {
    law.__name__.replace("_", "-"): law
    for law in (
        component_laws.component_columns,
        timeline_laws.timeline_columns,
        energy_laws.power_is_known,
        component_laws.known_states,
        component_laws.started_or_not,
        component_laws.never_started,
        component_laws.time_order,
        component_laws.run_time,
        run_laws.run_columns,
        run_laws.suspensions,
        run_laws.slowings,
        component_laws.time_limit,
        component_laws.wait_dependency,
        component_laws.waits_sum,
        component_laws.known_modules,
        run_laws.runs,
        run_laws.work_done_once,
        timeline_laws.timeline_modules,
        timeline_laws.timeline_order,
        sharing_laws.node_lists,
        component_laws.nodes_in_use,
        sharing_laws.parts_of_nodes,
        sharing_laws.turns,
        sharing_laws.devices,
        timeline_laws.timeline_capacity,
        timeline_laws.timeline_changes,
        timeline_laws.timeline_total,
        timeline_laws.node_seconds,
        timeline_laws.nodes_busy,
        sharing_laws.parts_busy,
        timeline_laws.queue,
        component_laws.queue_order,
        limit_laws.limits,
        reservation_laws.reservations,
        timeline_laws.metrics_agree,
        run_laws.lost_work,
        energy_laws.component_energy,
        energy_laws.power_over_time,
        energy_laws.energy_parts,
        energy_laws.power_cap,
    )
}
"""The laws by name, in the order in which they are tested; each may lean on those before it."""

LAST_TO_READ = "timeline-capacity"
"""Up to this one the laws say that tables can be read as those of a schedule; quick ones all."""


def check(
    components: pd.DataFrame,
    timeline: pd.DataFrame,
    metrics: Mapping[str, Any],
    manifest: Mapping[str, Any],
    runs: pd.DataFrame,
) -> None:
    """Test every invariant; raises InvariantError with the first one broken, where, and the two values."""
    breach = first_breach(components, timeline, metrics, manifest, runs)
    if breach:
        raise InvariantError(breach)


def first_breach(
    components: pd.DataFrame,
    timeline: pd.DataFrame,
    metrics: Mapping[str, Any],
    manifest: Mapping[str, Any],
    runs: pd.DataFrame,
    last: str = "",
) -> str | None:
    """Return the first law that is broken, and where, up to the law ``last``; None if none is."""
    for name, document, shape in (("manifest", manifest, MANIFEST), ("metrics", metrics, METRICS)):
        problem = shape_problem(document, shape)
        if problem:
            return f"{name}: {problem}"
    schedule = Schedule(components, timeline, metrics, manifest, runs)
    for name, law in INVARIANTS.items():
        if breach := law(schedule):
            return f"{name}: {breach}"
        if name == last:
            break
    return None
