"""Learning the parameters of Cirne's model from a trace."""

from scheduler_sim.generation.fitting.model_fit import Fit, fit
from scheduler_sim.generation.fitting.modules import fit_modules, joint_law, joint_recipe

__all__ = ["Fit", "fit", "fit_modules", "joint_law", "joint_recipe"]
