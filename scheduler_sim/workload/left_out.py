"""Lines of a trace that cannot be read: the first is an error, or all of them are left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.errors import TraceError

if TYPE_CHECKING:
    from scheduler_sim.workload.block_columns import Block
    from scheduler_sim.workload.comments import Comments
    from scheduler_sim.workload.table import Workload

SHOWN = 3
"""So many of the lines that are left out are shown."""

OF_A_JOB = "of a job with such a line"
"""Lines that can be read, of jobs of several components of which another line cannot."""


class LeftOut:
    """What is left out of a trace.

    Attributes
    ----------
    skips : whether lines are left out; else whoever finds one raises what is wrong with it
    """

    def __init__(self, skips: bool = False) -> None:
        self.skips = skips
        self._counts: Counter[str] = Counter()
        self._first: dict[str, list[TraceError]] = {}

    @property
    def total(self) -> int:
        """Lines that are left out."""
        return self._counts.total()

    def add(self, error: TraceError, lines: int = 1, kind: str = "") -> None:
        """Count lines with a fault, of which the error tells the first; without a kind, its message is it."""
        kind = kind or error.message
        self._counts[kind] += lines
        first = self._first.setdefault(kind, [])
        if len(first) < SHOWN:
            first.append(error)

    def add_of_jobs(self, lines: int) -> None:
        """Count lines that go with others of their jobs."""
        if lines:
            self._counts[OF_A_JOB] += lines

    def checked(self, block: bytes, first: int, check: Callable[[bytes, int], None]) -> bytes:
        """Return a block of lines with an empty one in the place of each that ``check`` raises an error for.

        So all lines keep their numbers, of which ``first`` is that of the first.
        """
        kept = []
        for number, line in enumerate(block.split(b"\n")[:-1], start=first):
            try:
                check(line, number)
            except TraceError as error:
                self.add(error)
                line = b""
            kept.append(line)
        return b"\n".join([*kept, b""])

    def first(self) -> list[TraceError]:
        """Return the first faults of each kind, by line, or by row where rows are no lines."""
        return sorted((error for errors in self._first.values() for error in errors), key=_place)

    def notes(self, what: str = "line", made: str = "left out") -> tuple[str, ...]:
        """Return a sentence on what is ``made`` of it, by kind, with the first of it; none if nothing is."""
        if not self._counts:
            return ()
        total = self.total
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self._counts.most_common())
        shown = "; ".join(map(str, self.first()[:SHOWN]))
        return (f"{total:,} {what}{'s' * (total > 1)} {made}: {kinds}; the first: {shown}",)

    def nothing_left(self, name: str) -> TraceError:
        """Return the error for a trace of which no record can be read."""
        first = "".join(map(str, self.first()[:1]))
        return TraceError(
            f"no record can be read, {self.total:,} left out: {first}",
            file=name,
            allowed="at least one record",
        )


def _place(error: TraceError) -> tuple[bool, int]:
    row = 0 if error.rows is None else int(error.rows[0])
    return error.line is None, row if error.line is None else error.line


@dataclass
class JobsLeftOut:
    """The jobs of lines that are left out, as far as these tell them."""

    known: set[int] = field(default_factory=set)
    some_unknown: bool = False

    def add(self, job: int | None) -> None:
        """Note the job of a line, None for one that does not tell it."""
        if job is None or job < 0:
            self.some_unknown = True
        else:
            self.known.add(job)

    def rows(self, jobs: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Return the records (int64[n]) that go with them, of the jobs and their numbers of components.

        Where a line did not tell its job, all go of jobs that say to have more components than are there.
        """
        gone = np.isin(jobs, list(self.known))
        if self.some_unknown:
            _, job, there = np.unique(jobs, return_inverse=True, return_counts=True)
            gone |= (total > 1) & (there[job] < total)
        return np.flatnonzero(gone)


def built(
    workload: Callable[[Block, Comments], Workload],
    records: Block,
    comments: Comments,
    left: LeftOut,
    jobs: np.ndarray | None = None,
) -> Workload:
    """Return what ``workload`` makes of the columns of a file, where lines are left out without faulty ones.

    With a record its job goes, where ``jobs`` (int64[records]) tells which are of one.
    """
    if not left.skips:
        return workload(records, comments)
    kept = np.arange(len(records[0]))
    while True:
        try:
            return workload([column.take(kept) for column in records], comments)
        except TraceError as error:
            if error.rows is None:
                raise
            left.add(error, len(error.rows))
            gone = error.rows
            if jobs is not None:
                gone = np.flatnonzero(np.isin(jobs[kept], jobs[kept[gone]]))
                left.add_of_jobs(len(gone) - len(error.rows))
            if len(gone) == len(kept):
                raise left.nothing_left(comments.name) from None
            kept, comments = np.delete(kept, gone), comments.without(gone)
