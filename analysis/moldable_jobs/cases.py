"""What is run: one workload rigid, and moldable down to several efficiencies, by policy and load."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim import Policy, Recipe, System, Workload
from scheduler_sim.applications.models import Models
from scheduler_sim.streams import stream

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "workloads" / "moldable-jobs.yaml"
MODELS = ROOT / "configs" / "models" / "moldable-applications.yaml"

NODES, JOBS = 128, 1000
POLICIES = ("fcfs", "easy", "conservative")
RIGID = "rigid"
FLOORS = ("0.9", "0.7", "0.5", "0.3")
"""Least efficiency of a size that is offered; the own size always is."""

LOADS = ("0.4", "0.6", "0.8", "1.0")
MAIN_LOAD, MAIN_FLOOR = "0.8", "0.7"
SHARES = ("25", "50", "75")
"""Per cent of the jobs that may be resized; 100 is the main part."""

PART_MAIN, PART_OPEN, PART_SHARES = "main", "open", "shares"
APPLICATIONS = ("AVBP", "HACC", "NextDBSCAN", "xPIC")
BYSTANDERS = "xPIC"
"""Scales weakly, so that its jobs keep their size."""

SMALL, LARGE = 2, 32
"""Jobs of at most, and of at least, so many nodes in the trace."""


@dataclass(frozen=True)
class Case:
    """A run: ``level`` is a load, or in the part on shares a share; ``floor`` may be ``RIGID``."""

    part: str
    level: str
    policy: str
    floor: str

    @property
    def load(self) -> str:
        """Offered load."""
        return MAIN_LOAD if self.part == PART_SHARES else self.level

    def system(self, base: Workload) -> System:
        """Return 128 nodes; but in the part without it, MaxTime is the longest request of the trace."""
        longest = {} if self.part == PART_OPEN else {"max_time": int(base["time_limit"].max())}
        partition = {"name": "CM", "module": "CM", **longest}
        return System.from_dict({"modules": [{"name": "CM", "nodes": NODES}], "partitions": [partition]})

    def workload(self, base: Workload, seed: int) -> Workload:
        """Return the jobs with the names of their applications; in the part on shares some are rigid."""
        app = np.array(APPLICATIONS, dtype=object)[base.table["app"].astype(int).to_numpy() - 1]
        if self.part != PART_SHARES:
            return base.replace(app=app)
        drawn = stream(seed, "moldable jobs/shares").random(len(base))
        return base.replace(app=np.where(100 * drawn < float(self.level), app, RIGID))

    def models(self) -> Models | None:
        """Return the four profiles with this floor, None for rigid jobs."""
        return None if self.floor == RIGID else profiles(self.floor)

    def chosen(self) -> Policy:
        """Return the policy, with the strategy that chooses among sizes."""
        return Policy.named(self.policy).with_settings({"placement": "earliest_end"})


@lru_cache(maxsize=8)
def profiles(floor: str) -> Models:
    """Return the profiles of the study with another floor, and a type for jobs that stay rigid."""
    keys: dict[str, Any] = Models.from_yaml(MODELS).to_dict()["applications"]
    types = [*keys["types"], {"name": RIGID, "percent": 0}]
    return Models.of(applications={**keys, "types": types, "floor": float(floor)})


def cases() -> list[Case]:
    """Return everything that is run with a seed; in each group the rigid one comes first."""
    both = (RIGID, *FLOORS)
    found = [Case(PART_MAIN, load, policy, one) for load in LOADS for policy in POLICIES for one in both]
    found += [Case(PART_OPEN, MAIN_LOAD, policy, one) for policy in POLICIES for one in both]
    for share in SHARES:
        found += [Case(PART_SHARES, share, policy, one) for policy in POLICIES for one in (RIGID, MAIN_FLOOR)]
    return found


def recipe(load: str, jobs: int) -> Recipe:
    """Return the recipe of the workload at a load."""
    keys = Recipe.from_yaml(RECIPE).to_dict()
    keys["model"]["arrivals"]["offered_load"] = float(load)
    keys["modules"][0]["jobs"] = jobs
    return Recipe.of(**keys)
