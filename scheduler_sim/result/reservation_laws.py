"""What holds beside advance reservations that stand from the beginning, as the result and its system tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.config.value import seconds_of
from scheduler_sim.result.schedule import Schedule
from scheduler_sim.result.steps import sum_of_intervals, value_at
from scheduler_sim.system.reservations import REPEATED, nodes_named
from scheduler_sim.units import DAY, MINUTE

Breach = str | None
Keys = Mapping[str, Any]

STEP_S = {"HOURLY": 3600, "DAILY": DAY, "WEEKLY": 7 * DAY}
"""From one turn to the next; those of weekdays are left out."""


class Window(NamedTuple):
    """A turn of a reservation: when, and on how many nodes of each module."""

    name: str
    start: int
    end: int
    nodes: Mapping[str, int]


def reservations(schedule: Schedule) -> Breach:
    """Nobody starts on nodes reserved for others before the end of its limit; who names one starts in it.

    Of those that nothing changes or ends before its time.
    """
    if not schedule.further.reserved:
        return None
    told = _Told(schedule)
    return told.outside() or told.intruders()


class _Told:
    """Who ran, and what was reserved."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        keys: list[Keys] = schedule.system.get("reservations", [])
        changed = {one["name"].lower() for one in schedule.system.get("reservation_changes", [])}
        self._all = {one["name"].lower(): one for one in keys}
        self._known = [
            one for one in keys if "at" not in one and one["name"].lower() not in changed and _is_steady(one)
        ]
        self._names = schedule.components["reservation"].astype(str).str.lower().to_numpy()
        ran = schedule.ran
        limit = -(-schedule.of("time_limit") // MINUTE) * MINUTE
        self._start = schedule.of("start_time")
        self._end = np.where(ran, schedule.of("end_time"), self._start)
        self._until = self._start + limit
        self._ran = ran

    def outside(self) -> Breach:
        """A job that started in no turn of the reservation that it names."""
        for one in self._known:
            if {"FLEX", "NO_HOLD_JOBS_AFTER"} & set(one.get("flags", ())):
                continue
            rows = np.flatnonzero(self._ran & (self._names == one["name"].lower()))
            inside = np.zeros(len(rows), dtype=bool)
            for window in self._windows(one):
                inside |= (self._start[rows] >= window.start) & (self._start[rows] <= window.end)
            if not inside.all():
                row = int(rows[~inside][0])
                return (
                    f"{self._schedule.name(row)} starts at {self._start[row]}, outside its reservation"
                    f" {one['name']}"
                )
        return None

    def intruders(self) -> Breach:
        """An instant at which others run on more nodes than a reservation leaves them."""
        free = [name for name, one in self._all.items() if {"MAINT", "OVERLAP"} & set(one.get("flags", ()))]
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
        unix_start = self._schedule.unix_start
        start = seconds_of(one["start"], unix_start)
        end = seconds_of(one["end"], unix_start) if "end" in one else start + one.get("duration", 365 * DAY)
        nodes: dict[str, int] = {}
        modules = list(self._schedule.modules.items())
        for module, numbers in nodes_named(one.get("nodes", ()), modules):
            nodes[modules[module][0]] = nodes.get(modules[module][0], 0) + len(numbers)
        step = next((STEP_S[flag] for flag in STEP_S if flag in one.get("flags", ())), 0)
        last = int(self._end.max(initial=0))
        while True:
            yield Window(one["name"], start, end, nodes)
            start, end = start + step, end + step
            if not step or start > last:
                return


def _is_steady(one: Keys) -> bool:
    """Whether it stands from start to end on nodes that it names, or on none."""
    flags = set(one.get("flags", ()))
    by_day = bool(flags & set(REPEATED)) and not flags & set(STEP_S)
    whole_partition = "PART_NODES" in flags
    return (
        "start" in one
        and "node_count" not in one
        and not (by_day or whole_partition or "PURGE_COMP" in flags)
    )
