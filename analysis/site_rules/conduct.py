"""All runs of the study, and what is measured of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.common.runs import Progress, by_seed, in_order
from analysis.common.runs import save as write_runs
from analysis.common.study import Conducted as Runs
from analysis.site_rules.cases import VARIANTS, Variant, jobs
from analysis.site_rules.measures import measured
from scheduler_sim import Result, Workload, simulate

FACTORS = ("variant", "group", "seed")
DIGITS = "%.6g"


@dataclass(frozen=True)
class Setup:
    """What is run: seeds."""

    seeds: int = 10

    def simulations(self) -> int:
        """Count them."""
        return self.seeds * len(VARIANTS)


class Conducted(Runs[Setup]):
    """The runs, a row for each group of jobs."""

    def of(self, group: str) -> pd.DataFrame:
        """Return the runs as one group of jobs has them."""
        return self.where(group=group)


def conduct(setup: Setup, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Run everything, seed by seed; one row a run and group: ``FACTORS`` and ``measures.MEASURES``."""
    return in_order(by_seed(run_seed, setup.seeds, workers, progress), FACTORS)


def run_seed(seed: int) -> list[dict[str, Any]]:
    """Run the site under every rule with the jobs of one seed, nothing through files."""
    workload = jobs(seed)
    rows: list[dict[str, Any]] = []
    for variant in VARIANTS:
        for group, found in measured(run(variant, workload, seed)).items():
            rows.append({"variant": variant.name, "group": group, "seed": seed, **found})
    return rows


def run(variant: Variant, workload: Workload, seed: int) -> Result:
    """Run the site under a rule."""
    users = sorted(set(workload.table["user"].astype(str)))
    return simulate(variant.site(), workload, variant.policy(users), seed=seed)


save = partial(write_runs, digits=DIGITS)
"""Write the runs and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""
    return Conducted.read(folder, FACTORS[:-1], Setup)
