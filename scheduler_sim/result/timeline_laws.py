"""What holds for every timeline, alone and against the components and the metrics."""

from __future__ import annotations

import numpy as np

from scheduler_sim.result.columns import NEVER, SWITCHED, TOTAL, USED, column_problems
from scheduler_sim.result.columns import timeline_columns as columns_of_timeline
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import Steps, first_difference, from_changes, integral

Breach = str | None
TAKEN = ("nodes_busy", "nodes_reserved_idle", "nodes_down")
QUEUED = ("queue_components", "queue_nodes")
TOLERANCE = 2e-6
"""Metrics are rounded to 1e-6."""


def timeline_columns(schedule: Schedule) -> Breach:
    """The timeline has exactly the documented columns and types."""
    return "; ".join(column_problems(schedule.timeline, columns_of_timeline(schedule.further))) or None


def timeline_modules(schedule: Schedule) -> Breach:
    """The timeline has the modules of the system and their total."""
    found = set(schedule.timeline["module"].unique())
    strangers = sorted(map(str, found - {TOTAL, *schedule.modules}))
    if strangers:
        return f"the timeline names {strangers[0]!r}, which is no module"
    return None


def timeline_order(schedule: Schedule) -> Breach:
    """The rows of a module are at strictly increasing times."""
    time = schedule.timeline["time"].to_numpy()
    for module in (*schedule.modules, TOTAL):
        mine = time[schedule.rows(module)]
        at = _first(np.diff(mine) <= 0)
        if at is not None:
            return f"{module} has a row at {mine[at + 1]} after its row at {mine[at]}"
    return None


def timeline_changes(schedule: Schedule) -> Breach:
    """Every row of a module differs from the row before."""
    for module in (*schedule.modules, TOTAL):
        rows = schedule.rows(module)
        same = np.ones(max(len(rows) - 1, 0), dtype=bool)
        for column in _changing(schedule):
            values = schedule.timeline[column].to_numpy()[rows]
            same &= (values[1:] == values[:-1]) | ((values[1:] != values[1:]) & (values[:-1] != values[:-1]))
        at = _first(same)
        if at is not None:
            times = schedule.timeline["time"].to_numpy()[rows]
            return f"{module} has the same values at {times[at]} and at {times[at + 1]}"
    return None


def timeline_capacity(schedule: Schedule) -> Breach:
    """No count is negative; nodes busy, reserved idle, down and switched are no more than the module has."""
    for module, nodes in {**schedule.modules, TOTAL: sum(schedule.modules.values())}.items():
        rows = schedule.rows(module)
        time = schedule.timeline["time"].to_numpy()
        taken = np.zeros(len(rows), dtype=np.int64)
        for column in _counted(schedule):
            values = schedule.timeline[column].to_numpy()[rows]
            at = _first(values < 0)
            if at is not None:
                return f"{column} of {module} is {values[at]} at {time[rows[at]]}, below 0"
            if column not in QUEUED:
                taken += values
        at = _first(taken > nodes)
        if at is not None:
            instant = time[rows[at]]
            states = "busy, reserved, down or switched off" if schedule.switched else "busy, reserved or down"
            return f"{taken[at]} nodes of {module} are {states} at {instant}, it has {nodes}"
    return None


def timeline_total(schedule: Schedule) -> Breach:
    """At every instant the total is the sum of the modules."""
    for column in _counted(schedule):
        parts = [schedule.recorded(module, column) for module in schedule.modules]
        breach = first_difference(_summed(parts), schedule.recorded(TOTAL, column))
        if breach:
            instant, summed, total = breach
            return f"{column} of the modules sum to {summed} at {instant}, the total has {total}"
    return None


def node_seconds(schedule: Schedule) -> Breach:
    """The node-seconds of the components, and of runs that were lost, are those of the timeline."""
    for module in set(schedule.modules).difference(schedule.shared):
        ran = integral(schedule.nodes_in_use(module))
        busy = integral(schedule.recorded(module, "nodes_busy"))
        if ran != busy:
            return f"components ran for {ran} node-seconds on {module}, the timeline has {busy}"
    return None


def nodes_busy(schedule: Schedule) -> Breach:
    """At every instant the timeline has as many nodes busy as the components use."""
    for module in set(schedule.modules).difference(schedule.shared):
        breach = first_difference(schedule.nodes_in_use(module), schedule.recorded(module, "nodes_busy"))
        if breach:
            instant, used, recorded = breach
            return f"components use {used} nodes of {module} at {instant}, the timeline has {recorded} busy"
    return None


def queue(schedule: Schedule) -> Breach:
    """At every instant the queue of the timeline is the components that are eligible and have not started."""
    if schedule.lost_runs or schedule.lost_waits or _left_unseen(schedule):
        return None
    modules = (TOTAL,) if schedule.several_placements else (*schedule.modules, TOTAL)
    each = np.ones(len(schedule.components), dtype=np.int64)
    columns = {"queue_components": each, "queue_nodes": schedule.of("nodes")}
    if schedule.several_sizes:
        del columns["queue_nodes"]
    for column, amount in columns.items():
        for module in modules:
            breach = first_difference(schedule.waiting(module, amount), schedule.recorded(module, column))
            if breach:
                instant, waiting, recorded = breach
                return (
                    f"{column} of {module} is {waiting} by the components at {instant},"
                    f" the timeline has {recorded}"
                )
    return None


def metrics_agree(schedule: Schedule) -> Breach:
    """The metrics agree with the components on number, makespan and mean wait."""
    ran = schedule.ran
    submit, start, end = (schedule.of(f"{name}_time")[ran] for name in ("submit", "start", "end"))
    some = bool(ran.any())
    expected: dict[str, float | None] = {
        "jobs": len(schedule.components),
        "makespan": int(end.max() - submit.min()) if some else None,
        "mean wait_time": int((start - submit).sum()) / len(start) if some else None,
    }
    metrics = schedule.metrics
    found = {
        "jobs": metrics.get("jobs"),
        "makespan": metrics.get("makespan"),
        "mean wait_time": (metrics.get("wait_time") or {}).get("mean"),
    }
    for name, value in expected.items():
        given = found[name]
        agree = given == value if given is None or value is None else abs(given - value) <= TOLERANCE
        if not agree:
            return f"{name} is {value} by the components, the metrics say {given}"
    return None


def _counted(schedule: Schedule) -> tuple[str, ...]:
    """Columns that count nodes or components."""
    switched = tuple(column.name for column in SWITCHED) if schedule.switched else ()
    return (*TAKEN, *switched, *QUEUED)


def _changing(schedule: Schedule) -> tuple[str, ...]:
    """All columns of which one differs from row to row."""
    used = tuple(column.name for column in USED) if schedule.shared else ()
    return (*_counted(schedule), *used, "power_w")


def _left_unseen(schedule: Schedule) -> bool:
    """Tell whether one was cancelled in the queue at an instant that the tables do not give."""
    unseen = schedule.in_state("CANCELLED") & ~schedule.ran & (schedule.of("end_time") == NEVER)
    return bool((unseen & (schedule.of("eligible_time") != NEVER)).any())


def _summed(parts: list[Steps]) -> Steps:
    times = [time for time, _ in parts]
    changes = [np.diff(value, prepend=0) for _, value in parts]
    if len(parts) == 1:
        return parts[0]
    return from_changes(np.concatenate(times), np.concatenate(changes))


def _first(wrong: np.ndarray) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None
