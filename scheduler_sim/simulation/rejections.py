"""Why components were rejected: as no placement can ever hold them, or at their submission."""

from __future__ import annotations

import numpy as np

from scheduler_sim.engine.core.state import REJECTED
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.candidate_placements import REASONS
from scheduler_sim.placement.placements import Placements
from scheduler_sim.texts import TextColumn

POWER_CAP = "power_cap"
AT_SUBMISSION = ("limit", "reservation", "no_room")
WORDS = ("", *REASONS, POWER_CAP, *AT_SUBMISSION)
"""Why, in the order in which it is counted; the first is of those that were not rejected.

``Placements.why`` counts from the second.
"""


def why_rejected(core: FullCore, placements: Placements) -> TextColumn:
    """Return why each component was rejected, in the order of ``placements``; nothing of others."""
    rows = len(placements.rows)
    none = np.diff(placements.first) == 0
    known = none & (placements.why >= 0)
    code = np.where(known, placements.why + 1, np.where(none, WORDS.index(POWER_CAP), 0))
    tried = (core.jobs["state"][:rows] == REJECTED) & ~none
    if tried.any():
        code[tried] = WORDS.index("no_room")
        for part in ("reservations", "holes"):
            if has(core, part):
                code[tried & (np.asarray(getattr(core, part).claim)["refused"][:rows] > 0)] = WORDS.index(
                    "reservation"
                )
        if has(core, "resource_limits"):
            limited = np.asarray(core.resource_limits.job)["last_reason"][:rows] > 0
            code[tried & limited] = WORDS.index("limit")
    return TextColumn(code, WORDS)


def count_rejected(why: TextColumn) -> dict[str, int]:
    """Return how many were rejected, by reason."""
    counts = np.bincount(why.codes, minlength=len(WORDS)).tolist()
    return {name: counts[code] for code, name in enumerate(WORDS) if code and counts[code]}
