"""Nodes that the record does not use though jobs wait that would fit on them: of what they are not there for.

A record does not say when nodes were out of service, or held by jobs that it does not have. But where,
hour after hour, jobs of several users waited that ask for no more nodes than were idle even when most were
busy, these nodes were not to be had. In single hours that is the rule of any scheduler that holds nodes for
a large job, and one user may wait for much else. So it counts where it lasts for half a day or longer, and
holds of two users.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.metrics.agreement.use import most_in_use
from scheduler_sim.metrics.agreement.waits import Waits
from scheduler_sim.result.columns import RECORDED, rows_named
from scheduler_sim.units import HOUR

if TYPE_CHECKING:
    from scheduler_sim.result.result import Result

Span = tuple[int, int]

LASTING = 12
"""Hours in a row from which nodes count as missing."""

RARELY = 0.01
"""Part of the hours in which the record may have more nodes busy than that."""

USERS = 2
"""Users of whom a job must wait; where users are not known, jobs."""

ANY_NODES = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Missing:
    """Nodes of a module that were not to be had.

    Attributes
    ----------
    module : its name
    hours : int64[n + 1], edges of the hours of the record, s on the trace's clock
    nodes : int64[n], how many in each hour
    idle : int64[n], how many were idle in it even when most were busy; ANY_NODES in hours not looked at
    """

    module: str
    hours: Ints
    nodes: Ints
    idle: Ints

    def at_start(self) -> Missing:
        """Return those of the spell with which the record begins, if there is one."""
        return replace(self, nodes=np.where(self._opening(), self.nodes, 0))

    def later(self) -> Missing:
        """Return all others."""
        return replace(self, nodes=np.where(self._opening(), 0, self.nodes))

    def outside(self, span: Span | None) -> Missing:
        """Return what is known without looking at a span of time (s)."""
        if span is None:
            return self
        inside = (self.hours[1:] > span[0]) & (self.hours[:-1] < span[1])
        return replace(
            self,
            nodes=np.where(inside, 0, self.nodes),
            idle=np.where(inside, ANY_NODES, self.idle),
        )

    def always(self) -> int:
        """Return how many nodes are idle in at least 99 of a hundred hours."""
        looked_at = self.idle[self.idle < ANY_NODES]
        return int(np.quantile(looked_at, RARELY, method="lower")) if len(looked_at) else 0

    def spells(self) -> list[tuple[int, int, int]]:
        """Return from when to when (s) how many nodes are missing; what overlaps adds up."""
        found, begun = [], list[list[int]]()
        for hour, change in zip(self.hours, np.diff(self.nodes, prepend=0, append=0).tolist(), strict=True):
            if change > 0:
                begun.append([int(hour), change])
            while change < 0:
                begin, nodes = begun[-1]
                ends = min(nodes, -change)
                found.append((begin, int(hour), ends))
                begun[-1][1] -= ends
                change += ends
                if not begun[-1][1]:
                    begun.pop()
        return sorted(found)

    def _opening(self) -> Bools:
        """The hours of the first spell, if it begins within half a day."""
        some = np.flatnonzero(self.nodes[:LASTING])
        first = int(some[0]) if len(some) else 0
        opening: Bools = np.minimum.accumulate(self.nodes[first:] > 0)
        return np.append(np.zeros(first, dtype=bool), opening)


def whole_node_modules(result: Result) -> list[str]:
    """Return the modules whose nodes jobs do not share: of others the record does not tell what was idle."""
    described = (result.manifest.get("system") or {}).get("modules") or []
    shared = {str(one["name"]) for one in described if one.get("shared")}
    return [name for name in result.manifest["modules"] if name not in shared]


def nodes_missing(result: Result, waits: Waits) -> list[Missing]:
    """Return, of each module on which recorded jobs ran, the nodes that were not to be had."""
    found = []
    for name in whole_node_modules(result):
        hours, wanted, most = _record_of(result, waits, name)
        if len(hours):
            nodes = result.manifest["modules"][name]
            idle = np.maximum(nodes - most, 0)
            there = np.where(wanted <= idle, nodes - idle, nodes)
            missing = nodes - _without_short_dips(there, nodes)
            found.append(Missing(name, hours, _widened(missing, idle), idle))
    return found


def _without_short_dips(values: Ints, full: int) -> Ints:
    """Fill what is lower than before and after for less than half a day (closing, of morphology)."""
    upper = maximum_filter1d(values, LASTING, mode="constant", cval=full)
    filled: Ints = minimum_filter1d(upper, LASTING, mode="constant", cval=full, origin=-1)
    return filled


def _widened(missing: Ints, idle: Ints) -> Ints:
    """Let spells begin earlier and end later, by half a day at most, while as many nodes are idle anyway."""
    for one, own in ((missing, idle), (missing[::-1], idle[::-1])):  # forwards, then backwards in time
        edges = np.flatnonzero((one[:-1] > 0) & (one[1:] == 0))
        for edge in edges.tolist():
            after = slice(edge + 1, edge + 1 + LASTING)
            lasts = np.minimum.accumulate((own[after] >= one[edge]) & (one[after] == 0))
            one[after] = np.where(lasts, one[edge], one[after])
    return missing


def _record_of(result: Result, waits: Waits, module: str) -> tuple[Ints, Ints, Ints]:
    """Return the hours of the record of a module.

    Returns
    -------
    hours : int64[n + 1], their edges, s; from whole hour to whole hour of the trace's clock
    wanted : int64[n], nodes that are enough for a job of each of two users that waits all of it
    most : int64[n], the most nodes busy in it
    """
    table = result.components
    here = rows_named(table["module"], module)[waits.rows]
    rows = waits.rows[here]
    if not len(rows):
        return rows, rows, rows
    nodes = table["nodes"].to_numpy()[rows]
    submit, start = waits.submit[here], (waits.submit + waits.recorded)[here]
    end = start + np.maximum(table[RECORDED[1].name].to_numpy()[rows], 0)
    eligible = np.maximum(submit, table["eligible_time"].to_numpy()[rows])
    first, last = int(submit.min()) // HOUR, -(-int(end.max()) // HOUR)
    hours = np.arange(first, last + 1) * HOUR
    most = np.rint(most_in_use(start, end, nodes.astype(np.float64), hours)).astype(np.int64)
    whole = (eligible < start, -(-eligible // HOUR) - first, start // HOUR - first)
    waiting = whole[0] & (whole[1] < whole[2])
    users = table["user"].astype(str).to_numpy()[rows]
    known = users != ""
    user = np.where(known, pd.factorize(users)[0], len(users) + np.arange(len(users)))
    begins, ends, asked, whose = (
        column[waiting] for column in (whole[1], whole[2], nodes, pd.factorize(user)[0])
    )
    wanted = wanted_by_several(begins, ends, asked, whose, len(hours) - 1)
    return hours, wanted, most


def wanted_by_several(begin: Ints, end: Ints, nodes: Ints, user: Ints, count: int) -> Ints:
    """Return how many nodes are enough for a job of each of ``USERS`` users that waits; else ANY_NODES.

    Parameters
    ----------
    begin, end : int64[jobs], each waits in the cells [begin, end), begin < end
    nodes, user : int64[jobs], what it asks for, and whose it is, from 0
    count : how many cells there are

    Returns
    -------
    int64[count]. A range is put down as two that overlap, as long as a power of two; these are halved
    downwards, and each cell keeps the smallest job of as many users as count.
    """
    users = int(user.max(initial=0)) + 1
    level = np.frexp((end - begin).astype(np.float64))[1] - 1
    least = np.full((USERS, count), ANY_NODES)
    for power in range(int(level.max(initial=0)), -1, -1):
        own = np.flatnonzero(level == power)
        place = np.concatenate((begin[own], end[own] - (1 << power)))
        least = _smallest(least, _put(place, np.tile(nodes[own] * users + user[own], 2), users, count), users)
        if power:
            moved = np.full_like(least, ANY_NODES)
            step = 1 << (power - 1)
            moved[:, step:] = least[:, : max(count - step, 0)]
            least = _smallest(least, moved, users)
    return np.where(least[-1] == ANY_NODES, ANY_NODES, least[-1] // users)


def _put(place: Ints, key: Ints, users: int, count: int) -> Ints:
    """Return the smallest keys of different users at each place, int64[USERS, count]."""
    jobs = pd.DataFrame({"place": place, "key": key, "user": key % users}).sort_values(["place", "key"])
    jobs = jobs.drop_duplicates(["place", "user"])
    rank = jobs.groupby("place").cumcount().to_numpy()
    some = rank < USERS
    cells = np.full((USERS, count), ANY_NODES)
    cells[rank[some], jobs["place"].to_numpy()[some]] = jobs["key"].to_numpy()[some]
    return cells


def _smallest(one: Ints, other: Ints, users: int) -> Ints:
    """Merge two lists of the smallest keys, of different users each; both have one a column."""
    both = np.sort(np.concatenate((one, other)), axis=0)
    for row in range(1, len(both)):
        repeated = (both[:row] % users == both[row] % users) & (both[:row] != ANY_NODES)
        both[row, repeated.any(axis=0)] = ANY_NODES
    return np.sort(both, axis=0)[:USERS]
