"""Whose jobs the limits of their partitions do not bind: a QOS of Slurm may say so by a flag."""

from __future__ import annotations

import numpy as np

from scheduler_sim.arrays import Bools
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.limits import LIFTING
from scheduler_sim.policy.policy import Policy
from scheduler_sim.policy.shares import associations, default_qos
from scheduler_sim.simulation.rules.shared_nodes import shares_under_slurm
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload


def lifted_limits(policy: Policy, system: System, workload: Workload) -> Bools | None:
    """bool[3, rows of the workload]: for whom each of LIFTING holds; None where no QOS has such a flag.

    Raises ConfigError for MaxNodes where jobs share nodes: there it also tells how many they ask for.
    """
    names = [[name for name, one in policy.slurm.qos.items() if flag in one.Flags] for flag in LIFTING]
    if policy.backfill != "slurm" or not any(names):
        return None
    if names[0] and shares_under_slurm(system, policy):
        raise ConfigError(
            f"policy.slurm.qos.{names[0][0]}.Flags: found {LIFTING[0]} where jobs share nodes; allowed here:"
            " the other flags"
        )
    users, accounts, own = (np.asarray(workload.columns[name]) for name in ("user", "account", "qos"))
    pairs = list(zip(users, accounts, strict=True))
    whose = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    tree = associations(policy.slurm.accounts, *zip(*whose, strict=True)) if whose else None
    defaults = [default_qos(tree, int(row)) for row in tree.row] if tree is not None else []
    qos = [name or defaults[whose[pair]] for name, pair in zip(own, pairs, strict=True)]
    return np.array([[name in said for name in qos] for said in names], dtype=bool).reshape(len(LIFTING), -1)
