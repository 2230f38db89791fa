"""Nodes that jobs share: a site of cores and GPUs, and the month under Slurm with and without sharing.

``python -m benchmarks.sharing POLICY JOBS NODES`` measures one case in this process and prints it as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.children import child, shown
from benchmarks.section import Asked, table
from benchmarks.slurm import MONTH, MONTH_NODES, SETTINGS
from scheduler_sim import Policy, Recipe, Simulation, System, Workload, generate

SITE_NODES, CORES, GPUS, MEMORY_GB = 1000, 128, 4, 512
LOAD = 0.9
"""Of the site, by whatever a job has most of: cores or GPUs."""

SEED = 1
COLUMNS = "<trace", "<policy", "<nodes", "jobs", "engine cpu s", "jobs/s", "x whole nodes"
WHOLE, SHARED = "whole", "shared"


class Case(NamedTuple):
    """A policy on so many jobs; under Slurm of the month, else of the site."""

    policy: str
    jobs: int
    nodes: str

    def simulation(self) -> Simulation:
        """What is measured."""
        if self.policy == "slurm":
            system = _system(MONTH_NODES, gpus=0, shared=self.nodes == SHARED)
            return Simulation(system, month(self.jobs), Policy.named("slurm").with_settings(SETTINGS))
        return Simulation(
            _system(SITE_NODES, GPUS, shared=True), site(self.jobs), Policy(backfill=self.policy)
        )


def section(asked: Asked) -> str:
    """FCFS, first fit and EASY on the site; Slurm on the month, on whole nodes and on shared ones."""
    jobs, of_month = (1_000, 300) if asked.quick else (100_000, 300_000)
    cases = [Case(policy, jobs, SHARED) for policy in ("none", "first_fit", "easy")]
    return table(COLUMNS, rows([*cases, Case("slurm", of_month, WHOLE), Case("slurm", of_month, SHARED)]))


def rows(cases: list[Case]) -> Iterator[tuple[str, ...]]:
    """A row for each, and what Slurm takes on shared nodes beside whole ones."""
    before = 0.0
    for case, _ in zip(cases, shown([f"{case.policy}, {case.nodes}" for case in cases]), strict=True):
        child("sharing", case.policy, "100", case.nodes)  # compiles
        found = child("sharing", case.policy, str(case.jobs), case.nodes)
        seconds = found["engine_cpu_s"]
        yield (
            "month" if case.policy == "slurm" else "site",
            "fcfs" if case.policy == "none" else case.policy,
            case.nodes,
            f"{found['jobs']:,}",
            f"{seconds:.2f}",
            f"{found['jobs'] / seconds:,.0f}",
            f"{seconds / before:.2f}" if case.policy == "slurm" and case.nodes == SHARED else "",
        )
        before = seconds


def measure(case: Case) -> dict[str, Any]:
    """Simulate once; processor seconds while the compiled loop is at work."""
    simulation = case.simulation()
    simulation.prepare()
    begin = process_time()
    simulation.env.run()
    return {"jobs": len(simulation.workload), "engine_cpu_s": process_time() - begin}


def site(jobs: int) -> Workload:
    """A third on part of a node, by cores, memory and GPUs; the others on up to 64 whole nodes."""
    draw = np.random.default_rng(SEED)
    part = draw.random(jobs) < 1 / 3
    nodes = np.where(part, 1, np.minimum(draw.geometric(0.25, jobs), 64))
    cores = np.where(part, draw.choice([1, 2, 4, 8, 16, 32, 64], jobs), CORES)
    gpus = np.where(part, draw.choice([0, 0, 0, 1, 1, 2], jobs), 0)
    run = np.maximum(1, draw.lognormal(7.5, 1.2, jobs)).astype(np.int64)
    limit = np.minimum(run * draw.choice([1, 1.5, 2, 4], jobs), 3 * 86400).astype(np.int64) + 60
    span = int((nodes * np.maximum(cores / CORES, gpus / GPUS) * run).sum() / (SITE_NODES * LOAD))
    return Workload.from_columns(
        submit_time=np.sort(draw.integers(0, span, jobs)),
        nodes=nodes,
        run_time=run,
        time_limit=limit,
        cores=cores,
        gpus=gpus,
        memory_kb=cores * (MEMORY_GB // CORES // 2) * 1024**2,
    )


def month(jobs: int) -> Workload:
    """The first jobs of the month; those on one node ask for 1 to all of its cores."""
    whole = generate(Recipe.from_yaml(str(MONTH)))
    whole = whole.select(np.arange(len(whole)) < jobs)
    drawn = np.random.default_rng(SEED).choice(2 ** np.arange(8), len(whole))
    names = ("submit_time", "nodes", "run_time", "time_limit", "user", "group")
    columns = {name: whole[name] for name in names}
    return Workload.from_columns(**columns, cores=np.where(whole["nodes"] == 1, drawn, CORES))


def _system(nodes: int, gpus: int, shared: bool) -> System:
    module = {"name": "cluster", "nodes": nodes, "cores_per_node": CORES, "gpus_per_node": gpus}
    return System.from_dict({"modules": [module | {"memory_gb": MEMORY_GB, "shared": shared}]})


if __name__ == "__main__":
    print(json.dumps(measure(Case(sys.argv[1], int(sys.argv[2]), sys.argv[3]))))
