"""Slurm's priorities."""
