"""What holds beside advance reservations that stand from the beginning, as the result alone tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.result.node_lists import runs_in
from scheduler_sim.result.node_use import held_by
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import sum_of_intervals, value_at
from scheduler_sim.units import MINUTE

Breach = str | None
Keys = Mapping[str, Any]


class Window(NamedTuple):
    """A turn of a reservation: when, and on which nodes of each module, bool[n]."""

    name: str
    start: int
    end: int
    nodes: Mapping[str, np.ndarray]


def reservations(schedule: Schedule) -> Breach:
    """No job runs, by its limit, on nodes reserved for others; a job that names a reservation starts in it.

    Under all policies but Slurm's, a job that names a reservation also ends in it, by its limit; with
    `candidate_time: run`, by its run time. Under Slurm, where idle nodes are switched off, it gets its nodes
    in it, and starts when these have booted.
    """
    if not schedule.reserved:
        return None
    try:
        told = _Told(schedule)
    except ValueError as error:
        return str(error)
    return told.outside() or told.elsewhere() or told.intruders()


class _Told:
    """Who ran, and what was reserved that nothing changes or ends before its time.

    Where nodes are known they are looked at one by one, else by how many there are.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._all = schedule.reserved
        self._known = [one for one in self._all if one.keys() >= {"start", "end", "every_s", "nodes"}]
        self._nodes = [
            {name: _numbered(schedule, name, text) for name, text in one["nodes"].items()}
            for one in self._known
        ]
        self._names = schedule.components["reservation"].astype(str).str.lower().to_numpy()
        ran = schedule.ran
        self._by_slurm = schedule.policy.get("backfill") == "slurm"
        limit = schedule.of("time_limit")
        limit = -(-limit // MINUTE) * MINUTE if self._by_slurm else limit
        self._start = schedule.of("start_time")
        self._end = np.where(ran, schedule.of("end_time"), self._start)
        self._late_boots = self._by_slurm and schedule.switched
        by_run = schedule.policy.get("candidate_time") == "run"
        self._until = self._end if by_run else self._start + limit
        # no table tells when it got nodes that boot, from when on its limit is planned: as soon as it might
        self._planned = schedule.of("eligible_time") + limit if self._late_boots else self._until
        self._ran = ran

    def outside(self) -> Breach:
        """A job that started in no turn of the reservation that it names."""
        for one, nodes, rows in self._bound():
            inside = np.zeros(len(rows), dtype=bool)
            for window in self._windows(one, nodes):
                last = self._start[rows] if self._by_slurm else self._until[rows]
                inside |= (self._start[rows] >= window.start) & (self._late_boots | (last <= window.end))
            if not inside.all():
                row = int(rows[~inside][0])
                until = "" if self._by_slurm else f" for {self._until[row] - self._start[row]} s"
                return (
                    f"{self._schedule.name(row)} starts at {self._start[row]}{until}, outside its reservation"
                    f" {one['name']}"
                )
        return None

    def elsewhere(self) -> Breach:
        """A job on nodes that the reservation that it names has not."""
        for one, nodes, rows in self._bound():
            if "ANY_NODES" in one["flags"]:
                continue
            for module in self._schedule.shared:
                held = held_by(self._schedule, rows[self._schedule.in_module(module)[rows]])
                none = np.zeros(self._schedule.modules[module], dtype=bool)
                strange = np.flatnonzero(~nodes.get(module, none)[held.node])
                if len(strange):
                    row, node = int(held.row[strange[0]]), int(held.node[strange[0]])
                    name = self._schedule.name(row)
                    return f"{name} is on node {node} of {module}, outside its reservation {one['name']}"
        return None

    def _bound(self) -> Iterator[tuple[Keys, Mapping[str, np.ndarray], np.ndarray]]:
        """Reservations that bind their jobs, with their nodes, and the jobs that ran in them."""
        for one, nodes in zip(self._known, self._nodes, strict=True):
            if not {"FLEX", "NO_HOLD_JOBS_AFTER"} & set(one["flags"]):
                yield one, nodes, np.flatnonzero(self._ran & (self._names == one["name"].lower()))

    def intruders(self) -> Breach:
        """An instant at which others run on nodes of a reservation, or on more than it leaves them."""
        free = [one["name"].lower() for one in self._all if {"MAINT", "OVERLAP"} & set(one["flags"])]
        for one, nodes in zip(self._known, self._nodes, strict=True):
            others = self._ran & ~np.isin(self._names, [one["name"].lower(), *free])
            for window in self._windows(one, nodes):
                touch = others & (self._start < window.end) & (self._planned > window.start)
                if breach := self._beyond(window, touch & (self._end > window.start)):
                    return breach
        return None

    def _beyond(self, window: Window, touch: np.ndarray) -> Breach:
        modules = self._schedule.components["module"].astype(str).to_numpy()
        for module, there in window.nodes.items():
            rows, reserved = np.flatnonzero(touch & (modules == module)), int(there.sum())
            if module in self._schedule.shared:
                held = held_by(self._schedule, rows)
                on = np.flatnonzero(there[held.node])
                if len(on):
                    name, node = self._schedule.name(int(held.row[on[0]])), int(held.node[on[0]])
                    return (
                        f"{name} is on node {node} of {module}, which {window.name} has from {window.start}"
                    )
                continue
            nodes = self._schedule.of("nodes")[rows]
            begins = np.maximum(self._start[rows], window.start)
            used = sum_of_intervals(begins, np.minimum(self._end[rows], window.end), nodes)
            left = self._schedule.modules[module] - reserved
            over = np.flatnonzero(value_at(used, begins) > left) if len(rows) else rows
            if len(over):
                at = int(begins[over[0]])
                found = int(value_at(used, begins)[over[0]])
                return f"others run on {found} nodes of {module} at {at}, {window.name} leaves {left}"
        return None

    def _windows(self, one: Keys, nodes: Mapping[str, np.ndarray]) -> Iterator[Window]:
        start, end, step = one["start"], one["end"], one["every_s"]
        last = int(self._end.max(initial=0))
        while True:
            yield Window(one["name"], start, end, nodes)
            start, end = start + step, end + step
            if not step or start > last:
                return


def _numbered(schedule: Schedule, module: str, text: str) -> np.ndarray:
    """bool[n]: which nodes of a module are listed. Raises ValueError where they are none of its."""
    numbers = np.zeros(schedule.modules.get(module, 0), dtype=bool)
    _, first, last = runs_in([text])
    if (last >= len(numbers)).any():
        raise ValueError(f"reserved are the nodes {text!r:.60} of {module}, which has {len(numbers)}")
    for begin, end in zip(first.tolist(), last.tolist(), strict=True):
        numbers[begin : end + 1] = True
    return numbers
