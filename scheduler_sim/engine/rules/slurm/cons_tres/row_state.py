"""What is kept where several jobs may have a core at once: which core each has, and in which row it is.

A partition has a row for each job that a core may have (OverSubscribe); within a row no core is had twice.
The cores of a node are numbered socket by socket, and stand as bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import Ints, Table, Words, table
from scheduler_sim.engine.rules.slurm.cons_tres.state import ConsTresCore


class RowsOf:
    """The rows of a partition: ``first`` up to before ``last``."""

    first: int
    last: int
    tier: int
    counted: int  # line of ``Room.jobs`` that counts its jobs; 0 where it has but one row


class Rows(NamedTuple):
    """n nodes, p partitions, r rows, s sockets, w words for the cores of a node."""

    of: Table[RowsOf]  # [p]
    by_tier: Ints  # [p] partitions, the highest tier first
    names: Words  # [slots, w] which cores a job has of its nodes
    blocks: Ints  # [r] 1 = in this attempt nobody gets what the jobs of the row have
    open: Words  # [n, w] the cores that may be had in this attempt
    cores: Ints  # [s, n] how many of each socket
    had: Words  # [w] cores of one node that some jobs have
    member: Ints  # [slots] the jobs of a partition, by their first slots
    before: Ints  # [slots] the rows in which they were
    order: Ints  # [r] ... and the order of these


class RowsCore(ConsTresCore):
    """A core whose nodes are shared under Slurm, and their cores as well."""

    rows: Rows


class RowsSizes(NamedTuple):
    """How much room it has."""

    nodes: int
    partitions: int
    rows: int
    sockets: int
    words: int
    slots: int


def blank_rows(sizes: RowsSizes) -> Rows:
    """Return a part in which nobody has any core."""

    def zeros(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int64)

    def bits(*shape: int) -> Words:
        return np.zeros(shape, dtype=np.uint64)

    return Rows(
        of=table(RowsOf, sizes.partitions),
        by_tier=zeros(sizes.partitions),
        names=bits(sizes.slots, sizes.words),
        blocks=zeros(sizes.rows),
        open=bits(sizes.nodes, sizes.words),
        cores=zeros(sizes.sockets, sizes.nodes),
        had=bits(sizes.words),
        member=zeros(sizes.slots),
        before=zeros(sizes.slots),
        order=zeros(sizes.rows),
    )
