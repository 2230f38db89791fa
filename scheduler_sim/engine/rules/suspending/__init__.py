"""Jobs that are suspended for others on whole nodes, under all policies but Slurm's."""
