"""What a scheduler may never ask for, in words."""

from __future__ import annotations

from scheduler_sim.engine.rules.own_scheduler import asking
from scheduler_sim.errors import InputError

LAWS = {
    asking.NOT_PENDING: "it is not pending: it has not been submitted, or nodes are reserved for it",
    asking.RUNS: "it is already running; a job starts once",
    asking.OVER: "it has ended",
    asking.IS_HELD: "it is held; release it first",
    asking.NOT_ITS_PLACEMENT: "the placement is not one of this job; allowed: those of job.placements",
    asking.IN_THE_PAST: "that time is not in the future",
    asking.TOO_MANY: "more wake-up times are pending than the number of jobs + 1,024",
    asking.ENDLESS: "it holds and releases jobs in pass after pass at this second, without end; allowed in a"
    " row: as many passes in which no job comes, starts or ends as there are jobs + 1,024",
}
"""Why what was asked for can never be, by the answer of the core."""


class UnlawfulError(InputError):
    """A scheduler asked for what can never be: the text names the job and the law."""


def refused(what: str, job: int | None, now: int, answer: int) -> UnlawfulError:
    """Return the error for what was asked of a job, by its id, at a time (s)."""
    of = "" if job is None else f"job {job} "
    return UnlawfulError(f"{what}: {of}at {now} s: {LAWS[answer]}")
