"""The traces, what of them is held out, and at which instants it is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from scheduler_sim import Policy, System, read_trace, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.prediction.coverage import Truth
from scheduler_sim.units import DAY, HOUR

DATA = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "data" / "traces"
POLICY = "easy"
TWO_MONTHS, WEEK = 61 * DAY, 7 * DAY
AFTER = DAY
"""So long before the last submission the last instant is: what waits then can still be overtaken."""


@dataclass(frozen=True)
class Trace:
    """A trace, and what of it is held out.

    Attributes
    ----------
    title, published : what it is called, and where it is to be had
    nodes : of its machine, as the trace counts them
    held_out : how long the part is that is predicted, s; block : pieces of it that count as independent, s
    every : from one instant to the next, s
    """

    title: str
    published: str
    file: str
    nodes: int
    held_out: int
    block: int
    every: int


PWA = "Parallel Workloads Archive"
TRACES = {
    "kth": Trace("KTH-SP2", PWA, "KTH-SP2-1996-2.1-cln.swf.gz", 100, TWO_MONTHS, WEEK, 6 * HOUR),
    "theta": Trace("Theta 2022", "Argonne", "theta_2022.swf.gz", 4392, TWO_MONTHS, WEEK, 12 * HOUR),
    "curie": Trace("Curie, a sample", PWA, "CEA-Curie-sample.predictsim.swf.gz", 93_312, WEEK, DAY, HOUR),
}


def file_of(data: Path, name: str) -> Path:
    """Return the file of a trace. Raises InputError, with where it is published, where it is not there."""
    path = data / TRACES[name].file
    if not path.exists():
        raise InputError(f"{path}: not there; {TRACES[name].title} is published by {TRACES[name].published}")
    return path


@lru_cache(maxsize=1)
def truth(data: Path, name: str) -> Truth:
    """Return the run of a whole trace."""
    workload = read_trace(file_of(data, name))
    return Truth.of(workload, simulate(system(name), workload, POLICY))


def system(name: str) -> System:
    """Return the machine of a trace."""
    return System.homogeneous(TRACES[name].nodes)


def policy() -> Policy:
    """Return the policy of all runs and predictions."""
    return Policy.resolve(POLICY)


def instants(found: Truth, name: str) -> list[int]:
    """Return the instants (s) at which is predicted, from the begin of what is held out on."""
    trace, last = TRACES[name], int(found.submit[-1])
    return list(range(last - trace.held_out, last - AFTER, trace.every))
