"""What operators do to advance reservations that are holes in the plan: made, changed, deleted, or refused.

Nodes that are only counted have numbers here alone, by which it is told what two reservations have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.config.value import seconds_of
from scheduler_sim.errors import InputError
from scheduler_sim.simulation.rules.turns import Turn, next_turn, repeats, shares, turns_until
from scheduler_sim.simulation.standing import (
    Answer,
    Flags,
    Standing,
    Times,
    lowest,
    meet,
    moved,
    standing,
    times_asked,
)
from scheduler_sim.system.reservations import ALL, ReservationChangeKeys, ReservationKeys, nodes_named
from scheduler_sim.system.system import System


class Runs(NamedTuple):
    """What runs outside of reservations: module, nodes, planned end in s."""

    module: Ints
    nodes: Ints
    end: Ints


NOTHING_RUNS = Runs(*(np.empty(0, dtype=np.int64) for _ in range(3)))


class HoleBook:
    """The reservations of one simulation.

    Attributes
    ----------
    standing, times : by name in lower case, and by number: the turn that is, or comes next
    answers : to what operators did while the run went on
    """

    def __init__(self, system: System) -> None:
        self.system, self.unix_start = system, 0
        self.has_clock = False
        self.standing: dict[str, Standing] = {}
        self.times: dict[int, Times] = {}
        self.answers: list[Answer] = []
        sizes = [module.nodes for module in system.modules]
        self._low = np.cumsum([0, *sizes])
        self._used = 0

    @property
    def most(self) -> int:
        """How many reservations there may be."""
        return len(self.system.reservations)

    def second(self, moment: int | str) -> int:
        """Return a moment in s on the trace's clock."""
        return seconds_of(moment, self.unix_start if self.has_clock else None)

    # -- what operators do

    def create(self, keys: ReservationKeys, now: int, runs: Runs = NOTHING_RUNS) -> Standing:
        """Make one. Raises InputError with what scontrol says where it refuses."""
        times = times_asked(keys, now, self.second)
        if keys.name.lower() in self.standing:
            raise InputError("Duplicate reservation name")
        made = standing(keys, self._used, self.system, times, np.zeros(int(self._low[-1]), dtype=bool))
        nodes = self._named(made, keys.nodes) if keys.nodes else self._picked(made, keys.node_count, times)
        made = replace(made, nodes=nodes)
        self._refuse(made, times, runs, now)
        self._used += 1
        self.standing[keys.name.lower()], self.times[made.number] = made, times
        return made

    def update(self, keys: ReservationChangeKeys, now: int, runs: Runs) -> Standing:
        """Change one. Raises InputError with what scontrol says where it refuses."""
        old = self._known(keys.name)
        start, end = (-1 if one is None else self.second(one) for one in (keys.start, keys.end))
        times = moved(self.times[old.number], keys, Times(start, end, None), now)
        new = replace(old.for_others(keys), duration=times.duration)
        if keys.nodes:
            new = replace(new, nodes=self._named(new, keys.nodes))
        elif keys.node_count is not None:
            more = keys.node_count - int(new.nodes.sum())
            nodes = (
                new.nodes | self._picked(new, more, times) if more > 0 else lowest(new.nodes, keys.node_count)
            )
            new = replace(new, nodes=nodes)
        self._refuse(new, times, runs, now)
        self.standing[keys.name.lower()], self.times[new.number] = new, times
        return new

    def delete(self, name: str, in_use: Sequence[int]) -> Standing:
        """Remove one; not while a job runs in it: ``in_use`` are the numbers of those in which some do."""
        old = self._known(name)
        if old.number in in_use:
            raise InputError("Requested reservation is in use")
        return self.forget(old)

    def forget(self, one: Standing) -> Standing:
        """It is there no more."""
        del self.times[one.number]
        return self.standing.pop(one.name.lower())

    def _known(self, name: str) -> Standing:
        one = self.standing.get(name.lower())
        if one is None:
            raise InputError("Requested reservation is invalid")
        return one

    # -- which nodes it gets

    def counts(self, nodes: Flags) -> Ints:
        """How many of some nodes are of each module."""
        return np.add.reduceat(nodes.astype(np.int64), self._low[:-1])

    def _named(self, made: Standing, words: Sequence[str]) -> Flags:
        """The nodes that words name: all of them are its partition's (PART_NODES), or of the whole system."""
        nodes = np.zeros(int(self._low[-1]), dtype=bool)
        if "PART_NODES" in made.flags and [word.upper() for word in words] == [ALL]:
            nodes[self._module_of(made)] = True
            return nodes
        for module, numbers in nodes_named(words, [(one.name, one.nodes) for one in self.system.modules]):
            low = int(self._low[module])
            nodes[low + numbers.start : low + numbers.stop] = True
        return nodes

    def _module_of(self, made: Standing) -> slice:
        module = self.system.module_index(self.system.partition(made.partition).module)
        return slice(int(self._low[module]), int(self._low[module + 1]))

    def _picked(self, made: Standing, count: int | None, times: Times) -> Flags:
        """So many of its partition that no other has then; MAINT takes those of others, too, if it must."""
        among = np.zeros(int(self._low[-1]), dtype=bool)
        among[self._module_of(made)] = True
        beside = among & ~made.nodes
        for other in self._beside(made, times):
            beside &= ~other.nodes
        picked = lowest(beside, int(count or 0))
        if "MAINT" in made.flags:
            picked = picked | lowest(among & ~made.nodes & ~picked, int(count or 0) - int(picked.sum()))
        if int(picked.sum()) < int(count or 0):
            raise InputError("Requested nodes are busy")
        return picked

    def _beside(self, made: Standing, times: Times) -> Iterator[Standing]:
        """Others that stand at the same time, if only in a turn of the week."""
        for one in self.standing.values():
            start, end, _ = self.times[one.number]
            if one.number != made.number and meet(
                (times.start, times.end, made.flags), (start, end, one.flags)
            ):
                yield one

    def _refuse(self, made: Standing, times: Times, runs: Runs, now: int) -> None:
        """Two meet on no node, unless one is MAINT; nor may jobs hold its nodes, by their limits."""
        for one in self._beside(made, times):
            if not {"MAINT"} & (one.flags | made.flags) and (one.nodes & made.nodes).any():
                raise InputError("Requested reservation overlaps with another")
        if "IGNORE_JOBS" in made.flags or not len(runs.end):
            return
        others = [one for one in self.standing.values() if one.number != made.number]
        turns = [
            turn
            for one in others
            for turn in turns_until(one, self.times[one.number], times.end, self.unix_start)
        ]
        begin = max(times.start, now)
        for time in sorted({begin, *(turn.start for turn in turns if begin < turn.start < times.end)}):
            reserved = made.nodes.copy()
            for turn in turns:
                if turn.start <= time < turn.end:
                    reserved |= turn.one.nodes
            there = runs.end > time
            held = np.bincount(runs.module[there], runs.nodes[there], len(self._low) - 1)
            wanted = self.counts(made.nodes) > 0
            if (wanted & (held + self.counts(reserved) > np.diff(self._low))).any():
                raise InputError("Requested nodes are busy")

    # -- what is to come

    def move_on(self, now: int) -> list[Standing]:
        """Go on to the turn that is, or is to come; returns those that are over for good."""
        over = []
        for one in list(self.standing.values()):
            while self.times[one.number].end <= now and repeats(one):
                self.times[one.number] = next_turn(one, self.times[one.number], self.unix_start)
            if self.times[one.number].end <= now:
                over.append(self.forget(one))
        return over

    def turns(self, until: int) -> list[Turn]:
        """Return the turns that begin before ``until``, from those that are on."""
        found = list[Turn]()
        for one in self.standing.values():
            found += turns_until(one, self.times[one.number], until, self.unix_start)
        return found

    def amounts(self, turns: Sequence[Turn], time: int) -> dict[int, Ints]:
        """Return by number how many nodes of each module those have that stand at a time."""
        there = {turn.one.number: turn.one for turn in turns if turn.start <= time < turn.end}
        in_order = [there[number] for number in sorted(there)]
        return {number: self.counts(nodes) for number, nodes in shares(in_order).items()}
