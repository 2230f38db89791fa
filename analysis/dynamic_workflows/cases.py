"""What is run: workloads of three modules, their workflows, and the policies that schedule them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from scheduler_sim import Policy, Recipe, System, Workload
from scheduler_sim.errors import ConfigError
from scheduler_sim.generation.generate import Generated
from scheduler_sim.generation.scenarios import SCENARIOS, HandOver, hand_over

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = ROOT / "configs" / "systems" / "deep-est-prototype.yaml"
SIMULATOR = ROOT / "configs" / "policies" / "slurm-simulator.yaml"
"""The scheduler with which D2.3's results were made, as far as its recordings tell."""

JOBS = 1000
"""Jobs a module."""

EXTENSION_PERCENT = {24: 13, 33: 20}
"""Probability (%) that a component is followed by another one, for each share (%) of jobs in workflows."""

PART_SHARES, PART_DELAYS, PART_WORKFLOWS, PART_LOAD = "shares", "delays", "workflows", "load"
PART_VARIANTS, PART_SLURM = "variants", "slurm"
WITH_DELAY = tuple(name for name in SCENARIOS if "DELAY" in name)

EXACT, HALF_WRONG = "exact", "exact ± 50 %"
DELAY_RANGES = {
    "0.1 to 0.5": (0.1, 0.5),
    "0.5 to 0.9": (0.5, 0.9),
    "0.9 to 2.0": (0.9, 2.0),
}
"""Least and most of the producer's requested time after which a consumer is due."""

WORKFLOW_PERCENTS = (10, 20, 30, 40, 50, 60)
LOADS = (0.3, 0.5, 0.7, 0.9)

AS_D23, RESERVED, OWN_LIMITS, OWN_LIMITS_EXACT = (
    "as in D2.3",
    "delay: reserved",
    "own limits",
    "own limits, exact delays",
)


@dataclass(frozen=True)
class Case:
    """One workload law and policy, under which some scenarios are run.

    Attributes
    ----------
    part : of the study. level : of what the part varies, as tables and figures name it.
    workflows : how many jobs are in workflows, as a recipe has it.
    load : offered load of each module; None for that of the model.
    delays : EXACT, HALF_WRONG, or None for those of the recipe.
    own_limits : components ask for their own requested times, not for the sum over their workflow.
    settings : keys of the policy that differ from its own.
    scheduler : file of another policy than the study's.
    """

    part: str
    level: str
    workflows: tuple[tuple[str, Any], ...]
    scenarios: tuple[str, ...] = SCENARIOS
    load: float | None = None
    delays: str | None = None
    own_limits: bool = False
    settings: tuple[tuple[str, Any], ...] = ()
    scheduler: Path | None = None

    def policy(self, name: str) -> Policy:
        """Return the policy of a study that is run with the policy of this name."""
        policy = Policy.named(name) if self.scheduler is None else Policy.from_yaml(self.scheduler)
        return policy.with_settings(dict(self.settings))

    def generated(self, system: System, jobs: int, seed: int) -> Generated:
        """Generate the base workload of a seed with its workflows, from which scenarios are written."""
        generated = Generated(self.recipe(system, jobs), seed)
        if self.delays is not None:
            _rewrite_delays(generated, off_by=0.0 if self.delays == EXACT else 0.5)
        return generated

    def workload(self, generated: Generated, scenario: str) -> Workload:
        """Write a scenario."""
        workload = generated.scenario(scenario)
        if self.own_limits:
            return workload.replace(time_limit=generated.base.time_limit)
        return workload

    def recipe(self, system: System, jobs: int) -> Recipe:
        """Return the recipe: that of D2.3, section 3.4.2, but for what the case changes."""
        arrivals: dict[str, Any] = {"site": "anl"}
        if self.load is not None:
            arrivals["offered_load"] = self.load
        return Recipe.of(
            name=f"dynamic workflows, {self.part} {self.level}",
            system=system,
            jobs=jobs,
            model={"kind": "cirne", "preset": "deep-est", "arrivals": arrivals},
            modules=[{"name": "CM"}, {"name": "ESB"}, {"name": "DAM", "model": {"reduction_factor": 2}}],
            workflows={"max_components": 3, **dict(self.workflows)},
        )


def cases(policy: str) -> tuple[list[Case], list[Case]]:
    """Return the cases of D2.3, and those beyond it."""
    shares = [
        Case(PART_SHARES, f"{share}", (("extension_percent", extension),))
        for share, extension in EXTENSION_PERCENT.items()
    ]
    extension = (("extension_percent", EXTENSION_PERCENT[33]),)
    delays = [Case(PART_DELAYS, name, extension, WITH_DELAY, delays=name) for name in (EXACT, HALF_WRONG)]
    delays += [
        Case(PART_DELAYS, name, (*extension, ("delay_factor", list(ends))), WITH_DELAY)
        for name, ends in DELAY_RANGES.items()
    ]
    workflows = [Case(PART_WORKFLOWS, f"{percent}", (("percent", percent),)) for percent in WORKFLOW_PERCENTS]
    loads = [Case(PART_LOAD, f"{load}", extension, load=load) for load in LOADS]
    variants = [
        Case(PART_VARIANTS, AS_D23, extension, WITH_DELAY),
        Case(PART_VARIANTS, RESERVED, extension, WITH_DELAY, settings=(("delay", "reserved"),)),
        Case(PART_VARIANTS, OWN_LIMITS, extension, WITH_DELAY, own_limits=True),
        Case(PART_VARIANTS, OWN_LIMITS_EXACT, extension, WITH_DELAY, own_limits=True, delays=EXACT),
    ]
    if policy == "slurm":  # it has no such key
        variants = [case for case in variants if not case.settings]
    slurm = [replace(case, part=PART_SLURM, scheduler=SIMULATOR) for case in shares]
    return shares, [*delays, *workflows, *loads, *variants, *slurm]


def hand_overs(generated: Generated) -> HandOver:
    """Return when the components of a workload hand over; the workload has workflows."""
    if generated.workflows is None:
        raise ConfigError("workflows: found none; allowed: a recipe with workflows")
    return hand_over(generated.base, generated.workflows)


def _rewrite_delays(generated: Generated, off_by: float) -> None:
    """Let each delay be the time to the producer's call, times a uniform in [1 − off_by, 1 + off_by)."""
    workflows = generated.workflows
    if workflows is None:
        return
    said, low, high = hand_overs(generated), *DELAY_RANGES["0.5 to 0.9"]
    uniform = (workflows.delay_factor - low) / (high - low)
    factor = workflows.delay_factor.copy()
    for consumer, producer in said.producers:
        error = 1.0 + off_by * (2.0 * uniform[consumer] - 1.0)
        factor[consumer] = error * said.call[producer] / generated.base.time_limit[producer]
    generated.workflows = replace(workflows, delay_factor=factor)


def scenario_levels(chosen: Sequence[Case]) -> int:
    """Count the simulations of a seed."""
    return int(np.sum([len(case.scenarios) for case in chosen]))
