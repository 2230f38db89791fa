"""The traces, what of them is held out, and at which instants it is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from scheduler_sim import Policy, System, read_trace, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.prediction.coverage import Truth
from scheduler_sim.units import DAY, HOUR

DATA = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "data" / "traces"
EASY: dict[str, Any] = {"name": "easy", "backfill": "easy"}
SLURM: dict[str, Any] = {
    "name": "slurm",
    "backfill": "slurm",
    "slurm": {
        "PriorityType": "priority/multifactor",
        "PriorityWeightFairshare": 10_000,
        "PriorityWeightAge": 1_000,
        "PriorityWeightJobSize": 1_000,
    },
}
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
    policy : of the truth and of all draws
    """

    title: str
    published: str
    file: str
    nodes: int
    held_out: int
    block: int
    every: int
    policy: Mapping[str, Any] = field(default_factory=lambda: EASY)


PWA = "Parallel Workloads Archive"
KTH = "KTH-SP2-1996-2.1-cln.swf.gz"
TRACES = {
    "kth": Trace("KTH-SP2", PWA, KTH, 100, TWO_MONTHS, WEEK, 6 * HOUR),
    "theta": Trace("Theta 2022", "Argonne", "theta_2022.swf.gz", 4392, TWO_MONTHS, WEEK, 12 * HOUR),
    "curie": Trace("Curie, a sample", PWA, "CEA-Curie-sample.predictsim.swf.gz", 93_312, WEEK, DAY, HOUR),
    "kth_slurm": Trace("KTH-SP2 under slurm", PWA, KTH, 100, TWO_MONTHS, WEEK, 6 * HOUR, SLURM),
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
    return Truth.of(workload, simulate(system(name), workload, policy(name)))


def system(name: str) -> System:
    """Return the machine of a trace."""
    return System.homogeneous(TRACES[name].nodes)


def policy(name: str) -> Policy:
    """Return the policy of the run and the predictions of a trace."""
    return Policy.resolve(TRACES[name].policy)


def instants(found: Truth, name: str) -> list[int]:
    """Return the instants (s) at which is predicted, from the begin of what is held out on."""
    trace, last = TRACES[name], int(found.submit[-1])
    return list(range(last - trace.held_out, last - AFTER, trace.every))
