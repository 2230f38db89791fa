"""Learning curves from points: fits of factors and times, how good they are, how far they can be trusted."""

from scheduler_sim.scaling.fitting.factor_fit import fit_factor
from scheduler_sim.scaling.fitting.fit import Candidate, Fit, Slice
from scheduler_sim.scaling.fitting.goodness import Goodness, goodness
from scheduler_sim.scaling.fitting.pmnf_search import fit_lost_cycles, fit_time
from scheduler_sim.scaling.fitting.read_points import read_points
from scheduler_sim.scaling.fitting.segments import SegmentedFit, fit_laws
from scheduler_sim.scaling.fitting.validation import ErrorTable, validated

__all__ = [
    "Candidate",
    "ErrorTable",
    "Fit",
    "Goodness",
    "SegmentedFit",
    "Slice",
    "fit_factor",
    "fit_laws",
    "fit_lost_cycles",
    "fit_time",
    "goodness",
    "read_points",
    "validated",
]
