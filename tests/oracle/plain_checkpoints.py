"""Checkpoints in the plain models: what a run does, second by second, and what is left when it is cut off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from tests.oracle.plain_outages import Event, SharedWithOutages
from tests.oracle.plain_packing import Draw
from tests.oracle.plain_shared_records import Node
from tests.oracle.records import Component, Rules


@dataclass(frozen=True)
class Writes:
    """It works for so long from one checkpoint to the next; each takes a while, and to go on from one."""

    interval: int
    cost: int
    restart: int


class Told(NamedTuple):
    """Of a run: work left at its start, seconds of complete checkpoints, of restarting, and lost."""

    work: int
    checkpoint: int
    restart: int
    lost: int


class Application:
    """A job's program: how much work is left by its last checkpoint, if there is one."""

    def __init__(self, work: int, writes: Writes) -> None:
        self.work, self.writes = work, writes
        self.left, self.has_checkpoint = work, False

    def tape(self) -> tuple[list[str], dict[int, int]]:
        """What it does in each second of a run, and how much work is left at the end of each checkpoint."""
        seconds = ["restart"] * self.writes.restart if self.has_checkpoint else []
        left, since, ends = self.left, 0, {}
        while left > 0:
            seconds.append("work")
            left, since = left - 1, since + 1
            if since == self.writes.interval and left > 0:
                seconds += ["checkpoint"] * self.writes.cost
                ends[len(seconds)] = left
                since = 0
        return seconds, ends

    def run_time(self) -> int:
        return len(self.tape()[0])

    def cut_off(self, after: int) -> Told:
        """Its run is cut off: it will go on from the last checkpoint that is complete."""
        seconds, ends = self.tape()
        done = [time for time in ends if time <= after]
        begun, last = self.left, max(done, default=0)
        told = Told(
            begun,
            seconds[:last].count("checkpoint"),
            seconds[:after].count("restart"),
            after - last - (0 if done else seconds[:after].count("restart")),
        )
        if done:
            self.left, self.has_checkpoint = ends[last], True
        return told

    def ended(self, after: int) -> Told:
        """Its last run has ended, by itself or by its limit: nothing of it is lost."""
        seconds, ends = self.tape()
        last = max((time for time in ends if time <= after), default=0)
        return Told(self.left, seconds[:last].count("checkpoint"), seconds[:after].count("restart"), 0)


class SharedWithCheckpoints(SharedWithOutages):
    """The reference clock; some rows write checkpoints. ``told`` are their runs."""

    def __init__(
        self,
        components: list[Component],
        nodes: list[Node],
        rules: Rules,
        events: list[Event],
        writes: Mapping[int, Writes],
        draw: Draw | None = None,
    ) -> None:
        super().__init__(components, nodes, rules, events, draw)
        self.programs = {row: Application(self.work_of(row), one) for row, one in writes.items()}
        self.told: dict[int, list[Told]] = {row: [] for row in writes}
        for row in writes:
            self.take(row)

    def work_of(self, row: int) -> int:
        return self.components[row].placements[0].run

    def take(self, row: int) -> None:
        """From now on its runs take as long as its program says."""
        one = self.components[row]
        (place,) = one.placements
        changed = replace(one, placements=(replace(place, run=self.programs[row].run_time()),))
        self.to_submit = [changed if other is one else other for other in self.to_submit]
        self.components[row] = changed

    def lose(self, row: int, *, requeue: bool) -> None:
        if row in self.programs:
            self.told[row].append(self.programs[row].cut_off(self.now - self.outcomes[row].start))
            if requeue:
                self.take(row)
        super().lose(row, requeue=requeue)

    def end(self, component: Component) -> None:
        row = component.row
        if row in self.programs:
            self.told[row].append(self.programs[row].ended(self.now - self.outcomes[row].start))
        super().end(component)
