"""Slurm's main and backfill schedulers, compiled."""
