"""Ranks of the user's own: what a function says of each placement."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.errors import ConfigError, did_you_mean
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run

PARAMETERS = ("module", "partition", "nodes", "limit", "cost_per_node")
"""What it may ask: names of module and partition, nodes, limit (s), cost of a node for a second."""


class PlacementRanks(Numbers):
    """Calls the function for every placement."""

    part = "placement_ranks"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._rank = run.policy.placement_function()
        self.needed = self._rank is not None
        if self._rank is not None:
            self._names = _parameters_of(self._rank)

    def room(self, sizes: Sizes) -> int:
        """For every placement."""
        return sizes.placements

    def write(self, core: FullCore, jobs: Jobs, described: None) -> FullCore:
        """Write the ranks of the placements of these components."""
        core.placement_ranks[jobs.where] = self._ranks(jobs)
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write those of other placements of one component."""
        return self.write(core, jobs, None)

    def _ranks(self, jobs: Jobs) -> list[float]:
        """The rank of each placement. Raises ConfigError where the function fails or gives no number."""
        placements, system = jobs.placements, self.run.system
        modules = [system.modules[i] for i in placements.module.tolist()]
        columns: dict[str, list[Any]] = {
            "module": [module.name for module in modules],
            "partition": [system.partitions[i].name if i >= 0 else "" for i in placements.partition.tolist()],
            "nodes": placements.nodes.tolist(),
            "limit": placements.limit.tolist(),
            "cost_per_node": [module.cost_per_node for module in modules],
        }
        rank, asked = self._rank, [columns[name] for name in self._names]
        assert rank is not None
        rows = zip(*asked, strict=True) if asked else [()] * len(modules)
        return [_number(rank, row) for row in rows]


def _parameters_of(rank: Callable[..., Any]) -> tuple[str, ...]:
    names = tuple(inspect.signature(rank).parameters)
    for name in names:
        if name not in PARAMETERS:
            hint = did_you_mean(name, PARAMETERS)
            raise ConfigError(
                f"policy.placement: function {rank.__name__!r}: parameter {name!r};"
                f" allowed: {', '.join(PARAMETERS)}{hint}"
            )
    return names


def _number(rank: Callable[..., Any], row: tuple[Any, ...]) -> float:
    try:
        found = float(rank(*row))
    except Exception as error:  # whatever the user's function raises
        text = f"policy.placement: function {rank.__name__!r}{row} fails: {type(error).__name__}: {error}"
        raise ConfigError(text) from error
    if math.isnan(found):
        raise ConfigError(f"policy.placement: function {rank.__name__!r}{row} returns NaN")
    return found
