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
from analysis.gpu_sharing.cases import BACKFILLS, HOUR, HOURS, IN_ORDER, LOADS, WARM_UP, Trace
from scheduler_sim import Result, simulate
from scheduler_sim.errors import SchedulerSimError

FACTORS = ("backfill", "load", "packing", "seed")
DIGITS = "%.6g"

MEASURES = {
    "wait_min": "mean wait (min)",
    "part_wait_min": "of pods with a part of a GPU (min)",
    "one_wait_min": "with one GPU (min)",
    "several_wait_min": "with two or more (min)",
    "cpu_wait_min": "without (min)",
    "waited": "pods that waited a minute or more (%)",
    "p99_wait_min": "99th percentile of the wait (min)",
    "allocated": "GPUs given away (%)",
}
"""What each column of ``runs.csv`` holds, after those that name a run."""


@dataclass(frozen=True)
class Setup:
    """What is run: seeds."""

    seeds: int = 20

    def simulations(self) -> int:
        """Count them."""
        return self.seeds * len(BACKFILLS) * len(LOADS) * len(IN_ORDER)


class Conducted(Runs[Setup]):
    """The runs of the study."""

    def under(self, backfill: str, load: str) -> pd.DataFrame:
        """Return the runs under a policy at a load."""
        return self.where(backfill=backfill, load=load)


def conduct(setup: Setup, data: Path, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Run everything, seed by seed; one row a run: ``FACTORS`` and ``MEASURES``."""
    return in_order(by_seed(partial(run_seed, data), setup.seeds, workers, progress), FACTORS)


def run_seed(data: Path, seed: int) -> list[dict[str, Any]]:
    """Run every packing under every policy at every load with one seed."""
    rows: list[dict[str, Any]] = []
    trace = Trace(data)
    site = trace.site(seed)
    gpus = sum(one.gpus for one in site.modules[0].sets)
    for load in LOADS:
        jobs = trace.jobs(seed, load, gpus)
        for backfill in BACKFILLS:
            for packing in IN_ORDER:
                result = simulate(site, jobs, {"backfill": backfill, "packing": packing}, seed=seed)
                factors = dict(zip(FACTORS, (backfill, load, packing, seed), strict=True))
                rows.append({**factors, **measured(result, gpus)})
    return rows


def measured(result: Result, gpus: float) -> dict[str, float]:
    """Return ``MEASURES`` of a run, of pods that came after the warm-up.

    Pods that fit on no node of the part are not counted. Raises SchedulerSimError where others never ran.
    """
    table = result.components[result.components["state"] != "REJECTED"]
    if (table["start_time"] < 0).any():
        raise SchedulerSimError("a pod never ran")
    begin, end = WARM_UP * HOUR, HOURS * HOUR
    table = table[table["submit_time"] >= begin]
    wait, asked = ((table["start_time"] - table["submit_time"]) / 60).to_numpy(), table["gpus"].to_numpy()
    groups = {
        "part_wait_min": (asked > 0) & (asked < 1),
        "one_wait_min": asked == 1,
        "several_wait_min": asked > 1,
        "cpu_wait_min": asked == 0,
    }
    return {
        "wait_min": float(wait.mean()),
        **{name: float(wait[which].mean()) for name, which in groups.items()},
        "waited": 100 * float((wait >= 1).mean()),
        "p99_wait_min": float(np.percentile(wait, 99)),
        "allocated": 100 * _mean_busy(result, begin, end) / gpus,
    }


def _mean_busy(result: Result, begin: int, end: int) -> float:
    """The GPUs that jobs have, on average from one time (s) to another."""
    rows = result.timeline[result.timeline["module"] == "total"]
    time = np.clip(np.append(rows["time"].to_numpy(), end), begin, end)
    return float((np.diff(time) * rows["gpus_busy"].to_numpy()).sum() / (end - begin))


save = partial(write_runs, digits=DIGITS)
"""Write the runs and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""
    return Conducted.read(folder, FACTORS[:-1], Setup)
