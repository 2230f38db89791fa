"""Nodes in the plain model of Slurm: which a job gets, and which a backfill cycle has promised away."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Record:
    begin: int
    end: int
    nodes: set[int]


class Space:
    """The plan of a backfill cycle: which nodes no reservation holds, record after record in time."""

    def __init__(self, begin: int, end: int, nodes: set[int], every_boundary: bool = False):
        self.every_boundary = every_boundary
        self.records = [Record(begin, end, set(nodes))]
        self.made = 1  # records made so far: those that are joined again count, too
        self.full = False

    def available(self, own: set[int], start: int, end: int) -> tuple[set[int], int]:
        """Nodes of `own` that are in no reservation from start to end, both included; the next to try."""
        avail = set(own)
        later = 0
        for i, record in enumerate(self.records):
            following = self.records[i + 1 : i + 2]
            news = any(
                self.every_boundary or not (own & other.nodes) <= (avail & record.nodes)
                for other in following
            )
            if record.end > start and news and not later:
                later = record.end
            if record.end <= start:
                continue
            if record.begin > end:
                break
            avail &= record.nodes
        return avail, later

    def overlaps(self, nodes: set[int], begin: int, end: int) -> bool:
        return any(r.end > begin and r.begin < end and not nodes <= r.nodes for r in self.records)

    def reserve(self, nodes: set[int], begin: int, end: int) -> None:
        begin = max(begin, self.records[0].begin)
        for moment in (begin, end):
            for i, record in enumerate(self.records):
                if record.begin < moment < record.end:
                    self.made += 1
                    self.records[i : i + 1] = [
                        Record(record.begin, moment, set(record.nodes)),
                        Record(moment, record.end, set(record.nodes)),
                    ]
                    break
        for record in self.records:
            if begin <= record.begin and record.end <= end:
                record.nodes -= nodes
        for i in range(len(self.records) - 1):
            a, b = self.records[i], self.records[i + 1]
            if a.nodes == b.nodes:
                self.records[i : i + 2] = [Record(a.begin, b.end, a.nodes)]
                break


def best_fit(usable: set[int], want: int) -> set[int]:
    """The tightest run of consecutive nodes that is long enough; else the longest, then what is missing."""
    runs: list[list[int]] = []
    for node in sorted(usable):
        if runs and runs[-1][-1] == node - 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    chosen: set[int] = set()
    while len(chosen) < want:
        rest = want - len(chosen)
        enough = [run for run in runs if len(run) >= rest]
        run = min(enough, key=len) if enough else max(runs, key=len)
        chosen |= set(run[:rest])
        runs.remove(run)
    return chosen
