"""What was learnt of a trace."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from scheduler_sim.generation.cirne import Cirne


@dataclass(frozen=True, eq=False)
class Learnt:
    """A model learnt from a trace.

    Parameters
    ----------
    name : of the trace; module : that it was learnt from, None = all
    model : with the parameters found; nodes : of the machine; jobs : submitted
    estimates : columns ``parameter`` (as in a recipe; ``requests.shortest`` and ``longest`` are
        the ends of that law, s), ``value``, ``low`` and ``high`` (95 % interval)
    tests : columns ``law``, ``test``, ``statistic``, ``p_value``, ``jobs``, ``verdict``; the
        statistic of Kolmogorov-Smirnov is a distance from 0 to 1
    notes : where the family of models cannot follow the trace, and what was taken for granted
    """

    name: str
    module: str | None
    model: Cirne
    nodes: int
    jobs: int
    estimates: pd.DataFrame
    tests: pd.DataFrame
    notes: tuple[str, ...]
