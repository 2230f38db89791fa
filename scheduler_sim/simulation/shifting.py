"""Components that begin later than they might, for the sake of cheap or clean hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.placement.placements import Placements
from scheduler_sim.simulation.units import Units
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.energy.layer import EnergyLayer


def begin_times(
    layer: EnergyLayer | None, workload: Workload, placements: Placements, units: Units
) -> np.ndarray | None:
    """Return when each component may begin, int64[n], s; None where nothing is shifted.

    By the time limit in its first placement. What starts with others, or waits for others, is not shifted.
    Raises InputError for a series that does not cover what may be chosen.
    """
    if layer is None or layer.shift is None:
        return None
    from scheduler_sim.energy.shift import cheapest_begin

    submit = workload["submit_time"][placements.rows]
    free = np.diff(placements.first) > 0
    free &= ~np.isin(placements.rows, workload.edges.row)
    for members in units.members:
        free[members] = False
    series = layer.series(layer.shift.by, workload.source.header_number("UnixStartTime"))
    assert series is not None
    begin = submit.astype(np.int64)
    limit = placements.limit[placements.first[:-1][free]]
    try:
        begin[free] = cheapest_begin(begin[free], limit, layer.shift.bound_s, series)
    except InputError as error:
        raise InputError(f"energy.shift: {error}") from None
    return begin


def shifted(workload: Workload, placements: Placements, begin: np.ndarray | None) -> tuple[Workload, int]:
    """Let components ask for begin times, int64[n], s; return the workload, and how many begin later so."""
    if begin is None:
        return workload, 0
    asked, later = workload["begin_time"].copy(), begin > workload["submit_time"][placements.rows]
    asked[placements.rows] = np.maximum(asked[placements.rows], np.where(later, begin, -1))
    return workload.replace(begin_time=asked), int(later.sum())
