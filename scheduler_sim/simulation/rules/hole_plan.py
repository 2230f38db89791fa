"""What the core is told of reservations: nodes that change hands now, and what is planned with for later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore
from scheduler_sim.engine.rules import holes
from scheduler_sim.simulation.growth import announce
from scheduler_sim.simulation.rules.hole_book import HoleBook
from scheduler_sim.simulation.rules.turns import Turn
from scheduler_sim.units import DAY

KNOWN_AHEAD_S = 7 * DAY
"""So far ahead, and twice the longest time limit, the turns are known of those that come again."""

FIRST_NAME = -(1 << 41)
"""Announcements are named from here downwards."""


class Coming(NamedTuple):
    """So many nodes more, or fewer, that a reservation is to have of a module from a time on."""

    time: int
    hole: int
    nodes: int


class HolePlan:
    """What each hole has, and what is to come of it. Holes are numbered by reservation, then by module."""

    def __init__(self, reservations: int, modules: int) -> None:
        self._modules = modules
        self._has = np.zeros(reservations * modules, dtype=np.int64)
        self._coming: list[Coming] = []
        self._known_until = -INF

    @property
    def due(self) -> int:
        """When nodes change hands next, s; INF if never."""
        return self._coming[0].time if self._coming else INF

    def carry_out(self, core: FullCore, now: int) -> None:
        """Let what is due come true, as it was planned."""
        if self.due > now:
            return
        while self.due <= now:
            one = self._coming.pop(0)
            self._retract(core, one)
            self._owe(core, one.hole, one.nodes)
        holes.hand_over(core)

    def laid(self, core: FullCore, book: HoleBook, *, anew: bool) -> FullCore:
        """Plan with what is known ahead, where that is more than before, or other; returns the core."""
        now = int(core.clock.now)
        ahead = now + KNOWN_AHEAD_S + 2 * int(np.asarray(core.placements)["limit"].max(initial=0))
        if ahead <= self._known_until and not anew:
            return core
        for one in self._coming:
            self._retract(core, one)
        turns = book.turns(ahead + DAY)  # once a day is often enough
        now_has = self._at(book, turns, now)
        for hole in np.flatnonzero(now_has != self._has).tolist():
            self._owe(core, hole, int(now_has[hole] - self._has[hole]))
        holes.hand_over(core)
        self._coming = self._changes(book, turns, now)
        for one in self._coming:
            core = announce(core, self._pool(core, one), one.nodes, one.time, _name(one))
            core = announce(core, one.hole % self._modules, -one.nodes, one.time, _name(one))
        if any(turn.start >= self._known_until for turn in turns) and _reaches(core, self._known_until):
            core.clock.dirty = core.clock.early = core.clock.lost = 1
        self._known_until = ahead + DAY
        return core

    def _changes(self, book: HoleBook, turns: Sequence[Turn], now: int) -> list[Coming]:
        found, before = list[Coming](), self._has
        for time in sorted({edge for turn in turns for edge in (turn.start, turn.end) if edge > now}):
            after = self._at(book, turns, time)
            differ = np.flatnonzero(after != before).tolist()
            found += [Coming(time, hole, int(after[hole] - before[hole])) for hole in differ]
            before = after
        return found

    def _at(self, book: HoleBook, turns: Sequence[Turn], time: int) -> Ints:
        """int64[holes]: how many nodes each has at a time."""
        has = np.zeros_like(self._has)
        for number, counts in book.amounts(turns, time).items():
            has[number * self._modules : (number + 1) * self._modules] = counts
        return has

    def _owe(self, core: FullCore, hole: int, nodes: int) -> None:
        core.holes.hole[hole].owed += nodes
        self._has[hole] += nodes

    def _retract(self, core: FullCore, one: Coming) -> None:
        drive.retract(core, self._pool(core, one), one.time, _name(one))
        drive.retract(core, one.hole % self._modules, one.time, _name(one))

    def _pool(self, core: FullCore, one: Coming) -> int:
        return int(core.holes.at.first + one.hole)


def _name(one: Coming) -> int:
    return FIRST_NAME - one.hole


def _reaches(core: FullCore, time: int) -> bool:
    """Whether something is promised, to one that waits, nodes that it has beyond a time."""
    jobs = np.asarray(core.jobs)[: core.clock.jobs]
    promised = jobs[jobs["reserved_start"] < INF]
    limit = np.asarray(core.placements)["limit"][promised["reserved_placement"]]
    return bool((promised["reserved_start"] + limit > time).any())
