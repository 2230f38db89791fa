"""Reading the machine from a file of either kind."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.system.system import System


def read_system(path: str | Path) -> System:
    """Read a system file, or a Slurm configuration (a name ending in ``.conf``, also ``.gz``).

    Of a slurm.conf only the machine counts here; ``slurm_conf.site`` gives its
    policy keys, and what it leaves out. Raises ConfigError with every problem.
    """
    if not is_slurm_conf(path):
        return System.from_yaml(path)
    from scheduler_sim.system.slurm_conf.site import read_slurm_conf

    return read_slurm_conf(path).system


def is_slurm_conf(path: str | Path) -> bool:
    """Tell by its name whether a file is a Slurm configuration."""
    return str(path).lower().endswith((".conf", ".conf.gz"))
