"""The core as it would be left if everything stopped now."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from scheduler_sim.engine.core import loop as drive
from scheduler_sim.engine.core.events import KIND
from scheduler_sim.engine.core.state import CANCELLED
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.engine.rules.power_saving.state import SWITCHED_COLUMNS
from scheduler_sim.simulation.rules.power_saving import configuring_rows, switches
from scheduler_sim.simulation.suspended import suspended_rows
from scheduler_sim.simulation.written import USED_COLUMNS, longer_timeline, write

QUEUED, QUEUED_NODES = 2, 4
"""Columns of what is written down: jobs in the queue and their nodes, up to the one before."""


def stopped(core: FullCore, now: int) -> FullCore:
    """Return the core with its last instant written down, and what runs cancelled at ``now``.

    The simulation itself is left as it is and can go on. Where something runs, the table
    of components is copied.
    """
    while core.clock.rows + 2 * core.clock.modules > len(core.timeline):
        core = longer_timeline(core)
    events = np.asarray(core.heap)["row"][: core.clock.events]
    running = np.concatenate((events[events // KIND == 0], suspended_rows(core)))
    steps = _last_steps(core, now, stops=len(running) > 0)
    clock, jobs = cast(Any, core.clock).copy(), core.jobs
    write(core, steps, int(clock.rows))  # behind the end of the one that goes on
    clock.rows += len(steps)
    if len(running):
        jobs = cast(Any, jobs).copy()
        jobs["state"][running], jobs["end"][running] = CANCELLED, now
        jobs["start"][configuring_rows(core)] = now  # they have not begun
    return core._replace(clock=clock, jobs=jobs)


def _last_steps(core: FullCore, now: int, *, stops: bool) -> np.ndarray:
    """What the last instant changed in each module, and what stopping changes."""
    pool = np.asarray(core.pools)[: core.clock.modules]
    written = np.stack([pool[f"written_{name}"] for name in ("busy", "down", "queued", "nodes")], axis=1)
    values = np.stack([pool[name] for name in ("busy", "down", "queued", "queued_nodes")], axis=1)
    if has(core, "idle_rows"):
        written = np.column_stack((written, pool["written_held"]))
        values = np.column_stack((values, [drive.idle_but_held(core, module) for module in range(len(pool))]))
    if (switch := switches(core)) is not None:
        switch = switch[: len(pool)]
        written = np.column_stack((written, *(switch[f"written_{name}"] for name in SWITCHED_COLUMNS)))
        values = np.column_stack((values, *(switch[name] for name in SWITCHED_COLUMNS)))
    once_idle = [0, 1, 1, 1, 0, 1, 1, 1][: values.shape[1]]
    if has(core, "shared_nodes"):
        module = np.asarray(core.shared_nodes.module)
        written = np.column_stack((written, *(module[f"written_{name}"] for name in USED_COLUMNS)))
        values = np.column_stack((values, *(module[name] for name in USED_COLUMNS)))
        once_idle += [0] * len(USED_COLUMNS)
    idle = values * once_idle
    waiting = np.zeros(len(pool), dtype=bool)
    for place in core.jobs["placed"][configuring_rows(core)].tolist():
        one = core.placements[place]
        idle[one.module, QUEUED:QUEUED_NODES] -= (1, one.nodes)
        waiting[one.module] = True
    touched = pool["touched"] > 0
    last = int(core.clock.now)
    if not stops:
        return _steps(last, values, touched & (values != written).any(axis=1))
    if now <= last:
        return _steps(last, idle, (touched | (written[:, 0] >= 0)) & (idle != written).any(axis=1))
    at_last = _steps(last, values, touched & (values != written).any(axis=1))
    return np.concatenate((at_last, _steps(now, idle, (values[:, 0] > 0) | waiting)))


def _steps(time: int, values: np.ndarray, differs: np.ndarray) -> np.ndarray:
    modules = np.flatnonzero(differs)
    return np.column_stack((np.full(len(modules), time), modules, values[modules]))
