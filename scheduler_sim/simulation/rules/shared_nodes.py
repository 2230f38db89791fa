"""Nodes that are told apart: what each has, and what every placement asks for on each of its nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.shared_nodes.state import BEST_FIT, FIRST_FIT, WORST_FIT, SharedSizes
from scheduler_sim.placement.node_demand import Choices
from scheduler_sim.placement.parse_once import error_at
from scheduler_sim.placement.placements import Placements
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.system.node_resources import THOUSANDTHS, capacities
from scheduler_sim.system.system import System

PACKINGS = {"first_fit": FIRST_FIT, "best_fit": BEST_FIT, "worst_fit": WORST_FIT}
"""``policy.packing``, as the core knows it."""


class Described(NamedTuple):
    """The requests of p placements: where their nodes will stand, and the ranges of nodes they may take."""

    slot: Ints
    first: Ints
    last: Ints


class SharedNodes(Numbers):
    """Writes the nodes that are told apart, and what placements ask of them."""

    part = "shared_nodes"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = tells_apart(run)
        self._offset = offsets_of(run.system)
        self._ranges: list[tuple[int, int]] = []
        self._ranges_of: dict[tuple[Choices, int], tuple[int, int]] = {}
        self._slots = 0

    def describe(self, jobs: Jobs) -> Described | None:
        """Give each placement a place for its nodes, and number the nodes that it may take."""
        placements, demands = jobs.placements, jobs.placements.of_nodes
        if not self.needed or demands is None:
            return None
        _refuse(jobs)
        ends = self._slots + np.cumsum(placements.nodes)
        self._slots = int(ends[-1]) if len(ends) else self._slots
        modules = len(self.run.system.modules)
        found, which = np.unique(demands.kind * modules + placements.module, return_inverse=True)
        pairs = (divmod(int(one), modules) for one in found)
        ranges = np.array(
            [self._numbered(demands.kinds[kind], module) for kind, module in pairs], dtype=np.int64
        )
        first, last = ranges.reshape(-1, 2)[which].T
        return Described(ends - placements.nodes, first, last)

    def room(self, sizes: Sizes) -> SharedSizes:
        """For all nodes, and all that has been described."""
        return SharedSizes(
            modules=sizes.modules,
            nodes=int(self._offset[-1]),
            kinds=len(self.run.system.counted),
            placements=sizes.placements,
            ranges=max(len(self._ranges), 1),
            slots=max(self._slots, 1),
            timeline=sizes.timeline,
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """All nodes are idle."""
        part, system = core.shared_nodes, self.run.system
        part.rules.packing = PACKINGS[self.run.policy.packing]
        for i, module in enumerate(system.modules):
            begin, end = int(self._offset[i]), int(self._offset[i + 1])
            part.module[i].begin, part.module[i].end = begin, end
            if begin < end:
                part.node["module"][begin:end] = i
                for one, numbers in zip(module.sets, module.ranges, strict=True):
                    there = slice(begin + numbers.start, begin + numbers.stop)
                    part.capacity[:, there] = np.array([capacities(one, system.counted)]).T
        part.free[:] = part.capacity
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Described) -> FullCore:
        """Write what placements ask of their nodes."""
        part, demands = core.shared_nodes, jobs.placements.of_nodes
        for i, (begin, end) in enumerate(self._ranges):
            part.range[i].begin, part.range[i].end = begin, end
        if demands is None:
            return core
        request = part.request
        request["slot"][jobs.where] = described.slot
        request["first"][jobs.where], request["last"][jobs.where] = described.first, described.last
        request["able"][jobs.where], request["taken"][jobs.where] = INF, -1
        request["exclusive"][jobs.where] = demands.exclusive
        part.need[jobs.where] = demands.amounts
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write what one component asks for instead."""
        described, part = self.describe(jobs), core.shared_nodes
        if described is None:
            return core
        core = core._replace(
            shared_nodes=part._replace(
                slots=lengthened(part.slots, self._slots), range=lengthened(part.range, len(self._ranges))
            )
        )
        return self.write(core, jobs, described)

    def _numbered(self, choices: Choices, module: int) -> tuple[int, int]:
        """The ranges of nodes that a kind of demand may take, as first and last + 1 of all ranges."""
        key = choices, module
        if key not in self._ranges_of:
            first, offset = len(self._ranges), int(self._offset[module])
            for numbers in choices[0].anywhere if self.run.system.told_apart[module] else ():
                begin, end = offset + numbers.start, offset + numbers.stop
                if len(self._ranges) > first and self._ranges[-1][1] == begin:
                    begin = self._ranges.pop()[0]
                self._ranges.append((begin, end))
            self._ranges_of[key] = first, len(self._ranges)
        return self._ranges_of[key]


class Shadow(Numbers):
    """Under easy: what is free at the shadow time of a front."""

    part, backfill = "shadow", "easy"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = tells_apart(run) and run.policy.backfill == self.backfill
        self._slots = 0

    def describe(self, jobs: Jobs) -> None:
        """Count the nodes of all placements."""
        self._slots += int(jobs.placements.nodes.sum()) if self.needed else 0

    def room(self, sizes: Sizes) -> SharedSizes:
        """For all nodes, and all that may be planned on them."""
        nodes = int(offsets_of(self.run.system)[-1])
        return SharedSizes(sizes.modules, nodes, len(self.run.system.counted), 0, 0, max(self._slots, 1), 0)


class NodePlan(Shadow):
    """Under conservative: what is free on each node, from one time to the next."""

    part, backfill = "node_plan", "conservative"


def tells_apart(run: Run) -> bool:
    """Whether a run has nodes that are told apart; Slurm's schedulers have names for all of them."""
    return not run.policy.names_nodes and any(run.system.told_apart)


def shares_nodes(system: System, policy: Policy) -> bool:
    """Whether a pass has to look at single nodes; Slurm's do so anyway, as long as nodes are whole."""
    return any(module.shared for module in system.modules) or (
        not policy.names_nodes and any(system.told_apart)
    )


def offsets_of(system: System) -> Ints:
    """int64[m + 1]: number of the first node of each module among those that are told apart."""
    nodes = [module.nodes * apart for module, apart in zip(system.modules, system.told_apart, strict=True)]
    return np.cumsum([0, *nodes])


def nodes_of(core: FullCore, placed: np.ndarray) -> list[np.ndarray]:
    """Return the nodes of each of some placements, by their numbers within the module, ascending."""
    part, place = core.shared_nodes, np.asarray(core.placements)
    slot, begin = np.asarray(part.request)["slot"], np.asarray(part.module)["begin"]
    return [
        np.sort(part.slots[slot[p] : slot[p] + place["nodes"][p]] - begin[place["module"][p]]) for p in placed
    ]


def _refuse(jobs: Jobs) -> None:
    """Raise TraceError for what has no meaning yet where nodes are shared."""
    placements, demands = jobs.placements, jobs.placements.of_nodes
    assert demands is not None
    several = np.array(
        [len(one) > 1 or any(way.at_least for way in one) for one in demands.kinds], dtype=bool
    )
    parts = demands.gpus % THOUSANDTHS > 0
    for wrong, column, allowed in (
        (several[demands.kind], "constraint", "features that each node has, without counts and brackets"),
        (parts, "gpus", "whole GPUs"),
    ):
        if wrong.any():
            row = int(placements.rows[placements.owner[np.argmax(wrong)]])
            raise error_at(jobs.workload, row, column, f"not where jobs share nodes; allowed: {allowed}")


def whole_nodes(placements: Placements, system: System) -> int:
    """Count the components that get whole nodes of a module that jobs share, as they state no cores."""
    demands = placements.of_nodes
    if demands is None:
        return 0
    shared = np.array([module.shared for module in system.modules])[placements.module]
    unstated = shared & demands.exclusive & (demands.cores == 0)
    return len(np.unique(placements.owner[unstated]))
