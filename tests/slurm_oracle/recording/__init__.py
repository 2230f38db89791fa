"""Record what a running Slurm does with a workload: ``python -m tests.slurm_oracle.recording --help``."""
