"""A message trace as columns: what each process computed, sent and waited for, in its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_sim.arrays import Ints

PS = 10**12
"""Picoseconds in a second."""

MOST_SECONDS = 4_000_000.0
"""Of one burst, and of a run: int64 holds 106 days of picoseconds."""

MOST_PROCESSES, MOST_BYTES = 1 << 24, 1 << 50

COMPUTE, SEND, ISEND, RECV, IRECV, WAIT, WAITALL, COLLECTIVE, ICOLLECTIVE, WAIT_COLLECTIVE, MARK = range(11)
"""Kinds of records. A MARK says in which phase the process is from here on; its tag is a type, its bytes a
value."""

KINDS = (
    *("compute", "send", "isend", "recv", "irecv", "wait", "waitall"),
    *("collective", "icollective", "wait_collective", "mark"),
)

OPERATIONS = (
    *("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv"),
    *("alltoall", "alltoallv", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan"),
    "alltoallw",
)
"""Collective operations, numbered as Dimemas numbers them."""

ALL = 0
"""The group of all processes."""

NONE = -1


@dataclass(frozen=True)
class MessageTrace:
    """Records, a row each, those of a process together and in its order.

    Attributes
    ----------
    name : for people
    processes : how many
    kind : int8[n], see ``KINDS``
    process : int64[n], 0 to processes - 1
    duration : int64[n], ps of a compute record as measured, 0 elsewhere
    peer : int64[n], partner of a message; -1 elsewhere
    bytes, received : int64[n], size of a message; what a process gives to a collective operation, and gets
    tag : int64[n], of a message
    group : int64[n], which of ``groups`` a message or operation is of; 0 is all processes
    operation : int8[n], see ``OPERATIONS``; -1 elsewhere
    request : int64[n], that a wait names; -1: the oldest receive of the same peer, tag and group
    label : int64[n], which of ``labels`` a compute record is; -1 = none
    cycles : int64[n], counted in a compute record; -1 = not counted
    line : int64[n], in the file; 0 = of none
    groups : processes of each group, int64 each
    labels : kernels by name
    skipped : what was in the file and is not replayed, by kind, with how many
    """

    name: str
    processes: int
    kind: NDArray[np.int8]
    process: Ints
    duration: Ints
    peer: Ints
    bytes: Ints
    received: Ints
    tag: Ints
    group: Ints
    operation: NDArray[np.int8]
    request: Ints
    label: Ints
    cycles: Ints
    line: Ints
    groups: tuple[Ints, ...]
    labels: tuple[str, ...]
    skipped: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.kind)

    def first(self) -> Ints:
        """Return the row of each process's first record, and the number of rows; int64[processes + 1]."""
        return np.searchsorted(self.process, np.arange(self.processes + 1)).astype(np.int64)

    def with_durations(self, duration: Ints) -> MessageTrace:
        """Return the trace with other bursts, ps."""
        return replace(self, duration=duration)

    def counts(self) -> dict[str, int]:
        """Return the number of records of each kind that there is."""
        many = np.bincount(self.kind, minlength=len(KINDS))
        return {name: int(count) for name, count in zip(KINDS, many, strict=True) if count}

    def where(self, row: int) -> str:
        """Say which record a row is: its process, what it does, and its line."""
        line = f" (line {self.line[row]})" if self.line[row] else ""
        return f"process {self.process[row]}, {self.what(row)}{line}"

    def what(self, row: int) -> str:
        """Say what a record does."""
        kind = KINDS[self.kind[row]]
        if self.kind[row] in (COLLECTIVE, ICOLLECTIVE, WAIT_COLLECTIVE):
            return f"{kind.replace('collective', OPERATIONS[self.operation[row]])}"
        if self.kind[row] in (SEND, ISEND):
            return f"{kind} to {self.peer[row]}, tag {self.tag[row]}, {self.bytes[row]} bytes"
        if self.kind[row] in (RECV, IRECV):
            return f"{kind} from {self.peer[row]}, tag {self.tag[row]}"
        return f"{kind} of request {self.request[row]}" if self.request[row] >= 0 else kind


class Columns(NamedTuple):
    """Columns of a trace as a reader has them, in the order of the file; see ``MessageTrace``."""

    kind: NDArray[np.int8]
    process: Ints
    duration: Ints
    peer: Ints
    bytes: Ints
    received: Ints
    tag: Ints
    group: Ints
    operation: NDArray[np.int8]
    request: Ints
    label: Ints
    cycles: Ints
    line: Ints

    @classmethod
    def blank(cls, rows: int) -> Columns:
        """Return columns that say nothing: all kinds 0, sizes and times 0, the rest -1; group 0."""
        zero = ("kind", "process", "duration", "bytes", "received", "tag", "group", "line")
        narrow = ("kind", "operation")
        return cls._make(
            np.full(rows, 0 if name in zero else NONE, dtype=np.int8 if name in narrow else np.int64)
            for name in cls._fields
        )

    @classmethod
    def joined(cls, parts: Sequence[Columns]) -> Columns:
        """Return parts one after the other."""
        return cls._make(np.concatenate(columns) for columns in zip(*parts, strict=True))

    def only(self, rows: np.ndarray) -> Columns:
        """Return some rows."""
        return Columns._make(column[rows] for column in self)

    def trace(
        self,
        name: str,
        processes: int,
        groups: tuple[Ints, ...] = (),
        labels: tuple[str, ...] = (),
        skipped: Mapping[str, int] | None = None,
    ) -> MessageTrace:
        """Return the trace, the records of each process together."""
        columns: dict[str, np.ndarray] = self._asdict()
        if (np.diff(self.process) < 0).any():
            order = np.argsort(self.process, kind="stable")
            columns = {column: values[order] for column, values in columns.items()}
        everyone = np.arange(processes, dtype=np.int64)
        return MessageTrace(
            name,
            processes,
            **columns,
            groups=(everyone, *groups),
            labels=labels,
            skipped=dict(skipped or {}),
        )
