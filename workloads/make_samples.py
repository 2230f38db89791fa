"""Make the sample traces that ship here, the same bytes at every call.

Sizes, requested times and the accuracy of requests follow the model of W. Cirne and F. Berman,
"A comprehensive model of the supercomputer workload" (WWC-4, 2001), with the constants that the
DEEP-EST project used (deliverable D2.3). Submissions are a Poisson process whose rate follows the
hours of a day; how long the trace lasts is chosen so that the machine is offered a load of 0.85.

Run it from anywhere: ``python workloads/make_samples.py [DIRECTORY]``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim import Workload, write_trace
from scheduler_sim.workload.source import TraceSource

SEED = 9  # of the first few, one that spreads the work evenly over the days
LOAD = 0.85
DAY = 86400
RATE_BY_HOUR = np.array(
    [4, 3, 2, 2, 2, 2, 3, 5, 8, 11, 13, 13, 12, 12, 14, 14, 13, 11, 8, 7, 6, 6, 5, 5], dtype=float
)
"""Submissions in each hour of the day, relative to each other: few at night, most after lunch."""


@dataclass(frozen=True)
class Jobs:
    """Rigid jobs as the model draws them, arrays of one length: nodes, and seconds."""

    nodes: np.ndarray
    limit: np.ndarray
    run: np.ndarray

    @property
    def node_seconds(self) -> np.ndarray:
        """Work of each job."""
        return self.nodes * self.run

    def first(self, count: int) -> Jobs:
        """The first ``count`` of them."""
        return Jobs(self.nodes[:count], self.limit[:count], self.run[:count])


def draw_jobs(random: np.random.RandomState, count: int, machine: int, halved: bool = False) -> Jobs:
    """Draw jobs for a machine of some nodes: Cirne and Berman's sizes, requests and accuracies.

    ``halved`` takes half the nodes of every parallel job, rounding odd sizes by a fair coin, as
    the DEEP-EST project did for its smallest module.
    """
    nodes = np.maximum(np.ceil(2.0 ** ((random.random_sample(count) - 0.4) / 0.1)), 1).astype(np.int64)
    to_power = random.random_sample(count) <= 0.1
    nodes = np.where(to_power, 2 ** np.rint(np.log2(nodes)).astype(np.int64), nodes)
    nodes = np.minimum(nodes, machine)
    if halved:
        coin = random.random_sample(count) > 0.5
        nodes = np.where(nodes > 1, nodes // 2 + (coin & (nodes % 2 == 1)), nodes)
    limit = np.ceil(2.0 ** ((random.random_sample(count) + 0.75) / 0.1)).astype(np.int64)
    accuracy = np.clip(random.gamma(0.6, 0.6, count), 1e-5, 1.0)
    run = np.maximum(np.ceil(limit * accuracy), 1).astype(np.int64)
    return Jobs(nodes, limit, run)


def draw_submissions(random: np.random.RandomState, count: int, span: float) -> np.ndarray:
    """Draw ``count`` submit times, s, in ``span`` seconds that begin at midnight; in order."""
    hours = np.arange(0, np.ceil(span / 3600) + 1)
    rate = RATE_BY_HOUR[hours.astype(np.int64) % 24]
    arrived = np.concatenate(([0.0], np.cumsum(rate)))
    edges = np.append(hours, hours[-1] + 1) * 3600
    total = np.interp(span, edges, arrived)
    marks = np.sort(random.random_sample(count)) * total
    return np.floor(np.interp(marks, arrived, edges)).astype(np.int64)


def draw_users(random: np.random.RandomState, count: int, users: int) -> np.ndarray:
    """Draw users 1 to ``users``: few submit most jobs."""
    share = 1.0 / np.arange(1, users + 1)
    return 1 + np.searchsorted(np.cumsum(share / share.sum()), random.random_sample(count))


def sample_1000() -> Workload:
    """1000 jobs on one module of 128 nodes, in SWF."""
    random = np.random.RandomState(SEED)
    nodes, count = 128, 1000
    jobs = draw_jobs(random, count, nodes)
    span = jobs.node_seconds.sum() / (LOAD * nodes)
    submit = draw_submissions(random, count, span)
    user = draw_users(random, count, 30)
    app = 1 + (user * 7 + np.floor(3 * random.random_sample(count)).astype(np.int64)) % 20
    header = (
        "; Version: 2.2",
        "; Computer: none, a synthetic trace",
        f"; MaxJobs: {count}",
        f"; MaxRecords: {count}",
        f"; MaxNodes: {nodes}",
        f"; MaxProcs: {nodes}",
        "; Note: made by workloads/make_samples.py; one processor stands for one node",
        "; Note: sizes, requests and accuracy by the model of Cirne and Berman (2001), load 0.85",
    )
    columns = {
        "submit_time": submit,
        "run_time": jobs.run,
        "nodes": jobs.nodes,
        "listed_nodes": jobs.nodes,
        "allocated_nodes": jobs.nodes,
        "time_limit": jobs.limit,
        "listed_time_limit": jobs.limit,
        "user": user.astype(str),
        "group": (1 + user % 5).astype(str),
        "app": app.astype(str),
        "queue": "1",
    }
    return Workload(columns, TraceSource(format="swf", header=header))


@dataclass(frozen=True)
class ModuleRecipe:
    """What is submitted to one module: its nodes, and the modules that are as welcome."""

    name: str
    nodes: int
    halved: bool = False
    others: tuple[str, ...] = ()
    flexible: float = 0.0


PROTOTYPE = (
    ModuleRecipe("CM", 50, others=("DAM",), flexible=0.25),
    ModuleRecipe("DAM", 16, halved=True, others=("ESB", "CM"), flexible=0.5),
    ModuleRecipe("ESB", 75, others=("CM",), flexible=0.5),
)
SPAN = 5 * DAY
WORKFLOWS = 0.12
"""Share of jobs that a second step follows; as many of these have a third."""


@dataclass
class Steps:
    """Records of the modular sample as they are drawn, before they are put in order."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, **fields: Any) -> int:
        """Add a record; return its place among them."""
        self.rows.append(fields)
        return len(self.rows) - 1

    def in_order(self) -> list[dict[str, Any]]:
        """The records by submit time, numbered from 1, dependencies following the numbers."""
        order = sorted(range(len(self.rows)), key=lambda place: self.rows[place]["submit_time"])
        number = {place: index + 1 for index, place in enumerate(order)}
        for place in order:
            before = self.rows[place].pop("after")
            self.rows[place]["dependency_ids"] = "-1" if before is None else str(number[before])
            self.rows[place]["dependency_kinds"] = "NA" if before is None else "AFTEROK"
        return [self.rows[place] for place in order]


def sample_modular() -> Workload:
    """Five days on the three modules of the DEEP-EST prototype, in MWF: chains and module lists."""
    random = np.random.RandomState(SEED)
    steps = Steps()
    for module in PROTOTYPE:
        jobs = _filling(draw_jobs(random, 2000, module.nodes, module.halved), LOAD * module.nodes * SPAN)
        submit = draw_submissions(random, len(jobs.nodes), SPAN)
        lists = _module_lists(random, module, len(jobs.nodes))
        followed = random.random_sample(len(jobs.nodes)) < WORKFLOWS
        last: int | None = None  # the step that the next one follows
        length = 0
        for i in range(len(jobs.nodes)):
            joins = last is not None and length < 3
            last_submit = steps.rows[last]["submit_time"] if joins and last is not None else submit[i]
            place = steps.add(
                submit_time=int(last_submit),
                time_limit=int(jobs.limit[i]),
                run_time=int(jobs.run[i]),
                nodes=int(jobs.nodes[i]),
                partition=lists[i],
                after=last if joins else None,
            )
            length = length + 1 if joins else 1
            last = place if followed[i] else None
    return _as_mwf(steps.in_order())


def _filling(jobs: Jobs, node_seconds: float) -> Jobs:
    """As many of the jobs as it takes to reach that much work."""
    return jobs.first(int(np.searchsorted(np.cumsum(jobs.node_seconds), node_seconds)) + 1)


def _module_lists(random: np.random.RandomState, module: ModuleRecipe, count: int) -> list[str]:
    """The module alone, or a list of it and another one."""
    flexible = random.random_sample(count) < module.flexible
    other = np.floor(random.random_sample(count) * len(module.others)).astype(np.int64)
    return [
        f"{module.name},{module.others[choice]}" if both else module.name
        for both, choice in zip(flexible, other, strict=True)
    ]


def _as_mwf(rows: Iterable[dict[str, Any]]) -> Workload:
    rows = list(rows)
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    numbers = np.arange(1, len(rows) + 1)
    columns |= {
        "modular_job_id": numbers,
        "component_id": numbers,
        "listed_component_id": numbers,
        "listed_time_limit": columns["time_limit"],
        "listed_nodes": columns["nodes"],
        "modular_job_name": [f"job{number}" for number in numbers],
        "name": [f"job{number}" for number in numbers],
        "processes_per_node": 1,
        "threads_per_process": 1,
    }
    return Workload(columns)


SAMPLES = {"sample-1000.swf": sample_1000, "sample-modular.mwf": sample_modular}


def main(directory: Path) -> None:
    """Write every sample into a directory."""
    for name, make in SAMPLES.items():
        notes = write_trace(make(), directory / name)
        print("\n".join([str(directory / name), *notes]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
