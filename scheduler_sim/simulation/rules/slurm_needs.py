"""From what jobs ask for to the numbers that select/cons_tres goes by (job_mgr.c, node_scheduler.c).

Memory is counted in MB, as Slurm does, until the end.
"""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.config.value import MOST_COUNTED
from scheduler_sim.engine.rules.slurm.cons_tres.state import AMONG_ABLE, AVAILABLE, EVEN, ONE_ROW, RESERVED
from scheduler_sim.engine.rules.slurm.topology.state import NOWHERE
from scheduler_sim.placement.parse_once import parse_once
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.rules.numbers import Jobs
from scheduler_sim.simulation.rules.topology_use import chooses_by_topology
from scheduler_sim.system.gres import gpus_in, parse_gres
from scheduler_sim.system.node_resources import GPUS, KINDS
from scheduler_sim.system.shared_cores import shares_cores
from scheduler_sim.system.system import System
from scheduler_sim.system.topology import TREE
from scheduler_sim.workload.parts import stated_cores
from scheduler_sim.workload.refused import refused

UNSET = 500_000
"""Of a maximum number of nodes."""

KB_PER_MB = 1024

NUMBERS = (
    *("partition", "min_nodes", "max_nodes", "limit", "asked_nodes", "tasks", "cpus_per_task"),
    *("tasks_per_node", "min_cpus", "node_cpus", "memory", "gpu_cpus", "gpu_memory"),
    *("gpu_kind", "per_cpu", "gpu_cpus_said", "generic", "in_all", "whole", "kind", "by_request"),
    *("by_switches", "by_able", "even"),
)
"""Fields of a need that are worked out here."""


class Needs:
    """What p placements need, int64[p] of each of NUMBERS; of k kinds of generic resources int64[p, k].

    Attributes
    ----------
    numbers : by name
    each, total, per_task : generic resources of each node, of all together, of each task
    """

    def __init__(self, jobs: Jobs, system: System, policy: Policy) -> None:
        self._jobs, self._system, self._keys = jobs, system, policy.slurm
        self._topology = chooses_by_topology(system, policy)
        self._row = jobs.placements.rows[jobs.placements.owner]
        self._partition = jobs.placements.partition
        shared = np.array([system.module(one.module).shared for one in system.partitions], dtype=bool)
        self._shared: Bools = shared[self._partition]
        self.each, self.total, self.per_task = (
            self._generic(name) for name in ("gres", "gres_per_job", "gres_per_task")
        )
        gpus = np.maximum(self._column("gpus"), 0) * self._shared
        self._refuse_parts("gpus", gpus % 1 > 0, self._row)
        self.each[:, 0] = np.maximum(self.each[:, 0], gpus.astype(np.int64))
        self.numbers = self._numbers()

    @property
    def most_nodes(self) -> Ints:
        """int64[p], so many nodes at most each may have."""
        of = self.numbers
        sizes = np.array([self._system.nodes_of(one.name) for one in self._system.partitions])
        wanted = np.maximum(of["asked_nodes"], of["min_cpus"]) + self.total.sum(axis=1)
        per_node = np.maximum(of["tasks_per_node"], 1)
        most = np.maximum(of["limit"], -(-of["tasks"] // per_node))
        most_nodes: Ints = np.minimum(np.minimum(wanted, most), sizes[self._partition])
        return most_nodes

    @property
    def of_nodes(self) -> Ints:
        """int64[p, ..]: what is asked of each node; all of the need where it does not go by such nodes."""
        of = self.numbers
        alone = np.where(of["max_nodes"] == 1, of["tasks"], 0)
        tasks = np.where(of["tasks_per_node"] > 0, of["tasks_per_node"], alone)
        cpus = -(-of["min_cpus"] // of["min_nodes"])
        same = (
            "partition",
            "cpus_per_task",
            "node_cpus",
            "memory",
            "per_cpu",
            "whole",
            "kind",
            "even",
            "by_able",
        )
        plain = np.column_stack([*(of[name] for name in same), tasks, cpus])
        apart = (of["by_able"] == 0) | (of["generic"] > 0)
        return np.column_stack((plain, self.table() * apart[:, np.newaxis]))

    def table(self) -> Ints:
        """int64[p, ..]: all of it, side by side."""
        return np.column_stack(
            [*(self.numbers[name] for name in NUMBERS), self.each, self.total, self.per_task]
        )

    def _numbers(self) -> dict[str, Ints]:
        least, most, tasks, of_node, of_task, alone = self._asked()
        each = np.maximum(of_task, 1)
        gpu_cpus, gpu_memory = self._of_each_gpu(of_task)
        by_gpus = np.where(self.per_task > 0, self.total // np.maximum(self.per_task, 1), 0).max(axis=1)
        one_each = np.where((self.per_task > 0).any(axis=1) & (least == most), least, 0)
        for other in (least * of_node, by_gpus, one_each):
            tasks = np.where(tasks > 0, tasks, other)
        self._refuse_uncounted(tasks)
        of_tasks = tasks[:, np.newaxis] * self.per_task.astype(float)
        of_tasks = np.minimum(of_tasks, MOST_COUNTED).astype(np.int64)
        self.total = np.where(self.per_task > 0, of_tasks, self.total)
        named = most != UNSET
        fewer = np.where(self.total > 0, self.total, UNSET).min(axis=1)
        fewer = np.minimum(fewer, np.where(tasks > 0, tasks, UNSET))
        most = np.where(named, np.minimum(most, fewer), most)
        least = np.where(named, np.minimum(least, most), least)
        cpus = np.where(tasks > 0, tasks, np.where(least == most, least, 1)) * each
        each = np.maximum(each, self.per_task[:, 0] * gpu_cpus)
        limit = np.minimum(
            most, self._of_partition([one.max_nodes or UNSET for one in self._system.partitions])
        )
        exclusive = self._of_partition([one.exclusive for one in self._system.partitions]) > 0
        memory, per_cpu = self._memory()
        found = {
            "partition": self._partition,
            "min_nodes": least,
            "max_nodes": most,
            "limit": limit,
            "asked_nodes": np.where(most == UNSET, least, limit),
            "tasks": tasks,
            "cpus_per_task": each,
            "tasks_per_node": of_node,
            "min_cpus": np.maximum(cpus, least),
            "node_cpus": np.maximum(each, np.where(tasks > 1, each * of_node, 0)),
            "memory": memory,
            "gpu_cpus": gpu_cpus,
            "gpu_memory": gpu_memory * KB_PER_MB,
            "per_cpu": per_cpu,
            "gpu_cpus_said": self._column("cores_per_gpu") > 0,
            "gpu_kind": self._gpu_kind(),
            "generic": (self.each + self.total > 0).any(axis=1),
            "in_all": (self.total > 0).any(axis=1),
            "whole": alone | exclusive,
            "kind": np.where(exclusive | ~self._shared, RESERVED, ONE_ROW),
        }
        found["by_switches"] = self._by_switches()
        found |= self._sharing_cores(found)
        self._keep_within_memory(found)
        found["by_able"] = self._by_able(found)
        found["even"] = np.where(found["by_switches"] > 0, self._by_able_on_switches(found), found["by_able"])
        return {name: np.asarray(value, dtype=np.int64) for name, value in found.items()}

    def _asked(self) -> tuple[Ints, Ints, Ints, Ints, Ints, Bools]:
        """The least and the most nodes, tasks in all, of each node, CPUs of each task; whether all of nodes.

        0 where it is not said. Cores that are asked for on each node are tasks of one core; of an SWF trace
        the processors are tasks, on any number of nodes.
        """
        least = self._jobs.placements.nodes
        named = self._column("max_nodes")
        most = np.where(named < 0, least, np.where(named == 0, UNSET, np.maximum(named, least)))
        tasks, of_node, of_task = (
            np.maximum(self._column(name), 0) * self._shared
            for name in ("tasks", "tasks_per_node", "cores_per_task")
        )
        cores = np.ceil(stated_cores(self._jobs.workload.columns)[self._row]).astype(np.int64)
        silent = (self._column("tasks") < 0) & (of_node == 0) & (of_task == 0)
        cores = np.where(self._shared & silent, cores, 0)
        if self._jobs.workload.source.format == "swf":
            spread = silent & self._shared & (cores <= 0)
            tasks = np.where(spread, self._column("nodes"), tasks)
            most = np.where(spread, UNSET, most)
            silent &= ~spread
        of_node = np.where(silent & (cores > 0), cores, of_node)
        alone = ~self._shared | (silent & (cores <= 0)) | (self._column("exclusive") > 0)
        return least, most, tasks, of_node, of_task, alone

    def _of_each_gpu(self, of_task: Ints) -> tuple[Ints, Ints]:
        """CPUs and memory, MB; defaults do not count beside cores of tasks, or memory that was asked for."""
        asks = (self.each + self.total + self.per_task)[:, 0] > 0
        cpus = np.maximum(self._column("cores_per_gpu"), 0)
        memory = -(-np.maximum(self._column("memory_per_gpu_kb"), 0) // KB_PER_MB)
        cpus = np.where((cpus > 0) | (of_task > 0), cpus, self._default("DefCpuPerGPU"))
        said = (self._column("memory_kb") >= 0) | (self._column("memory_per_core_kb") >= 0)
        memory = np.where((memory > 0) | said, memory, self._default("DefMemPerGPU"))
        return cpus * asks, memory * asks

    def _gpu_kind(self) -> Ints:
        """The kind of generic resource that its GPUs are, behind all that is asked for: see the core."""
        demands = self._jobs.placements.of_nodes
        if demands is None:
            return np.zeros_like(self._partition)
        first = len(self._system.counted) - GPUS
        return np.where(demands.gpu_type > 0, demands.gpu_type - 1 + first, 0)

    def _memory(self) -> tuple[Ints, Ints]:
        """MB, and whether for each CPU: as asked, else the partition's default, else the cluster's.

        Of two defaults the one for a node counts.
        """
        kb, per_core = self._column("memory_kb"), self._column("memory_per_core_kb")
        if self._jobs.workload.source.format == "swf":  # it says what each processor has
            kb, per_core = np.full_like(kb, -1), np.where(per_core >= 0, per_core, kb)
        memory, per_cpu = np.zeros_like(kb), np.zeros_like(kb)
        parts = self._system.partitions
        defaults: tuple[tuple[int | Ints, int], ...] = (
            (self._keys.DefMemPerCPU, 1),
            (self._keys.DefMemPerNode, 0),
            (self._of_partition([one.slurm.get("DefMemPerCPU", 0) for one in parts]), 1),
            (self._of_partition([one.slurm.get("DefMemPerNode", 0) for one in parts]), 0),
        )
        for amount, of_cpu in defaults:
            memory, per_cpu = np.where(amount, amount, memory), np.where(amount, of_cpu, per_cpu)
        said = (per_core >= 0) & (kb < 0)
        memory = np.where(said, -(-per_core // KB_PER_MB), memory)
        per_cpu = np.where(said, per_core > 0, per_cpu)
        return np.where(kb >= 0, -(-kb // KB_PER_MB), memory), np.where(kb >= 0, 0, per_cpu)

    def _by_able(self, found: dict[str, Ints]) -> Ints:
        """Whether it takes so many nodes that have enough each: all it may have, of equal shares.

        Whichever, if nodes are not chosen by where they lie.
        """
        nodes, per_node, tasks = found["min_nodes"], found["tasks_per_node"], found["tasks"]
        least = np.maximum(nodes, np.where(per_node > 0, -(-tasks // np.maximum(per_node, 1)), 0))
        most = np.where((tasks > 0) & (tasks < found["limit"]), np.maximum(tasks, least), found["limit"])
        rigid = (least == nodes) & (most == nodes) & (found["asked_nodes"] <= nodes) & (found["in_all"] == 0)
        on_node = np.where(per_node > 0, per_node, np.where(found["max_nodes"] == 1, np.maximum(tasks, 1), 1))
        each = np.maximum(found["node_cpus"], on_node * found["cpus_per_task"])
        by_memory = (found["per_cpu"] > 0) & (found["memory"] > 0)
        strict = (each * nodes >= found["min_cpus"]) & ~by_memory & (~found["generic"] | (per_node > 0))
        single = (nodes == 1) & (not self._least_loaded)
        meets = found["kind"] != RESERVED if self._keys.gangs else found["kind"] == AVAILABLE
        rigid &= ~meets | (not shares_cores(self._system, gang=self._keys.gangs))
        return np.where(rigid & strict, AMONG_ABLE, np.where(rigid & single, EVEN, 0))

    @property
    def _least_loaded(self) -> bool:
        """Whether the least loaded nodes go first, in any partition."""
        of_partitions = any(one.slurm.get("LLN") for one in self._system.partitions)
        return of_partitions or "CR_LLN" in self._keys.SelectTypeParameters

    def _keep_within_memory(self, found: dict[str, Ints]) -> None:
        """MaxMemPerCPU refuses nothing: with more memory come more CPUs."""
        limit = np.maximum(self._default("MaxMemPerCPU"), 0)
        memory, over = found["memory"], (limit > 0) & (found["memory"] > limit)
        factor = np.where(over, -(-memory // np.maximum(limit, 1)), 1)
        of_cpu = over & (found["per_cpu"] > 0)
        each = np.where(of_cpu, found["cpus_per_task"] * factor, found["cpus_per_task"])
        with_tasks = found["tasks"] > 0
        found["min_cpus"] = np.where(of_cpu & with_tasks, found["tasks"] * each, found["min_cpus"])
        found["node_cpus"] = np.where(of_cpu & ~with_tasks, each, found["node_cpus"])
        found["memory"] = np.where(of_cpu, -(-memory // factor), memory) * KB_PER_MB
        of_node = over & (found["per_cpu"] == 0) & (found["node_cpus"] < factor)
        per_node = found["tasks_per_node"]
        each = np.where(of_node & (per_node > 0), -(-factor // np.maximum(per_node, 1)), each)
        found["node_cpus"] = np.where(of_node, factor, found["node_cpus"])
        found["cpus_per_task"] = each

    def _sharing_cores(self, found: dict[str, Ints]) -> dict[str, Ints]:
        """Whether others may have its cores: of all jobs of a partition, or of those that ask for it.

        One that is to have its nodes to itself has all their cores then; where a core is for one job alone it
        has its nodes to itself.
        """
        said = [one.over_subscribe for one in self._system.partitions]
        several = self._of_partition([one.jobs for one in said]) > 1
        forced = self._of_partition([one.force for one in said]) > 0
        alone = self._column("exclusive") > 0
        asked = several & ~forced & ~alone & (self._column("oversubscribe") > 0)
        free = (found["kind"] == ONE_ROW) & (asked | (forced & (several | ~alone)))
        return {
            "kind": np.where(free, AVAILABLE, found["kind"]),
            "by_request": free & asked & np.asarray(self._column("constraint") == ""),
        }

    def _by_switches(self) -> Ints:
        """Whether nodes are chosen by where they lie, so that it matters which are able."""
        if not self._topology:
            return np.zeros_like(self._partition)
        optional = "TOPOOPTIONAL" in self._keys.TopologyParam
        places = [self._system.module_index(one.module) for one in self._system.partitions]
        on = [int(self._system.on_switches[place]) for place in places]
        return self._of_partition(on) * ((not optional) | (self._column("switches") > 0))

    def _by_able_on_switches(self, found: dict[str, Ints]) -> Ints:
        """Whether it is met by so many able nodes wherever these lie: all are under one switch.

        Which nodes are taken goes by all that offer something, so that it is not AMONG_ABLE. Of what jobs ask
        of generic resources nodes are left out first that have few; jobs may ask for few leaves.
        """
        topology = self._system.topology
        tops = sum(switch.above == NOWHERE for switch in self._system.switches)
        if topology is None or topology.type != TREE or tops > 1 or self._least_loaded:
            return np.zeros_like(self._partition)
        wherever = (found["by_able"] > 0) & (found["generic"] == 0) & (self._column("switches") <= 0)
        return np.where(wherever, EVEN, 0)

    # -- columns

    def _column(self, name: str) -> np.ndarray:
        numbers: np.ndarray = self._jobs.workload.columns[name][self._row]
        return numbers

    def _of_partition(self, values: list[int]) -> Ints:
        return np.array(values, dtype=np.int64)[self._partition]

    def _default(self, name: str) -> Ints:
        """What the partition says, else the cluster."""
        own = getattr(self._keys, name)
        return self._of_partition([one.slurm.get(name, own) for one in self._system.partitions])

    def _generic(self, name: str) -> Ints:
        """int64[p, k]: whole pieces of each kind, GPUs of all types first; none on nodes that are whole."""
        jobs, others = self._jobs, self._system.counted[len(KINDS) :]
        lists, spelling = parse_once(jobs.workload, jobs.placements.rows, name, parse_gres)
        amounts = [[gpus_in(one), *(one.get(kind, 0) for kind in others)] for one in lists]
        found = np.array(amounts, dtype=float).reshape(len(lists), 1 + len(others))
        found = np.pad(found, ((0, 0), (0, len(self._system.gpu_types_under_slurm))))
        odd = np.asarray((found % 1 > 0).any(axis=1))
        self._refuse_parts(name, odd[spelling], jobs.placements.rows)
        counts: Ints = found.astype(np.int64)[spelling][jobs.placements.owner]
        return counts * self._shared[:, np.newaxis]

    def _refuse_parts(self, column: str, parts: Bools, rows: Ints) -> None:
        if parts.any():
            problem = "a part of a piece; allowed under slurm: whole pieces"
            raise refused(self._jobs.workload, np.unique(rows[parts]), column, problem)

    def _refuse_uncounted(self, tasks: Ints) -> None:
        wrong = (self.per_task > 0).any(axis=1) & (tasks == 0)
        if wrong.any():
            raise refused(
                self._jobs.workload,
                np.unique(self._row[wrong]),
                "gres_per_task",
                "no number of tasks; allowed: with tasks, tasks_per_node, gres_per_job, or a number of nodes",
            )
