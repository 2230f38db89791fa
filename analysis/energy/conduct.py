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
from analysis.energy.cases import BASE, POLICIES, SAVERS, models, recipe, reference_khz, system
from scheduler_sim import Result, generate, simulate
from scheduler_sim.energy.layer import series_of
from scheduler_sim.energy.tariff import component_cost
from scheduler_sim.errors import SchedulerSimError

FACTORS = ("policy", "saver", "seed")
DIGITS = "%.6g"
HOUR, MWH = 3600.0, 3.6e9

MEASURES = {
    "wait_h": "mean wait (h)",
    "run_h": "mean run time (h)",
    "response_h": "mean response (h)",
    "bounded_slowdown": "mean bounded slowdown",
    "job_mwh": "energy of jobs (MWh)",
    "above_idle_mwh": "energy above idle power (MWh)",
    "system_mwh": "energy of all nodes, first submission to last end (MWh)",
    "peak_kw": "highest power (kW)",
    "price": "mean price of the energy of jobs (per kWh)",
    "completion_h": "first submission to last end (h)",
    "moved": "jobs on another module than as asked (%)",
    "slower": "jobs at another clock than the reference (%)",
    "above_cap_s": "time above the cap (s)",
}
"""What each column of ``runs.csv`` holds, after those that name a run."""


@dataclass(frozen=True)
class Setup:
    """What is run: seeds."""

    seeds: int = 24

    def simulations(self) -> int:
        """Count them."""
        return self.seeds * len(POLICIES) * len(SAVERS)


class Conducted(Runs[Setup]):
    """The runs of the study."""

    def under(self, policy: str) -> pd.DataFrame:
        """Return the runs under a policy."""
        return self.where(policy=policy)


def conduct(setup: Setup, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Run everything, seed by seed; one row a run: ``FACTORS`` and ``MEASURES``."""
    return in_order(by_seed(run_seed, setup.seeds, workers, progress), FACTORS)


def run_seed(seed: int) -> list[dict[str, Any]]:
    """Run every way to save energy under every policy with one seed, nothing through files."""
    rows: list[dict[str, Any]] = []
    workload = generate(recipe(), seed=seed)
    for policy in POLICIES:
        base = None
        for saver in SAVERS:
            result = simulate(
                system(),
                saver.workload(workload),
                saver.policy(policy),
                models=models(saver.name),
                seed=seed,
            )
            refuse_gaps(result, saver.name)
            base = result if saver.name == BASE else base
            assert base is not None
            factors = dict(zip(FACTORS, (policy, saver.name, seed), strict=True))
            rows.append({**factors, **measured(result, base)})
    return rows


def refuse_gaps(result: Result, saver: str) -> None:
    """Raise SchedulerSimError where jobs do not run, or have no signature, or a signature has no jobs."""
    if result.metrics["counts"]["rejected"]:
        raise SchedulerSimError(f"{saver} rejects jobs")
    without = result.manifest["energy"]["without_signature"]
    if without or result.manifest.get("unmatched"):
        raise SchedulerSimError(f"{saver}: names do not match: {without or result.manifest['unmatched']}")


def measured(result: Result, base: Result) -> dict[str, float]:
    """Return ``MEASURES`` of a run, against that of the same jobs as they were asked for."""
    metrics, components = result.metrics, result.components
    energy, idle = metrics["energy"], result.manifest["energy"]["modules"]
    submit, start, end = (components[f"{name}_time"].to_numpy() for name in ("submit", "start", "end"))
    watts = components["module"].map({name: idle[name]["idle_w"] for name in idle}).astype(float).to_numpy()
    reference = components["module"].map(reference_khz()).astype("int64")
    held = float((watts * components["nodes"].to_numpy() * (end - start)).sum())
    return {
        "wait_h": float((start - submit).mean()) / HOUR,
        "run_h": float((end - start).mean()) / HOUR,
        "response_h": float((end - submit).mean()) / HOUR,
        "bounded_slowdown": metrics["bounded_slowdown"]["mean"],
        "job_mwh": energy["job_j"] / MWH,
        "above_idle_mwh": (energy["job_j"] - held) / MWH,
        "system_mwh": energy["system_j"] / MWH,
        "peak_kw": energy["max_power_w"] / 1000,
        "price": _mean_price(result),
        "completion_h": metrics["makespan"] / HOUR,
        "moved": 100 * float((components["module"] != base.components["module"]).mean()),
        "slower": 100 * float((components["frequency_khz"] != reference).mean()),
        "above_cap_s": energy.get("above_cap_s", 0),
    }


def _mean_price(result: Result) -> float:
    """Return what a kWh of the jobs costs on average."""
    components = result.components
    series = series_of(result.manifest["models"]["energy"]["price"], "price", None)
    start, end = (components[f"{name}_time"].to_numpy() for name in ("start", "end"))
    cost = component_cost(start, end, components["power_w"].to_numpy(), series)
    return float(np.sum(cost)) / (float(components["energy_j"].sum()) / 3.6e6)


save = partial(write_runs, digits=DIGITS)
"""Write the runs and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""
    return Conducted.read(folder, FACTORS[:-1], Setup)
