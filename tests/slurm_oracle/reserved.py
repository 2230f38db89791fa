"""The recorded cases with advance reservations, played by the plain model."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.oracle.plain_reservation_records import NODES_ARE_ALL, Change, Request
from tests.oracle.plain_reserved_slurm import ReservedSlurm
from tests.slurm_oracle.cases import Case, Fate, Run
from tests.slurm_oracle.plain import plain_config, plain_jobs


def play_reserved(case: Case, run: Run, **settings: object) -> list[Fate]:
    """What the plain model makes of the case."""
    slurm = reserved_slurm(case, run, **settings)
    slurm.run(until=20_000)
    return [(job.id, slurm.ended_as(job), job.start, job.end) for job in slurm.jobs]


def reserved_slurm(case: Case, run: Run, **settings: object) -> ReservedSlurm:
    given = {job["id"]: job for job in case.jobs}
    jobs = [replace(job, reservation=given[job.id].get("reservation", "")) for job in plain_jobs(case)]
    return ReservedSlurm(plain_config(case, run, settings), jobs, changes_of(case))


def changes_of(case: Case) -> list[Change]:
    """What was done with scontrol, in its words."""
    return [_change(op["t"], op["args"][1:]) for op in case.ops]


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


def _second(text: str | None) -> int | None:
    return None if text is None else int(text.removeprefix("@"))


def _nodes(text: str | None) -> set[int] | str | None:
    """``n[1-3]`` is the first three."""
    if text is None or text == "ALL":
        return text and NODES_ARE_ALL
    first, last = re.fullmatch(r"n\[(\d+)-(\d+)\]", text).groups()
    return set(range(int(first) - 1, int(last)))
