"""Components that processes submit while the simulation runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine import drive
from scheduler_sim.engine import state as slot
from scheduler_sim.engine.state import Core
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.placement.table import Placements, expand
from scheduler_sim.simulation.growth import with_room
from scheduler_sim.simulation.load import KINDS, sizes_for, write_components
from scheduler_sim.simulation.scheme import Scheme, scheme_of
from scheduler_sim.system.system import System
from scheduler_sim.workload.fields import FIELDS
from scheduler_sim.workload.table import Workload

Batch = tuple[Workload, Placements]
Edge = tuple[int, int, int]
"""A component's row, the row it waits for, the kind as a code."""


def checked(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a submission, all of them columns of a workload. Raises InputError."""
    for name in fields:
        if name not in FIELDS:
            raise InputError(f"submit: {name!r} is no column of a workload{did_you_mean(name, list(FIELDS))}")
    return fields


def batch_of(submissions: Sequence[dict[str, Any]], system: System, *, only_first: bool) -> Batch:
    """Make a small workload, and its placements, of what was submitted at one instant."""
    names = dict.fromkeys(name for one in submissions for name in one)
    columns = {name: [one.get(name, FIELDS[name].default) for one in submissions] for name in names}
    workload = Workload.from_columns(**columns)
    return workload, expand(workload, system, only_first=only_first)


def append(core: Core, scheme: Scheme, system: System, batch: Batch) -> tuple[Core, Scheme]:
    """Put a batch into the core, to be submitted at this instant."""
    workload, placements = batch
    at, count = int(core.clock[slot.COMPONENTS]), len(placements.rows)
    if not placements.rigid and not core.rules[slot.COMPLEX]:
        scheme = scheme_of(scheme.policy, rigid=False)
        drive.look_at_each(core)
    used = int(core.comp["last"][:at].max(initial=0))
    core = _with_room_for(core, system, at + count, used + max(len(placements.module), count))
    write_components(core, at, workload, placements, scheme, int(core.clock[slot.ORIGIN]))
    seen = core.clock[slot.SEEN]
    arrivals = core.lists[slot.ARRIVALS]
    arrivals[seen + count : at + count] = arrivals[seen:at].copy()
    arrivals[seen : seen + count] = np.arange(at, at + count)
    core.clock[slot.COMPONENTS] = at + count
    return core, scheme


def add_edges(core: Core, edges: Sequence[Edge]) -> Core:
    """Add dependencies of components not submitted yet; those already satisfied count as such."""
    old = len(core.edge) if core.comp["after_last"].max(initial=0) else 0
    successor = np.concatenate((core.edge["successor"][:old], [edge[0] for edge in edges]))
    awaited = np.empty(old + len(edges), dtype=np.int64)
    for row in np.flatnonzero(core.comp["after_last"] > core.comp["after"]):
        awaited[core.comp["after"][row] : core.comp["after_last"][row]] = row
    awaited[old:] = [edge[1] for edge in edges]
    kind = np.concatenate((core.edge["kind"][:old], [edge[2] for edge in edges]))
    done = np.concatenate((core.edge["satisfied"][:old], [_satisfied(core, edge) for edge in edges]))
    order = np.argsort(awaited, kind="stable")
    table = np.zeros(len(order), dtype=slot.EDGE).view(np.recarray)
    table["successor"], table["kind"], table["satisfied"] = successor[order], kind[order], done[order]
    rows = np.arange(len(core.comp))
    core.comp["after"] = np.searchsorted(awaited[order], rows, side="left")
    core.comp["after_last"] = np.searchsorted(awaited[order], rows, side="right")
    for edge, satisfied in zip(edges, done[old:], strict=True):
        core.comp["missing"][edge[0]] += not satisfied
    return core._replace(edge=table)


def merged(workload: Workload, placements: Placements, batches: Sequence[Batch]) -> Batch:
    """Return the whole workload and its placements: the trace's, then each batch's."""
    if not batches:
        return workload, placements
    parts = [(workload, placements), *batches]
    table = pd.concat([part.table for part, _ in parts], ignore_index=True)
    for name in table:
        if table[name].dtype == object:
            table[name] = table[name].astype("category")
    columns = {str(name): table[name].array for name in table}
    offsets = np.cumsum([0, *(len(part) for part, _ in parts[:-1])])
    steps = np.cumsum([0, *(len(part.module) for _, part in parts[:-1])])
    pick = lambda name: np.concatenate([getattr(part, name) for _, part in parts])  # noqa: E731
    joined = Placements(
        rows=np.concatenate([part.rows + offset for (_, part), offset in zip(parts, offsets, strict=True)]),
        first=np.concatenate(
            [part.first[:-1] + step for (_, part), step in zip(parts, steps, strict=True)]
            + [[int(steps[-1]) + len(parts[-1][1].module)]]
        ),
        **{name: pick(name) for name in ("module", "nodes", "limit", "run", "cost", "demand", "tier")},
        asked_module=pick("asked_module"),
        asked_limit=pick("asked_limit"),
        rejected=_summed([part.rejected for _, part in parts]),
        not_limited=_summed([part.not_limited for _, part in parts]),
    )
    return Workload(columns, workload.source), joined


def edge_of(row: int, after_row: int, kind: str) -> Edge:
    """Return a dependency as the core keeps it. Raises InputError for a kind it does not honour."""
    if kind.upper() not in KINDS:
        raise InputError(f"dependency_type: found {kind!r}; allowed: {', '.join(KINDS)}")
    return row, after_row, KINDS[kind.upper()]


def _satisfied(core: Core, edge: Edge) -> bool:
    """Whether the component waited for has already done what the dependency asks."""
    state, kind = int(core.comp[edge[1]].state), edge[2]
    if kind == slot.AFTER:
        return state >= slot.RUNNING
    if state <= slot.RUNNING:
        return False
    if kind == slot.AFTEROK:
        return state == slot.COMPLETED
    return kind == slot.AFTERANY or state != slot.COMPLETED


def _with_room_for(core: Core, system: System, rows: int, placements: int) -> Core:
    if rows <= len(core.comp) and placements <= len(core.place):
        return core
    sizes = sizes_for(system, 2 * rows, 2 * placements, len(core.edge))
    releases = max(sizes.releases, core.release.shape[1])
    timeline = max(sizes.timeline, len(core.timeline))
    return with_room(
        core, sizes._replace(releases=releases, timeline=timeline, profile=releases + 4 * sizes.rows + 8)
    )


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for name, number in one.items():
            total[name] = total.get(name, 0) + number
    return total
