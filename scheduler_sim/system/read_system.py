"""Reading the machine from a file of either kind."""

from __future__ import annotations

from pathlib import Path

from scheduler_sim.system.slurm_conf import read_slurm_conf
from scheduler_sim.system.system import System


def read_system(path: str | Path) -> System:
    """Read a system file, or a Slurm configuration (a name ending in ``.conf``).

    Of a slurm.conf only the machine counts here; ``slurm_conf.read_slurm_conf`` gives its
    policy keys, and what it leaves out. Raises ConfigError with every problem.
    """
    return read_slurm_conf(path).system if is_slurm_conf(path) else System.from_yaml(path)


def is_slurm_conf(path: str | Path) -> bool:
    """Tell by its name whether a file is a Slurm configuration."""
    return Path(path).suffix.lower() == ".conf"
