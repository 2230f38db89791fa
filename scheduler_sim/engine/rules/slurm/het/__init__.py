"""Heterogeneous jobs under Slurm, with delays or without."""
