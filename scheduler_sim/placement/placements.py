"""The type of the placements table, which its makers and readers share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.placement.node_demand import NodeDemands, joined_demands
from scheduler_sim.placement.repeating import as_slice, first_of, repeated

OF_PLACEMENTS = ("module", "partition", "nodes", "limit", "run", "demand")
OF_COMPONENTS = (
    *("rows", "tier", "asked_module", "asked_nodes", "asked_limit", "asked_run", "type_number"),
    "held",
    "why",
)
"""Columns of the table; of placements there may be ``of_nodes`` and ``clock``, too."""


@dataclass(frozen=True)
class Placements:
    """n components in trace order, p placements one after the other. Nothing is written into the columns.

    Attributes
    ----------
    rows : int64[n], row of the workload's table
    first : int64[n + 1]; those of component i are ``first[i] .. first[i + 1] - 1``, in list order
    module, partition, nodes, limit, run : int64[p]; module number, partition number, nodes, s, s
    demand : int64[p, shared resources]
    tier : int64[n], priority of the first partition asked for
    asked_module, asked_nodes, asked_limit, asked_run : int64[n], of the first partition, also where it
        was dropped
    type_number : int64[n], of the type of application; 0 where models have none
    of_nodes : which nodes each placement may take, int64[p] and kinds; None where nodes are only counted
    held : bool[n], whether all placements are in partitions that are DOWN, so that it waits for ever
    why : int64[n], why a component has no placement, a place among ``REASONS`` or behind; -1: it has
    rejected : number of components without a placement, by reason
    not_honoured : components that ask for part of a node, or for a kind of shared resource that the system
        does not declare, by kind
    clock : int64[p], place among the clocks of its module; None where it is not chosen
    """

    rows: Ints
    first: Ints
    module: Ints
    partition: Ints
    nodes: Ints
    limit: Ints
    run: Ints
    demand: Ints
    tier: Ints
    asked_module: Ints
    asked_nodes: Ints
    asked_limit: Ints
    asked_run: Ints
    type_number: Ints
    held: NDArray[np.bool_]
    why: Ints
    of_nodes: NodeDemands | None
    rejected: dict[str, int]
    not_honoured: dict[str, int]
    clock: Ints | None = None

    @cached_property
    def file_order(self) -> Ints | None:
        """Their positions in the order of the file; None where they stand in it."""
        return None if (self.rows[1:] > self.rows[:-1]).all() else np.argsort(self.rows)

    @cached_property
    def in_table(self) -> slice | Ints:
        """Their rows in the workload's table; a slice where these are the first ones in order."""
        return as_slice(self.rows)

    @cached_property
    def in_file(self) -> slice | Ints:
        """The same in the order of the file."""
        return self.in_table if self.file_order is None else self.rows[self.file_order]

    @cached_property
    def rigid(self) -> bool:
        """Whether every component has at most one placement and none asks for shared resources."""
        return bool((np.diff(self.first) <= 1).all() and not self.demand.any())

    @property
    def resizes(self) -> bool:
        """Whether some placements may be of other sizes than were asked for."""
        return self.nodes is not self.asked_nodes

    @property
    def owner(self) -> Ints:
        """int64[p], the component of each placement."""
        return np.repeat(np.arange(len(self.rows)), np.diff(self.first))


def kept(of: Placements, which: Ints | Bools) -> Placements:
    """Return the table with some of its placements, in order of components, all of which stay."""
    return _with_ways(of, which, np.bincount(of.owner[which], minlength=len(of.rows)))


def picked(of: Placements, which: Ints) -> Placements:
    """Return the table of some components, by their positions; what is counted stays that of the whole."""
    counts = np.diff(of.first)[which]
    owner, place = repeated(counts)
    columns = {name: getattr(of, name)[which] for name in OF_COMPONENTS}
    return replace(_with_ways(of, of.first[which][owner] + place, counts), **columns)


def _with_ways(of: Placements, which: Ints | Bools, counts: Ints) -> Placements:
    """Return the table with these placements, so many of each component."""
    return replace(
        of,
        first=first_of(counts),
        **{name: getattr(of, name)[which] for name in OF_PLACEMENTS},
        of_nodes=None if of.of_nodes is None else of.of_nodes.picked(which),
        clock=None if of.clock is None else of.clock[which],
    )


def joined(*tables: Placements) -> Placements:
    """Put tables one after the other."""
    columns = {
        name: np.concatenate([getattr(table, name) for table in tables])
        for name in (*OF_PLACEMENTS, *OF_COMPONENTS)
    }
    clock = [table.clock for table in tables if table.clock is not None]
    return Placements(
        first=first_of(np.concatenate([np.diff(table.first) for table in tables])),
        **columns,
        of_nodes=joined_demands([table.of_nodes for table in tables]),
        clock=np.concatenate(clock) if len(clock) == len(tables) else None,
        rejected=_summed(table.rejected for table in tables),
        not_honoured=_summed(table.not_honoured for table in tables),
    )


def _summed(counted: Iterable[dict[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for one in counted:
        total.update(one)
    return dict(total)
