"""What holds for the runs of components that lost some. Each law returns its breach in words, or None."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.result.columns import NODE_FAIL, REQUEUED, STATES, TOTAL, column_problems, numbers
from scheduler_sim.result.columns import run_columns as columns_of_runs
from scheduler_sim.result.node_use import WHOLE
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.suspensions import spans_of

Breach = str | None
OF_LAST = ("module", "nodes", "start_time", "end_time")
"""What the last run of a component has as its component."""

TOLERANCE = 1e-6
"""Of what is rounded to 1e-6, on a part of its size."""


def run_columns(schedule: Schedule) -> Breach:
    """The runs have exactly the documented columns and types, known states, and belong to components."""
    if problems := column_problems(schedule.runs, columns_of_runs(schedule.further)):
        return "runs: " + "; ".join(problems)
    strangers = ~np.isin(schedule.runs["component_id"], schedule.of("component_id"))
    if strangers.any():
        return f"runs: component {schedule.runs['component_id'][strangers].iloc[0]} is not in the components"
    states = set(schedule.runs["state"].astype(str)) - {*STATES, REQUEUED, NODE_FAIL}
    return f"runs: {min(states)!r} is no state" if states else None


def runs(schedule: Schedule) -> Breach:
    """Runs of a component are counted from 1, none overlaps another, the last is that in the components.

    There are no more of the others than requeues.
    """
    ids = schedule.of("component_id")
    for name, mine in schedule.runs.groupby("component_id", sort=False):
        row = int(np.flatnonzero(ids == name)[0])
        if breach := _in_order(mine, schedule.components.iloc[row]):
            return f"component {name} {breach}"
    found, requeued = len(schedule.lost), int(schedule.counts.get("requeued", 0))
    return f"{found} runs were lost in {requeued} requeues" if found > requeued else None


def suspensions(schedule: Schedule) -> Breach:
    """Spans in which a component was suspended lie within its run, one behind another, and add up."""
    if not schedule.further.suspended:
        return None
    for table, words in ((schedule.components, "component"), (schedule.runs, "a run of component")):
        try:
            row, since, until = spans_of(table)
        except ValueError as error:
            return str(error)
        names, start, end, said = (
            numbers(table, name) for name in ("component_id", "start_time", "end_time", "suspended_time")
        )
        outside = (since < start[row]) | (until > end[row]) | (since >= until)
        outside[1:] |= (row[1:] == row[:-1]) & (since[1:] < until[:-1])
        if outside.any():
            at = int(np.argmax(outside))
            return f"{words} {names[row[at]]} was suspended from {since[at]} to {until[at]}, not in its run"
        summed = np.bincount(row, until - since, minlength=len(said)).astype(np.int64)
        if (summed != said).any():
            at = int(np.argmax(summed != said))
            return f"{words} {names[at]} was suspended for {said[at]} s, its spans are of {summed[at]} s"
    return None


def lost_work(schedule: Schedule) -> Breach:
    """A run lost no more than it ran for; what it lost, parts × time, is once in the sum of the metrics."""
    table = schedule.runs
    lost, ran = (column.to_numpy() for column in (table["lost_s"], table["end_time"] - table["start_time"]))
    wrong = np.flatnonzero((lost < 0) | (lost > ran))
    if len(wrong):
        return f"{_run(table, wrong[0])} lost {lost[wrong[0]]} s of {ran[wrong[0]]}"
    work, said = table["parts"].to_numpy() / WHOLE * lost, table["node_seconds_lost"].to_numpy()
    wrong = np.flatnonzero(np.abs(work - said) > TOLERANCE * np.maximum(work, 1))
    if len(wrong):
        return f"{_run(table, wrong[0])} lost {work[wrong[0]]} node-seconds, not {said[wrong[0]]}"
    given = ((schedule.metrics.get("lost") or {}).get("node_seconds") or {}).get(TOTAL)
    if len(table) and (given is None or abs(given - work.sum()) > TOLERANCE * max(work.sum(), 1)):
        return f"runs lost {work.sum()} node-seconds, the metrics say {given}"
    return None


def _in_order(mine: pd.DataFrame, component: pd.Series) -> Breach:
    numbers, ran = mine["run"].tolist(), component["start_time"] >= 0
    if numbers != list(range(1, len(numbers) + 1)):
        return f"has runs {numbers}, not 1 to {len(numbers)}"
    start, end = mine["start_time"].to_numpy(), mine["end_time"].to_numpy()
    if start[0] < component["submit_time"]:
        return f"ran at {start[0]}, before it was submitted at {component['submit_time']}"
    if (start > end).any() or (start[1:] < end[:-1]).any():
        spans = ", ".join(f"{one} to {other}" for one, other in zip(start, end, strict=True))
        return f"has runs that overlap or end before they start: {spans}"
    last = mine.iloc[-1]
    differs = [name for name in OF_LAST if ran and last[name] != component[name]]
    if differs:
        name = differs[0]
        return f"has {name} {component[name]}, its last run has {last[name]}"
    kept = {str(component["state"])} | ({NODE_FAIL} if component["state"] == "FAILED" else set())
    if ran and str(last["state"]) not in kept:
        return f"is {component['state']}, its last run is {last['state']}"
    return None


def _run(table: pd.DataFrame, row: int) -> str:
    one = table.iloc[row]
    return f"run {one['run']} of component {one['component_id']}"
