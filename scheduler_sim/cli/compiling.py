"""What a person sees while the engine is compiled: that it is, for how long, and that it is kept."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from scheduler_sim.cli.terminal import note, step

if TYPE_CHECKING:
    from scheduler_sim.simulation import Simulation


def prepare(simulation: Simulation, *, quiet: bool) -> None:
    """Have the engine compiled for a simulation, or taken from the cache."""
    compiles, begin = simulation.needs_compiling, monotonic()
    if compiles:
        note("compiling the engine for this policy, once on this machine: 5 s to two minutes", quiet=quiet)
    with step("compiling", quiet=quiet):
        simulation.prepare()
    if compiles:
        note(f"compiled in {monotonic() - begin:.0f} s, and kept for later runs", quiet=quiet)
