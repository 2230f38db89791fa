"""Modular applications: components on different modules, coupled or staged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scheduler_sim.arrays import Floats

COUPLINGS = ("concurrent", "staged")


@dataclass(frozen=True)
class Coupled:
    """What becomes of components that run together.

    Attributes
    ----------
    time : float64[...], s, of the whole application
    efficiency : float64[...], parallel efficiency over all processes and all of that time
    load_balance : float64[...], mean over max of the components' own times, each process counted
    """

    time: Floats
    efficiency: Floats
    load_balance: Floats


def coupled(
    times: Floats, processes: Floats, efficiencies: Floats, coupling: str = "concurrent", extra: float = 0.0
) -> Coupled:
    """Put components together; axis 0 counts them.

    Parameters
    ----------
    times : float64[c, ...], s, what each takes by itself
    processes : float64[c, ...]; efficiencies : float64[c, ...], of each in its own time
    coupling : concurrent: all run at once and wait for the slowest; staged: one after the other, with
        the nodes of all held throughout
    extra : s, for the exchange between them

    Over the common time T a component does T_c / T of its work, so PE = Σ n_c PE_c T_c / T / Σ n_c
    (D2.3, section 4.6: one table over the processes of all binaries).
    """
    whole = (times.max(axis=0) if coupling == "concurrent" else times.sum(axis=0)) + extra
    total = processes.sum(axis=0)
    efficiency = (processes * efficiencies * times).sum(axis=0) / (whole * total)
    balance = (processes * times).sum(axis=0) / (total * times.max(axis=0))
    return Coupled(np.asarray(whole), np.asarray(efficiency), np.asarray(balance))
