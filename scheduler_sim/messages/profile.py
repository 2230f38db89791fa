"""From replays at one or several numbers of processes to points, and to the profile of an application."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.messages.outcome import Outcome, module_of
from scheduler_sim.scaling.fitting.points import Points, Series
from scheduler_sim.scaling.learn import Learnt, learn

FACTORS = ("load_balance", "serialization", "transfer")
COMPUTATION = "computation"


def points(outcomes: Sequence[Outcome], *, scaling: str) -> Points:
    """Return a point a trace: the factors of its parallel efficiency, and of several the computation
    scalability.

    That is the useful time of the smallest run over that of each: of all processes together for strong
    scaling,
    of one process for weak. InputError for two traces of as many processes.
    """
    runs = sorted((one.efficiency for one in outcomes), key=lambda run: run.processes)
    counts = [run.processes for run in runs]
    if len(set(counts)) < len(counts):
        raise InputError(
            f"points: found {len(counts)} traces of {counts} processes; allowed: one for each number"
        )
    p = np.array(counts, dtype=np.float64)
    columns = {name: np.array([float(getattr(run, name)) for run in runs]) for name in FACTORS}
    if len(runs) > 1:
        useful = np.array([run.useful / (1 if scaling == "strong" else run.processes) for run in runs])
        if not useful.all():
            raise InputError("points: found a trace without computation; allowed: traces with bursts")
        columns[COMPUTATION] = useful[0] / useful
    series = {name: Series(name, "efficiency", p[:, None], values) for name, values in columns.items()}
    return Points(series, {}, None, ())


def points_text(table: Points) -> str:
    """Return points as the CSV that ``fit scaling`` reads."""
    columns = list(table.efficiencies.values())
    lines = [",".join(["processes", *table.efficiencies])]
    for i, processes in enumerate(table.processes):
        lines.append(",".join([f"{processes:.0f}", *(f"{series.values[i]:.9f}" for series in columns)]))
    return "\n".join(lines) + "\n"


def profile(outcomes: Sequence[Outcome], app: str, *, scaling: str) -> Learnt:
    """Return the profile of the application: of one trace its factors as they are, of several fitted to
    them."""
    module, cores = module_of(outcomes)
    source = f"replay of message traces on {outcomes[0].network.name}"
    return learn(
        points(outcomes, scaling=scaling),
        app,
        scaling=scaling,
        module=module,
        ranks_per_node=cores,
        source=source,
    )
