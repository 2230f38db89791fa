"""What no recording tells of its daemon: who looks first in a second, when it started, how long a turn takes.

A turn takes a little over a second, so that the main scheduler waits 3 or 4 s where slurm.conf says 3
(`batch_sched_delay`). What ends asks for a pass of main 0.4 s later: whether a turn of the loop lies between
the two decides how long it waits in whole seconds. These are facts about the machine of one recording, not
about its workload.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from tests.slurm_oracle.cases import Case


class Phase(NamedTuple):
    """Of a daemon."""

    first: str  # which scheduler looks first within a second
    start: int  # in which second the daemon started
    cleaning_ms: int = 730  # what cleaning takes beyond a second; 0: of kills early in a second
    later_s: int = 0  # so much later than it is told does the main scheduler pass again
    wait_ms: int = 400  # how long what ends waits for the main scheduler

    def keys(self, case: Case) -> dict[str, object]:
        """As keys of ``policy.slurm``."""
        words = dict(word.partition("=")[::2] for word in case.conf.get("SchedulerParameters", "").split(","))
        return {
            "looks_first": self.first,
            "starts_before_s": min(job["submit"] for job in case.jobs) - self.start,
            "batch_sched_delay": int(words.get("batch_sched_delay", 3)) + self.later_s,
            "killed_epilog_ms": self.cleaning_ms,
            "main_wait_ms": self.wait_ms,
        }

    def __str__(self) -> str:
        late = f", {self.later_s} s late" if self.later_s else ""
        early = "" if self.cleaning_ms else ", kills early in a second"
        wait = "" if self.wait_ms == 400 else f", main waits {self.wait_ms} ms"
        return f"{self.first}, daemon at {self.start}{early}{late}{wait}"


ORDERS = ("backfill", "main")
STARTS = range(-11, -6)
PHASES = [
    Phase(first, start, ms, late) for ms, first, start, late in product((730, 0), ORDERS, STARTS, (0, 1))
]
OTHER_WAITS_MS = (0, 700)
KILLED = ("TIMEOUT", "CANCELLED", "PREEMPTED")
UNFITTED = Phase("backfill", -8)
"""One for all: nothing is fitted."""


def phases_of(case: Case) -> list[Phase]:
    """Those that may make a difference: how late in a second jobs are killed matters where any are."""
    killed = case.ops or any(fate[1] in KILLED for run in case.runs for fate in run.fates.values())
    return [phase for phase in PHASES if killed or phase.cleaning_ms]


def with_other_waits(phases: list[Phase]) -> list[Phase]:
    """The same with what ends waiting shorter or longer for the main scheduler."""
    return [phase._replace(wait_ms=wait) for wait in OTHER_WAITS_MS for phase in phases]
