"""Heterogeneous jobs in the plain model of Slurm: what a backfill cycle knows of their components.

Read in backfill.c (`_het_job_start_set`, `_het_job_start_find`, `_het_job_deadlock_test`,
`_het_job_start_test` of 22.05; `_pack_...` of 19.05). A job is a list of components, of which the first has
the id that `Job.het` names. Nothing is remembered from one cycle to the next.
"""

from __future__ import annotations

from tests.oracle.plain_slurm_records import PENDING, Job

YEAR = 365 * 86400


class HetStarts:
    """One cycle's known starts: `known[job][component]`, `planned[partition]` = [[job, start], ...]."""

    def __init__(self, now: int):
        self.now = now
        self.known: dict[int, dict[int, int]] = {}
        self.planned: dict[str, list[list[int]]] = {}

    def have_turn(self, job: Job) -> None:
        """Until a start is found, it is a year away."""
        if job.het:
            self.known.setdefault(job.het, {}).setdefault(job.id, self.now + YEAR)

    def not_before(self, job: Job) -> int:
        """The latest start known of the other components."""
        others = self.known.get(job.het, {}) if job.het else {}
        return max((start for number, start in others.items() if number != job.id), default=0)

    def note(self, job: Job, start: int) -> None:
        """The earliest of all starts found for a component stays, whether it then reserves or not."""
        if job.het:
            self.known[job.het][job.id] = min(self.known[job.het][job.id], start)

    def deadlock(self, job: Job, part: str, start: int) -> bool:
        """Jobs of each partition in order of their starts, last first: is one before this job here, and
        elsewhere starts before this job does here?"""
        if not job.het:
            return False
        here = self.planned.setdefault(part, [])
        own = next((entry for entry in here if entry[0] == job.het), None)
        if own is None:
            own = [job.het, start]
            here.append(own)
        own[1] = max(own[1], start)
        here.sort(key=lambda entry: -entry[1])
        for elsewhere, there in self.planned.items():
            starts = dict(map(tuple, there))
            if elsewhere == part or job.het not in starts:
                continue
            for number, _ in here[: here.index(own)]:
                if starts.get(number, own[1]) < own[1]:
                    return True
        return False

    def to_start(self, families: dict[int, list[Job]]) -> list[list[Job]]:
        """The jobs of which every component had its turn, waits, and is known to start by now."""
        return [
            families[number]
            for number, starts in self.known.items()
            if all(job.state == PENDING and starts.get(job.id, YEAR) <= self.now for job in families[number])
        ]
