"""How many jobs of a partition may have a core at once: Slurm's OverSubscribe."""

from __future__ import annotations

import re
from typing import NamedTuple

from scheduler_sim.errors import InputError

BY_DEFAULT = 4
"""Jobs of YES and FORCE without a number."""

MOST_JOBS = 1000

ALLOWED = f"NO, YES[:jobs] from 2, FORCE[:jobs] from 1, to {MOST_JOBS} jobs"


class OverSubscribe(NamedTuple):
    """What a partition says.

    Attributes
    ----------
    force : cores are shared by all jobs, not only by those that ask for it
    jobs : how many may have a core at once
    """

    force: bool = False
    jobs: int = 1

    @classmethod
    def read(cls, text: str) -> OverSubscribe:
        """Read ``NO``, ``YES``, ``YES:2``, ``FORCE``, ``FORCE:1``; raises InputError."""
        match = re.fullmatch(r"(NO)|(YES|FORCE)(?::([0-9]{1,4}))?", text, re.IGNORECASE)
        if match is None:
            raise InputError(f"found {text[:60]!r}; allowed: {ALLOWED}")
        if match[1]:
            return cls()
        force, jobs = match[2].upper() == "FORCE", int(match[3] or BY_DEFAULT)
        if not (1 if force else 2) <= jobs <= MOST_JOBS:
            raise InputError(f"found {text[:60]!r}; allowed: {ALLOWED}")
        return cls(force, jobs)

    def __str__(self) -> str:
        """As ``read`` reads it."""
        return f"{'FORCE' if self.force else 'YES'}:{self.jobs}" if self.force or self.jobs > 1 else "NO"
