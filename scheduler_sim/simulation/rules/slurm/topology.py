"""Where nodes lie under Slurm: the switches of the system, what jobs ask of them, which nodes they had."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.engine.core.records import lengthened
from scheduler_sim.engine.engine import FullCore, Sizes
from scheduler_sim.engine.rules.slurm.topology.state import NOWHERE, TopologySizes
from scheduler_sim.errors import ConfigError
from scheduler_sim.placement.placements import Placements
from scheduler_sim.placement.repeating import repeated
from scheduler_sim.policy.slurm_keys import BY_SYSTEM
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.node_lists import node_lists
from scheduler_sim.simulation.rules.numbers import Jobs, Numbers, Run
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.simulation.rules.slurm.masks import WORD, Masks, words_of
from scheduler_sim.simulation.rules.topology_use import chooses_by_topology
from scheduler_sim.system.system import System
from scheduler_sim.system.topology import BLOCK, TREE, leaf_of_nodes
from scheduler_sim.workload.refused import refused

PLUGINS = {TREE: "topology/tree", BLOCK: "topology/block"}


class SwitchTopology(Numbers):
    """Writes the switches, and how many leaves each job asks for at most."""

    part = "topology"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.needed = chooses_by_topology(run.system, run.policy)
        if self.needed:
            _refuse(run)

    @property
    def _is_dragonfly(self) -> bool:
        topology = self.run.system.topology
        is_tree = topology is not None and topology.type == TREE
        return is_tree and "DRAGONFLY" in self.run.policy.slurm.TopologyParam

    def room(self, sizes: Sizes) -> TopologySizes:
        """For all switches."""
        system = self.run.system
        return TopologySizes(
            rows=sizes.rows,
            placements=sizes.placements,
            modules=len(system.modules),
            switches=len(system.switches),
            sizes=len(_sizes(system)),
            words=sum(words_of(module.nodes) for module in system.modules),
        )

    def begin(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Write the switches."""
        part, system, masks = core.topology, self.run.system, Masks(self.run.system)
        assert system.topology is not None
        part.rules.optional = "TOPOOPTIONAL" in self.run.policy.slurm.TopologyParam
        part.rules.blocks = system.topology.type == BLOCK
        part.rules.dragonfly = self._is_dragonfly
        part.size[:] = _sizes(system)
        part.free[:] = [not on for on in system.on_switches]
        part.switch["level"] = [switch.level for switch in system.switches]
        part.switch["above"] = [switch.above for switch in system.switches]
        part.upwards[:] = np.argsort(part.switch["level"], kind="stable")
        for i, module in enumerate(system.modules):
            first = int(masks.low[i]) * WORD
            leaf = leaf_of_nodes(system.switches, i, module.nodes)
            part.leaf[first : first + module.nodes] = leaf
        words = np.arange(len(part.leaf)) // WORD
        there = part.leaf != NOWHERE
        part.switch["low"] = len(part.leaf)
        np.minimum.at(part.switch["low"], part.leaf[there], words[there])
        np.maximum.at(part.switch["high"], part.leaf[there], words[there] + 1)
        return core

    def write(self, core: FullCore, jobs: Jobs, described: Any) -> FullCore:
        """Write what jobs ask for."""
        self._refuse_counts(jobs)
        job, keys = core.topology.job, self.run.policy.slurm
        wait = jobs.column("switch_wait")
        most_leaves = np.maximum(jobs.column("switches"), 0)
        if self._is_dragonfly:  # a count above 1 is set to 0 there
            most_leaves = np.where(most_leaves > 1, 0, most_leaves)
        job["most"][jobs.rows] = most_leaves
        most = keys.max_switch_wait
        job["wait"][jobs.rows] = np.where(wait < 0, most, np.minimum(wait, most))
        core.topology.owner[jobs.where] = jobs.first + jobs.placements.owner
        return core

    def _refuse_counts(self, jobs: Jobs) -> None:
        """Raise JobsRefused for those that ask for so many nodes with a feature."""
        demands, of = jobs.placements.of_nodes, jobs.placements
        if demands is None:
            return
        counts = np.array([any(way.at_least for way in one) for one in demands.kinds], dtype=bool)
        if (wrong := counts[demands.kind]).any():
            problem = "a count of nodes, with a topology under policy slurm; allowed: features without counts"
            raise refused(jobs.workload, np.unique(of.rows[of.owner[wrong]]), "constraint", problem)

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """Other placements of one job are its own, too."""
        core.topology.owner[jobs.where] = jobs.first
        return core


class NamedNodes(Numbers):
    """Has which whole nodes jobs had written down, where a topology tells how they lie."""

    part = "named_nodes"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        of_slurm = run.policy.backfill == "slurm" and not shares_under_slurm(run.system, run.policy)
        self.needed = run.system.topology is not None and of_slurm
        self._nodes = 0

    def describe(self, jobs: Jobs) -> Ints | None:
        """int64[n]: where the nodes of each component will stand."""
        if not self.needed:
            return None
        most = _most_nodes(jobs.placements)
        ends = self._nodes + np.cumsum(most)
        self._nodes = int(ends[-1]) if len(ends) else self._nodes
        return ends - most

    def room(self, sizes: Sizes) -> tuple[int, int]:
        """For the nodes of all that have been described."""
        return sizes.rows, self._nodes

    def write(self, core: FullCore, jobs: Jobs, described: Ints) -> FullCore:
        """Write where the nodes of components will stand."""
        node = lengthened(core.named_nodes.node, self._nodes)
        core = core._replace(named_nodes=core.named_nodes._replace(node=node))
        core.named_nodes.first[jobs.rows] = described
        return core

    def place_anew(self, core: FullCore, jobs: Jobs) -> FullCore:
        """One that may have more nodes has another place for them."""
        described = self.describe(jobs)
        assert described is not None
        return self.write(core, jobs, described)

    def columns(self, core: FullCore, rows: int) -> dict[str, Any]:
        """Which nodes components had, by number in their module."""
        jobs = core.jobs[:rows]
        ran = jobs["start"] != NEVER
        place = np.where(ran, jobs["placed"], 0)
        count = np.where(ran, core.placements["nodes"][place], 0)
        owner, place_in = repeated(count)
        low = WORD * Masks(self.run.system).low[core.placements["module"][place]]
        numbers = core.named_nodes.node[core.named_nodes.first[:rows][owner] + place_in] - low[owner]
        return {"node_list": node_lists(numbers, count)}


def _sizes(system: System) -> list[int]:
    """Nodes of the blocks that jobs are kept in, from the base block on; none but of blocks."""
    if system.topology is None or system.topology.type != BLOCK:
        return []
    nodes = [sum(len(one.numbers) for one in switch.nodes) for switch in system.switches]
    return system.topology.block_sizes or [min(nodes)]


def _most_nodes(placements: Placements) -> Ints:
    """int64[n]: the most nodes that each component may have, by any of its placements."""
    most = np.zeros(len(placements.rows), dtype=np.int64)
    np.maximum.at(most, placements.owner, placements.nodes)
    return most


def _refuse(run: Run) -> None:
    """Raise ConfigError for what has no meaning beside a topology."""
    keys, topology = run.policy.slurm, run.system.topology
    assert topology is not None
    plugin = PLUGINS.get(topology.type)
    if plugin is None or keys.TopologyPlugin not in (BY_SYSTEM, plugin):
        allowed = "topology/none" if plugin is None else f"{plugin}, topology/none"
        raise ConfigError(
            f"policy.slurm.TopologyPlugin: found {keys.TopologyPlugin} with a topology of type"
            f" {topology.type}; allowed here: {allowed}"
        )
    for key, found, needed in keys.older_rules():
        raise ConfigError(f"policy.slurm.{key}: found {found} with a topology; allowed here: {needed}")
    if keys.gangs:
        raise ConfigError(
            f"policy.slurm.PreemptMode: found {keys.PreemptMode} with a topology; allowed here: OFF,"
            " REQUEUE, CANCEL, or policy.slurm.TopologyPlugin: topology/none"
        )
    if any("FLEX" in one.flags for one in run.system.reservations):
        raise ConfigError("reservations: found FLEX with a topology; allowed here: other flags")
