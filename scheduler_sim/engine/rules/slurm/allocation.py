"""How much room Slurm's schedulers have, and their part of the core with all its room and nothing in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scheduler_sim.engine.core.records import CACHE_LINE, Words, one, rows, table
from scheduler_sim.engine.core.state import INF
from scheduler_sim.engine.rules.slurm.state import (
    Accounts,
    Assoc,
    Booked,
    Choice,
    Counter,
    Entry,
    Factors,
    HetMember,
    Memory,
    Need,
    Nodes,
    Partition,
    Piece,
    Plan,
    Record,
    Sets,
    Slurm,
    SlurmJob,
    SlurmRules,
    Sorted,
    Way,
)

HALF_A_SECOND = 500
"""ms: how late in a second jobs are killed, on average."""


class SlurmSizes(NamedTuple):
    """How much room Slurm's schedulers have; the least of all by default."""

    rows: int = 0
    placements: int = 0
    partitions: int = 0
    words: int = 0
    pieces: int = 0
    records: int = 0
    members: int = 0  # jobs that may be of heterogeneous ones: all, or none
    booked: int = 0
    accelerate: bool = False


def blank_slurm(sizes: SlurmSizes) -> Slurm:
    """Return the part; there are no users, no associations, and no sets of nodes that are asked for yet."""
    made = Slurm(
        rules=one(SlurmRules),
        memory=one(Memory),
        partition=table(Partition, sizes.partitions),
        way=table(Way, sizes.placements),
        job=table(SlurmJob, sizes.rows),
        without=np.zeros(sizes.rows, dtype=np.int64),
        unnoted=np.zeros(sizes.rows, dtype=np.int64),
        counter=rows(Counter, 0, 1 + sizes.partitions),
        entry=table(Entry, sizes.placements),
        sets=Sets(*words(len(Sets._fields), sizes.words)),
        nodes=Nodes(
            masks=words(0, sizes.words),
            choice=table(Choice, 0),
            need=table(Need, 0),
            piece=table(Piece, sizes.pieces),
            run=np.zeros(sizes.words * 32, dtype=np.int64),
        ),
        plan=Plan(
            record=table(Record, sizes.records + 1),
            space=words(sizes.records, sizes.words),
        ),
        accounts=Accounts(
            factor=table(Factors, sizes.placements),
            assoc=table(Assoc, 0),
            order=table(Sorted, 0),
            resets=np.zeros(0, dtype=np.int64),
        ),
        het=table(HetMember, sizes.members),
        booked=table(Booked, sizes.booked),
    )
    made.memory.main_valid, made.memory.killed_at = INF, -INF
    made.memory.cleaned = HALF_A_SECOND
    made.job["satisfiable"] = 1
    for name in ("group", "known", "planned"):
        made.het[name] = -1
    return made


def words(rows: int, size: int) -> Words:
    """uint64[rows, size] of zeros that begin with a line of the cache: sets across two of them are slow."""
    line = CACHE_LINE // 8
    memory = np.zeros(rows * size + line, dtype=np.uint64)
    first = -memory.ctypes.data % CACHE_LINE // 8
    return memory[first : first + rows * size].reshape(rows, size)
