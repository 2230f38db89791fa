"""Agreement with other simulators, start by start, each in its own dialect.

``python -m tests.scheduling.peers`` prints the table as Markdown. A schedule file has one row a job:
``job_id,submit,start,end,procs,run,req``, all simulators fed with the same normalised workload.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from scheduler_sim import Policy, System, Workload, read_trace, simulate
from tests.conftest import ROOT, SHARED
from tests.scheduling.pyss_rules import Job, Machine

NODES = 100
NAMED = System.from_dict({"modules": [{"name": "CM", "nodes": NODES, "shared": True, "cores_per_node": 1}]})
"""The same, where each job has certain nodes."""


@dataclass(frozen=True)
class Peer:
    """One published schedule, the dialect that is nearest to it, and what is asked of the two.

    ``at_least`` is in percent of identical starts; None where the peer does something no dialect names,
    which ``why`` then tells. ``longer`` is what it adds to each run time, ``later`` to each limit, s. It
    tells nodes apart if they are ``named``.
    """

    simulator: str
    workload: str
    scheduler: str
    dialect: dict[str, Any] = field(hash=False)
    at_least: float | None = 100.0
    why: str = ""
    longer: int = 0
    later: int = 0
    named: bool = False

    @property
    def name(self) -> str:
        return f"{self.simulator}.{self.workload}.{self.scheduler}"

    @property
    def file(self) -> Path:
        return SHARED / "data" / "peer_schedules" / f"{self.name}.csv.gz"


EASY = {"backfill": "easy"}
EVENT = {"passes": "event"}
SJBF = {"backfill_order": "sjf"}
NO_EXTRA = {**EASY, "extra_rule": False}
BATSIM = {**NO_EXTRA, "shadow": "static"}
CQSIM = {**EASY, **EVENT, "candidate_time": "run"}
LONGER = {"overrun_s": 1}  # so that a job that runs 1 s longer is not killed for it
KEEP = {"backfill": "conservative", "replan": "keep"}
NAMED_EASY = {"scheduler": str(ROOT / "configs" / "schedulers" / "classic.py:Easy"), "packing": "first_fit"}


def _peers() -> Iterator[Peer]:
    for workload in ("kth5k", "kth20k", "kth28k"):
        yield Peer("ref", workload, "fcfs", {})
        yield Peer("ref", workload, "sjf", {"order": "sjf"})
        yield Peer("ref", workload, "easy", EASY)
        yield Peer("ref", workload, "easy-perevent", {**EASY, **EVENT})
    yield Peer("ref", "kth28k", "easysjbf", {**EASY, **SJBF})
    for workload in ("kth5k", "kth28k"):
        yield Peer("pyss", workload, "fcfs", {})
        yield Peer("pyss", workload, "easy_backfill", {**EASY, **EVENT}, 99.96)
    yield Peer("pyss", "kth28k", "easy_sjbf", {**EASY, **EVENT, **SJBF}, 99.4)
    yield Peer("pyss", "kth28k", "conservative", {**KEEP, **EVENT}, 99.9)
    yield Peer("cqsim", "kth5k", "fcfs", {})
    for workload in ("kth5k", "kth20k"):
        yield Peer("cqsim", workload, "sjf", {"order": "sjf", **EVENT})
        yield Peer("cqsim", workload, "easy", CQSIM)
        yield Peer("accasim", workload, "fcfs", {})
        yield Peer("accasim", workload, "sjf", {"order": "sjf"})
        yield Peer("batsim", workload, "fcfs", {})
        yield Peer("batsim", workload, "easy", BATSIM, 99.8 if workload == "kth5k" else 99.9)
    unprotected = "does not protect the reservation, and looks at it again only at its time"
    for workload in ("kth5k", "kth20k"):
        yield Peer("accasim", workload, "easy", {"backfill": "first_fit"}, None, unprotected)
    yield Peer("batsim", "kth5k", "easyfull", NAMED_EASY, named=True)
    yield Peer("batsim", "kth5k", "cons", {**KEEP, "packing": "first_fit"}, 99.7, later=1, named=True)
    latency = "runs jobs 1 s longer and adds 1 to 2 s of its own latency, which accumulate"
    yield Peer("aleang", "kth5k", "fcfs", LONGER, None, latency, longer=1)
    yield Peer("aleang", "kth5k", "easy", {**LONGER, **NO_EXTRA}, None, latency, longer=1)
    sorts = "runs jobs 1 s longer; its shadow time sorts running jobs by limit, not by planned end"
    yield Peer("raps", "kth5k", "easy", {**LONGER, **NO_EXTRA}, None, sorts, longer=1)


PEERS = tuple(_peers())


@dataclass(frozen=True)
class Agreement:
    """How far two schedules of one workload agree; waits in seconds."""

    jobs: int
    identical: int
    wait_theirs: float
    wait_ours: float

    @property
    def percent(self) -> float:
        return 100.0 * self.identical / self.jobs


def agreement(peer: Peer) -> Agreement:
    theirs = pd.read_csv(peer.file).set_index("job_id")
    ours = _starts(
        peer.workload, _System(peer.longer, peer.later, peer.named), tuple(sorted(peer.dialect.items()))
    )
    ours = ours.reindex(theirs.index)
    wait = ours - theirs["submit"]
    same = int((ours == theirs["start"]).sum())
    return Agreement(
        len(theirs), same, float((theirs["start"] - theirs["submit"]).mean()), float(wait.mean())
    )


class _System(NamedTuple):
    """What a peer makes of jobs and nodes, as a ``Peer`` has it."""

    longer: int
    later: int
    named: bool


@lru_cache(maxsize=64)
def _starts(workload: str, on: _System, dialect: tuple[tuple[str, Any], ...]) -> pd.Series:
    trace = _trace(workload)
    if on.longer or on.later:
        changed = {"run_time": trace["run_time"] + on.longer, "time_limit": trace["time_limit"] + on.later}
        trace = trace.replace(**changed)
    system = NAMED if on.named else System.homogeneous(NODES)
    result = simulate(system, trace, Policy.resolve(dict(dialect)))
    return result.components.set_index("component_id")["start_time"]


@lru_cache(maxsize=4)
def _trace(workload: str) -> Workload:
    return read_trace(SHARED / "data" / "traces" / "norm" / f"{workload}.swf.gz")


PYSS = {"pyss.kth28k.easy_backfill": False, "pyss.kth28k.easy_sjbf": True}
"""Schedules of pyss that its own rules about one instant make again; and whether short jobs go first."""


def by_rules_of_pyss(name: str) -> tuple[int, int]:
    """How many starts of a schedule of pyss the plain model with its rules makes; of how many."""
    file = SHARED / "data" / "peer_schedules" / f"{name}.csv.gz"
    table = pd.read_csv(file).sort_values(["submit", "job_id"], kind="stable")
    jobs = [Job(*row) for row in table[["job_id", "submit", "procs", "run", "req"]].itertuples(index=False)]
    made = Machine(NODES, PYSS[name]).simulate(jobs)
    same = [made[number] == start for number, start in zip(table["job_id"], table["start"], strict=True)]
    return sum(same), len(same)


def spelt(dialect: dict[str, Any]) -> str:
    """Write a dialect as the settings of a policy."""
    values = {key: value if key == "scheduler" else str(value).lower() for key, value in dialect.items()}
    settings = [f"{key}: {str(value).removeprefix(f'{ROOT}/')}" for key, value in values.items()]
    return ", ".join(settings) or "fcfs"


def table() -> Iterator[str]:
    yield "| workload | jobs | simulator | policy | dialect | same starts, % | mean wait, s: theirs | ours |"
    yield "|---|--:|---|---|---|--:|--:|--:|"
    for peer in PEERS:
        found = agreement(peer)
        how = {peer.why: peer.why, "nodes by name": peer.named, f"limits {peer.later} s later": peer.later}
        told = ", ".join(words for words, holds in how.items() if holds)
        note = f" ({told})" if told else ""
        yield (
            f"| {peer.workload} | {found.jobs} | {peer.simulator} | {peer.scheduler}{note} "
            f"| `{spelt(peer.dialect)}` | {_shown(found)} | {found.wait_theirs:.1f} | {found.wait_ours:.1f} |"
        )


def _shown(found: Agreement) -> str:
    return "100" if found.identical == found.jobs else f"{found.percent:.3f}"


if __name__ == "__main__":
    for line in table():
        print(line)
