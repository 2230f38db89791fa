"""What is there for the speed of Slurm's passes alone."""
