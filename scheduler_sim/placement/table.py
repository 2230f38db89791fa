"""The placements table: each component expanded into the ways in which it may run.

A placement is (module, nodes) with its time limit, run time and demand of shared
resources. Here every component of a trace gets one for each partition it names, with the
same nodes, run time and limit (rule 10), unless models change them or offer further sizes; placements
that can never run are dropped, and a component without any is rejected (rule 9). Placements in a
partition that is DOWN are kept only where there are no others: the component is held for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.placement.candidate_placements import REASONS, Block, CandidatePlacements
from scheduler_sim.placement.parts import parts_of_nodes
from scheduler_sim.placement.placements import Placements, joined, picked
from scheduler_sim.placement.repeating import as_slice, first_of
from scheduler_sim.system.system import System
from scheduler_sim.workload.table import Workload

if TYPE_CHECKING:
    from scheduler_sim.applications.models import Models
    from scheduler_sim.placement.pstate_choice import MostParts


def expand(
    workload: Workload,
    system: System,
    *,
    only_first: bool = False,
    by_sets: bool = False,
    beyond: str = "ANY",
    lifted: Bools | None = None,
    models: Models | None = None,
    seed: int = 0,
    most_parts: MostParts | None = None,
) -> Placements:
    """Expand every component that is simulated; ``only_first`` keeps the first placement that can run.

    ``models`` say how long components run on each module, and what they ask for there; ``seed`` is of the
    types of application that are drawn.

    Where nodes are told apart, on modules that jobs share and, with ``by_sets``, on all, a placement needs
    enough nodes that will do, and says which; elsewhere what a component asks of a node must hold for every
    node of the module.

    ``beyond`` is what becomes of a component that asks for more than the limits of its partitions (Slurm's
    EnforcePartLimits): rejected if it is beyond those of all (ANY), of any (ALL), or it waits for ever (NO).
    ``lifted``, bool[3, rows of the workload]: for whom MaxNodes, MinNodes and MaxTime do not count.
    ``most_parts`` tells, where jobs have parts of nodes under a power cap, how much each placement has at
    most.

    Raises TraceError, with the line, where a partition or a type of application does not exist, or a
    request for features or licences cannot be understood.
    """
    rows = _simulated_rows(workload)
    ways = CandidatePlacements(workload, system, rows, models, seed, by_sets=by_sets, lifted=lifted)
    placements = _as_asked(ways) if ways.of_nodes is None else None
    if placements is None:
        placements = joined(*(_placed(ways, block, only_first, beyond) for block in ways.blocks()))
    placements = replace(
        placements,
        rejected={name: placements.rejected[name] for name in REASONS if name in placements.rejected},
        not_honoured=parts_of_nodes(workload, system, placements, ways.of_nodes) | ways.unlimited,
    )
    if models is None or not models.limited_by_energy:
        return placements
    from scheduler_sim.placement.pstate_choice import with_energy

    return with_energy(placements, workload, system, models, only_first=only_first, most_parts=most_parts)


def _as_asked(ways: CandidatePlacements) -> Placements | None:
    """Return the placements of components that ask for one partition, where nothing stands against any.

    They are the columns of the workload as they stand. None where it is not as simple as that.
    """
    asked = ways.plain_requests()
    if asked is None:
        return None
    nodes, run, limit = asked
    partition, count = int(ways.to[0]), len(ways.rows)
    zero, of_partition, of_module, tier = (
        np.broadcast_to(np.int64(value), count)
        for value in (0, partition, ways.module[partition], ways.priority[partition])
    )
    first = np.arange(count + 1)
    return Placements(
        rows=first[:-1] if isinstance(as_slice(ways.rows), slice) else ways.rows,
        first=first,
        module=of_module,
        partition=of_partition,
        nodes=nodes,
        limit=limit,
        run=run,
        demand=ways.demand,
        tier=tier,
        asked_module=of_module,
        asked_nodes=nodes,
        asked_limit=limit,
        asked_run=run,
        type_number=zero,
        held=np.broadcast_to(np.False_, count),
        why=np.broadcast_to(np.int64(-1), count),
        of_nodes=None,
        rejected={},
        not_honoured={},
    )


def _placed(
    ways: CandidatePlacements,
    block: Block,
    only_first: bool,
    beyond: str,
) -> Placements:
    """Return the placements of the components of a block."""
    owner, partition, components = block.owner, block.partition, len(block.rows)
    nodes, run, limit = ways.requests(block)
    nodes, of_nodes = ways.on_nodes(block, nodes)
    module = ways.module[partition]
    limits = ways.beyond(block, nodes, limit)
    over = np.logical_or.reduce(limits)
    reason = ways.reasons(block, nodes, limits, of_nodes)
    possible = reason == len(REASONS)
    if beyond == "NO":
        possible |= over & (ways.reasons(block, nodes, [], of_nodes) == len(REASONS))
    elif beyond == "ALL":
        possible &= np.bincount(owner[over], minlength=components)[owner] == 0
    possible, held = _without_closed(owner, possible, ways.down[partition] | over, components)
    if only_first:
        possible &= _first_of_each(owner, possible)
    counts = np.bincount(owner[possible], minlength=components)
    why = reason[block.first]  # of the first partition, or of the one that stands in the way
    unsaid = np.flatnonzero(((counts == 0) & (why == len(REASONS)))[owner])
    np.minimum.at(why, owner[unsaid], reason[unsaid])
    impossible = np.bincount(why[counts == 0], minlength=len(REASONS))
    kept = slice(None) if possible.all() else possible
    return Placements(
        rows=block.rows,
        first=first_of(counts),
        module=module[kept],
        partition=partition[kept],
        nodes=nodes[kept],
        limit=limit[kept],
        run=run[kept],
        demand=block.demand[kept],
        tier=ways.priority[partition[block.first]],
        asked_module=module[block.first],
        asked_nodes=nodes[block.first],
        asked_limit=limit[block.first],
        asked_run=run[block.first],
        type_number=ways.type_number[block.here],
        held=held,
        why=np.where(counts == 0, why, -1),
        of_nodes=of_nodes.picked(kept) if of_nodes is not None else None,
        rejected={name: int(count) for name, count in zip(REASONS, impossible, strict=False) if count},
        not_honoured={},
    )


def replaced(placements: Placements, others: Mapping[int, Placements]) -> Placements:
    """Return the table with the placements of some components, by their positions, those of other tables."""
    if not others:
        return placements
    whole = joined(placements, *others.values())
    source = np.arange(len(placements.rows))
    source[list(others)] = len(source) + np.arange(len(others))
    counted = {name: getattr(placements, name) for name in ("rows", "rejected", "not_honoured")}
    return replace(picked(whole, source), **counted)


def _simulated_rows(workload: Workload) -> Ints:
    """Rows in trace order: submit time, ties in file order; skipped records left out (rule 11)."""
    submit, skipped = (workload.columns[name] for name in ("submit_time", "skipped"))
    rows: Ints = np.flatnonzero(skipped == 0) if skipped.any() else np.arange(len(submit))
    submit = submit[as_slice(rows)]
    return rows if (submit[1:] >= submit[:-1]).all() else rows[np.argsort(submit, kind="stable")]


def _without_closed(
    owner: Ints, possible: NDArray[np.bool_], down: NDArray[np.bool_], components: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Drop placements in partitions that are DOWN where there are others; tell which have no others."""
    has_open = np.bincount(owner[possible & ~down], minlength=components) > 0
    left = possible & (~down | ~has_open[owner])
    return left, ~has_open & (np.bincount(owner[left], minlength=components) > 0)


def _first_of_each(owner: Ints, possible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The first possible placement of each component."""
    first = np.zeros(len(owner), dtype=bool)
    _, places = np.unique(owner[possible], return_index=True)
    first[np.flatnonzero(possible)[places]] = True
    return first
