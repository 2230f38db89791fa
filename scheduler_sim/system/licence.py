"""Which licences a component asks for, in the notation of the MWF and of Slurm.

``matlab:2&ansys`` asks for two of one and one of the other (a comma or semicolon also
means and), ``matlab|octave`` for either; ``&`` binds tighter than ``|``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from scheduler_sim.errors import InputError

NO_LICENCE = ("", "NA", "-1", "0", "any", "no", "none")  # "any" as in the DEEP-EST sample traces
MAX_CHARACTERS = 1000


def parse_licences(text: str) -> list[dict[str, int]]:
    """Read a licence request: one dict of name and number for each alternative.

    No request is one alternative that asks for nothing. Raises InputError on nonsense.
    """
    return [dict(alternative) for alternative in _alternatives(text)]


@lru_cache(maxsize=4096)
def _alternatives(text: str) -> tuple[tuple[tuple[str, int], ...], ...]:
    if text.strip() in NO_LICENCE:
        return ((),)
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"licence request of {len(text)} characters; allowed: at most {MAX_CHARACTERS}")
    return tuple(_together(alternative, text) for alternative in text.split("|"))


def _together(alternative: str, text: str) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for item in re.split(r"[&,;]", alternative):
        match = re.fullmatch(r"\s*([^\s:*()\[\]]+)(?::0*([1-9][0-9]{0,8}))?\s*", item)
        if match is None:
            allowed = "name or name:count with a count >= 1, joined by & and |"
            raise InputError(f"licences {text[:80]!r}: found {item.strip()[:80]!r}; allowed: {allowed}")
        counts[match[1]] = counts.get(match[1], 0) + int(match[2] or 1)
    return tuple(counts.items())
