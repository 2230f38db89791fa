"""All runs of the study: seeds on one or two processes, the same table on either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.common.runs import Progress, by_seed, in_order
from analysis.common.runs import save as write_runs
from analysis.common.study import Conducted as Runs
from analysis.dynamic_workflows.cases import (
    JOBS,
    PART_SHARES,
    PART_SLURM,
    SYSTEM,
    Case,
    cases,
    hand_overs,
    scenario_levels,
)
from analysis.dynamic_workflows.measures import measured
from scheduler_sim import System, simulate

FACTORS = ("part", "level", "scenario", "seed")
DIGITS = "%.6g"


@dataclass(frozen=True)
class Setup:
    """What is run. ``seeds`` of D2.3's cases, ``seeds_beyond`` of the others; ``jobs`` a module."""

    seeds: int = 100
    seeds_beyond: int = 20
    jobs: int = JOBS
    policy: str = "conservative"

    def simulations(self) -> tuple[int, int]:
        """Count them: of D2.3's cases, and beyond."""
        main, beyond = cases(self.policy)
        return self.seeds * scenario_levels(main), self.seeds_beyond * scenario_levels(beyond)


class Conducted(Runs[Setup]):
    """The runs of the study."""

    def part(self, name: str) -> pd.DataFrame:
        """Return the runs of a part."""
        return self.where(part=name)

    def main(self, share: int) -> pd.DataFrame:
        """Return the runs with 24 or 33 % of the jobs in workflows."""
        return self.where(part=PART_SHARES, level=str(share))

    def under_slurm(self) -> Conducted:
        """Return D2.3's cases as its own scheduler schedules them."""
        return replace(self, runs=self.part(PART_SLURM).assign(part=PART_SHARES))


def conduct(setup: Setup, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Run everything, seed by seed; raises ConfigError for a policy there is not.

    Returns
    -------
    One row a run: ``FACTORS`` and ``measures.MEASURES``, in the order of the cases, then seeds.
    """
    total = max(setup.seeds, setup.seeds_beyond)
    return in_order(by_seed(partial(run_seed, setup), total, workers, progress), FACTORS)


def run_seed(setup: Setup, seed: int) -> list[dict[str, Any]]:
    """Run every case with one seed, nothing through files."""
    main, beyond = cases(setup.policy)
    chosen = (main if seed <= setup.seeds else []) + (beyond if seed <= setup.seeds_beyond else [])
    system = System.from_yaml(SYSTEM)
    return [row for case in chosen for row in _run_case(case, system, setup, seed)]


def _run_case(case: Case, system: System, setup: Setup, seed: int) -> Iterator[dict[str, Any]]:
    generated = case.generated(system, setup.jobs, seed)
    said = hand_overs(generated)
    policy = case.policy(setup.policy)
    for scenario in case.scenarios:
        result = simulate(system, case.workload(generated, scenario), policy)
        factors = dict(zip(FACTORS, (case.part, case.level, scenario, seed), strict=True))
        yield {**factors, **measured(result, generated.base, said)}


save = partial(write_runs, digits=DIGITS)
"""Write the runs and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""
    return Conducted.read(folder, FACTORS[:-1], Setup)
