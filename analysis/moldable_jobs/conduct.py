"""All runs of the study, and what is measured of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.common.runs import Progress, by_seed, in_order
from analysis.common.runs import save as write_runs
from analysis.common.study import Conducted as Runs
from analysis.moldable_jobs.cases import BYSTANDERS, JOBS, LARGE, RIGID, SMALL, Case, cases, recipe
from scheduler_sim import Result, Workload, generate, simulate
from scheduler_sim.errors import SchedulerSimError

FACTORS = ("part", "level", "policy", "floor", "seed")
DIGITS = "%.5g"
HOUR = 3600.0

MEASURES = {
    "wait_h": "mean wait (h)",
    "run_h": "mean run time (h)",
    "response_h": "mean response (h)",
    "response_median_h": "median response (h)",
    "response_max_h": "longest response (h)",
    "bounded_slowdown": "mean bounded slowdown",
    "completion_h": "first submission to last end (h)",
    "busy": "use while jobs are submitted and run (%)",
    "work": "node-seconds, of those in the trace (%)",
    "small_wait_h": f"mean wait of jobs on at most {SMALL} nodes (h)",
    "small_response_h": f"mean response of jobs on at most {SMALL} nodes (h)",
    "large_wait_h": f"mean wait of jobs on at least {LARGE} nodes (h)",
    "large_response_h": f"mean response of jobs on at least {LARGE} nodes (h)",
    "resizable_response_h": "mean response of jobs that may be resized (h)",
    "fixed_response_h": "mean response of jobs that keep their size (h)",
    "later": "jobs that end later than in the rigid run (%)",
    "fewer": "jobs on fewer nodes than in the trace (%)",
    "more": "jobs on more nodes than in the trace (%)",
}
"""What each column of ``runs.csv`` holds, after those that name a run; sizes are those of the trace."""


@dataclass(frozen=True)
class Setup:
    """What is run: seeds, and jobs of a trace."""

    seeds: int = 60
    jobs: int = JOBS

    def simulations(self) -> int:
        """Count them."""
        return self.seeds * len(cases())


class Conducted(Runs[Setup]):
    """The runs of the study."""

    def part(self, name: str, policy: str | None = None, level: str | None = None) -> pd.DataFrame:
        """Return the runs of a part, of one policy and level or of all."""
        asked = {"part": name, "policy": policy, "level": level}
        return self.where(**{factor: value for factor, value in asked.items() if value is not None})


def conduct(setup: Setup, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Run everything, seed by seed; one row a run: ``FACTORS`` and ``MEASURES``."""
    return in_order(by_seed(partial(run_seed, setup), setup.seeds, workers, progress), FACTORS)


def run_seed(setup: Setup, seed: int) -> list[dict[str, Any]]:
    """Run every case with one seed, nothing through files."""
    rows: list[dict[str, Any]] = []
    traces: dict[str, Workload] = {}
    rigid = None
    for case in cases():
        if case.load not in traces:
            traces[case.load] = generate(recipe(case.load, setup.jobs), seed=seed)
        base = traces[case.load]
        result = run_case(case, base, seed)
        rigid = result if case.floor == RIGID else rigid
        factors = dict(zip(FACTORS, (case.part, case.level, case.policy, case.floor, seed), strict=True))
        assert rigid is not None
        rows.append({**factors, **measured(result, rigid, case.workload(base, seed))})
    return rows


def run_case(case: Case, base: Workload, seed: int) -> Result:
    """Simulate a case. Raises SchedulerSimError if it rejects a job or kills one that others finish."""
    result = simulate(
        case.system(base), case.workload(base, seed), case.chosen(), models=case.models(), seed=seed
    )
    if result.metrics["counts"]["rejected"]:
        raise SchedulerSimError(f"{case.policy} rejects jobs")
    return result


def measured(result: Result, rigid: Result, workload: Workload) -> dict[str, float]:
    """Return ``MEASURES`` of a run, against the rigid one of the same jobs under the same policy."""
    metrics, components = result.metrics, result.components
    submit, start, end = (components[f"{name}_time"].to_numpy() for name in ("submit", "start", "end"))
    wait, response = (start - submit) / HOUR, (end - submit) / HOUR
    nodes, own = components["nodes"].to_numpy(), workload["nodes"]
    small, large = own <= SMALL, own >= LARGE
    fixed = components["app"].isin((BYSTANDERS, RIGID)).to_numpy()
    return {
        "wait_h": wait.mean(),
        "run_h": (response - wait).mean(),
        "response_h": response.mean(),
        "response_median_h": float(np.median(response)),
        "response_max_h": response.max(),
        "bounded_slowdown": metrics["bounded_slowdown"]["mean"],
        "completion_h": metrics["makespan"] / HOUR,
        "busy": 100 * metrics["utilization"]["total"],
        "work": 100 * float((nodes * (end - start)).sum()) / float((own * workload["run_time"]).sum()),
        "small_wait_h": _mean(wait[small]),
        "small_response_h": _mean(response[small]),
        "large_wait_h": _mean(wait[large]),
        "large_response_h": _mean(response[large]),
        "resizable_response_h": _mean(response[~fixed]),
        "fixed_response_h": _mean(response[fixed]),
        "later": 100 * float((end > rigid.components["end_time"].to_numpy()).mean()),
        "fewer": 100 * float((nodes < own).mean()),
        "more": 100 * float((nodes > own).mean()),
    }


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else np.nan


save = partial(write_runs, digits=DIGITS)
"""Write the runs and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""
    return Conducted.read(folder, FACTORS[:-1], Setup)
