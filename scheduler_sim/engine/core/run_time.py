"""How long a run has done what its run time counts."""

from __future__ import annotations

from scheduler_sim.engine.core.hooks import question
from scheduler_sim.engine.core.state import Core


@question
def time_at_work(core: Core, row: int, end: int) -> int:
    """How much of its run time a job has done by the instant ``end`` of its run, s."""
    return end - core.jobs[row].start
