"""Runs that ended in a requeue: the tables tell of each component's last run alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.engine import state as slot
from scheduler_sim.engine.state import Core
from scheduler_sim.placement.table import Placements
from scheduler_sim.result.columns import NEVER
from scheduler_sim.system.system import System


class LostRun(NamedTuple):
    """What a component ran in before a requeue: row, placement, s, s."""

    row: int
    placement: int
    start: int
    end: int


def run_to_lose(core: Core, row: int) -> list[LostRun]:
    """Return the run that a requeue now would lose, if there is one."""
    it = core.comp[row]
    if it.start == NEVER or it.state < slot.RUNNING:
        return []
    end = core.clock[slot.NOW] if it.state == slot.RUNNING else it.end
    return [LostRun(row, int(it.placed), int(it.start), int(end))]


def lost_runs(
    lost: Sequence[LostRun],
    core: Core,
    placements: Placements,
    places: np.ndarray | None,
    system: System,
) -> pd.DataFrame:
    """Return runs that were lost: ``place`` of the component in the file, and columns as of components.

    These are ``module``, ``nodes``, ``start_time``, ``end_time`` (s) and ``frequency_khz``, -1: not chosen.
    """
    row, placement, start, end = (np.array(one, np.int64) for one in zip(*lost, strict=True))
    khz = np.full(len(row), NEVER)
    if placements.khz is not None:
        khz = placements.khz[placements.first[row] + placement - core.comp["first"][row]]
    number = np.asarray(core.place["module"][placement], dtype=np.int64)
    module = pd.Categorical.from_codes(number, pd.Index([module.name for module in system.modules]))
    columns = {
        "place": row if places is None else places[row],
        "module": module,
        "nodes": core.place["nodes"][placement],
        "start_time": start,
        "end_time": end,
        "frequency_khz": khz,
    }
    return pd.DataFrame(columns).sort_values(["start_time", "place"], kind="stable", ignore_index=True)
