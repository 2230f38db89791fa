"""How much of shared nodes each placement may have at most under Slurm: by that it asks for power."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.placement.placements import Placements
from scheduler_sim.placement.pstate_choice import WHOLE
from scheduler_sim.policy.policy import Policy
from scheduler_sim.simulation.rules.numbers import Jobs
from scheduler_sim.simulation.rules.slurm_needs import Needs
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload


def most_parts(system: System, policy: Policy, workload: Workload, placements: Placements) -> Ints:
    """int64[p]: nodes in millionths, of the nodes of the partition on which the cores are the largest part.

    A job that has its nodes to itself has all of them. Of others it is the CPUs that they ask for, as many
    whole cores on each node as that may come to, or whole sockets.
    """
    needs = Needs(Jobs(workload, placements), system, policy)
    of, nodes = needs.numbers, needs.most_nodes
    smallest = np.array([_fewest_cpus(system, one.name) for one in system.partitions], dtype=np.int64)
    cpus = _most_cpus(needs, nodes) + nodes * _rounding(system)
    there = np.maximum(smallest[of["partition"]], 1)
    by_sockets = any(word.startswith("CR_SOCKET") for word in policy.slurm.SelectTypeParameters)
    whole = (of["whole"] > 0) | by_sockets
    parts: Ints = np.where(whole, nodes * WHOLE, np.minimum(cpus * WHOLE // there, nodes * WHOLE))
    return parts


def _most_cpus(needs: Needs, nodes: Ints) -> Ints:
    """int64[p]: CPUs that are dealt to a job at most, on so many nodes."""
    of = needs.numbers
    tasks, each = np.maximum(of["tasks_per_node"], 1), of["cpus_per_task"]
    asked = (
        of["min_cpus"],
        nodes * of["node_cpus"],
        np.where(of["tasks_per_node"] > 0, nodes * tasks * each, each),
        nodes,
        of["gpu_cpus"] * np.maximum(needs.total[:, 0], needs.each[:, 0] * nodes),
    )
    most: Ints = np.maximum.reduce(asked)
    return most


def _rounding(system: System) -> int:
    """CPUs more on a node, as cores are given whole: on each of its sockets one may be used in part."""
    sets = [one for module in system.modules for one in module.sets]
    return max((one.threads_per_core - 1) * one.sockets for one in sets)


def _fewest_cpus(system: System, partition: str) -> int:
    """CPUs of the smallest node of a partition."""
    return min(int(one.cores_per_node) for one, _ in system.sets_of(partition))
