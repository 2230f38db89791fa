"""What limits of QOS and associations cost: the month with and without them, under the same accounts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.section import ROOT, Asked, table
from benchmarks.slurm import MONTH, MONTH_NODES, SETTINGS
from scheduler_sim import Policy, Recipe, Simulation, System, Workload, generate

QOS, ACCOUNTS, USERS = 50, 300, 3_000
SEED = 11
WITHOUT, FAR, BINDING = "none", "bind nobody", "some bind"
SO_FAR = 1000
"""By so much are limits larger that bind nobody."""
COLUMNS = "<limits", "jobs", "QOS", "accounts", "users", "engine cpu s", "x without", "held by a limit"


def section(asked: Asked) -> str:
    """The month, each in a process of its own."""
    jobs = 300 if asked.quick else 300_000
    return table(COLUMNS, rows(jobs))


def rows(jobs: int) -> Iterator[tuple[str, ...]]:
    """One row without limits, one with limits beyond everybody's reach, one with those of a site."""
    first = 0.0
    for limits in (WITHOUT, FAR, BINDING):
        found = _in_process(limits, jobs)
        first = first or found["engine_s"]
        yield (
            limits,
            f"{jobs:,}",
            str(QOS),
            str(ACCOUNTS),
            f"{USERS:,}",
            f"{found['engine_s']:.2f}",
            f"{found['engine_s'] / first:.2f}",
            f"{found['held']:,}",
        )


def measure(limits: str, jobs: int) -> dict[str, float]:
    """Play the month once, after a small run of the same shape that compiles."""
    for count in (50, jobs):
        named = {f"policy.slurm.{name}": keys for name, keys in accounting(limits).items()}
        policy = Policy.named("slurm").with_settings(SETTINGS | named)
        simulation = Simulation(System.homogeneous(MONTH_NODES), workload(count), policy)
        begun = time.process_time()
        simulation.run()
        spent = time.process_time() - begun
        table_of_jobs = simulation.result().components
    held = (table_of_jobs["limit_reason"] != "").sum() if limits != WITHOUT else 0
    return {"engine_s": spent, "held": int(held)}


def workload(jobs: int) -> Workload:
    """The first jobs of the month, of users in accounts, each job in some QOS."""
    whole = generate(Recipe.from_yaml(str(MONTH)))
    whole = whole.select(np.arange(len(whole)) < jobs)
    draw = np.random.default_rng(SEED)
    user = np.minimum(draw.zipf(1.3, len(whole)), USERS) - 1
    names = ("submit_time", "nodes", "run_time", "time_limit")
    return Workload.from_columns(
        **{name: whole[name] for name in names},
        user=[f"u{number}" for number in user],
        account=[f"a{number % ACCOUNTS}" for number in user],
        qos=[f"q{number}" for number in draw.integers(0, QOS, len(whole))],
    )


def accounting(limits: str) -> dict[str, Any]:
    """Accounts with users and QOS; with limits, of each kind that sites use."""
    users: dict[int, dict[str, Any]] = {number: {} for number in range(ACCOUNTS)}
    bound, times = limits != WITHOUT, SO_FAR if limits == FAR else 1
    of_user = {"MaxJobs": 400 * times, "MaxSubmitJobs": 100_000 * times}
    for number in range(USERS):
        users[number % ACCOUNTS][f"u{number}"] = {"limits": of_user} if bound else {"shares": 1}
    of_account = {"GrpTRES": {"node": 1500 * times}, "GrpJobs": 1000 * times, "GrpTRESMins": {"cpu": 10**9}}
    of_qos: dict[str, Any] = {"priority": 1}
    if bound:
        of_qos |= {"MaxTRESPerUser": {"node": 600 * times}, "MaxJobsPerUser": 300 * times}
        of_qos |= {
            "GrpTRES": {"cpu": 2500 * times},
            "GrpTRESRunMins": {"cpu": 10**8 * times},
            "MaxWall": 10_000,
        }
    return {
        "accounts": {
            f"a{i}": {"limits": of_account if bound else {}, "users": inside} for i, inside in users.items()
        },
        "qos": {f"q{i}": of_qos for i in range(QOS)},
    }


def _in_process(limits: str, jobs: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.limits", limits, str(jobs)]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(found.stdout)
    return measured


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
