"""For whom nodes were kept that a component could have had under Slurm.

A result does not hold the plans of the backfill scheduler. It tells which jobs waited at the same time and
then took these nodes before the component, had it started, would have been planned to leave them; and which
advance reservations stood in its way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.explanation import Kept, Reserved
from scheduler_sim.report.module_view import ModuleView
from scheduler_sim.report.reserved_bands import is_told, turns
from scheduler_sim.report.shared_wait import SharedWait
from scheduler_sim.report.wording import plain
from scheduler_sim.result.node_lists import numbers_in
from scheduler_sim.result.node_use import held_by
from scheduler_sim.result.result import Result
from scheduler_sim.result.schedule import Schedule

TOP = 3


def kept_for(
    result: Result, schedule: Schedule, view: ModuleView, one: int, found: SharedWait | None
) -> Kept | None:
    """Return for whom nodes were kept in the longest time in which there was enough; None if there was none.

    Parameters
    ----------
    view : the module during the wait of the component at position ``one``; its idle nodes are those that it
        could have had
    found : which nodes these are; None where nodes are only counted
    """
    instants = view.instants()
    enough = view.idle(instants) >= view.nodes[one]
    begins = np.flatnonzero(enough & ~np.append(False, enough[:-1]))
    if not len(begins):
        return None
    ends = np.flatnonzero(enough & ~np.append(enough[1:], False)) + 1
    bounds = np.append(instants, view.last)
    longest = int(np.argmax(bounds[ends] - bounds[begins]))
    moment, until = int(bounds[begins[longest]]), int(bounds[ends[longest]])
    leaves = moment + int(view.limit[one])
    free = None if found is None else found.free_at(moment)
    waiting = view.waiting(moment)
    later = waiting[(waiting != one) & (view.start[waiting] > moment) & (view.start[waiting] < leaves)]
    first = _in_its_way(schedule, view, one, later, free)
    ids = schedule.components["component_id"].to_numpy()
    takers = tuple(
        Reserved(int(ids[view.row[p]]), int(view.nodes[p]), int(view.start[p]), int(view.end[p]))
        for p in first.tolist()
    )
    named = "reservation" in schedule.components and str(
        schedule.components["reservation"].iloc[int(view.row[one])]
    )
    met_turns = () if named else tuple(_reservations(result, view.name, moment, leaves, free))
    nodes = int(view.idle(moment)) if free is None else int(free.sum())
    return Kept(moment, until, nodes, takers, met_turns)


def _in_its_way(schedule: Schedule, view: ModuleView, one: int, later: Ints, free: np.ndarray | None) -> Ints:
    """Return those that took most of the free nodes, until too few were left; the first to start first."""
    if free is None:
        most = later[np.argsort(-view.nodes[later], kind="stable")][:TOP]
    else:
        held, left, found = held_by(schedule, view.row[later]), free.copy(), list[int]()
        own = {int(view.row[p]): held.node[held.row == view.row[p]] for p in later.tolist()}
        by_size = sorted(later.tolist(), key=lambda p: -int(free[own[int(view.row[p])]].sum()))
        for p in by_size[:TOP]:
            if left.sum() >= view.nodes[one] and left[own[int(view.row[p])]].any():
                left[own[int(view.row[p])]] = False
                found.append(p)
        most = np.array(found, dtype=np.int64)
    return most[np.argsort(view.start[most], kind="stable")]


def _reservations(
    result: Result, module: str, moment: int, leaves: int, free: np.ndarray | None
) -> Iterator[str]:
    """Names of the advance reservations that have some of these nodes at some time until the run is over."""
    for one in result.manifest.get("reserved") or ():
        if not is_told(one) or not one["nodes"].get(module):
            continue
        nodes = numbers_in(one["nodes"][module])
        if (free is None or free[nodes].any()) and any(turns(one, moment, leaves)):
            yield plain(one["name"])
