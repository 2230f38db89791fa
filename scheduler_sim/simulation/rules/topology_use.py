"""Whether Slurm chooses nodes by where they lie, which other rules are written by, too."""

from __future__ import annotations

from scheduler_sim.policy.policy import Policy
from scheduler_sim.system.system import System

NO_TOPOLOGY = "topology/none"


def chooses_by_topology(system: System, policy: Policy) -> bool:
    """Whether it does: where the system has a topology, unless the policy says otherwise."""
    plugin = policy.slurm.TopologyPlugin
    return policy.backfill == "slurm" and system.topology is not None and plugin != NO_TOPOLOGY
