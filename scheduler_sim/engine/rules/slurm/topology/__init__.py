"""Topology under Slurm: which nodes lie together, how a job's are chosen by that, and what waits for it."""
