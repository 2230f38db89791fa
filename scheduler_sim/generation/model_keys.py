"""The keys of a workload model in a recipe. Where a parameter is not given, the preset says it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Amount, Check, Flag, Positive, PositiveCount, between, choice, whole
from scheduler_sim.generation.sites import SITES
from scheduler_sim.generation.sizes import MACHINE, MOST_TABULATED


def _largest_size(written: Any) -> int:
    if isinstance(written, str) and written.lower() == "machine":
        return MACHINE
    size = int(str(written))
    if isinstance(written, bool) or not 2 <= size <= MOST_TABULATED:
        raise ValueError
    return size


Site = Annotated[str, choice(*SITES)]
Process = Annotated[str, choice("accumulator", "poisson")]
Preset = Annotated[str, choice("deep-est", "cirne-berman")]
ModelKind = Annotated[str, choice("cirne", "lublin")]
Number = Annotated[float, between(-1e12, 1e12)]
Probability = Annotated[float, between(0, 1)]
LargestSize = Annotated[
    int, BeforeValidator(Check("an integer >= 2, or machine", _largest_size, ("machine",)))
]
Correlation = Annotated[float, between(-1, 1)]


class ArrivalKeys(Keys):
    """When jobs are submitted."""

    site: Site = Field(default="anl", description="daily cycle of a site: anl, ctc, kth or sdsc")
    process: Process = Field(
        default="accumulator",
        description="accumulator: a job whenever the integral of the rate has grown by one, as in the"
        " reference; poisson: a Poisson process of the same rate",
    )
    hourly: list[Amount] | None = Field(
        default=None, description="instead of a site: jobs per day in each of the 24 hours of the clock"
    )
    polynomial: list[Number] | None = Field(
        default=None,
        description="instead of a site: coefficients, highest power first, of twice the rate (jobs/s)"
        " in x = time of day / 24 h - 1/2",
    )
    reference_nodes: PositiveCount | None = Field(
        default=None,
        description="number of nodes for which hourly or polynomial holds; by default that of the module",
    )
    weekly: list[Amount] | None = Field(
        default=None,
        description="weights of the days, Monday first (day 0 is a Monday); by default all equal",
    )
    clamp: Flag = Field(default=False, description="count a negative rate as 0; the reference does not")
    offered_load: Annotated[float, between(0.001, 20)] | None = Field(
        default=None, description="scale the rate so that the jobs drawn have this offered load on the module"
    )


class SizeKeys(Keys):
    """How many nodes jobs ask for: P(nodes <= m) = intercept + slope log2 m."""

    slope: Positive | None = Field(default=None, description="parameter of the law")
    intercept: Probability | None = Field(
        default=None, description="intercept of the law: the share of serial jobs"
    )
    power_of_two: Probability | None = Field(
        default=None, description="share of jobs moved to the nearest power of two"
    )
    largest: LargestSize | None = Field(
        default=None,
        description="largest size, instead of a slope: a number, or machine (all nodes of the module)",
    )


class DurationKeys(Keys):
    """Durations: P(t <= s) = intercept + slope log2 s, s in seconds."""

    slope: Positive | None = Field(default=None, description="parameter of the law")
    intercept: Number | None = Field(default=None, description="parameter of the law")


class AccuracyKeys(Keys):
    """Run time over time limit: gamma, cut at 1."""

    shape: Positive | None = Field(default=None, description="parameter of the gamma distribution")
    scale: Positive | None = Field(default=None, description="parameter of the gamma distribution")


class CancellationKeys(Keys):
    """Jobs that are cancelled before they run."""

    probability: Probability | None = Field(default=None, description="probability that a job is cancelled")
    lag: DurationKeys = Field(default=DurationKeys(), description="time from submission to cancellation")


class LublinKeys(Keys):
    """Parameters of the model of Lublin and Feitelson that differ from the published ones."""

    types: Flag = Field(default=False, description="draw batch and interactive jobs separately")
    inter_arrival_factor: Positive = Field(
        default=1.0, description="factor for the times between arrivals: 2 is half the load"
    )
    law: dict[str, Number] = Field(
        default={}, description="parameters by the authors' names, if types is false"
    )
    batch: dict[str, Number] = Field(default={}, description="the same for batch jobs, if types is true")
    interactive: dict[str, Number] = Field(
        default={}, description="the same for interactive jobs, if types is true"
    )


class EstimateKeys(Keys):
    """Time limits by the model of user estimates of Tsafrir, Etsion and Feitelson."""

    max_estimate: Annotated[int, whole(6000, 10_000_000)] = Field(description="longest estimate allowed, s")
    max_share: Probability | None = Field(
        default=None, description="share of jobs with the longest estimate; by default the published 22 %"
    )


class ModelKeys(Keys):
    """A workload model and its parameters."""

    kind: ModelKind = Field(default="cirne", description="cirne, or lublin (Lublin and Feitelson)")
    preset: Preset = Field(
        default="deep-est",
        description="defaults of the parameters of cirne below: deep-est, as the project used them;"
        " cirne-berman, as the authors published them",
    )
    arrivals: ArrivalKeys = Field(default=ArrivalKeys(), description="when jobs are submitted")
    sizes: SizeKeys = Field(default=SizeKeys(), description="nodes")
    requests: DurationKeys = Field(default=DurationKeys(), description="time limits")
    accuracy: AccuracyKeys = Field(default=AccuracyKeys(), description="run time / time limit")
    cancellations: CancellationKeys = Field(default=CancellationKeys(), description="cancelled jobs")
    load_multiplier: Annotated[float, between(0.001, 1000)] = Field(
        default=1.0, description="factor for the arrival rate and the time limits"
    )
    reduction_factor: Annotated[int, whole(1, 2)] = Field(
        default=1, description="1, or 2: twice the jobs, half the nodes of each parallel one"
    )
    size_time_correlation: Correlation = Field(
        default=0.0, description="rank correlation (Spearman) of size and time limit"
    )
    lublin: LublinKeys = Field(default=LublinKeys(), description="parameters of lublin")
    estimates: EstimateKeys | None = Field(
        default=None, description="draw time limits anew, as users estimate run times"
    )
