"""Advance reservations of a system: nodes kept for some users from a time on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reservation:
    """An advance reservation that stands when a run begins. Times in s of the trace's clock."""

    name: str
    start: int
    end: int
    nodes: tuple[int, ...] = ()  # of the module; none: all
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    purge_comp_s: int = 300
