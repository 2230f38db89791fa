"""All runs of the study: seeds on one or two processes, the same table on either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd

from analysis.common.runs import MOST_WORKERS, Progress, by_seed, in_order, mapped
from analysis.common.runs import save as write_runs
from analysis.common.study import Conducted as Runs
from analysis.modular_vs_homogeneous.cases import (
    BOTH,
    JOBS,
    LOADS,
    MAIN_POLICY,
    PART_LOADS,
    PART_MAIN,
    PART_WORKLOADS,
    POLICIES,
    WORKLOADS,
    Case,
    cases,
    recipe,
    system_of,
)
from scheduler_sim import Recipe, Result, Workload, generate, simulate
from scheduler_sim.errors import SchedulerSimError

FACTORS = ("part", "level", "policy", "system", "reading", "strategy", "seed")
DIGITS = "%.5g"
HOUR = 3600.0

MEASURES = {
    "wait_h": "mean wait (h)",
    "wait_median_h": "median wait (h)",
    "wait_p90_h": "90th percentile of the waits (h)",
    "response_h": "mean response (h)",
    "completion_h": "completion time, first submission to last end (h)",
    "run_h": "mean run time (h)",
    "busy": "use of the busiest module while jobs are submitted and run (%)",
}
"""What each column of ``runs.csv`` holds, after those that name a run."""


@dataclass(frozen=True)
class Setup:
    """What is run: ``seeds`` of D2.3's workload, ``seeds_beyond`` of others; ``jobs`` a trace."""

    seeds: int = 100
    seeds_beyond: int = 20
    jobs: int = JOBS
    policies: tuple[str, ...] = POLICIES

    def simulations(self) -> tuple[int, int]:
        """Count them: of D2.3's workload, and beyond."""
        main = sum(len(cases(policy)) for policy in self.policies)
        others = len(LOADS) + len(WORKLOADS)
        return self.seeds * main, self.seeds_beyond * others * len(cases(MAIN_POLICY))


class Conducted(Runs[Setup]):
    """The runs of the study."""

    def part(self, name: str, policy: str = MAIN_POLICY, reading: str | None = None) -> pd.DataFrame:
        """Return the runs of a part under a policy, in one reading of ratios below 1, or in all."""
        runs = self.where(part=name, policy=policy)
        return runs if reading is None else runs[runs["reading"].isin((reading, BOTH))]


def conduct(setup: Setup, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Run everything, seed by seed; one row a run: ``FACTORS`` and ``MEASURES``."""
    total = max(setup.seeds, setup.seeds_beyond)
    return in_order(by_seed(partial(run_seed, setup), total, workers, progress), FACTORS)


def run_seed(setup: Setup, seed: int) -> list[dict[str, Any]]:
    """Run every case with one seed, nothing through files."""
    rows: list[dict[str, Any]] = []
    if seed <= setup.seeds:
        chosen = [case for policy in setup.policies for case in cases(policy)]
        rows += _runs(PART_MAIN, "", recipe(setup.jobs), chosen, seed)
    if seed <= setup.seeds_beyond:
        for load in LOADS:
            rows += _runs(PART_LOADS, f"{load}", recipe(setup.jobs, load=load), cases(MAIN_POLICY), seed)
        for name in WORKLOADS:
            law = recipe(setup.jobs, workload=name)
            rows += _runs(PART_WORKLOADS, name, law, cases(MAIN_POLICY), seed)
    return rows


def _runs(part: str, level: str, law: Recipe, chosen: Sequence[Case], seed: int) -> Iterator[dict[str, Any]]:
    base = generate(law, seed=seed)
    for case in chosen:
        factors = (part, level, case.policy, case.system, case.reading, case.strategy, seed)
        yield {**dict(zip(FACTORS, factors, strict=True)), **measured(run_case(case, base))}


def run_case(case: Case, base: Workload) -> Result:
    """Simulate a case. Raises SchedulerSimError if it rejects a job, as all are to run everywhere."""
    result = simulate(
        system_of(case.system), case.workload(base), case.policy_with_strategy(), models=case.models()
    )
    if result.metrics["counts"]["rejected"]:
        raise SchedulerSimError(f"{case.system} rejects jobs that others run")
    return result


def measured(result: Result) -> dict[str, float]:
    """Return ``MEASURES`` of a run."""
    metrics = result.metrics
    wait, response, used = (metrics[name] for name in ("wait_time", "response_time", "utilization"))
    return {
        "wait_h": wait["mean"] / HOUR,
        "wait_median_h": wait["median"] / HOUR,
        "wait_p90_h": wait["p90"] / HOUR,
        "response_h": response["mean"] / HOUR,
        "completion_h": metrics["makespan"] / HOUR,
        "run_h": (response["mean"] - wait["mean"]) / HOUR,
        "busy": 100 * max(share for name, share in used.items() if name != "total"),
    }


def timed(setup: Setup, policy: str, workers: int = MOST_WORKERS) -> tuple[int, float]:
    """Return simulations and seconds of the four systems with all seeds, as D2.3 has them."""
    begin = perf_counter()
    list(mapped(partial(_four, setup.jobs, policy), range(1, setup.seeds + 1), workers))
    return 4 * setup.seeds, perf_counter() - begin


def _four(jobs: int, policy: str, seed: int) -> None:
    base = generate(recipe(jobs), seed=seed)
    systems = {case.system: case for case in reversed(cases(policy)) if case.strategy == "preferred"}
    for case in systems.values():
        measured(run_case(case, base))


save = partial(write_runs, digits=DIGITS)
"""Write the runs and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""

    def setup(policies: list[str], **counts: int) -> Setup:
        return Setup(**counts, policies=tuple(policies))

    return Conducted.read(folder, FACTORS[:-1], setup)
