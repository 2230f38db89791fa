"""The tables of a result as the audit reads them: pieces of time in which jobs were at work on nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scheduler_sim import Result
from tests.fuzz.rules.plays import Case, FoundError, Play

Row = dict[str, Any]


@dataclass(frozen=True)
class Piece:
    """Time in which a component was at work: s, and the row of its component or of a lost run."""

    start: int
    end: int
    row: Row

    @property
    def is_last(self) -> bool:
        """Whether it is of the last run, of which the table of components knows the nodes."""
        return "submit_time" in self.row


class Tables:
    """What a play has left: the tables, the case they are of, and what operators have done."""

    def __init__(self, result: Result, play: Play) -> None:
        self.case: Case = play.case
        self.ids = play.ids
        self.done = {operation["does"] for operation in play.done}
        self.components = result.components
        self.timeline = result.timeline
        self.metrics = result.metrics
        self.rows: list[Row] = _rows(result.components)
        self.lost: list[Row] = _rows(result.runs)
        self.by_id = {row["component_id"]: row for row in self.rows}
        self.modules = {one["name"]: one for one in self.case["system"]["modules"]}
        self.asked = {job["component_id"]: job for job in self.case["jobs"]}

    @cached_property
    def ran(self) -> list[Row]:
        return [row for row in self.rows if row["start_time"] >= 0]

    @cached_property
    def pieces(self) -> list[Piece]:
        """Pieces of all runs, lost ones included, without suspensions."""
        known = {(row["component_id"], row["start_time"]) for row in self.ran}
        earlier = [row for row in self.lost if (row["component_id"], row["start_time"]) not in known]
        again = {(row["component_id"], row["start_time"]): row for row in self.lost}
        last = [row | {"lost": again.get((row["component_id"], row["start_time"]))} for row in self.ran]
        return [piece for row in (*earlier, *last) for piece in _pieces(row)]

    @property
    def takes_turns(self) -> bool:
        """Whether several jobs may have the same core or node."""
        slurm = self.case["policy"].get("slurm", {})
        shared = [one.get("slurm", {}) for one in self.case["system"].get("partitions", [])]
        return "GANG" in slurm.get("PreemptMode", "") or any("OverSubscribe" in one for one in shared)

    @property
    def boots_s(self) -> int:
        """For how long at most, in s, a job may have its nodes before it starts: under Slurm they boot for it."""
        energy = (self.case["models"] or {}).get("energy", {})
        if "slurm" not in self.case["policy"] or "idle_off" not in energy:
            return 0
        modules = energy["power"]["modules"]
        return max(one["shutdown"]["time_s"] + one["boot"]["time_s"] for one in modules if "boot" in one)

    def keys(self, name: str) -> Any:
        return self.case["policy"].get("slurm", {}).get(name)


def _rows(table: Any) -> list[Row]:
    return table.to_dict("records")  # type: ignore[no-any-return]


def _pieces(row: Row) -> Iterator[Piece]:
    """Yield when a run was at work: from its start to its end, but for its suspensions."""
    at = row["start_time"]
    for first, last in spans(row.get("suspended", "")):
        yield Piece(at, first, row)
        at = last
    yield Piece(at, row["end_time"], row)


def spans(text: Any) -> list[tuple[int, int]]:
    """Read intervals, as ``40-65,90-100``."""
    words = text.split(",") if isinstance(text, str) and text else []
    return [(int(first), int(last)) for first, _, last in (word.partition("-") for word in words)]


def numbers(text: str) -> list[int]:
    """Read numbers of nodes, as ``0-3,7``."""
    made: list[int] = []
    for word in text.split(",") if text else []:
        first, _, last = word.partition("-")
        made += range(int(first), int(last or first) + 1)
    return made


def require_at_most(kind: str, what: str, uses: Iterable[tuple[int, int, float]], most: float) -> None:
    """Raise FoundError unless uses (start, end, amount) that overlap add up to no more than so much."""
    events = sorted(
        event
        for start, end, amount in uses
        if end > start
        for event in ((start, 1, amount), (end, 0, -amount))
    )
    used = 0.0
    for time, _, change in events:
        used += change
        if used > most + 1e-6:
            raise FoundError(kind, f"{what}: {used:g} of {most:g} at {time} s")
