"""Small studies for tests, and what is in their directories."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd

from scheduler_sim import Result
from scheduler_sim.study.study import Study

RECIPE = {
    "modules": [{"name": "cluster", "nodes": 64, "jobs": 150}],
    "model": {"arrivals": {"site": "ctc", "process": "poisson", "offered_load": 0.8}},
}
SYSTEM = {"modules": [{"name": "cluster", "nodes": 64}]}


def small(**changes: object) -> Study:
    """Return a study of 2 policies × 3 seeds, with some keys changed."""
    keys = {
        "systems": {"small": SYSTEM},
        "workloads": {"like": {"recipe": RECIPE}},
        "policies": ["fcfs", "easy"],
        "seeds": 3,
    }
    return Study.of(**{**keys, **changes})


def run_of(directory: Path, run_id: str) -> Path:
    """Return what names a run, in a pack or not."""
    return directory / "runs" / run_id


def packs(directory: Path) -> dict[str, list[str]]:
    """Return the runs in each pack of a study."""
    return {
        path.parent.name: pd.read_parquet(path)["id"].tolist()
        for path in directory.glob("packs/*/runs.parquet")
    }


def results(directory: Path) -> dict[str, tuple[str, str, dict]]:
    """Return the tables and metrics of each run that the index has, wherever they are."""
    ids = pd.read_parquet(directory / "index.parquet")["id"]
    found = {run_id: Result.load(run_of(directory, run_id)) for run_id in ids}
    return {
        run_id: (one.components.to_csv(), one.timeline.to_csv(), one.metrics) for run_id, one in found.items()
    }


def tree(directory: Path) -> dict[str, str]:
    """Return the digest of each file of a study that is the same whoever carried it out."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
