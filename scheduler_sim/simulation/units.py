"""Which components start by one plan, and what each unit of them needs when.

A unit has the components of one heterogeneous job and those tied to it by DYNAMIC. A member starts
its offset after the start of the unit: its delay, counted from the first component of its job, or
from the component that its DYNAMIC dependency names (MWF positions 39 to 41; D2.3, section 7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.calls import EXTEND_JOB, WF_API
from scheduler_sim.engine.rules.coscheduling.state import UnitSizes
from scheduler_sim.metrics.ties import connected
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.workload.mwf_text import parse_api_calls
from scheduler_sim.workload.table import Workload
from scheduler_sim.workload.validation import problem

CALL_KINDS = {"WF_API": WF_API, "EXTEND_JOB": EXTEND_JOB}
"""Calls by their names in traces, in capitals; a number alone is WF_API."""

Rect = tuple[int, int, int, int]
"""Pool, offset (s), length (s), nodes."""


@dataclass(frozen=True)
class Units:
    """Units and calls of a workload, by rows of the core.

    Attributes
    ----------
    members : those of each unit, by offset and trace order; the first of the trace is the leader
    offset : int64[n], s from the start of the unit
    think : int64[n], s after its dependencies are satisfied until a component is eligible
    calls : row, kind as a code, s after the start; by row and time
    unknown_calls : calls of kinds that mean nothing here
    """

    members: list[np.ndarray]
    offset: np.ndarray
    think: np.ndarray
    calls: list[tuple[int, int, int]]
    unknown_calls: int

    @property
    def any(self) -> bool:
        """Whether there is anything at all."""
        return bool(self.members or self.calls)

    def sizes(self, rows: int, rects: int, booked: int) -> UnitSizes:
        """Room for them in a core with so many rows."""
        if not self.any:
            return UnitSizes()
        count = sum(map(len, self.members))
        return UnitSizes(rows, len(self.members) + count // 2, count, rects, len(self.calls), booked)


def find_units(workload: Workload, placements: Placements, *, resolution_s: int = 1) -> Units:
    """Find the units of a workload, and what else position 41 means; delays count whole ``resolution_s``.

    A component that waits, by a dependency, for one that would be in its own unit starts on its own, and
    those tied to it by DYNAMIC start by it. What has dependencies, and is not tied, has think time, no delay.
    """
    rows = placements.rows
    calls, unknown = _calls(workload, rows)
    count, delay = len(rows), np.maximum(workload.table["delay"].to_numpy()[rows], 0)
    edges = by_place(workload.dependencies(), workload, rows)
    ties = by_place(workload.ties(), workload, rows)
    waits = np.zeros(count, dtype=bool)
    waits[edges["row"]] = True
    several = workload.table["components_total"].to_numpy()[rows] > 1
    if not several.any() and ties.empty:
        return Units([], np.zeros(count, dtype=np.int64), np.where(waits, delay, 0), calls, unknown)
    job = pd.factorize(workload.table["modular_job_id"].to_numpy()[rows])[0]
    job[~several] = len(job) + np.flatnonzero(~several)
    ties, apart = _without_own(ties, edges, job)
    group = np.where(apart, -1 - np.arange(count), job)  # what follows has left its job
    head = _first_of_each(group)
    label = _joined(ties, head)
    bound = _bound(ties, _first_of_each(_pairs(label, job)), several)
    _refuse_circles(workload, rows, bound)
    tied = np.zeros(count, dtype=bool)
    tied[ties["row"]] = True
    own = np.where(tied | ~waits, -(-delay // resolution_s) * resolution_s, 0)
    return Units(
        list(_members(label, offset := _offsets(bound, own))),
        offset,
        np.where(waits & ~tied, delay, 0),
        calls,
        unknown,
    )


def _rects_of(
    core_place: Any, demand: np.ndarray, members: Sequence[tuple[int, int]], modules: int
) -> list[Rect]:
    """What members need when: (placement, offset) each; where two of a pool overlap, the sum."""
    wanted: dict[int, list[tuple[int, int, int]]] = {}
    for placement, offset in members:
        it = core_place[placement]
        wanted.setdefault(int(it.module), []).append((offset, offset + int(it.limit), int(it.nodes)))
        for i in np.flatnonzero(demand[placement]):
            amount = int(demand[placement, i])
            wanted.setdefault(modules + int(i), []).append((offset, offset + int(it.limit), amount))
    return [(pool, *one) for pool, parts in wanted.items() for one in _summed(parts)]


def write_units(core: FullCore, units: Units, run: np.ndarray, policy: Policy) -> None:
    """Write units and calls; ``run`` int64[n], s each component takes without a limit."""
    if not units.any:
        return
    for members in units.members if policy.het_end != "component" else ():
        run = _ended_together(core, members, units.offset, run, policy.het_end)
    core.coscheduling.at.reserved = policy.delay == "reserved"
    core.coscheduling.at.extend = policy.extend_job == "grant"
    member, comp = core.coscheduling.member, core.jobs
    member["run"][: len(run)] = run
    member["limit"][: len(run)] = core.orders.columns[1, : len(run)]
    member["offset"][: len(run)] = units.offset
    members_at = rect_at = 0
    pools = 1 + core.demand.shape[1]  # its module, and shared resources
    group_at = len(units.members)
    for number, members in enumerate(units.members):
        unit = core.coscheduling.unit[number]
        unit.leader, unit.first, unit.last = members.min(), members_at, members_at + len(members)
        core.coscheduling.member_rows[members_at : members_at + len(members)] = members
        member["unit"][members] = member["whole"][members] = number
        unit.delayed = units.offset[members].any()
        if unit.delayed and has(core, "slurm"):
            group_at = _write_groups(core, units.offset[members], members_at, group_at)
        members_at += len(members)
        able = bool((comp["first"][members] < comp["last"][members]).all())
        comp["last"][members] = comp["first"][members]  # if one can never run beside the others, none does
        unit.rect, unit.at_once = rect_at, rect_at + 2 * len(members) * pools
        rect_at += 4 * len(members) * pools
        if not able or any(one[3] > core.pools[one[0]].free for one in write_rects(core, number)):
            continue
        comp["last"][members] += 1
    if units.members and has(core, "slurm") and len(core.slurm.booked):
        room = room_for_nodes(units, core.orders.columns[2].astype(np.int64), core.slurm.nodes.masks.shape[1])
        core.slurm.het["booked"][np.concatenate(units.members)] = np.cumsum(room) - room
    for number, call in enumerate(units.calls):
        core.calls[number] = call
    of = np.array([row for row, *_ in units.calls], dtype=np.int64)
    rows = np.arange(len(run))
    member["call"][: len(run)] = np.searchsorted(of, rows, side="left")
    member["call_last"][: len(run)] = np.searchsorted(of, rows, side="right")


def _write_groups(core: FullCore, offset: np.ndarray, members_at: int, group_at: int) -> int:
    """Make a unit of every several members with one offset; returns the number of the next."""
    for time in np.unique(offset):
        first, last = members_at + np.searchsorted(offset, [time, time + 1])
        if last - first > 1:
            group = core.coscheduling.unit[group_at]
            rows = core.coscheduling.member_rows[first:last]
            group.leader, group.first, group.last = rows.min(), first, last
            core.slurm.het["group"][rows] = group_at
            group_at += 1
    return group_at


def _ended_together(
    core: FullCore, members: np.ndarray, offset: np.ndarray, run: np.ndarray, het_end: str
) -> np.ndarray:
    """What members take if those that start together end together: with the first of them, or the last.

    Each is still killed at its own limit.
    """
    run, comp, place = run.copy(), core.jobs, core.placements
    if (comp["first"][members] == comp["last"][members]).any():
        return run
    for time in np.unique(offset[members]):
        rows = np.sort(members[offset[members] == time])
        at = comp["first"][rows]
        allowed = place["limit"][at] + core.rules.overrun
        takes = np.minimum(run[rows], allowed)
        if het_end == "leader":
            run[rows[1:]] = takes[0]
            comp["fails"][rows[1:]] = comp["fails"][rows[0]]
        else:
            run[rows] = np.maximum(run[rows], takes.max())
        place["duration"][at] = np.minimum(run[rows], allowed)
        place["killed"][at] = run[rows] > allowed
    return run


def room_for_rects(units: Units, pools: int) -> int:
    """At most so many rectangles: two segments a member and pool, in the whole and at its start."""
    return sum(4 * len(members) * pools for members in units.members)


def room_for_nodes(units: Units, nodes: np.ndarray, words: int) -> np.ndarray:
    """int64[members]: words with nodes that may be held for each, of all words of the system."""
    members = np.concatenate([np.zeros(0, dtype=np.int64), *units.members])
    words_for: np.ndarray = np.minimum(nodes[members], words)
    return words_for


def write_rects(core: FullCore, number: int) -> list[Rect]:
    """Write what a unit needs, and what its members need that start at once; return the first."""
    unit, modules = core.coscheduling.unit[number], int(core.clock.modules)
    rows = core.coscheduling.member_rows[unit.first : unit.last]
    members = [(int(core.jobs[row].first), int(core.coscheduling.member[row].offset)) for row in rows]
    whole = _rects_of(core.placements, core.demand, members, modules)
    at_once = _rects_of(core.placements, core.demand, [one for one in members if one[1] == 0], modules)
    unit.rect_last, unit.at_once_last = unit.rect + len(whole), unit.at_once + len(at_once)
    for first, rects in ((unit.rect, whole), (unit.at_once, at_once)):
        for place, one in enumerate(rects, first):
            core.coscheduling.rect[place] = one
    return whole


def _summed(parts: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Offset, length and sum, from each instant at which one begins or ends to the next."""
    if len(parts) == 1:
        begin, end, amount = parts[0]
        yield begin, end - begin, amount
        return
    times = sorted({time for begin, end, _ in parts for time in (begin, end)})
    for begin, end in pairwise(times):
        total = sum(amount for a, b, amount in parts if a <= begin < b)
        if total:
            yield begin, end - begin, total


def by_place(pairs: pd.DataFrame, workload: Workload, rows: np.ndarray) -> pd.DataFrame:
    """Rows of the workload's table as rows of the core."""
    place = np.full(len(workload), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return pd.DataFrame({name: place[pairs[name].to_numpy()] for name in ("row", "after_row")})


def _without_own(ties: pd.DataFrame, edges: pd.DataFrame, job: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """The ties that count; what is apart from its job: it waits for its own unit, or is tied to such."""
    count = len(job)
    label = _joined(ties, _first_of_each(job))
    row, after = edges["row"].to_numpy(), edges["after_row"].to_numpy()
    alone = np.zeros(count, dtype=bool)
    alone[row[label[row] == label[after]]] = True
    ties = ties[~alone[ties["row"]]]
    row, after = ties["row"].to_numpy(), ties["after_row"].to_numpy()
    apart = alone.copy()
    while True:
        more = row[apart[after] & ~apart[row]]
        if not len(more):
            return ties[~apart[row] | apart[after]], apart
        apart[more] = True


def _first_of_each(job: np.ndarray) -> np.ndarray:
    """int64[n]: the first component with the same number."""
    _, first, inverse = np.unique(job, return_index=True, return_inverse=True)
    return first[inverse]


def _pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A number for each pair of numbers."""
    pairs: np.ndarray = pd.factorize(one * (int(other.max(initial=0)) + 1) + other)[0]
    return pairs


def _joined(ties: pd.DataFrame, head: np.ndarray) -> np.ndarray:
    """int64[n]: equal for all that are connected by ties, and each with its head."""
    one = np.concatenate([ties["row"], np.arange(len(head))])
    return connected(len(head), one, np.concatenate([ties["after_row"], head]))


def _bound(ties: pd.DataFrame, head: np.ndarray, several: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From what each counts its delay: those it is tied to, else the first of its job in the unit."""
    rows = np.arange(len(head))
    by_job = np.setdiff1d(rows[several & (head != rows)], ties["row"])
    return np.concatenate([ties["row"], by_job]), np.concatenate([ties["after_row"], head[by_job]])


def _offsets(bound: tuple[np.ndarray, np.ndarray], own: np.ndarray) -> np.ndarray:
    """Offset of what each is bound to, and its own delay; the latest where it is bound to several."""
    row, after = bound
    offset = np.zeros(len(own), dtype=np.int64)
    while True:
        known = offset.copy()
        np.maximum.at(offset, row, known[after] + own[row])
        if (offset == known).all():
            return offset


def _refuse_circles(workload: Workload, rows: np.ndarray, bound: tuple[np.ndarray, np.ndarray]) -> None:
    """Raise TraceError, with the line, where delays that count from one another lead round in a circle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row, after = bound
    graph = coo_array((np.ones(len(row), dtype=np.int8), (row, after)), shape=(len(rows), len(rows)))
    _, label = connected_components(graph, directed=True, connection="strong")
    circular = row[label[row] == label[after]]
    if len(circular):
        first = int(rows[circular.min()])
        raise problem(
            workload.table,
            workload.source,
            first,
            "dependency_ids",
            "delays and DYNAMIC dependencies form a circle",
            str(workload.table["dependency_ids"].iloc[first]),
            "DYNAMIC dependencies that lead back to no component, nor to its job",
        )


def _members(label: np.ndarray, offset: np.ndarray) -> Iterator[np.ndarray]:
    """Members of each unit of several, by offset and trace order."""
    inside = np.flatnonzero(np.bincount(label)[label] > 1)
    order = inside[np.lexsort((inside, offset[inside], label[inside]))]
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _calls(workload: Workload, rows: np.ndarray) -> tuple[list[tuple[int, int, int]], int]:
    texts: Any = workload.table["api_calls"].array
    said = [parse_api_calls(text) for text in texts.categories]
    codes = np.asarray(texts.codes)[rows]
    asks = np.array([bool(calls) for calls in said], dtype=bool)
    found, unknown = [], 0
    for row in np.flatnonzero(asks[codes]) if len(asks) else ():
        for name, seconds in said[codes[row]]:
            kind = CALL_KINDS.get(name.upper())
            if kind is None:
                unknown += 1
            else:
                found.append((int(row), kind, int(seconds)))
    return sorted(found, key=lambda call: (call[0], call[2])), unknown
