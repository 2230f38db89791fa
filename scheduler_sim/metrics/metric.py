"""What a metric is: the record of a row of ``metrics.csv``, and what its formula is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from scheduler_sim.metrics.fairness import user_means
from scheduler_sim.metrics.statistics import Summary
from scheduler_sim.result.columns import NEVER, Columns, numbers, rows_named

SUMMARY, MODULE, KIND = "summary", "module", "kind"
"""What a metric may have a value for: each statistic, each module (and all), each kind of thing counted."""

Better = Literal["less", "more", "neither"]
Value = int | Summary | None
"""What stands in ``metrics.json``: a number, or one by statistic or module; null for nothing."""


@dataclass(frozen=True)
class JobColumns:
    """What metrics of single jobs are computed from, int64[jobs] each; ``nodes`` is a number, the rest are s.

    Of a job that never ran, ``start``, ``end`` and ``run`` mean nothing, and nor do metrics.
    """

    submit: np.ndarray
    start: np.ndarray
    end: np.ndarray
    limit: np.ndarray
    nodes: np.ndarray

    @classmethod
    def of(cls, components: Columns, rows: np.ndarray | slice = slice(None)) -> JobColumns:
        """Take the columns of a result's table, or of rows of it."""
        names = ("submit_time", "start_time", "end_time", "time_limit", "nodes")
        return cls(*(numbers(components, name)[rows] for name in names))

    @cached_property
    def run(self) -> np.ndarray:
        """Run time as simulated, s."""
        seconds: np.ndarray = self.end - self.start
        return seconds

    @cached_property
    def slowdown(self) -> np.ndarray:
        """Response time over run time, of at least 1 s."""
        ratio: np.ndarray = self.response / np.maximum(self.run, 1)
        return ratio

    @cached_property
    def response(self) -> np.ndarray:
        """From submission to end, s."""
        seconds: np.ndarray = self.end - self.submit
        return seconds


@dataclass(frozen=True, slots=True)
class Part:
    """Components that are measured together: how many there are, and of those that ran their values."""

    jobs: int
    values: Mapping[str, np.ndarray]
    """Metrics of single jobs by name."""

    node_seconds: np.ndarray
    users: np.ndarray
    """Numbers as from ``fairness.user_numbers``."""

    overtaken: np.ndarray

    @property
    def ran(self) -> int:
        """How many ran."""
        return len(self.users)

    def by_user(self, name: str) -> np.ndarray:
        """Mean of a metric of each user who has a component that ran: float64[users]."""
        return user_means(self.values[name], self.users)


@dataclass(frozen=True)
class Run:
    """A whole run: the tables of its result, the nodes of each module, what those have that jobs share."""

    components: Columns
    timeline: Columns
    modules: Mapping[str, int]
    shared: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Of modules whose nodes jobs share: cores, KB of memory and GPUs in all."""

    system: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the system, where jobs share nodes."""

    counts: Mapping[str, Any] = field(default_factory=dict)

    runs: Columns | None = None
    """Of components that lost some."""

    leaves: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Nodes of each leaf switch, by module; of those that are on switches."""

    @cached_property
    def ran(self) -> np.ndarray | slice:
        """Which components ran."""
        ran = numbers(self.components, "start_time") != NEVER
        return slice(None) if ran.all() else ran

    @cached_property
    def jobs(self) -> JobColumns:
        """Those that ran."""
        return JobColumns.of(self.components, self.ran)

    @cached_property
    def suspended_time(self) -> np.ndarray | int:
        """How long those that ran were suspended, s."""
        if "suspended_time" not in self.components:
            return 0
        return numbers(self.components, "suspended_time")[self.ran]

    @cached_property
    def work(self) -> dict[str, int]:
        """Node-seconds of those that ran, by module; not while they were suspended."""
        work = self.jobs.nodes * (self.jobs.run - self.suspended_time)
        return {name: int(work[self.in_module(name)].sum()) for name in self.modules}

    def in_module(self, name: str) -> np.ndarray:
        """Return which of those that ran did so in a module."""
        return rows_named(self.components["module"], name)[self.ran]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A row of the table.

    Parameters
    ----------
    name : key in ``metrics.json``, within its block, or in the measures of a study
    unit : of its values, empty if they have none
    formula : as the reference page prints it
    words : what a reader sees; empty: the name, with blanks
    better : which values are better; ``neither``: it describes the workload, or what is good is open
    by : ``SUMMARY``, ``MODULE`` or ``KIND`` where it has several values; empty: it has one
    block : the block of ``metrics.json`` it stands in; empty: at the top
    table : of the reference page in which it stands; empty: that of its block's top
    equation : of DEEP-EST deliverable D2.3, where it has one
    trimmed : though of a whole run, a study measures it anew of what it counts
    instant : a point in time, no span of it, though its unit is s
    shown : where its statistics stand in what is said of a run: ``terminal``, ``report``
    of_jobs, of_part, of_run : its formula, as in ``metrics.formulas``
    """

    name: str
    unit: str = ""
    formula: str = ""
    words: str = ""
    better: Better = "less"
    by: str = ""
    block: str = ""
    table: str = ""
    equation: str = ""
    trimmed: bool = False
    instant: bool = False
    shown: tuple[str, ...] = ()
    of_jobs: Callable[[JobColumns], np.ndarray] | None = None
    of_part: Callable[[Part], float] | None = None
    of_run: Callable[[Run], Value] | None = None

    @property
    def path(self) -> str:
        """Its name in the index of a study, before the statistic or the module."""
        return f"{self.block}_{self.name}" if self.block else self.name

    @property
    def whole_run(self) -> bool:
        """Whether it is of the whole run, whatever a study leaves out of the others."""
        counted = self.of_jobs or self.of_part or self.trimmed
        return bool(self.block) or (not counted and self.of_run is not None)

    @property
    def is_span(self) -> bool:
        """Whether it is a span of time in seconds."""
        return self.unit == "s" and not self.instant
