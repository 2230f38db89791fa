"""Learning the parameters of Cirne's model from a trace."""

from scheduler_sim.generation.fitting.model_fit import Fit, fit

__all__ = ["Fit", "fit"]
