"""Components that start by one plan: what each unit of them needs when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scheduler_sim.engine.engine import FullCore, Sizes, has
from scheduler_sim.engine.rules.coscheduling.state import UnitSizes
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.units import Units

Rect = tuple[int, int, int, int]
"""Pool, offset (s), length (s), nodes."""


class Coscheduling(Numbers):
    """Writes the units of the trace, and what calls need to know of components."""

    part = "coscheduling"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = bool(run.units.members or run.calls)

    def room(self, sizes: Sizes) -> UnitSizes:
        """Only the trace has units; what comes later starts by itself."""
        units = self.run.units.members
        count, pools = sum(map(len, units)), 1 + sizes.pools - sizes.modules
        return UnitSizes(sizes.rows, len(units) + count // 2, count, 4 * count * pools)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write them."""
        units, policy, run = self.run.units, self.run.policy, _run_times(jobs.placements)
        for members in units.members if policy.het_end != "component" else ():
            run = _ended_together(core, members, units.offset, run, policy.het_end)
        core.coscheduling.at.reserved = policy.delay == "reserved"
        core.coscheduling.at.extend = policy.extend_job == "grant"
        member = core.coscheduling.member
        member["run"][: len(run)] = run
        member["limit"][: len(run)] = jobs.placements.asked_limit
        member["offset"][: len(run)] = units.offset
        _write_units(core, units)
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write how long it takes, and the limit it asks for."""
        member = core.coscheduling.member[jobs.first]
        member.run, member.limit = jobs.placements.run[0], jobs.placements.asked_limit[0]
        return core


def _write_units(core: FullCore, units: Units) -> None:
    """Write who their members are, and what they need; if one can never run beside the others, none does."""
    member, comp = core.coscheduling.member, core.jobs
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
        comp["last"][members] = comp["first"][members]
        unit.rect, unit.at_once = rect_at, rect_at + 2 * len(members) * pools
        rect_at += 4 * len(members) * pools
        if not able or any(one[3] > core.pools[one[0]].free for one in write_rects(core, number)):
            continue
        comp["last"][members] += 1


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


def _run_times(placements: Placements) -> np.ndarray:
    """int64[n], s that components take without a limit, in the first placement that can run."""
    first, able = placements.first[:-1], np.diff(placements.first) > 0
    run = placements.asked_run.copy()
    run[able] = placements.run[first[able]]
    return run


def write_rects(core: FullCore, number: int) -> list[Rect]:
    """Write what a unit needs, and what its members need that start at once; return the first.

    All members have a placement.
    """
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
