"""Preemption under Slurm: a rule of its own, on whole nodes."""
