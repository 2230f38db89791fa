"""Small studies for tests, and what is in their directories."""

from __future__ import annotations

import hashlib
from pathlib import Path

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


def tree(directory: Path) -> dict[str, str]:
    """Return the digest of each file of a study that is the same whoever carried it out."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
