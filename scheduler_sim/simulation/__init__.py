"""The simulation: a compiled core in a SimPy environment, and the result it leaves."""

from scheduler_sim.simulation.scheme import needs_compiling
from scheduler_sim.simulation.shell import Simulation, simulate

__all__ = ["Simulation", "needs_compiling", "simulate"]
