"""What no recording tells of its daemon: who looks first in a second, when it started, how long a turn takes.

A turn takes a little over a second, so that the main scheduler waits 3 or 4 s where slurm.conf says 3
(`batch_sched_delay`). These are facts about the machine of one recording, not about its workload.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from tests.slurm_oracle.cases import Case


class Phase(NamedTuple):
    """Of a daemon."""

    first: str  # which scheduler looks first within a second
    start: int  # in which second the daemon started
    later_s: int = 0  # so much later than it is told does the main scheduler pass again

    def keys(self, case: Case) -> dict[str, object]:
        """As keys of ``policy.slurm``."""
        words = dict(word.partition("=")[::2] for word in case.conf.get("SchedulerParameters", "").split(","))
        return {
            "looks_first": self.first,
            "starts_before_s": min(job["submit"] for job in case.jobs) - self.start,
            "batch_sched_delay": int(words.get("batch_sched_delay", 3)) + self.later_s,
        }

    def __str__(self) -> str:
        late = f", {self.later_s} s late" if self.later_s else ""
        return f"{self.first}, daemon at {self.start}{late}"


ORDERS = ("backfill", "main")
STARTS = range(-11, -6)
PHASES = [Phase(*one) for one in product(ORDERS, STARTS, (0, 1))]
UNFITTED = Phase("backfill", -8)
"""One for all: nothing is fitted."""
