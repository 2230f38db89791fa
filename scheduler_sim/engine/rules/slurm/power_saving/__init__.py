"""Slurm's power saving: idle nodes are powered down, and boot for the jobs that are given them."""
