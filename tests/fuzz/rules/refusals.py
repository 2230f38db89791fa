"""Refusals by sentence: what is named and counted in one is not what it says."""

from __future__ import annotations

import re

WAYS_OUT = re.compile(r"\ballowed\b|\bdid you mean\b")
"""How an error says what to do instead."""


def sentence(said: str) -> str:
    """Return a refusal without names and numbers; several lines are several problems, the first counts."""
    first = said.splitlines()[0]
    return re.sub(r"-?\d+(\.\d+)?", "N", re.sub(r"'[^']*'", "'…'", first))[:400]


def names_no_way_out(said: str) -> bool:
    """Whether a refusal says what is wrong, but not what is allowed in its place."""
    return not all(WAYS_OUT.search(line) for line in said.splitlines())
