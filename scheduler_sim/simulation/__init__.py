"""The simulation: a compiled core in a SimPy environment, and the result it leaves."""

from scheduler_sim.simulation.simulation import Simulation, simulate

__all__ = ["Simulation", "simulate"]
