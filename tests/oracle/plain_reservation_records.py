"""Advance reservations in the plain model of Slurm: what an operator asks for, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

NODES_ARE_ALL = "ALL"
REPEATED = ("HOURLY", "DAILY", "WEEKLY", "WEEKDAY", "WEEKEND")
DELETED = "RESV_DEL_HOLD"
YEAR_S = 365 * 86400


@dataclass
class Request:
    """The words of ``scontrol create reservation``; of an update, those that change something.

    Times in seconds, `duration` in minutes. Names with a minus sign in front are those left out.
    """

    start: int | None = None
    end: int | None = None
    duration: int | None = None
    nodes: set[int] | str | None = None  # or ALL
    node_count: int | None = None
    partition: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    purge_comp: int = 300


@dataclass
class Change:
    """Something an operator does to a reservation."""

    time: int
    action: str  # create, update, delete
    name: str
    request: Request = field(default_factory=Request)


@dataclass
class Reservation:
    """A reservation as it stands. Times in seconds, `duration` in minutes."""

    name: str
    start: int
    end: int
    nodes: set[int]
    partition: str
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: set[str] = field(default_factory=set)
    duration: int | None = None  # None: it was given an end
    by_name: bool = False  # its nodes were named
    purge_comp: int = 300

    begun: bool = False  # a look has found its start past
    over: bool = False  # and its end
    idle_since: int | None = None

    @property
    def repeats(self) -> bool:
        return any(flag in self.flags for flag in REPEATED)

    @property
    def overlaps(self) -> bool:
        """Whether it may have nodes of others."""
        return "MAINT" in self.flags or "OVERLAP" in self.flags

    def meets(self, start: int, end: int) -> bool:
        """Whether it has its nodes at some time in between; touching is allowed."""
        return self.start < end and self.end > start


class RefusedError(Exception):
    """What ``scontrol`` says to a request that is refused."""
