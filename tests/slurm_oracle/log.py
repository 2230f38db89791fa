"""The log of a slurmctld in a recording, read: every submission, end and pass to the millisecond."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests.slurm_oracle.engine import HET
from tests.slurm_oracle.second_set import TASK, expanded

STARTS = -1


class Deed(NamedTuple):
    """Of a pass: a job that starts (``at`` is STARTS), or is planned to, s of the recording; its nodes."""

    job: int
    at: int
    nodes: tuple[int, ...]


@dataclass
class Happening:
    """What the log has at a moment, s: a submission, an end or a pass, with what that did."""

    time: float
    kind: str  # submit, end, main, full, backfill
    job: int = -1
    number: int = 0  # Slurm's own, of a submission
    deeds: list[Deed] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)
    decided: bool = True  # whether the job tested last has started, or is planned

    @property
    def is_pass(self) -> bool:
        return self.kind in ("main", "full", "backfill")


_LINE = re.compile(r"(-?[\d.]+) (.*)")
_SUBMIT = re.compile(r"_slurm_rpc_submit_batch_job: JobId=(\d+) ")
_DONE = re.compile(r"_job_complete: JobId=(\S+) done")
_TEST = re.compile(r"BACKFILL: test for JobId=(\S+) ")
_PLAN = re.compile(r"_dump_job_sched: BACKFILL: JobId=(\S+) to start at (\S+), end at \S+ on nodes (\S+) in")
_ALLOCATE = re.compile(r"sched: Allocate JobId=(\S+) NodeList=(\S+) ")
_LAID = re.compile(r"laying out the \d+ tasks on \d+ hosts (\S+) dist")
_JOB = re.compile(r"(\d+)(?:_(\d+|\*))?(?:\+(\d+))?(?:\((\d+)\))?$")


class Log:
    """The log of a recording."""

    def __init__(self, recorded: dict[str, Any]) -> None:
        self._numbers = {int(number): job for number, job in recorded["numbers"].items()}
        self.names, self._origin = names_of(recorded), recorded["t0_epoch"]
        self._lines = recorded["log"]

    @property
    def begin(self) -> float:
        """When its first line was written, s."""
        return float(self._lines[0].split()[0])

    def happenings(self) -> list[Happening]:
        """In the order of time."""
        return sorted(self._read(), key=lambda one: one.time)

    def _read(self) -> Iterator[Happening]:
        now: Happening | None = None
        for line in self._lines:
            time, text = _LINE.match(line).groups()
            if found := _SUBMIT.match(text):
                yield Happening(float(time), "submit", self.job(found[1]), int(found[1]))
            elif found := _DONE.match(text):
                yield Happening(float(time), "end", self.job(found[1]))
            elif kind := _pass_of(text):
                if now is not None:
                    yield now
                now = Happening(float(time), kind)
            elif now is not None:
                self._add(now, text)
        if now is not None:
            yield now

    def _add(self, now: Happening, text: str) -> None:
        """What a pass did, by a line of the log."""
        if found := _TEST.search(text):
            now.tests.append(self.job(found[1]))
            now.decided = False
        elif found := _PLAN.search(text):
            now.deeds.append(Deed(self.job(found[1]), self._second(found[2]), self.nodes(found[3])))
            now.decided = True
        elif "No reservation created" in text or "no backfill reservation created" in text:
            now.deeds.pop()
        elif found := _ALLOCATE.search(text):
            now.deeds.append(Deed(self.job(found[1]), STARTS, self.nodes(found[2])))
        elif (found := _LAID.search(text)) and now.kind == "backfill" and not now.decided:
            now.deeds.append(Deed(now.tests[-1], STARTS, self.nodes(found[1])))
            now.decided = True

    def job(self, text: str) -> int:
        """``12``, ``2_3(9)``, ``2_*``, ``3+1(4)``: our id; of ``2_*`` that of the array."""
        number, task, offset, own = _JOB.match(text).groups()
        job = self._numbers.get(int(number), self._numbers.get(int(own or 0)))
        return job + TASK * int(task) if task not in (None, "*") else job + HET * int(offset or 0)

    def _second(self, stamp: str) -> int:
        return int(datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp()) - self._origin

    def nodes(self, text: str) -> tuple[int, ...]:
        """Their numbers in slurm.conf, from 0."""
        return tuple(sorted(self.names.index(name) for name in expanded(text)))


def _pass_of(text: str) -> str:
    if "Running job scheduler for" in text:
        return "full" if "full queue" in text else "main"
    return "backfill" if text.endswith("_attempt_backfill: beginning") else ""


def names_of(recorded: dict[str, Any]) -> list[str]:
    """Of nodes, in the order of slurm.conf."""
    lines = (line.split()[0] for line in recorded["slurm_conf"] if line.startswith("NodeName="))
    return [name for line in lines for name in expanded(line.partition("=")[2])]
