"""How long a job waited for or because of an advance reservation under policy slurm, by squeue's reasons.

What a result states of turns and nodes counts: of those whose turns it does not state, nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.report.reserved_bands import bands, is_told, turns
from scheduler_sim.units import MINUTE

Keys = Mapping[str, Any]

WAITS = "Reservation"
MAINTENANCE = "ReqNodeNotAvail, Reserved for maintenance"
DELETED = "ReservationDeleted"

GONE = "reservation is gone"
REFUSED = {
    "access denied": "Access denied to requested reservation",
    "no such reservation": "Requested reservation is invalid",
}
"""What Slurm says at a submission, by our reason."""


def reserved_seconds(manifest: Keys, facts: Keys, first: int, last: int) -> dict[str, int]:
    """Return seconds from ``first`` to ``last``, those of a job's wait, by reason.

    Of a job that names a reservation: how long that did not stand. Of others: how long one of all nodes of
    its module met the time from then to its limit.
    """
    if last <= first:
        return {}
    if facts.get("reservation"):
        name = str(facts["reservation"]).lower()
        own = [one for one in manifest.get("reserved") or () if str(one["name"]).lower() == name]
        if not own or not is_told(own[0]) or "FLEX" in own[0]["flags"] or _was_drawn(own[0]):
            return {}
        stood = _covered(list(turns(own[0], first, last)), first, last)
        return {WAITS: last - first - stood}
    limit = -(-max(int(facts["time_limit"]), 0) // MINUTE) * MINUTE
    module = str(facts["module"])
    capacity = int((manifest.get("modules") or {}).get(module, -1))
    held: dict[tuple[str, int, int], int] = {}
    for one in bands(manifest, module, first, last + limit):
        key = (one.name, one.start, one.end)
        held[key] = held.get(key, 0) + one.high - one.low
    whole = [(start - limit, end) for (_, start, end), nodes in held.items() if nodes == capacity]
    return {MAINTENANCE: _covered(whole, first, last)}


def _was_drawn(one: Keys) -> bool:
    """Whether its jobs may not have named it."""
    return "MAGNETIC" in one["flags"]


def _covered(spans: list[tuple[int, int]], first: int, last: int) -> int:
    """How many seconds between two moments lie in some of the spans."""
    times: Ints = np.array(sorted(spans), dtype=np.int64).reshape(-1, 2).clip(first, last)
    if not len(times):
        return 0
    reached = np.maximum.accumulate(np.append(first, times[:-1, 1]))
    return int(np.maximum(times[:, 1] - np.maximum(times[:, 0], reached), 0).sum())
