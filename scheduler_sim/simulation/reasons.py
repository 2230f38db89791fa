"""What a result keeps of why components wait under Slurm, beside their waits: squeue's reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_sim.engine.engine import FullCore, has
from scheduler_sim.placement.placements import Placements
from scheduler_sim.result.columns import NEVER
from scheduler_sim.result.steps import sum_of_intervals, time_at_least
from scheduler_sim.simulation.able_nodes import nodes_able
from scheduler_sim.simulation.asked import asked_in_all
from scheduler_sim.simulation.rejections import why_rejected
from scheduler_sim.system.system import System
from scheduler_sim.texts import TextColumn

ASKED = ("hold", "begin_time", "dependency_ids", "dependency_kinds")
"""Columns of a workload that say what holds a component."""

WORDS = (
    *("JobHeldUser", "PartitionNodeLimit", "PartitionTimeLimit", "PartitionDown"),
    *("Dependency", "BeginTime"),
)
"""What keeps a component from being eligible, as squeue calls it."""

Ints = np.ndarray


def reason_columns(
    core: FullCore, table: Mapping[str, Any], placements: Placements, system: System
) -> dict[str, Any]:
    """Return the columns ``REASONS`` of a result, of n components in the order of ``placements``.

    ``table``: the columns ASKED of the workload.
    """
    comp = core.jobs[: len(placements.rows)]
    able = np.diff(placements.first) > 0
    ran = able & (comp["start"] != NEVER)
    place = np.where(able, placements.first[:-1] + np.where(ran, comp["placed"] - comp["first"], 0), 0)
    partition = np.where(able, placements.partition[place] if able.any() else 0, len(system.partitions))
    names = [*(one.name for one in system.partitions), ""]
    start, end = np.where(ran, comp["start"], 0), np.where(ran, comp["end"], 0)
    return {
        "partition": TextColumn(partition, names),
        "nodes_able": _nodes_able(core, placements, place, able),
        "rejected_because": why_rejected(core, placements),
        "asked": asked_in_all(core, placements, place, able, system),
        "held_by": _held_by(comp, table, placements, place, able, system),
        "wait_array": np.where(ran, _array_waits(core, comp, start, end), NEVER),
        "wait_licences": np.where(ran, _licence_waits(comp, placements, place, system, start, end), NEVER),
    }


def _nodes_able(core: FullCore, placements: Placements, place: Ints, able: Ints) -> Ints:
    """How many nodes of its partition each may take, alone."""
    if has(core, "cons_tres"):
        return np.where(able, nodes_able(core, place), 0)
    demands = placements.of_nodes
    if demands is None or not able.any():
        return np.full(len(able), NEVER)
    most = np.array([max(choice.most for choice in choices) for choices in demands.kinds], dtype=np.int64)
    return np.where(able, most[demands.kind[place]], 0)


def _held_by(
    comp: Any, table: Mapping[str, Any], placements: Placements, place: Ints, able: Ints, system: System
) -> TextColumn:
    """The words for what keeps each from being eligible, if it is or was kept, as a list."""
    rows, kept = placements.rows, placements.held
    most, least, longest = (
        np.array([_or(getattr(one, name), value) for one in system.partitions], dtype=np.int64)
        for name, value in (("max_nodes", 2**62), ("min_nodes", 0), ("max_time_s", 2**62))
    )
    down = np.array([one.state == "DOWN" for one in system.partitions], dtype=bool)
    depends = np.zeros(len(rows), dtype=bool)
    for name in ("dependency_ids", "dependency_kinds"):
        says = np.array([bool(text) for text in table[name].categories], dtype=bool)
        depends |= says[table[name].codes[rows]]
    if able.any():
        where, nodes, limit = placements.partition[place], placements.nodes[place], placements.limit[place]
        beyond = (nodes > most[where]) | (nodes < least[where]), limit > longest[where], down[where]
    else:
        beyond = (np.zeros(len(rows), dtype=bool),) * 3
    held = (table["hold"][rows] != 0) | (comp["held"] != 0)
    later = table["begin_time"][rows] > comp["submit"]
    flags = np.array([held, *(kept & one for one in beyond), depends, later])
    codes, texts = np.zeros(len(rows), dtype=np.int64), list[str]()
    for bits in np.unique(flags, axis=1).T if len(rows) else []:
        codes[(flags == bits[:, np.newaxis]).all(axis=0)] = len(texts)
        texts.append(", ".join(word for word, said in zip(WORDS, bits, strict=True) if said))
    return TextColumn(codes, texts)


def _array_waits(core: FullCore, comp: Any, start: Ints, end: Ints) -> Ints:
    """Seconds from eligibility to start in which as many tasks of its array ran as may at once."""
    waits = np.zeros(len(comp), dtype=np.int64)
    if not has(core, "holds") or not len(core.holds.array):
        return waits
    array, limits = core.holds.term["array"][: len(comp)], core.holds.array["limit"]
    for number in np.flatnonzero(limits > 0):
        tasks = np.flatnonzero((array == number) & (end > 0))
        running = sum_of_intervals(start[tasks], end[tasks], np.ones(len(tasks), dtype=np.int64))
        waits[tasks] = time_at_least(running, int(limits[number]), comp["eligible"][tasks], start[tasks])
    return waits


def _licence_waits(
    comp: Any, placements: Placements, place: Ints, system: System, start: Ints, end: Ints
) -> Ints:
    """Seconds from eligibility to start in which too few of a licence that it asks for were free."""
    waits = np.zeros(len(comp), dtype=np.int64)
    if not placements.demand.any():
        return waits
    for number, resource in enumerate(system.resources):
        asked = np.where(end > 0, placements.demand[place, number], 0)
        used = sum_of_intervals(start, end, asked)
        for amount in np.unique(asked[asked > 0]):
            rows = np.flatnonzero(asked == amount)
            short = time_at_least(used, resource.amount - amount + 1, comp["eligible"][rows], start[rows])
            waits[rows] = np.maximum(waits[rows], short)
    return waits


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value
