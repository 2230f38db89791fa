"""What the core keeps of every component, whatever rules there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from scheduler_sim.engine.core.state import HOLD
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.rules.numbers import Jobs
from scheduler_sim.simulation.scheme import Scheme

_ROWS_IN_CACHE = 1 << 12


def in_cache(count: int) -> Iterator[slice]:
    """Yield some of so many rows at a time: few enough to stay in the processor's cache."""
    for start in range(0, count, _ROWS_IN_CACHE):
        yield slice(start, min(start + _ROWS_IN_CACHE, count))


def write_components(core: FullCore, jobs: Jobs, used: int, scheme: Scheme) -> Jobs:
    """Write components, and their placements from row ``used`` on; return them with where those stand.

    As long as no component has several, the placement of the one in row i is row i, also if it is rejected.
    """
    placements, rows = jobs.placements, jobs.rows
    if core.rules.complex:
        first, last = used + placements.first[:-1], used + placements.first[1:]
        where: Any = slice(used, used + len(placements.module))
    else:
        able = np.diff(placements.first) > 0
        first = np.arange(rows.start, rows.stop)
        last, where = first + able, rows if able.all() else first[able]
    write_placements(core, where, placements, scheme)
    held = jobs.column("hold") != 0
    columns = {
        "submit": jobs.column("submit_time"),
        "held": held,
        "missing": HOLD * placements.held + HOLD * held,
        "fails": jobs.column("exit_code") != 0,
        "first": first,
        "last": last,
    }
    columns = {name: values for name, values in columns.items() if values.any()}  # else it stands there
    for some in in_cache(rows.stop - rows.start):
        for name, values in columns.items():
            core.jobs[name][_within(rows, some)] = values[some]
    if placements.tier.any():
        core.ranks["tier"][rows] = placements.tier
    if scheme.ordered:
        core.orders.columns[0, rows] = jobs.column("submit_time") - int(core.clock.origin)
        core.orders.columns[1, rows] = placements.asked_limit
        core.orders.columns[2, rows] = placements.asked_nodes
        core.orders.columns[3, rows] = jobs.column("memory_kb")
        core.orders.columns[4, rows] = placements.tier
        _write_keys(core, rows, scheme)
    return jobs._replace(where=where)


def keys_of(core: FullCore, rows: slice, scheme: Scheme) -> dict[str, np.ndarray]:
    """Return the keys of some components by the two orders, of those that do not depend on time."""
    asked = {
        "key": scheme.order.keys if "order" in scheme.policy.scheme.keys else None,
        "second_key": scheme.second_order.keys if scheme.policy.backfill_order is not None else None,
    }
    columns = core.orders.columns[:, rows]
    return {name: keys(columns) for name, keys in asked.items() if keys is not None}


def _write_keys(core: FullCore, rows: slice, scheme: Scheme) -> None:
    for name, keys in keys_of(core, rows, scheme).items():
        core.ranks[name][rows] = keys


def write_request(core: FullCore, jobs: Jobs, scheme: Scheme) -> None:
    """Write what one component asks for anew."""
    row, placements = jobs.first, jobs.placements
    it = core.jobs[row]
    it.first, it.last = jobs.where.start, jobs.where.stop
    core.ranks["tier"][row] = core.orders.columns[4, row] = placements.tier[0]
    core.orders.columns[1:3, row] = placements.asked_limit[0], placements.asked_nodes[0]
    _write_keys(core, jobs.rows, scheme)


def write_placements(core: FullCore, where: Any, placements: Placements, scheme: Scheme) -> None:
    """Write placements into rows ``where``."""
    place, overrun = core.placements, scheme.policy.overrun_s
    for some in in_cache(len(placements.module)):
        there = (
            slice(where.start + some.start, where.start + some.stop)
            if isinstance(where, slice)
            else where[some]
        )
        limit, run = placements.limit[some], placements.run[some]
        place["module"][there] = placements.module[some]
        place["nodes"][there] = placements.nodes[some]
        place["limit"][there] = limit
        place["duration"][there] = np.minimum(run, limit + overrun)
        place["killed"][there] = run > limit + overrun
    core.demand[where] = placements.demand


def _within(rows: slice, some: slice) -> slice:
    """Return some rows of a slice of rows."""
    return slice(rows.start + some.start, rows.start + some.stop)
