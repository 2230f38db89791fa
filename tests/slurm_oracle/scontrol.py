"""What operators did to reservations while a case was recorded: the words of scontrol."""

from __future__ import annotations

import re

from tests.oracle.plain_reservation_records import NODES_ARE_ALL, Change, Request
from tests.slurm_oracle.cases import Case


def changes_of(case: Case) -> list[Change]:
    """What was done with scontrol, in its words."""
    return [_change(op["t"], op["args"][1:]) for op in case.ops if op["op"] == "run"]


def _change(time: int, words: list[str]) -> Change:
    """``create reservation Name=Value ...`` or ``update ReservationName=...``; times are ``@60``."""
    keys = dict(word.split("=", 1) for word in words if "=" in word)
    request = Request(
        start=_second(keys.get("StartTime")),
        end=_second(keys.get("EndTime")),
        nodes=_nodes(keys.get("Nodes")),
        node_count=int(keys["NodeCnt"]) if "NodeCnt" in keys else None,
        partition=keys.get("PartitionName", ""),
        users=tuple(filter(None, keys.get("Users", "").split(","))),
        flags=tuple(filter(None, keys.get("Flags", "").split(","))),
    )
    return Change(time, words[0], keys["ReservationName"], request)


def clock_s(clock: str) -> int:
    """``00:01:20`` in seconds."""
    hours, minutes, seconds = map(int, clock.split(":"))
    return (hours * 60 + minutes) * 60 + seconds


def _second(text: str | None) -> int | None:
    return None if text is None else int(text.removeprefix("@"))


def _nodes(text: str | None) -> set[int] | str | None:
    """``n[1-3]`` is the first three."""
    if text is None or text == "ALL":
        return text and NODES_ARE_ALL
    first, last = re.fullmatch(r"n\[(\d+)-(\d+)\]", text).groups()
    return set(range(int(first) - 1, int(last)))
