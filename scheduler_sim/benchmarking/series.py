"""Series: one metric of one benchmark with one set of parameters, over time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats, Ints
from scheduler_sim.benchmarking.steps import FEWEST, Step, find_steps


@dataclass(frozen=True)
class Series:
    """A value a run, in the order of time.

    Attributes
    ----------
    benchmark, metric, unit : of the values
    parameters : by name
    times : int64[n], seconds since 1970
    values : float64[n], the median of a run's repetitions
    low, high : float64[n], the least and the largest of them
    environments : what the system was like, a mapping a run
    steps : where the level changed
    """

    benchmark: str
    metric: str
    unit: str
    parameters: dict[str, str]
    times: Ints
    values: Floats
    low: Floats
    high: Floats
    environments: tuple[dict[str, str], ...]
    steps: tuple[Step, ...]

    @property
    def looked_at(self) -> bool:
        """Whether there are enough runs to look for steps."""
        return len(self.times) >= FEWEST

    @property
    def since(self) -> int:
        """Position of the first run of the level that holds now."""
        return self.steps[-1].at if self.steps else 0

    def changed_at(self, step: Step) -> dict[str, tuple[str, str]]:
        """Return what of the environment differs between the runs before and after a step."""
        before, after = self.environments[step.at - 1], self.environments[step.at]
        names = dict.fromkeys([*before, *after])
        return {
            name: (before.get(name, ""), after.get(name, ""))
            for name in names
            if before.get(name, "") != after.get(name, "")
        }


def series_of(results: pd.DataFrame, told: Callable[[int, int], object] | None = None) -> Iterator[Series]:
    """Make the series of a store's results; ``told`` hears how many of how many are through."""
    whole = results.groupby(["benchmark", "metric", "unit", "parameters"], sort=False)
    for i, ((benchmark, metric, unit, parameters), rows) in enumerate(whole):
        if told is not None:
            told(i, len(whole))
        runs = rows.groupby("time", sort=True)
        values = runs["value"].median().to_numpy(np.float64)
        yield Series(
            str(benchmark),
            str(metric),
            str(unit),
            json.loads(str(parameters)),
            runs["time"].first().to_numpy(np.int64),
            values,
            runs["value"].min().to_numpy(np.float64),
            runs["value"].max().to_numpy(np.float64),
            tuple(json.loads(text) for text in runs["environment"].first()),
            tuple(find_steps(values)),
        )
