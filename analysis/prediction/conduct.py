"""All predictions of the study, each beside what came true."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.common.runs import Progress, by_seed
from analysis.common.runs import save as write_runs
from analysis.common.study import Conducted as Runs
from analysis.prediction.cases import TRACES, file_of, instants, policy, system, truth
from scheduler_sim.prediction.coverage import looked_at

FACTORS = ("trace", "at")
MEASURES = {
    "component_id": "job",
    "start": "true start (s after the instant)",
    "start_10": "10 % of the draws (s)",
    "start_50": "half of the draws (s)",
    "start_90": "90 % of the draws (s)",
    "by_limits": "plan by limits (s)",
    "last_wait": "as long as the last job like it (s), −1: there was none",
    "rank": "share of draws before the true start",
}
"""What each column of ``runs.csv`` holds, after those that name trace and instant."""


@dataclass(frozen=True)
class Setup:
    """What is run: draws of each prediction; every how many of the instants count."""

    draws: int = 199
    every: int = 1


class Conducted(Runs[Setup]):
    """The predictions of the study."""


def conduct(setup: Setup, data: Path, workers: int = 1, progress: Progress | None = None) -> pd.DataFrame:
    """Predict at every instant of every trace; one row a job that waits then."""
    for name in TRACES:
        file_of(data, name)  # before anything is run
    rows: list[dict[str, Any]] = []
    for name in TRACES:
        times = instants(truth(data, name), name)[:: setup.every]
        rows += by_seed(partial(predicted, setup, data, name, tuple(times)), len(times), workers, progress)
    return pd.DataFrame(rows)


def predicted(
    setup: Setup, data: Path, name: str, times: tuple[int, ...], number: int
) -> list[dict[str, Any]]:
    """Predict at one of the instants of a trace."""
    at = times[number - 1]
    found = looked_at(system(name), policy(name), truth(data, name), at, draws=setup.draws)
    return [{"trace": name, "at": at, **row} for row in found.to_dict("records")]


save = partial(write_runs, digits="%.4g")
"""Write the predictions and what they are into a folder, so that :func:`load` gives the same anywhere."""


def load(folder: Path) -> Conducted:
    """Read what :func:`save` wrote."""
    return Conducted.read(folder, FACTORS[:1], Setup)
