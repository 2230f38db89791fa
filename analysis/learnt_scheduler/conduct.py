"""All runs of the study, and what is measured of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.common.runs import Progress, by_seed, in_order
from analysis.common.runs import save as write_runs
from analysis.common.study import Conducted as Runs
from analysis.learnt_scheduler.agents import AGENTS
from analysis.learnt_scheduler.cases import PLAIN, SEEDS, SEEN, TRACES, Recorded, environment
from scheduler_sim import Policy, Result, System, Workload, simulate
from scheduler_sim.errors import SchedulerSimError

FACTORS = ("trace", "scheduler", "seed")
DIGITS = "%.6g"
SCHEDULERS = (*PLAIN, *AGENTS)
"""As tables show them."""

MEASURES = {
    "slowdown": "mean bounded slowdown",
    "wait_h": "mean wait (h)",
    "p99_wait_h": "99th percentile of the wait (h)",
    "longest_wait_h": "longest wait (h)",
    "utilization": "utilization (%)",
}
"""What each column of ``runs.csv`` holds, after those that name a run."""


@dataclass(frozen=True)
class Setup:
    """What is run: traces of each kind."""

    seeds: int = SEEDS


class Conducted(Runs[Setup]):
    """The runs of the study."""

    def on(self, trace: str) -> pd.DataFrame:
        """Return the runs on a trace."""
        return self.where(trace=trace)


def conduct(setup: Setup, data: Path, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Run everything, seed by seed; one row a run: ``FACTORS`` and ``MEASURES``."""
    rows = by_seed(partial(run_seed, data), setup.seeds, workers, progress)
    place = {trace: i for i, trace in enumerate(TRACES)}
    return in_order(sorted(rows, key=lambda row: place[row["trace"]]), FACTORS)


def run_seed(data: Path, seed: int) -> list[dict[str, Any]]:
    """Run every scheduler on the traces of a seed."""
    rows: list[dict[str, Any]] = []
    for trace in TRACES:
        case = _recorded(data).case(trace, seed)
        if case is None:
            continue
        for scheduler, result in schedules(*case).items():
            rows.append(dict(zip(FACTORS, (trace, scheduler, seed), strict=True)) | measured(result))
    return rows


@cache
def _recorded(data: Path) -> Recorded:
    return Recorded(data)


def schedules(system: System, jobs: Workload) -> dict[str, Result]:
    """Return what each scheduler makes of the jobs."""
    plain = {
        name: simulate(system, jobs, Policy(order=order, backfill="easy")) for name, order in PLAIN.items()
    }
    env = environment(system, workload=jobs, window=SEEN)
    return plain | {name: played(env, agent()) for name, agent in AGENTS.items()}


def played(env: Any, agent: Any) -> Result:
    """Return the schedule that an agent makes of all jobs of an environment."""
    seen, info = env.reset(seed=0)
    over = False
    while not over:
        seen, _, over, _, info = env.step(agent(seen, info["action_mask"]))
    result: Result = env.unwrapped.result()
    return result


def measured(result: Result) -> dict[str, float]:
    """Return ``MEASURES`` of a run. Raises SchedulerSimError where a job that fits never ran."""
    metrics = result.metrics
    if metrics["counts"]["pending"]:
        raise SchedulerSimError("a job never ran")
    wait = metrics["wait_time"]
    return {
        "slowdown": metrics["bounded_slowdown"]["mean"],
        "wait_h": wait["mean"] / 3600,
        "p99_wait_h": wait["p99"] / 3600,
        "longest_wait_h": wait["max"] / 3600,
        "utilization": 100 * metrics["utilization"]["total"],
    }


save = partial(write_runs, digits=DIGITS)
"""Write the runs and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""
    return Conducted.read(folder, FACTORS[:-1], Setup)
