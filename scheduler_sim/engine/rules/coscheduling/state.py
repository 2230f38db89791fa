"""What is kept of jobs that start by one plan: units, members, reservations of those that start later."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Table, one, table
from scheduler_sim.engine.core.state import Core


class Unit:
    """What several jobs that start by one plan have in common.

    Their rows are first .. last - 1 of ``member_rows``; what they need is rows rect .. rect_last - 1 of
    ``rect``, and what those need that start at once, rows at_once .. at_once_last - 1.
    """

    leader: int  # the member that stands for all in the queue
    start: int  # -1 until it starts
    first: int
    last: int
    rect: int
    rect_last: int
    at_once: int
    at_once_last: int
    delayed: int  # 1 = not all start at once


class Rect:
    """So many nodes of a pool for so long, from a time after the start of the unit."""

    pool: int
    offset: int
    length: int
    nodes: int


class Member:
    """What a job has besides, where there are units or calls."""

    unit: int  # -1 = none
    whole: int  # ... it was submitted in
    offset: int  # s from the start of the unit to its own
    reserved_from: int  # begin of its reservation, -1 = none yet
    run: int  # s it would take without a limit
    limit: int  # s it asked for
    call: int  # its calls: rows call .. call_last - 1 of ``calls``
    call_last: int


class Coordination:
    """How far the lists reach, and how delays are kept."""

    expected: int  # jobs that have a reservation of their own
    reserved: int  # 1 = only what starts at once is planned, the others are reserved for beside the plan
    extend: int  # 1 = a job that asks for more time gets it, if no other job has a reservation there


class Coscheduling(NamedTuple):
    """Units, members and reservations."""

    at: Coordination
    unit: Table[Unit]
    member_rows: Ints  # members of the units, by offset and trace order
    rect: Table[Rect]
    member: Table[Member]  # [n]
    expected: Ints  # [n + 1] jobs with reservations of their own, at.expected of them, by time and trace


class UnitsCore(Core):
    """A core with units."""

    coscheduling: Coscheduling


class UnitSizes(NamedTuple):
    """How much room units have; none by default."""

    members: int = 0  # as many as rows, or none
    units: int = 0
    member_rows: int = 0
    rects: int = 0


def blank_coscheduling(sizes: UnitSizes) -> Coscheduling:
    """Return units with all their room and nothing in it."""
    made = Coscheduling(
        at=one(Coordination),
        unit=table(Unit, sizes.units),
        member_rows=np.zeros(sizes.member_rows, dtype=np.int64),
        rect=table(Rect, sizes.rects),
        member=table(Member, sizes.members),
        expected=np.zeros(sizes.members + 1, dtype=np.int64),
    )
    for name in ("unit", "whole", "reserved_from"):
        made.member[name] = -1
    made.unit["start"] = -1
    return made
