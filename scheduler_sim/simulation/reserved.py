"""What a result's manifest says of its advance reservations, so that the result alone can be checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.config.value import seconds_of
from scheduler_sim.result.node_lists import node_list
from scheduler_sim.simulation.standing import EVERY_S, YEAR_S
from scheduler_sim.system.reservations import REPEATED, ReservationKeys, nodes_named
from scheduler_sim.system.system import System


def reservations_told(system: System, unix_start: int, *, counted: bool = False) -> list[dict[str, Any]]:
    """Return name and flags of each reservation, and of those that stay as they were made, their turns.

    ``start`` and ``end`` are in s on the trace's clock, whose second 0 is ``unix_start``; ``every_s`` is from
    one turn to the next, 0 without; ``nodes`` are lists of their numbers by module, ``0-3,7``, where they are
    only ``counted`` as many of the lowest as ``node_count`` says. Those that an operator makes, changes or
    deletes while the run goes on have name and flags alone, and so have those whose nodes or turns are not
    stated.
    """
    changed = {one.name.lower() for one in system.reservation_changes}
    sizes = [(module.name, module.nodes) for module in system.modules]
    told: list[dict[str, Any]] = []
    for one in system.reservations:
        told.append({"name": one.name, "flags": list(one.flags)})
        if one.name.lower() in changed or not _is_steady(one, counted) or one.start is None:
            continue
        start = seconds_of(one.start, unix_start)
        end = start + (one.duration or YEAR_S) if one.end is None else seconds_of(one.end, unix_start)
        named: dict[str, set[int]] = {}
        if one.node_count is not None:
            among = system.partition(one.partition) if one.partition else system.default_partition
            most = system.modules[system.module_index(among.module)].nodes
            named[among.module] = set(range(min(one.node_count, most)))
        for module, numbers in nodes_named(one.nodes, sizes):
            named.setdefault(sizes[module][0], set()).update(numbers)
        nodes = {name: node_list(np.array(sorted(of))) for name, of in named.items()}
        every = next((EVERY_S[flag] for flag in EVERY_S if flag in one.flags), 0)
        told[-1] |= {"start": start, "end": end, "every_s": every, "nodes": nodes}
    return told


def _is_steady(one: ReservationKeys, counted: bool) -> bool:
    """Whether it stands from the beginning, to its end, on as many nodes as it says."""
    flags = set(one.flags)
    by_day = bool(flags & set(REPEATED)) and not flags & set(EVERY_S)
    if one.at is not None or (one.node_count is not None and not counted):
        return False
    return not (by_day or flags & {"PART_NODES", "PURGE_COMP"})
