"""Message traces as a table: a row a record, columns by name (docs/reference/messages.md)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.errors import TraceError, did_you_mean
from scheduler_sim.messages.text_columns import Numbers, pieces, text_of
from scheduler_sim.messages.trace import (
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    MOST_BYTES,
    MOST_PROCESSES,
    NONE,
    OPERATIONS,
    RECV,
    SEND,
    WAIT,
    WAIT_COLLECTIVE,
    WAITALL,
    Columns,
    MessageTrace,
)

COLUMNS = {
    "process": "whole number from 0",
    "kind": "what the process does, see below",
    "peer": "partner of a message; for a collective operation its processes, separated by blanks (none: all)",
    "bytes": "size of a message; for a collective operation the amount that the process gives",
    "received": "amount that the process gets from a collective operation; default: `bytes`",
    "seconds": "duration of a `compute`",
    "tag": "tag of a message, default 0",
    "request": "number by which a `wait` finds its `isend` or `irecv`; without one the oldest of its `peer`",
    "label": "kernel to which a `compute` belongs",
    "cycles": "processor cycles counted during a `compute`",
}
"""Columns and what they hold; the first two are needed."""

NEEDED = ("process", "kind")
KINDS = {
    "compute": (COMPUTE, NONE),
    "send": (SEND, NONE),
    "ssend": (SEND, NONE),
    "isend": (ISEND, NONE),
    "issend": (ISEND, NONE),
    "recv": (RECV, NONE),
    "irecv": (IRECV, NONE),
    "wait": (WAIT, NONE),
    "waitall": (WAITALL, NONE),
    **{name: (COLLECTIVE, number) for number, name in enumerate(OPERATIONS)},
    **{f"i{name}": (ICOLLECTIVE, number) for number, name in enumerate(OPERATIONS)},
    **{f"wait_{name}": (WAIT_COLLECTIVE, number) for number, name in enumerate(OPERATIONS)},
}
"""Words in ``kind``, with kind and operation; an operation with an i before it is begun, and waited for
later."""

SYNCHRONOUS = ("ssend", "issend")
MOST_LABELS = 10_000


def read_csv(path: str | Path) -> MessageTrace:
    """Read a table of records; ``.gz`` is unpacked. Raises TraceError: file, line, field, found, allowed."""
    path = Path(path)
    raw = text_of(path)
    reader = _Reader(path)
    for line, batch in pieces(path, raw, None, ","):
        reader.take(line, batch)
    return reader.trace()


class _Reader:
    """Collects the records of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.numbers = Numbers(path)
        self.parts: list[Columns] = []
        self.groups: dict[str, int] = {}
        self.labels: dict[str, int] = {}

    def take(self, first_line: int, batch: pa.RecordBatch) -> None:
        """Read some rows."""
        names = [name.strip().lower() for name in batch.schema.names]
        self._check_columns(names)
        lines = first_line + np.arange(batch.num_rows)
        nothing = pa.array([""] * batch.num_rows, pa.string())
        text = {name: pc.utf8_trim_whitespace(batch.column(i)) for i, name in enumerate(names)}
        part = Columns.blank(batch.num_rows)
        part.line[:] = lines
        part.process[:] = self.numbers.whole(text["process"], lines, "process", 0, MOST_PROCESSES - 1)
        self._kinds(part, text["kind"])

        def whole(name: str, least: int, most: int, empty: int) -> Ints:
            return self.numbers.whole(text.get(name, nothing), lines, name, least, most, empty)

        part.bytes[:] = whole("bytes", 0, MOST_BYTES, 0)
        got = whole("received", 0, MOST_BYTES, NONE)
        collective = part.kind >= COLLECTIVE
        part.received[collective] = np.where(got < 0, part.bytes, got)[collective]
        part.tag[:] = whole("tag", -(2**62), 2**62, 0)
        part.request[:] = whole("request", 0, 2**62, NONE)
        part.cycles[:] = whole("cycles", 0, 2**62, NONE)
        peers = text.get("peer", nothing)
        by_channel = (part.kind == WAIT) & (part.request < 0)
        self._needs(
            part, text.get("seconds", nothing), part.kind == COMPUTE, "a compute without seconds", "seconds"
        )
        self._needs(part, peers, by_channel, "a wait without request or peer", "request")
        part.duration[:] = self.numbers.picoseconds(text.get("seconds", nothing), lines, "seconds", 0.0)
        part.duration[part.kind != COMPUTE] = 0
        part.label[:] = np.where(
            part.kind == COMPUTE, self._coded(text.get("label", nothing), self.labels), NONE
        )
        if len(self.labels) > MOST_LABELS:
            raise TraceError(f"more than {MOST_LABELS} labels", file=self.path, field="label")
        self._peers(part, peers, by_channel)
        self.parts.append(part)

    def _check_columns(self, names: list[str]) -> None:
        for name in names:
            if name not in COLUMNS or names.count(name) > 1:
                said = "a column twice" if name in COLUMNS else "an unknown column"
                hint = did_you_mean(name[:40], list(COLUMNS))
                raise self.numbers.error(said, 1, "columns", name, ", ".join(COLUMNS) + hint)
        for name in NEEDED:
            if name not in names:
                raise self.numbers.error(
                    "a column is missing", 1, name, ",".join(names)[:60], ", ".join(COLUMNS)
                )

    def _kinds(self, part: Columns, texts: pa.Array) -> None:
        coded = pc.dictionary_encode(pc.utf8_lower(texts))
        code = coded.indices.to_numpy()
        for number, word in enumerate(coded.dictionary.to_pylist()):
            rows = code == number
            if word not in KINDS:
                line = int(part.line[rows][0])
                allowed = ", ".join(list(KINDS)[: 9 + len(OPERATIONS)]) + ", i... and wait_... of the last"
                raise self.numbers.error(
                    "no such kind", line, "kind", word, allowed + did_you_mean(word[:40], list(KINDS))
                )
            part.kind[rows], part.operation[rows] = KINDS[word]
            if word in SYNCHRONOUS:
                part.received[rows] = 1

    def _needs(self, part: Columns, texts: pa.Array, where: Bools, message: str, field: str) -> None:
        missing = where & pc.equal(texts, "").to_numpy(zero_copy_only=False)
        if missing.any():
            raise self.numbers.error(message, int(part.line[missing][0]), field, "", "a number")

    def _coded(self, texts: pa.Array, known: dict[str, int]) -> Ints:
        """Number texts, the same over all pieces; -1 for empty ones."""
        coded = pc.dictionary_encode(texts)
        numbers = [
            known.setdefault(word, len(known)) if word else NONE for word in coded.dictionary.to_pylist()
        ]
        which: Ints = np.array(numbers or [NONE], dtype=np.int64)[coded.indices.to_numpy()]
        return which

    def _peers(self, part: Columns, texts: pa.Array, by_channel: Bools) -> None:
        """Read partners of messages, and the groups of collective operations."""
        of_messages = np.flatnonzero((part.kind >= SEND) & (part.kind <= IRECV) | by_channel)
        part.peer[of_messages] = self.numbers.whole(
            texts.take(pa.array(of_messages)), part.line[of_messages], "peer", 0, MOST_PROCESSES - 1
        )
        collective = np.flatnonzero(part.kind >= COLLECTIVE)
        coded = pc.dictionary_encode(texts.take(pa.array(collective)))
        listed = (
            sorted(text.split(), key=lambda word: (len(word), word)) for text in coded.dictionary.to_pylist()
        )
        words = pa.array([" ".join(members) for members in listed], pa.string())
        part.group[collective] = 1 + self._coded(words.take(coded.indices), self.groups)

    def trace(self) -> MessageTrace:
        """Put all together."""
        if not self.parts:
            raise TraceError("no records", file=self.path, allowed="a row a record")
        whole = Columns.joined(self.parts)
        processes = int(whole.process.max()) + 1
        messages = whole.peer >= 0
        beyond = np.flatnonzero(messages & (whole.peer >= processes))
        if len(beyond):
            row = beyond[0]
            raise self.numbers.error(
                "a partner process without records",
                int(whole.line[row]),
                "peer",
                int(whole.peer[row]),
                f"0 to {processes - 1}",
            )
        groups = [self._members(text, number, whole, processes) for text, number in self.groups.items()]
        return whole.trace(self.path.name, processes, tuple(groups), tuple(self.labels))

    def _members(self, text: str, number: int, whole: Columns, processes: int) -> Ints:
        line = int(whole.line[np.flatnonzero((whole.group == number + 1) & (whole.kind >= COLLECTIVE))[0]])
        words = pa.array(text.split())
        return np.unique(self.numbers.whole(words, np.full(len(words), line), "peer", 0, processes - 1))
