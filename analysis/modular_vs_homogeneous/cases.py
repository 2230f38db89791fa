"""What is run: the systems, readings and strategies, and the workload laws they are run with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim import Policy, Recipe, System, Workload
from scheduler_sim.applications.models import Models
from scheduler_sim.placement.table import expand

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "workloads" / "modular-vs-homogeneous.yaml"
TABLE_7 = ROOT / "configs" / "models" / "deep-est-applications.yaml"
SIMULATOR = ROOT / "configs" / "policies" / "slurm-simulator.yaml"

CM, DAM, ESB, MOD = SYSTEMS = ("HOM1-CM", "HOM2-DAM", "HOM3-ESB", "MOD-CM&ESB")
FILES = {CM: "hom1-cm", DAM: "hom2-dam", ESB: "hom3-esb", MOD: "mod-cm-esb"}

SLOWER, SPEED = READINGS = ("slower", "speed")
BOTH = "both"
"""Of a run that has no ratio below 1 in it: the readings are the same."""

PREFERRED, LISTED = "preferred", "listed"
CHOOSING = ("first_available", "earliest_start", "earliest_end", "least_cost")
STRATEGIES = (PREFERRED, *CHOOSING)
"""``listed`` is what Slurm does with a list of partitions: it tries each of them by itself."""

SIMULATED = "slurm-simulator"
"""The scheduler with which D2.3's results were made, as far as its recordings tell."""

SLURM = ("slurm", SIMULATED)
POLICIES = ("fcfs", "easy", "conservative", *SLURM)
MAIN_POLICY = "easy"

JOBS = 3000
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Offered loads of HOM1-CM."""

WORKLOADS: dict[str, dict[str, Any]] = {
    "reduction": {},
    "sizes": {"model": {"arrivals": {"site": "anl"}, "sizes": {"intercept": 0.5}}},
    "nodes": {"model": {"arrivals": {"site": "anl"}}, "nodes": 32},
}
"""How jobs were held to 32 nodes, and what of the recipe that changes: see its file."""

PART_MAIN, PART_LOADS, PART_WORKLOADS = "main", "loads", "workloads"


@dataclass(frozen=True)
class Case:
    """A system with a reading of ratios below 1, and how its jobs find their module, under a policy."""

    system: str
    reading: str = BOTH
    strategy: str = PREFERRED
    policy: str = MAIN_POLICY

    def models(self) -> Models:
        """Return Table 7 in this reading."""
        return table_7(SLOWER if self.reading == BOTH else self.reading, self._is_written)

    def workload(self, base: Workload) -> Workload:
        """Return the jobs as this case submits them: under Slurm each names its preferred partition."""
        if self._is_written:
            return base.replace(partition=preferred_modules(base))
        if self.policy in SLURM:
            return base.replace(partition="CM")
        return base

    def policy_with_strategy(self) -> Policy:
        """Return the policy; Slurm has its own way with partitions."""
        if self.policy == SIMULATED:
            return Policy.from_yaml(SIMULATOR)
        policy = Policy.named(self.policy)
        return policy if self.policy in SLURM else policy.with_settings({"placement": self.strategy})

    @property
    def _is_written(self) -> bool:
        return self.policy in SLURM and self.system == MOD and self.strategy == PREFERRED


def homogeneous() -> Iterator[Case]:
    """Yield the homogeneous systems; only on the ESB alone do the readings differ."""
    yield Case(CM)
    yield Case(DAM)
    yield from (Case(ESB, reading) for reading in READINGS)


def modular(policy: str) -> Iterator[Case]:
    """Yield the modular system: the preferred module has no ratio below 1, others may have."""
    yield Case(MOD)
    for strategy in (LISTED,) if policy in SLURM else CHOOSING:
        yield from (Case(MOD, reading, strategy) for reading in READINGS)


def cases(policy: str) -> list[Case]:
    """Return everything that is run under a policy."""
    found = (*homogeneous(), *modular(policy))
    return [Case(case.system, case.reading, case.strategy, policy) for case in found]


@lru_cache(maxsize=8)
def table_7(reading: str, by_trace: bool = False) -> Models:
    """Return the models of Table 7; ``by_trace``: jobs run where the trace says."""
    keys = Models.from_yaml(TABLE_7).to_dict()
    changes = {"below_one": reading, **({"modules": "trace"} if by_trace else {})}
    return Models.of(**{**keys, "applications": {**keys["applications"], **changes}})


@lru_cache(maxsize=8)
def system_of(name: str) -> System:
    """Return one of the four systems."""
    return System.from_yaml(ROOT / "configs" / "systems" / f"{FILES[name]}.yaml")


def preferred_modules(base: Workload) -> np.ndarray:
    """Return the module of the modular system on which each job runs the shortest time."""
    system = system_of(MOD)
    placed = expand(base, system, only_first=True, models=table_7(SLOWER))
    return np.array([module.name for module in system.modules])[placed.module]


def recipe(jobs: int, load: float | None = None, workload: str = "reduction") -> Recipe:
    """Return the recipe of D2.3's workload, held to 32 nodes in one of three ways, or of another load."""
    keys = Recipe.from_yaml(RECIPE).to_dict()
    changed = dict(WORKLOADS[workload])
    nodes = changed.pop("nodes", keys["modules"][0]["nodes"])
    keys |= {**changed, "modules": [{"name": "CM", "nodes": nodes, "jobs": jobs}]}
    if load is not None:
        model = keys["model"]
        keys["model"] = {**model, "arrivals": {**model["arrivals"], "offered_load": load}}
    return Recipe.of(**keys)
