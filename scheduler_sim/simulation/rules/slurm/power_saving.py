"""Slurm's power saving: which nodes are powered down, and when."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.power_saving.state import PowerSizes
from scheduler_sim.errors import ConfigError, InputError, did_you_mean
from scheduler_sim.numerals import is_digits
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.power_saving import idle_since
from scheduler_sim.simulation.rules.slurm.masks import Masks, bits, words_of
from scheduler_sim.system.reservations import nodes_named
from scheduler_sim.workload.fields import DELAYED

Kept = tuple[int, tuple[tuple[int, range], ...]]
"""How many idle ones of some nodes stay on, of each module and its numbers; -1: all of them."""

ALL = -1


class SlurmPowerSaving(Numbers):
    """Writes when the nodes of each module are powered down, and which never are."""

    part = "slurm_power_saving"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = run.switching is not None
        self._kept: list[Kept] = []
        if self.needed:
            _refuse(run)
            self._kept = [*_of_nodes(run), *_of_partitions(run), *_of_models(run)]

    def room(self, sizes: Sizes) -> PowerSizes:
        """For all there are."""
        words = sum(words_of(module.nodes) for module in self.run.system.modules)
        counted = sum(count != ALL for count, _ in self._kept)
        return PowerSizes(sizes.rows, sizes.modules, words, counted)

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """All nodes are on, and idle from now on."""
        power, keys = core.slurm_power_saving, self.run.policy.slurm
        power.looks.interval = keys.power_save_interval
        power.looks.suspend_rate, power.looks.resume_rate = keys.SuspendRate, keys.ResumeRate
        for module, one in enumerate(self.run.switching or ()):
            it = power.module[module]
            it.suspend_time = INF if one.timeout_s is None else one.timeout_s
            it.suspend_timeout, it.boot_s, it.stop_s = one.away_s, one.boot_s, one.shutdown_s
            idle, off, boots, stops = one.draws_mw
            it.off_saves, it.boot_adds, it.stop_adds = idle - off, max(boots - idle, 0), max(stops - idle, 0)
        self._keep_on(core)
        idle_since(core, int(core.clock.now))
        return core

    def _keep_on(self, core: FullCore) -> None:
        power, masks = core.slurm_power_saving, Masks(self.run.system)
        never, counted = power.sets.never, 0
        unlimited = [(ALL, ((i, range(self.run.system.modules[i].nodes)),)) for i in self._unlimited()]
        for count, ranges in (*self._kept, *unlimited):
            nodes = np.zeros(len(never), dtype=np.uint64)
            for module, numbers in ranges:
                nodes |= bits([numbers], int(masks.low[module]), len(never))
            if count == ALL:
                never |= nodes
            else:
                power.kept[counted], power.keeps["count"][counted] = nodes, count
                counted += 1

    def _unlimited(self) -> list[int]:
        return [i for i, one in enumerate(self.run.switching or ()) if one.timeout_s is None]


def _of_nodes(run: Run) -> list[Kept]:
    """``SuspendExcNodes``."""
    modules, found = [(module.name, module.nodes) for module in run.system.modules], []
    for word in run.policy.slurm.SuspendExcNodes:
        names, colon, number = word.partition(":")
        try:
            ranges = tuple((one.module, one.numbers) for one in nodes_named([names], modules))
        except InputError as error:
            raise ConfigError(f"policy.slurm.SuspendExcNodes: {error}") from None
        there = sum(len(numbers) for _, numbers in ranges)
        count = int(number) if is_digits(number) else 0
        if colon and not 1 <= count <= there:
            raise ConfigError(
                f"policy.slurm.SuspendExcNodes: found {word[:60]!r}; allowed: from 1 to {there} of {names}"
            )
        found.append((count if colon and count < there else ALL, ranges))
    return found


def _of_partitions(run: Run) -> list[Kept]:
    """``SuspendExcParts``."""
    found, system = [], run.system
    names = [partition.name for partition in system.partitions]
    for name in run.policy.slurm.SuspendExcParts:
        known = next((one for one in system.partitions if one.name.lower() == name.lower()), None)
        if known is None:
            allowed = ", ".join(names) + did_you_mean(name, names)
            raise ConfigError(f"policy.slurm.SuspendExcParts: found {name!r}; allowed: {allowed}")
        module = system.module_index(known.module)
        found.append((ALL, tuple((module, numbers) for _, numbers in system.sets_of(known.name))))
    return found


def _of_models(run: Run) -> list[Kept]:
    """``min_awake`` of the models."""
    sizes = [module.nodes for module in run.system.modules]
    return [
        (ALL if one.min_awake >= sizes[i] else one.min_awake, ((i, range(sizes[i])),))
        for i, one in enumerate(run.switching or ())
        if one.min_awake > 0
    ]


def _refuse(run: Run) -> None:
    """Nodes are powered down where no job is suspended, and none is expected at a known time."""
    keys = run.policy.slurm
    where: dict[str, Any] = {
        f"beside PreemptMode {keys.PreemptMode}": keys.gangs,
        "beside fixed_nodes: false": not keys.fixed_nodes,
        "beside clock: simulator": keys.clock == "simulator",
        "beside script_alone: true": keys.script_alone,
    }
    found = (
        "policy.slurm: found idle nodes that are powered down (SuspendTime, or energy.idle_off of the models)"
    )
    for words in (words for words, is_so in where.items() if is_so):
        raise ConfigError(f"{found} {words}; allowed: one of the two")
    run.refuse(DELAYED, f"{found} where components start with a delay; allowed: one of the two")
