"""The keys of a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import (
    Check,
    Flag,
    Name,
    Percent,
    PositiveCount,
    Text,
    Title,
    between,
    choice,
    whole,
)
from scheduler_sim.generation.model_keys import ModelKeys
from scheduler_sim.generation.scenarios import SCENARIOS
from scheduler_sim.generation.shapes import KINDS

MOST_JOBS = 100_000_000
MOST_COMPONENTS = 10_000
MOST_USERS = 1_000_000

Jobs = Annotated[int, whole(1, MOST_JOBS)]
Seed = Annotated[int, whole(0, 2**63 - 1)]
Scenario = Annotated[str, choice(*SCENARIOS)]
ShapeKind = Annotated[str, choice(*KINDS)]


def _counts(written: Any) -> dict[int, float]:
    """Read ``3`` as {3: 100}, and a mapping of counts to percentages that sum to 100."""
    shares = written if isinstance(written, Mapping) else {written: 100}
    read = {}
    for count, percent in shares.items():
        number = int(str(count))
        if not 1 <= number <= MOST_COMPONENTS or isinstance(count, bool) or isinstance(percent, bool):
            raise ValueError
        read[number] = float(percent)
    if not read or not min(read.values()) >= 0 or not abs(sum(read.values()) - 100) <= 1e-6:
        raise ValueError
    return dict(sorted(read.items()))


Counts = Annotated[
    dict[int, float],
    BeforeValidator(
        Check(
            f"an integer from 1 to {MOST_COMPONENTS:,}, or several with percentages that sum to 100"
            " as in {2: 80, 3: 20}",
            _counts,
        )
    ),
]


class ModuleKeys(Keys):
    """One module and the jobs submitted to it."""

    name: Name = Field(description="name of the module in the system")
    partition: Name | None = Field(
        default=None, description="partition written to the trace; by default the module's name"
    )
    nodes: PositiveCount | None = Field(
        default=None, description="number of nodes; by default that of the system"
    )
    jobs: Jobs | None = Field(default=None, description="number of jobs; by default that of the recipe")
    seed: Seed | None = Field(default=None, description="seed of this module, which --seed does not change")
    model: ModelKeys | None = Field(default=None, description="keys that differ from the recipe's model")


class AlternativeKeys(Keys):
    """One list of modules."""

    modules: list[Name] = Field(description="modules in order of preference, the job's own module first")
    percent: Percent = Field(default=100.0, description="percentage of the jobs that name a list")


class ModuleListKeys(Keys):
    """Lists of modules that jobs of one module may name."""

    percent: Percent = Field(
        description="percentage of the module's jobs that name a list, at full flexibility"
    )
    lists: list[AlternativeKeys] = Field(description="the lists; their percentages sum to 100")


class FlexibilityKeys(Keys):
    """Module lists, and how many jobs use them."""

    level: Annotated[str, choice("full", "medium", "low", "none")] = Field(
        default="full",
        description="how many jobs name a list: full, medium, low; or none: the lists are drawn but"
        " not written",
    )
    medium_less: Percent = Field(default=15.0, description="percentage points fewer at medium")
    low_less: Percent = Field(default=30.0, description="percentage points fewer at low")
    modules: dict[Name, ModuleListKeys] = Field(description="module lists by module")


class ApplicationKeys(Keys):
    """One type of application."""

    name: Name = Field(description="for the reader; the trace has the number of the type, from 1")
    percent: Percent = Field(description="percentage of the jobs")


class ApplicationsKeys(Keys):
    """Application types of the jobs."""

    draw: Annotated[str, choice("hash", "sequence", "quota")] = Field(
        default="hash",
        description="how types are drawn. hash: by a hash of the job, independent of all else;"
        " sequence: random, in the order of the trace; quota: exactly in the given"
        " shares, in random order",
    )
    types: list[ApplicationKeys] = Field(description="the types; their percentages sum to 100")


class ShapeKeys(Keys):
    """A shape of workflow."""

    shape: ShapeKind = Field(description="chain, fan_out, fan_in or diamond")
    percent: Percent = Field(default=100.0, description="percentage of the workflows")
    width: Counts = Field(
        default={1: 100.0}, description="branches of a fan or diamond: a number, or {2: 80, 3: 20}"
    )
    depth: Counts = Field(
        default={1: 100.0}, description="components of a chain, or of each branch of another shape"
    )


Factor = Annotated[float, between(0, 100)]


class WorkflowKeys(Keys):
    """Jobs linked to workflows."""

    percent: Annotated[float, between(0, 99)] | None = Field(
        default=None, description="percentage of the jobs that are in workflows"
    )
    extension_percent: Annotated[float, between(0, 99)] | None = Field(
        default=None,
        description="instead of percent: probability that a component of a chain has one more after"
        " it, percent",
    )
    max_components: Annotated[int, whole(2, MOST_COMPONENTS)] = Field(
        default=3, description="maximum number of components of a chain, if no shapes are given"
    )
    shapes: list[ShapeKeys] = Field(
        default=[], description="shapes of workflows; their percentages sum to 100"
    )
    delay_factor: list[Factor] = Field(
        default=[0.5, 0.9],
        description="smallest and largest share of the producer's time limit after which a consumer is due",
    )
    api_factor: list[Factor] = Field(
        default=[0.5, 0.9],
        description="smallest and largest share of its own run time after which a producer calls",
    )


class RecipeKeys(Keys):
    """The whole file."""

    name: Title = Field(default="", description="name of the workload in reports; by default the file's name")
    description: Text = Field(default="", description="text for the reader")
    system: Text | None = Field(
        default=None,
        description="system file, relative to the recipe's directory: modules are completed from it"
        " and checked against it",
    )
    seed: Seed = Field(default=0, description="seed of all random streams, unless --seed is given")
    rng: Annotated[str, choice("numpy", "ranlib")] = Field(
        default="numpy",
        description="random numbers of numpy, or ranlib: the numbers and the order of draws of the"
        " reference generator",
    )
    jobs: Jobs | None = Field(default=None, description="number of jobs of each module that states none")
    model: ModelKeys = Field(default=ModelKeys(), description="workload model of every module")
    modules: list[ModuleKeys] = Field(description="modules and their jobs; at least one")
    seeds: Annotated[str, choice("independent", "twin")] = Field(
        default="independent",
        description="twin: every module draws the same numbers, as in the reference when it is run"
        " within one second",
    )
    cut: Flag = Field(
        default=False, description="end the trace at the last submission of the module that ends first"
    )
    module_lists: FlexibilityKeys | None = Field(
        default=None, description="further modules that jobs name besides their own"
    )
    applications: ApplicationsKeys | None = Field(default=None, description="application types of the jobs")
    workflows: WorkflowKeys | None = Field(default=None, description="workflows made of the jobs")
    users: Annotated[int, whole(0, MOST_USERS)] = Field(
        default=0, description="number of users; the k-th submits 1/k as much as the first; 0: none"
    )
    scenario: Scenario = Field(default="DEP", description="how workflows are written")
