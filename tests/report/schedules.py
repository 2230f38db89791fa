"""Small schedules with true waits, for explanations and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from scheduler_sim import System, Workload, simulate
from scheduler_sim.metrics.compute import compute
from scheduler_sim.result.result import Result
from tests.result.hand_made import Run, result_of

EASY = {"name": "easy", "order": "fifo", "backfill": "easy"}
FCFS = {"name": "fcfs", "order": "fifo", "backfill": "none"}
CONSERVATIVE = {"name": "conservative", "order": "fifo", "backfill": "conservative", "replan": "scratch"}


def schedule(
    runs: Sequence[Run],
    modules: Mapping[str, int],
    policy: Mapping[str, object],
    *,
    users: Sequence[str] | None = None,
    down: Mapping[str, Mapping[int, int]] | None = None,
) -> Result:
    """Make a result of runs as given, its waits counted second by second."""
    result = result_of(runs, modules, policy, down=down)
    table = result.components
    if users is not None:
        table["user"] = pd.Categorical(users)
    steps = result.timeline
    for row, run in enumerate(runs):
        if run.start is None:
            continue
        eligible = run.submit if run.eligible is None else run.eligible
        own = steps[steps["module"] == run.module]
        used = [0, *(own["nodes_busy"] + own["nodes_down"]).tolist()]
        seconds = np.arange(eligible, run.start)
        idle = modules[run.module] - np.take(used, np.searchsorted(own["time"], seconds, side="right"))
        table.loc[row, "wait_resources"] = int((idle < run.nodes).sum())
        table.loc[row, "wait_priority"] = int((idle >= run.nodes).sum())
    result.metrics = compute(table, steps, modules=modules)
    return result


def behind_a_shadow(policy: Mapping[str, object] = EASY) -> Result:
    """Ten nodes: 1 runs on 8, 2 wants 9, 3 wants 2 for long, 4 wants 2 and is short enough to pass."""
    return schedule(
        [Run(0, 0, 100, 8), Run(10, 100, 100, 9), Run(20, 200, 200, 2), Run(30, 30, 50, 2)],
        {"CM": 10},
        policy,
        users=["ada", "ben", "cy", "dan"],
    )


def beside_each_other() -> Result:
    """Three nodes of 4 cores: jobs 1 and 2 share one, 3 has two to itself, 4 waits for 3 of 4 cores."""
    nodes = {
        "name": "CM",
        "nodes": 3,
        "shared": True,
        "cores_per_node": 4,
        "memory_gb": 8,
        "gpus_per_node": 2,
    }
    jobs = Workload.from_columns(
        nodes=[1, 1, 2, 1],
        submit_time=[0, 0, 0, 10],
        run_time=[100, 300, 50, 100],
        cores=[2, 1, -1, 3],
        gpus=[1, 0, 0, 2],
        memory_kb=[4 * 1024**2, 1024**2, 0, 0],
    )
    return simulate(System.from_dict({"name": "shared", "modules": [nodes]}), jobs, "fcfs")
