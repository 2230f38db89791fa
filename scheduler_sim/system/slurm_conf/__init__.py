"""Reading a site's slurm.conf: the machine, the policy keys, and what was left out.

Rules from the manual page slurm.conf(5) of Slurm 22.05 unless said otherwise.
"""
