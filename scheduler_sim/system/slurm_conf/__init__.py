"""Reading a site's slurm.conf: the machine, the policy keys, and what was left out.

Rules from the manual page slurm.conf(5) of Slurm 22.05 unless said otherwise.
"""

from scheduler_sim.system.slurm_conf.notes import Ignored
from scheduler_sim.system.slurm_conf.site import Site, read_slurm_conf

__all__ = ["Ignored", "Site", "read_slurm_conf"]
