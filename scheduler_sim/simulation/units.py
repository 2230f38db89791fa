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

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.state import Core, UnitSizes
from scheduler_sim.placement.table import Placements
from scheduler_sim.workload.mwf_text import parse_api_calls
from scheduler_sim.workload.table import Workload

CALL_KINDS = {"WF_API": slot.WF_API, "EXTEND_JOB": slot.EXTEND_JOB}
"""Calls by their names in traces, in capitals; a number alone is WF_API."""

Rect = tuple[int, int, int, int]
"""Pool, offset (s), length (s), nodes."""


@dataclass(frozen=True)
class Units:
    """Units and calls of a workload, by rows of the core.

    Attributes
    ----------
    crews : members of each unit, by offset and trace order; the first is the leader
    offset : int64[n], s from the start of the unit
    calls : row, kind as a code, s after the start; by row and time
    unknown_calls : calls of kinds that mean nothing here
    """

    crews: list[np.ndarray]
    offset: np.ndarray
    calls: list[tuple[int, int, int]]
    unknown_calls: int

    @property
    def any(self) -> bool:
        """Whether there is anything at all."""
        return bool(self.crews or self.calls)

    def sizes(self, rows: int, rects: int) -> UnitSizes:
        """Room for them in a core with so many rows."""
        if not self.any:
            return UnitSizes()
        return UnitSizes(rows, len(self.crews), sum(map(len, self.crews)), rects, len(self.calls))


def find_units(workload: Workload, placements: Placements) -> Units:
    """Find the units of a workload; of one without heterogeneous jobs, DYNAMIC and calls in no time."""
    rows = placements.rows
    calls, unknown = _calls(workload, rows)
    several = workload.table["components_total"].to_numpy()[rows] > 1
    ties = _by_place(workload.ties(), workload, rows)
    if not several.any() and ties.empty:
        return Units([], np.zeros(len(rows), dtype=np.int64), calls, unknown)
    job = np.where(several, pd.factorize(workload["modular_job_id"][rows])[0], -1)
    job[_waits_for_sibling(workload, rows, job)] = -1
    first = _first_of_each(job)
    heads = pd.DataFrame({"row": np.flatnonzero((first >= 0) & (first != np.arange(len(rows))))})
    heads["after_row"] = first[heads["row"]]
    bound = pd.concat([heads[~heads["row"].isin(ties["row"])], ties], ignore_index=True)
    delay = np.maximum(workload["delay"][rows], 0)
    offset = _offsets(bound, delay)
    joined = pd.concat([heads, ties], ignore_index=True)
    return Units(list(_crews(joined, offset)), offset, calls, unknown)


def think_times(workload: Workload, placements: Placements, units: Units) -> np.ndarray:
    """int64[n]: s after a dependency is satisfied until it counts (position 41 of who is in no unit)."""
    think = np.maximum(workload["delay"][placements.rows], 0)
    for crew in units.crews:
        think[crew] = 0
    return think


def rects_of(
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


def write_units(core: Core, units: Units, run: np.ndarray) -> None:
    """Write units and calls; ``run`` int64[n], s each component takes without a limit."""
    if not units.any:
        return
    core.rules[slot.UNITS] = 1
    member, comp = core.member, core.comp
    member["run"][: len(run)] = run
    member["offset"][: len(run)] = units.offset
    crew_at = rect_at = 0
    for number, crew in enumerate(units.crews):
        unit = core.unit[number]
        unit.leader, unit.first, unit.last = crew[0], crew_at, crew_at + len(crew)
        core.crew[crew_at : crew_at + len(crew)] = crew
        crew_at += len(crew)
        member["unit"][crew] = number
        if (comp["first"][crew] == comp["last"][crew]).any():
            comp["last"][crew] = comp["first"][crew]  # one can never run: none does
            continue
        comp["last"][crew] = comp["first"][crew] + 1
        whole, base = _rects(core, crew, units.offset)
        unit.rect, unit.rect_last = rect_at, rect_at + len(whole)
        unit.at_once, unit.at_once_last = unit.rect_last, unit.rect_last + len(base)
        for one in whole + base:
            core.rect[rect_at] = one
            rect_at += 1
    for number, call in enumerate(units.calls):
        core.call[number] = call
    of = np.array([row for row, *_ in units.calls], dtype=np.int64)
    rows = np.arange(len(run))
    member["call"][: len(run)] = np.searchsorted(of, rows, side="left")
    member["call_last"][: len(run)] = np.searchsorted(of, rows, side="right")


def room_for_rects(units: Units, pools: int) -> int:
    """At most so many rectangles: two segments a member and pool, in the whole and at its start."""
    return sum(4 * len(crew) * pools for crew in units.crews)


def _rects(core: Core, crew: np.ndarray, offset: np.ndarray) -> tuple[list[Rect], list[Rect]]:
    modules = int(core.clock[slot.MODULES])
    members = [(int(core.comp[row].first), int(offset[row])) for row in crew]
    at_once = [one for one in members if one[1] == 0]
    return (
        rects_of(core.place, core.demand, members, modules),
        rects_of(core.place, core.demand, at_once, modules),
    )


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


def _by_place(pairs: pd.DataFrame, workload: Workload, rows: np.ndarray) -> pd.DataFrame:
    """Rows of the workload's table as rows of the core."""
    place = np.full(len(workload), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return pd.DataFrame({name: place[pairs[name].to_numpy()] for name in ("row", "after_row")})


def _waits_for_sibling(workload: Workload, rows: np.ndarray, job: np.ndarray) -> np.ndarray:
    """Components that wait, by a dependency, for another of their own job: they start on their own."""
    edges = _by_place(workload.dependencies(), workload, rows)
    row, after = edges["row"].to_numpy(), edges["after_row"].to_numpy()
    return row[(job[row] >= 0) & (job[row] == job[after])]


def _first_of_each(job: np.ndarray) -> np.ndarray:
    """int64[n]: the first component of the job each is in, -1 for those in none."""
    first = np.full(len(job), -1, dtype=np.int64)
    inside = np.flatnonzero(job >= 0)
    _, index, inverse = np.unique(job[inside], return_index=True, return_inverse=True)
    first[inside] = inside[index][inverse]
    return first


def _offsets(bound: pd.DataFrame, delay: np.ndarray) -> np.ndarray:
    """Offset of who each is bound to, and its own delay; the latest where it is bound to several."""
    row, after = bound["row"].to_numpy(), bound["after_row"].to_numpy()
    own = delay[row]
    offset = np.zeros(len(delay), dtype=np.int64)
    while True:
        known = offset.copy()
        np.maximum.at(offset, row, known[after] + own)
        if (offset == known).all():
            return offset


def _crews(joined: pd.DataFrame, offset: np.ndarray) -> Iterator[np.ndarray]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row, after = joined["row"].to_numpy(), joined["after_row"].to_numpy()
    count = len(offset)
    graph = coo_array((np.ones(len(row), dtype=np.int8), (row, after)), shape=(count, count))
    _, label = connected_components(graph, directed=False)
    inside = np.unique(np.concatenate([row, after]))
    order = inside[np.lexsort((inside, offset[inside], label[inside]))]
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    yield from sorted(parts, key=lambda crew: int(crew[0]))


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
