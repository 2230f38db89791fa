"""What holds beside advance reservations that stand from the beginning, as the result alone tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import sum_of_intervals, value_at
from scheduler_sim.units import MINUTE

Breach = str | None
Keys = Mapping[str, Any]


class Window(NamedTuple):
    """A turn of a reservation: when, and on how many nodes of each module."""

    name: str
    start: int
    end: int
    nodes: Mapping[str, int]


def reservations(schedule: Schedule) -> Breach:
    """Nobody starts on nodes reserved for others before the end of its limit; who names one starts in it.

    Of those that nothing changes or ends before its time. Under all policies but Slurm's one that names one
    also ends in it, by its limit.
    """
    if not schedule.reserved:
        return None
    told = _Told(schedule)
    return told.outside() or told.intruders()


class _Told:
    """Who ran, and what was reserved."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._all = schedule.reserved
        self._known = [one for one in self._all if one.keys() >= {"start", "end", "every_s", "nodes"}]
        self._names = schedule.components["reservation"].astype(str).str.lower().to_numpy()
        ran = schedule.ran
        self._by_slurm = schedule.policy.get("backfill") == "slurm"
        limit = schedule.of("time_limit")
        limit = -(-limit // MINUTE) * MINUTE if self._by_slurm else limit
        self._start = schedule.of("start_time")
        self._end = np.where(ran, schedule.of("end_time"), self._start)
        self._until = self._start + limit
        self._ran = ran

    def outside(self) -> Breach:
        """A job that started in no turn of the reservation that it names."""
        for one in self._known:
            if {"FLEX", "NO_HOLD_JOBS_AFTER"} & set(one["flags"]):
                continue
            rows = np.flatnonzero(self._ran & (self._names == one["name"].lower()))
            inside = np.zeros(len(rows), dtype=bool)
            for window in self._windows(one):
                last = self._start[rows] if self._by_slurm else self._until[rows]
                inside |= (self._start[rows] >= window.start) & (last <= window.end)
            if not inside.all():
                row = int(rows[~inside][0])
                until = "" if self._by_slurm else f" for {self._until[row] - self._start[row]} s"
                return (
                    f"{self._schedule.name(row)} starts at {self._start[row]}{until}, outside its reservation"
                    f" {one['name']}"
                )
        return None

    def intruders(self) -> Breach:
        """An instant at which others run on more nodes than a reservation leaves them."""
        free = [one["name"].lower() for one in self._all if {"MAINT", "OVERLAP"} & set(one["flags"])]
        for one in self._known:
            others = self._ran & ~np.isin(self._names, [one["name"].lower(), *free])
            for window in self._windows(one):
                touch = others & (self._start < window.end) & (self._until > window.start)
                if breach := self._beyond(window, touch & (self._end > window.start)):
                    return breach
        return None

    def _beyond(self, window: Window, touch: np.ndarray) -> Breach:
        modules = self._schedule.components["module"].astype(str).to_numpy()
        for module, reserved in window.nodes.items():
            rows = np.flatnonzero(touch & (modules == module))
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

    def _windows(self, one: Keys) -> Iterator[Window]:
        start, end, step = one["start"], one["end"], one["every_s"]
        last = int(self._end.max(initial=0))
        while True:
            yield Window(one["name"], start, end, one["nodes"])
            start, end = start + step, end + step
            if not step or start > last:
                return
