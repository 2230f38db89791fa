"""Runs that ended in a requeue: the tables tell of each component's last run alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.engine.core import state as slot
from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import NEVER, REQUEUED, STATES
from scheduler_sim.result.node_use import WHOLE, part_of_node
from scheduler_sim.simulation.checkpoint_account import time_at_work
from scheduler_sim.simulation.pools import modules_of
from scheduler_sim.simulation.rules.checkpoints import FIELDS, Habit
from scheduler_sim.simulation.rules.power_saving import configuring_rows
from scheduler_sim.simulation.slowed import Slowness
from scheduler_sim.simulation.suspended import Suspended, suspended_columns
from scheduler_sim.system.node_resources import CORES, ENOUGH
from scheduler_sim.system.system import System
from scheduler_sim.texts import data_frame

PREEMPTED = STATES[-1]
LOGGED = ("row", "placed", "start", "end", "worked", "nodes", "parts", "cores")
"""What the engine writes down of a run that preemption has lost."""


PREEMPTING = ("preemption", "making_room")
"""Parts of the core in which that is written down."""


class LostRun(NamedTuple):
    """What a component ran in before a requeue: row, which of its placements, module, nodes, s, s.

    ``parts`` are the nodes in millionths, by its part of each; ``clock`` is the clock of that placement,
    where the component has others by now; ``cores`` (thousandths, of all nodes) are known where nodes are
    told apart; ``ended`` is how it ended; ``worked`` are the s of its run time that it has done, and
    ``habit`` is how it wrote checkpoints.
    """

    row: int
    way: int
    module: int
    nodes: int
    start: int
    end: int
    parts: int
    clock: int | None = None
    cores: int = NEVER
    ended: str = REQUEUED
    worked: int = 0
    habit: Habit = Habit()


def run_to_lose(core: FullCore, row: int) -> list[LostRun]:
    """Return the run that a requeue now would lose, if there is one."""
    it = core.jobs[row]
    if it.start == NEVER or it.state < slot.RUNNING or row in configuring_rows(core):
        return []
    end = core.clock.now if it.state == slot.RUNNING else it.end
    place = core.placements[it.placed]
    way = int(it.placed - it.first)
    parts, cores = _held(core, int(it.placed))
    module, nodes = int(modules_of(core)[place.module]), int(place.nodes)
    worked = int(time_at_work(core, row, int(it.start), int(end)))
    found = LostRun(row, way, module, nodes, int(it.start), int(end), parts, cores=cores, worked=worked)
    return [found._replace(habit=Habit.of(core, int(it.placed)))]


def preempted_runs(core: FullCore) -> list[LostRun]:
    """Take the runs that preemption has lost since this was last asked."""
    part = next((getattr(core, name) for name in PREEMPTING if has(core, name)), None)
    if part is None:
        return []
    log, first = part.log, core.jobs["first"]
    found = part.lost[: log.lost]
    runs = [
        LostRun(
            row=int(row),
            way=int(placed - first[row]),
            module=int(core.placements[placed].module),
            nodes=int(nodes),
            start=int(start),
            end=int(end),
            parts=int(parts),
            cores=int(cores),
            ended=PREEMPTED,
            worked=int(worked),
            habit=Habit.of(core, int(placed)),
        )
        for row, placed, start, end, worked, nodes, parts, cores in zip(
            *(found[name] for name in LOGGED), strict=True
        )
    ]
    log.lost = 0
    return runs


def requeued_unbegun(core: FullCore) -> int:
    """How many jobs preemption has requeued so far that had nodes, and had yet to begin there."""
    return int(core.preemption.log.unbegun) if has(core, "preemption") else 0


def _held(core: FullCore, placement: int) -> tuple[int, int]:
    """How many nodes a placement has, in millionths, by its part of each, and thousandths of cores.

    -1 cores are not known.
    """
    place = core.placements[placement]
    if not has(core, "shared_nodes"):
        return int(place.nodes) * WHOLE, NEVER
    shared, request = core.shared_nodes, core.shared_nodes.request[placement]
    if shared.module[place.module].begin == shared.module[place.module].end:
        return int(place.nodes) * WHOLE, NEVER
    at = slice(request.slot, request.slot + place.nodes)
    there = shared.capacity[CORES, shared.slots[at]] % ENOUGH
    if has(core, "cons_tres"):
        cores = core.cons_tres.share[at, CORES] % ENOUGH
    else:
        alone = shared.demand[request.demand].exclusive
        cores = there if alone else np.full(len(there), shared.need[request.demand, CORES])
    cores = np.broadcast_to(cores, len(there))
    return int(part_of_node(cores, there).sum()), int(cores.sum())


def clock_of(run: LostRun, placements: Placements, at: int) -> int:
    """Clock (its place) of a run that was lost, of the component in position ``at``; -1: not chosen."""
    return NEVER if placements.clock is None else int(placements.clock[placements.first[at] + run.way])


def lost_runs(
    lost: Sequence[LostRun],
    placements: Placements,
    system: System,
    spans: Sequence[Suspended] | None = None,
    slowed: Slowness | None = None,
) -> pd.DataFrame:
    """Return runs that were lost: ``place`` of the component in the file, and columns as of components.

    These are ``module``, ``nodes``, ``parts`` (of nodes, in millionths), ``start_time``, ``end_time`` (s),
    ``clock``, -1: not chosen, ``cores`` (thousandths), -1: not known, and ``ended``; ``worked`` and
    the fields of ``Habit``, s; with ``spans`` also those in which they were suspended, and when ``slowed``.
    """
    columns = [np.array(one, np.int64) for one in list(zip(*lost, strict=True))[:7]]
    row, _, number, nodes, start, end, parts = columns
    clock = [clock_of(one, placements, one.row) if one.clock is None else one.clock for one in lost]
    module = pd.Categorical.from_codes(number, pd.Index([module.name for module in system.modules]))
    order = placements.file_order
    made = {
        "place": row if order is None else np.argsort(order)[row],
        "module": module,
        "nodes": nodes,
        "parts": parts,
        "start_time": start,
        "end_time": end,
        "clock": clock,
        "cores": [one.cores for one in lost],
        "ended": [one.ended for one in lost],
        "worked": [one.worked for one in lost],
        **{name: [int(getattr(one.habit, name)) for one in lost] for name in FIELDS},
        **({} if spans is None else suspended_columns(spans, row, start)),
        **({} if slowed is None else slowed.columns(row, start, number, nodes)),
    }
    return data_frame(made).sort_values(["start_time", "place"], kind="stable", ignore_index=True)
