"""What holds for the runs of components that lost some. Each law returns its breach in words, or None."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scheduler_sim.result.columns import (
    NODE_FAIL,
    REQUEUED,
    STATES,
    TOTAL,
    column_problems,
    is_text,
    numbers,
    rows_named,
)
from scheduler_sim.result.columns import run_columns as columns_of_runs
from scheduler_sim.result.node_use import WHOLE
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.slowing import slowed_of
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
    if schedule.runs.empty:
        return None
    strangers = ~np.isin(schedule.runs["component_id"], schedule.of("component_id"))
    if strangers.any():
        return f"runs: component {schedule.runs['component_id'][strangers].iloc[0]} is not in the components"
    states = set(schedule.runs["state"].astype(str)) - {*STATES, REQUEUED, NODE_FAIL}
    return f"runs: {min(states)!r} is no state" if states else None


def runs(schedule: Schedule) -> Breach:
    """Runs of a component are numbered from 1 and do not overlap; the last is the one in the components.

    The number of earlier runs is at most the number of requeues.
    """
    table, row = schedule.runs, _rows_of_components(schedule)
    odd = _odd_ones(schedule, row)
    if odd.any():
        at = int(np.argmax(odd))
        breach = _in_order(table[row == row[at]], schedule.components.iloc[row[at]])
        return f"component {table['component_id'].iloc[at]} {breach or 'has runs that stand apart'}"
    found, requeued = len(schedule.lost), int(schedule.counts.get("requeued", 0))
    return f"{found} runs were lost in {requeued} requeues" if found > requeued else None


def suspensions(schedule: Schedule) -> Breach:
    """The intervals in which a component was suspended are within its run, do not overlap, and add up."""
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


def slowings(schedule: Schedule) -> Breach:
    """The intervals in which a component was slowed are within its run, do not overlap, and add up."""
    if not schedule.further.slowed:
        return None
    for table, words in ((schedule.components, "component"), (schedule.runs, "a run of component")):
        try:
            row, since, until, _ = slowed_of(table)
        except ValueError as error:
            return str(error)
        names, start, end, said = (
            numbers(table, name) for name in ("component_id", "start_time", "end_time", "slowed_time")
        )
        outside = (since < start[row]) | (until > end[row]) | (since >= until)
        outside[1:] |= (row[1:] == row[:-1]) & (since[1:] < until[:-1])
        if outside.any():
            at = int(np.argmax(outside))
            return f"{words} {names[row[at]]} was slowed from {since[at]} to {until[at]}, not in its run"
        summed = np.bincount(row, until - since, minlength=len(said)).astype(np.int64)
        if (summed != said).any():
            at = int(np.argmax(summed != said))
            return f"{words} {names[at]} was slowed for {said[at]} s, its spans are of {summed[at]} s"
    return None


def work_done_once(schedule: Schedule) -> Breach:
    """With checkpoints, the next run need not repeat work that was kept; a COMPLETED run does the rest.

    A run keeps its time without checkpoints, restarts and lost time. It keeps nothing if it ended on its own
    and is to run again: the next run then begins like the first.
    """
    if schedule.runs.empty:
        return None
    row, table = _rows_of_components(schedule), schedule.runs
    left, lost, spent = (table[name].to_numpy() for name in ("work_s", "lost_s", "checkpoint_s"))
    spent = spent + table["restart_s"].to_numpy()
    kept = (table["end_time"] - table["start_time"]).to_numpy() - spent - lost
    writes, last = left >= 0, np.append(row[1:] != row[:-1], True)[: len(row)]
    wrong = np.flatnonzero((spent < 0) | (~writes & (spent > 0)) | (writes & (kept < 0)))
    if len(wrong):
        at = wrong[0]
        return f"{_run(table, at)} spent {spent[at]} s on checkpoints and restarts, and lost {lost[at]} s"
    done = rows_named(table["state"], "COMPLETED") & last & writes
    wrong = np.flatnonzero(done & ((kept < left) | (kept > left + schedule.late_s)))
    if len(wrong):
        return f"{_run(table, wrong[0])} is COMPLETED with {kept[wrong[0]]} s of {left[wrong[0]]} s of work"
    return None if schedule.several_placements else _handed_on(table, row, kept)


def _handed_on(table: pd.DataFrame, row: np.ndarray, kept: np.ndarray) -> Breach:
    """The work that a run leaves is that of the next on as many nodes; or of the first, if it lost all."""
    left, place = table["work_s"].to_numpy(), np.arange(len(row))
    first = left[np.maximum.accumulate(np.where(np.diff(row, prepend=-1) != 0, place, 0))]
    where = [table[name].astype(str).to_numpy() for name in ("module", "nodes")]
    alike = np.logical_and.reduce([one[1:] == one[:-1] for one in (*where, row)])
    next_left = np.where(table["lost_s"] >= left, first, left - kept)
    wrong = np.flatnonzero(
        alike & (left[:-1] >= 0) & (left[1:] != (left - kept)[:-1]) & (left[1:] != next_left[:-1])
    )
    if len(wrong):
        at = wrong[0]
        return f"{_run(table, at)} kept {kept[at]} s of {left[at]} s of work, the next has {left[at + 1]} s"
    return None


def lost_work(schedule: Schedule) -> Breach:
    """A run lost at most its run time; its loss, parts × time, is counted once in the sum of the metrics."""
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


def _rows_of_components(schedule: Schedule) -> np.ndarray:
    """int64[runs]: the row of its component."""
    ids = schedule.of("component_id")
    order = np.argsort(ids, kind="stable")
    rows: np.ndarray = order[np.searchsorted(ids[order], schedule.runs["component_id"].to_numpy())]
    return rows


def _odd_ones(schedule: Schedule, row: np.ndarray) -> np.ndarray:
    """bool[runs]: whether something is wrong with a run, beside those of its component."""
    table, components = schedule.runs, schedule.components
    if not len(table):
        return np.zeros(0, dtype=bool)
    first = np.append(True, row[1:] != row[:-1])
    last, before = np.append(first[1:], True), np.where(first, -1, np.arange(-1, len(row) - 1))
    start, end, number = (table[name].to_numpy() for name in ("start_time", "end_time", "run"))
    odd = (number != np.where(first, 1, number[before] + 1)) | (start > end)
    odd |= np.where(first, start < schedule.of("submit_time")[row], start < end[before])
    seen, ran = np.unique(row[first], return_counts=True), schedule.ran[row]
    odd |= np.isin(row, seen[0][seen[1] > 1])
    for name in OF_LAST:
        odd |= last & ran & _differs(table[name], components[name].iloc[row])
    state, own = (one.astype(str).to_numpy() for one in (table["state"], components["state"].iloc[row]))
    odd |= last & ran & (state != own) & ~((own == "FAILED") & (state == NODE_FAIL))
    wrong: np.ndarray = odd
    return wrong


def _differs(mine: pd.Series, own: pd.Series) -> np.ndarray:
    if is_text(mine):
        mine, own = mine.astype(str), own.astype(str)
    differs: np.ndarray = mine.to_numpy() != own.to_numpy()
    return differs


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
