"""Making job traces: workload models, the modular methodology laid over them, and fitting to a trace."""
