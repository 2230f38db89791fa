"""The keys of a study file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import (
    MOST_UNITS,
    Check,
    Flag,
    Name,
    Percent,
    Positive,
    PositiveCount,
    Text,
    Title,
    between,
    choice,
    whole,
)
from scheduler_sim.metrics.slices import SLICES

MOST_RUNS = 1_000_000
MOST_SEEDS = 100_000
MOST_MIXES = 100_000


def _named(written: Any) -> dict[str, Any]:
    """Read a list as a mapping: a file is named by its stem, anything else by itself."""
    if isinstance(written, dict):
        return {str(name): value for name, value in written.items()}
    if isinstance(written, str):
        written = [written]
    named: dict[str, Any] = {}
    for entry in written:
        if not isinstance(entry, str) or stem(entry) in named:
            raise ValueError
        named[stem(entry)] = entry
    return named


SUFFIXES = (
    ".gz",
    ".zst",
    ".yaml",
    ".yml",
    ".swf",
    ".mwf",
    ".parquet",
    ".csv",
    ".sacct",
    ".psv",
    ".txt",
    ".conf",
)


def stem(path: str) -> str:
    """Return the name of a file without folder and suffixes; of a plain name, itself."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name or path


def _seeds(written: Any) -> list[int]:
    """Read a number n as the seeds 0 to n − 1."""
    if isinstance(written, list):
        seeds = [int(str(seed)) for seed in written]
        if len(set(seeds)) < len(seeds):
            raise ValueError
    else:
        number = int(str(written))
        seeds = list(range(number)) if number <= MOST_SEEDS else []
    if isinstance(written, bool) or not seeds or min(seeds) < 0:
        raise ValueError
    return seeds


def spelt(value: Any) -> str:
    """Return a parameter's value as the index writes it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _levels(written: Any) -> dict[str, list[Any]]:
    """Read a mapping of keys to lists of values; one value is a list of one."""
    if not isinstance(written, dict):
        raise TypeError
    levels = {}
    for key, values in written.items():
        listed = values if isinstance(values, list) else [values]
        if not listed or len({spelt(value) for value in listed}) < len(listed):
            raise ValueError
        levels[str(key)] = listed
    return levels


def _matches(written: Any) -> list[dict[str, list[str]]]:
    """Read a list of mappings from a factor to the levels that match."""
    if not isinstance(written, list) or not all(isinstance(one, dict) for one in written):
        raise TypeError
    return [
        {
            str(key): [spelt(v) for v in (value if isinstance(value, list) else [value])]
            for key, value in one.items()
        }
        for one in written
    ]


NamedInputs = Annotated[
    dict[str, Any],
    BeforeValidator(Check("a list of different names or files, or a mapping from a name to one", _named)),
]
Seeds = Annotated[
    list[int],
    BeforeValidator(
        Check(f"a number of seeds up to {MOST_SEEDS:,}, or a list of different ones", _seeds),
    ),
]
Levels = Annotated[
    dict[str, list[Any]],
    BeforeValidator(Check("a mapping from a key to a list of different values", _levels)),
]
Matches = Annotated[
    list[dict[str, list[str]]],
    BeforeValidator(Check("a list of mappings from a factor to one of its levels or to several", _matches)),
]


class TrimKeys(Keys):
    """Which components of a run are measured: those not submitted in the first or last part of its span."""

    warm_up: Percent = Field(
        default=0.0, description="percent of the span of submissions that is left out at its beginning"
    )
    cool_down: Percent = Field(default=0.0, description="the same at its end")


class ReplicateKeys(Keys):
    """More seeds until the comparisons are narrow enough."""

    metric: Name = Field(default="wait_time_mean", description="column of the index whose comparison decides")
    half_width: Positive = Field(
        description="half width of the interval of the ratio at which it is narrow enough, percent"
    )
    most: Annotated[int, whole(2, 100_000)] = Field(default=100, description="maximum number of seeds")


def _budgets(written: Any) -> list[float]:
    """Read a budget, or a list of them."""
    listed = written if isinstance(written, list) else [written]
    budgets = [float(str(one)) for one in listed]
    if not budgets or not all(0 < one <= MOST_UNITS for one in budgets) or len(set(budgets)) < len(budgets):
        raise ValueError
    return budgets


Budgets = Annotated[
    list[float], BeforeValidator(Check("a number > 0, or a list of different ones", _budgets))
]

COST = "cost"
"""What the nodes of a mix cost, among the metrics of a search."""


class SearchKeys(Keys):
    """Instead of one system: the best of all mixes of its modules that a budget buys."""

    budget: Budgets = Field(
        description="in the unit of cost_per_node; if there are several, mixes of each are searched"
    )
    step: PositiveCount = Field(
        default=5,
        description="modules have multiples of this number of nodes, or as many nodes as the whole"
        " budget buys of one module",
    )
    rest: Name | None = Field(
        default=None,
        description="module that is bought with the rest of the budget, in whole nodes; by default"
        " the last one",
    )
    metrics: list[Name] = Field(
        default=["wait_time_mean"],
        description="column of the index of which less is better; with two columns the Pareto front"
        " is searched. cost is the cost of the nodes of a mix",
    )
    confidence: Annotated[float, between(50, 99.9)] = Field(
        default=95.0,
        description="probability that the best mix is not dropped and that the winner is as good as"
        " stated, percent",
    )
    indifference_percent: Percent = Field(
        default=5.0,
        description="the search ends when the winner is worse than the best mix by at most this much,"
        " percent",
    )
    first_seeds: Annotated[int, whole(2, 100_000)] = Field(
        default=10,
        description="number of seeds of every mix at first; it then doubles for the mixes that are left",
    )
    most_seeds: Annotated[int, whole(2, 100_000)] = Field(
        default=80, description="maximum number of seeds of a mix"
    )


class StudyKeys(Keys):
    """The whole file."""

    name: Title = Field(default="", description="name of the study in reports; by default the file's name")
    description: Text = Field(default="", description="text for the reader")
    systems: NamedInputs = Field(
        description="systems by name: system files, a slurm.conf, folders of sites, or keys of a system"
    )
    workloads: NamedInputs = Field(
        default={},
        description="workloads by name: traces and recipes; a mapping may give a trace or a recipe,"
        " and a scenario. Folders of sites have their own, if this is left out",
    )
    policies: NamedInputs = Field(
        default={},
        description="policies by name: names of policies, policy files, or keys of a policy; for folders"
        " of sites slurm, if this is left out",
    )
    models: Any = Field(
        default=None,
        description="models file, or keys of one: how long components run on each module",
    )
    parameters: Levels = Field(
        default={},
        description="keys to vary: policy.depth, policy.slurm.qos.normal.MaxTRESPerUser,"
        " system.modules.CM.nodes,"
        " recipe.model.arrivals.offered_load, models.applications.below_one",
    )
    seeds: Seeds = Field(
        default=[0],
        description="seeds of recipes and random draws: a number, or a list; the same seeds for all"
        " combinations",
    )
    include: Matches = Field(default=[], description="carry out only runs that match one of these")
    exclude: Matches = Field(default=[], description="leave out runs that match one of these")
    baseline: dict[str, Any] = Field(
        default={}, description="factor and level that the other levels are compared with, as policy: easy"
    )
    metrics: list[Name] = Field(
        default=["wait_time_mean", "bounded_slowdown_mean", "utilization_total"],
        description="columns of the index that are compared",
    )
    slices: list[Annotated[str, choice(*SLICES)]] = Field(
        default=[],
        description=f"ways of slicing the jobs, each slice compared by itself: {', '.join(SLICES)}",
    )
    results: Annotated[str, choice("packed", "each")] = Field(
        default="packed",
        description="packed: results of many runs share few files, a large result has its own; each:"
        " every run has a result directory, as run --out writes it",
    )
    search: SearchKeys | None = Field(
        default=None, description="search for the best mix of the modules of the one system, see below"
    )
    trim: TrimKeys = Field(default=TrimKeys(), description="warm-up and cool-down")
    replicates: ReplicateKeys | None = Field(default=None, description="add seeds until intervals are narrow")
    honour_status: Flag = Field(
        default=False, description="components whose status in the trace is not success end as FAILED"
    )
