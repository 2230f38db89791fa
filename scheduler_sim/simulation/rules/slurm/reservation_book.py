"""What operators do to advance reservations, by the rules of scontrol: made, changed, deleted, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.config.value import seconds_of
from scheduler_sim.engine.core.state import RUNNING
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.slurm.reservations import looks
from scheduler_sim.engine.rules.slurm.reservations.state import (
    DAILY,
    HOURLY,
    NEVER,
    NOTHING,
    THOSE_DOWN,
    THOSE_TAKEN,
    WEEKDAY,
    WEEKEND,
    WEEKLY,
)
from scheduler_sim.errors import InputError
from scheduler_sim.simulation.rules.slurm.masks import WORD, Masks
from scheduler_sim.simulation.rules.slurm.running import planned_ends
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
from scheduler_sim.system.constraint import parse_constraint
from scheduler_sim.system.reservations import (
    ALL,
    REPEATED,
    ReservationChangeKeys,
    ReservationKeys,
    nodes_named,
)
from scheduler_sim.system.system import System

REPEATS = {"HOURLY": HOURLY, "DAILY": DAILY, "WEEKLY": WEEKLY, "WEEKDAY": WEEKDAY, "WEEKEND": WEEKEND}
EXCHANGES = {"REPLACE": THOSE_TAKEN, "REPLACE_DOWN": THOSE_DOWN}


class Book:
    """The reservations of one simulation.

    Attributes
    ----------
    standing : by name in lower case; those that the core has since purged among them
    names : by number
    answers : to what operators did while the run went on
    """

    def __init__(self, system: System) -> None:
        self.system, self.unix_start = system, 0
        self.has_clock = False
        self.standing: dict[str, Standing] = {}
        self.names: list[str] = []
        self.answers: list[Answer] = []
        self._low = Masks(system).low

    @property
    def most(self) -> int:
        """How many reservations there may be."""
        return len(self.system.reservations)

    def second(self, moment: int | str) -> int:
        """Return a moment in s on the trace's clock."""
        return seconds_of(moment, self.unix_start if self.has_clock else None)

    def create(self, core: FullCore, keys: ReservationKeys, now: int) -> Standing:
        """Make one. Raises InputError with what scontrol says where it refuses."""
        times = times_asked(keys, now, self.second)
        old = self.standing.get(keys.name.lower())
        if old is not None and self._stands(core, old):
            raise InputError("Duplicate reservation name")
        nodes = np.zeros(int(self._low[-1]) * WORD, dtype=bool)
        made = standing(keys, len(self.names), self.system, times, nodes)
        made = self._with_nodes(core, made, keys, times.start, times.end)
        self.names.append(keys.name)
        self._write(core, made, times.start, times.end)
        row = core.reservations.table[made.number]
        row.stands, row.purge = 1, keys.purge_comp_s if "PURGE_COMP" in made.flags else -1
        core.reservations.at.repeated += int(row.repeats != NEVER)
        self.standing[keys.name.lower()] = made
        return made

    def update(self, core: FullCore, keys: ReservationChangeKeys, now: int) -> Standing:
        """Change one. Raises InputError with what scontrol says where it refuses."""
        old = self._known(core, keys.name)
        start, end, duration = self._moved(core, old, keys, now)
        new = replace(old.for_others(keys), duration=duration)
        if keys.nodes:
            new = self._with_named(new, keys.nodes)
        elif keys.node_count is not None:
            new = self._resized(core, new, keys.node_count, start, end)
        self._refuse_overlaps(core, new, start, end)
        self._refuse_busy(core, new, start)
        self._write(core, new, start, end)
        self.standing[keys.name.lower()] = new
        return new

    def delete(self, core: FullCore, name: str) -> Standing:
        """Remove one; not while a job runs in it."""
        old = self._known(core, name)
        rows = np.flatnonzero(core.reservations.claim["of"][: core.clock.jobs] == old.number)
        if (core.jobs["state"][rows] == RUNNING).any():
            raise InputError("Requested reservation is in use")
        looks.delete(core, old.number)
        return self.standing.pop(name.lower())

    def _known(self, core: FullCore, name: str) -> Standing:
        one = self.standing.get(name.lower())
        if one is None or not self._stands(core, one):
            raise InputError("Requested reservation is invalid")
        return self._as_it_is(core, one)

    def _as_it_is(self, core: FullCore, one: Standing) -> Standing:
        """With the nodes that it has by now: it may have exchanged some."""
        return replace(one, nodes=_set(core.reservations.nodes[one.number]))

    def _stands(self, core: FullCore, one: Standing) -> bool:
        return bool(core.reservations.table[one.number].stands)

    def _write(self, core: FullCore, made: Standing, start: int, end: int) -> None:
        """Put one into the core as it is now."""
        row, flags = core.reservations.table[made.number], made.flags
        row.start, row.end = start, end
        row.everything, row.of_partition = int("ALL_NODES" in flags), -1
        if "PART_NODES" in flags:
            row.of_partition = [one.name for one in self.system.partitions].index(made.partition)
        row.maint, row.overlap, row.flex = (
            int("MAINT" in flags),
            int("OVERLAP" in flags),
            int("FLEX" in flags),
        )
        row.any_nodes, row.no_hold = int("ANY_NODES" in flags), int("NO_HOLD_JOBS_AFTER" in flags)
        row.magnetic, row.ignore_jobs = int("MAGNETIC" in flags), int("IGNORE_JOBS" in flags)
        row.partition = [one.name for one in self.system.partitions].index(made.partition)
        row.exchanges = next((EXCHANGES[flag] for flag in EXCHANGES if flag in flags), NOTHING)
        if flags & {"SPEC_NODES", "STATIC_ALLOC"}:
            row.exchanges = NOTHING
        row.repeats = next((REPEATS[flag] for flag in REPEATED if flag in flags), NEVER)
        core.reservations.nodes[made.number] = _words(made.nodes)
        core.reservations.among[made.number] = _words(self._partition(made.partition, made.features))

    def _moved(self, core: FullCore, old: Standing, keys: ReservationChangeKeys, now: int) -> Times:
        """Its times, as far as they are to be others."""
        row = core.reservations.table[old.number]
        now_is = Times(int(row.start), int(row.end), old.duration)
        start, end = (-1 if one is None else self.second(one) for one in (keys.start, keys.end))
        return moved(now_is, keys, Times(start, end, None), now)

    # -- which nodes it gets

    def _with_nodes(
        self, core: FullCore, made: Standing, keys: ReservationKeys, start: int, end: int
    ) -> Standing:
        if keys.nodes:
            made = self._with_named(made, keys.nodes)
            self._refuse_overlaps(core, made, start, end)
            self._refuse_busy(core, made, start)
            return made
        if keys.node_count is None:
            return made
        if "ANY_NODES" in made.flags:  # a count is passed over, and of no nodes it has to have licences
            raise InputError("Requested reservation is invalid")
        among = self._partition(made.partition, made.features)
        return replace(made, nodes=self._picked(core, made, keys.node_count, among, start, end))

    def _with_named(self, made: Standing, words: Sequence[str]) -> Standing:
        """The nodes that words name: all of them are its partition's (PART_NODES), or of the whole system."""
        everything = [word.upper() for word in words] == [ALL]
        if everything and "PART_NODES" in made.flags:
            flags = made.flags | {"SPEC_NODES"}
            return replace(made, nodes=self._partition(made.partition), flags=flags)
        nodes = np.zeros_like(made.nodes)
        for module, numbers in nodes_named(words, [(one.name, one.nodes) for one in self.system.modules]):
            low = int(self._low[module]) * WORD
            nodes[low + numbers.start : low + numbers.stop] = True
        flags = made.flags - {"ALL_NODES"} | ({"ALL_NODES"} if everything else set()) | {"SPEC_NODES"}
        return replace(made, nodes=nodes, flags=flags)

    def _partition(self, name: str, features: str = "") -> Flags:
        """The nodes of a partition that have what is asked for."""
        wanted = parse_constraint(features)
        nodes = np.zeros(int(self._low[-1]) * WORD, dtype=bool)
        low = int(self._low[self.system.module_index(self.system.partition(name).module)]) * WORD
        for one, numbers in self.system.sets_of(name):
            nodes[low + numbers.start : low + numbers.stop] = wanted.holds_for(one.features)
        return nodes

    def _resized(self, core: FullCore, new: Standing, count: int, start: int, end: int) -> Standing:
        """Idle nodes go first; nodes that come are picked as for a new one."""
        flags, fewer = new.flags - {"ALL_NODES"}, int(new.nodes.sum()) - count
        if fewer < 0:
            among = self._partition(new.partition, new.features) & ~new.nodes
            return replace(
                new, flags=flags, nodes=new.nodes | self._picked(core, new, -fewer, among, start, end)
            )
        idle = np.flatnonzero(new.nodes & _set(core.slurm.sets.idle & ~core.slurm.sets.leaving))
        nodes = new.nodes.copy()
        nodes[idle[:fewer]] = False
        return replace(new, flags=flags, nodes=lowest(nodes, count))

    def _picked(
        self, core: FullCore, made: Standing, count: int, among: Flags, start: int, end: int
    ) -> Flags:
        """The lowest that are free of jobs and reservations then; MAINT and OVERLAP take reserved ones, too.

        More than there are is as many as there are.
        """
        among = among & _set(core.slurm.sets.up)
        beside = np.zeros_like(among)
        for one in self._others(core, made, start, end):
            beside |= one.nodes
        picked = np.zeros_like(among)
        for kind in [among & ~beside, *([among] if made.may_overlap else [])]:
            left = count - int(picked.sum())
            if left > 0 and (kind & ~picked).any():
                picked |= self._picked_of_a_kind(core, made, left, kind & ~picked, start)
        if not picked.any():
            raise InputError("Requested nodes are busy")
        return picked

    def _picked_of_a_kind(self, core: FullCore, made: Standing, count: int, kind: Flags, start: int) -> Flags:
        count, ignores = min(count, int(kind.sum())), "IGNORE_JOBS" in made.flags
        if ignores and count == int(kind.sum()):
            return kind
        running = [held for held, ends, _ in self._running(core) if ends >= start]
        free = kind.copy()
        for held in running:
            free &= ~held
        for held in running if ignores else []:  # their nodes are taken job by job, until they suffice
            if int(free.sum()) >= count:
                break
            free |= held & kind
        return lowest(free, count) if int(free.sum()) >= count else np.zeros_like(free)

    def _others(self, core: FullCore, made: Standing, start: int, end: int) -> list[Standing]:
        """Those that stand at the same time, if only in a turn of the week."""
        others = []
        for one in self.standing.values():
            row = core.reservations.table[one.number]
            theirs = (int(row.start), int(row.end), one.flags)
            if one.name != made.name and row.stands and meet((start, end, made.flags), theirs):
                others.append(self._as_it_is(core, one))
        return others

    def _refuse_overlaps(self, core: FullCore, made: Standing, start: int, end: int) -> None:
        """Two meet on no node, unless one of them may."""
        for one in self._others(core, made, start, end):
            if not one.may_overlap and not made.may_overlap and (one.nodes & made.nodes).any():
                raise InputError("Requested reservation overlaps with another")

    def _refuse_busy(self, core: FullCore, made: Standing, start: int) -> None:
        """No job of others may run on its nodes beyond its start."""
        if "IGNORE_JOBS" in made.flags:
            return
        for held, ends, claim in self._running(core):
            if claim != made.number and ends > start and (held & made.nodes).any():
                raise InputError("Requested nodes are busy")

    def _running(self, core: FullCore) -> list[tuple[Flags, int, int]]:
        """Nodes, planned end and reservation of what runs, in the order of the trace."""
        found = []
        for row, end in planned_ends(core).items():
            held = (
                self._shared(core, int(core.jobs[row].placed))
                if has(core, "cons_tres")
                else _nodes_of(core, row)
            )
            found.append((held, end, int(core.reservations.claim[row].of)))
        return found

    def _shared(self, core: FullCore, placement: int) -> Flags:
        """The nodes of which a placement has shares."""
        it, first = core.placements[placement], int(core.shared_nodes.request[placement].slot)
        begin = int(core.shared_nodes.module[it.module].begin)
        numbers = core.shared_nodes.slots[first : first + int(it.nodes)] - begin
        held = np.zeros(int(self._low[-1]) * WORD, dtype=bool)
        held[int(self._low[it.module]) * WORD + numbers] = True
        return held


def _nodes_of(core: FullCore, row: int) -> Flags:
    """The nodes that a job has to itself."""
    words = np.zeros(len(core.slurm.sets.idle), dtype=np.uint64)
    piece = int(core.slurm.job[row].piece)
    while piece >= 0:
        it = core.slurm.nodes.piece[piece]
        words[it.word] |= it.bits
        piece = int(it.next)
    return _set(words)


def _words(nodes: Flags) -> NDArray[np.uint64]:
    return np.packbits(nodes, bitorder="little").view("<u8").astype(np.uint64)


def _set(words: NDArray[np.uint64]) -> Flags:
    return np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little").astype(bool)
