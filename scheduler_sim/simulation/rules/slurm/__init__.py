"""The numbers that Slurm's schedulers read."""
