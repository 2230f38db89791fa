"""Traces of Dimemas as text (.dim): a header, communicators, and records of numbers between colons."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scheduler_sim.arrays import Bools, Ints
from scheduler_sim.errors import TraceError
from scheduler_sim.messages.text_columns import NOT_IN_TEXT, Numbers, pieces, text_of
from scheduler_sim.messages.trace import (
    ALL,
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    MARK,
    MOST_BYTES,
    MOST_PROCESSES,
    NONE,
    OPERATIONS,
    RECV,
    SEND,
    WAIT,
    WAIT_COLLECTIVE,
    Columns,
    MessageTrace,
)

MAGIC = b"#DIMEMAS:"
HEADER = re.compile(
    r'#DIMEMAS:"?(?P<name>[^"]*?)"?:(?P<offsets>[0-9]+(?:,[0-9]+)?):(?P<tasks>[0-9]+)\((?P<threads>[0-9,]*)\)'
)

CYCLES = 42000059
"""Type of the event in which Extrae writes the processor's cycles since it last did (PAPI_TOT_CYC)."""

MOST = 2**63 - 1

_RECEIVE = {0: RECV, 1: IRECV, 2: WAIT}
_SEND = {0: SEND, 1: SEND, 2: ISEND, 3: ISEND}
_SYNCHRONOUS = (1, 3)
_GLOBAL = {0: ICOLLECTIVE, 1: COLLECTIVE, 2: WAIT_COLLECTIVE, 3: COLLECTIVE}
_ROOT = 3


class Layout(NamedTuple):
    """A kind of record: its name, and how many fields it may have."""

    name: str
    fields: tuple[int, ...]


_LAYOUTS = {
    "0": Layout("nothing", (3,)),
    "1": Layout("CPU burst", (4,)),
    "2": Layout("send", (8, 9)),
    "3": Layout("receive", (8, 9)),
    "10": Layout("global operation", (9, 10)),
    "11": Layout("GPU burst", (4,)),
    "20": Layout("event", (5,)),
}
_SKIPPED = {"0": "records that say nothing (kind 0)", "11": "GPU bursts (kind 11)"}


def read_dimemas(path: str | Path) -> MessageTrace:
    """Read a trace of Dimemas, as text; ``.gz`` is unpacked.

    Tasks are processes; of each the first thread counts. Raises TraceError: file, line, field, found,
    allowed.
    """
    path = Path(path)
    raw = text_of(path)
    reader = _Reader(path, raw)
    for line, batch in pieces(path, raw, ["line"], NOT_IN_TEXT):
        reader.take(line, batch.column(0))
    return reader.trace()


class _Reader:
    """Collects the records of one file."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self.path = path
        self.numbers = Numbers(path)
        header = HEADER.match(raw.split(b"\n", 1)[0].decode("utf-8", "replace"))
        if header is None:
            raise TraceError(
                "no header of a trace of Dimemas",
                file=path,
                line=1,
                found=raw[:60].decode("utf-8", "replace"),
                allowed='#DIMEMAS:"NAME":0:TASKS(THREADS,...),COMMUNICATORS',
            )
        self.name = header["name"] or path.name
        self.processes = int(header["tasks"])
        if not 1 <= self.processes <= MOST_PROCESSES:
            raise self.numbers.error("out of range", 1, "tasks", self.processes, f"1 to {MOST_PROCESSES}")
        self.groups: dict[int, Ints] = {}
        self.skipped: Counter[str] = Counter()
        self.parts: list[Columns] = []

    def take(self, first_line: int, texts: pa.Array) -> None:
        """Read some lines."""
        lists = pc.split_pattern(pc.utf8_rtrim_whitespace(texts), ":")
        flat, start = (
            lists.flatten(),
            lists.offsets.to_numpy()[:-1].astype(np.int64) - lists.offsets[0].as_py(),
        )
        many = pc.list_value_length(lists).to_numpy().astype(np.int64)
        lines = first_line + np.arange(len(texts))
        coded = pc.dictionary_encode(flat.take(pa.array(start)))
        code = coded.indices.to_numpy()
        part = Columns.blank(len(texts))
        kept = np.zeros(len(texts), dtype=bool)
        for number, kind in enumerate(coded.dictionary.to_pylist()):
            rows = np.flatnonzero(code == number)
            if kind not in _LAYOUTS:
                self._other(kind, rows, lines, texts)
                continue
            wrong = rows[~np.isin(many[rows], _LAYOUTS[kind].fields)]
            if len(wrong):
                raise self.numbers.error(
                    f"a {_LAYOUTS[kind].name} of {many[wrong[0]]} fields",
                    int(lines[wrong[0]]),
                    "all",
                    texts[int(wrong[0])].as_py(),
                    f"{' or '.join(map(str, _LAYOUTS[kind].fields))} fields between colons",
                )
            for fields in _LAYOUTS[kind].fields:
                mine = rows[many[rows] == fields]
                if len(mine):
                    kept[mine] = self._records(
                        kind, part, mine, _Fields(self.numbers, flat, start[mine], lines[mine], fields)
                    )
        part.line[:] = lines
        self.parts.append(part.only(kept))

    def _other(self, kind: str, rows: Ints, lines: Ints, texts: pa.Array) -> None:
        if kind == "d":
            for row in rows.tolist():
                self._definition(texts[row].as_py().strip().split(":"), int(lines[row]))
        elif not (kind.startswith("#") or kind in ("s", "")):
            self.skipped[f"records of kind {kind[:20]!r}"] += len(rows)

    def _definition(self, fields: list[str], line: int) -> None:
        """Read a communicator: its number, how many tasks, and which."""
        if fields[1:2] != ["1"]:
            self.skipped[f"definitions of type {':'.join(fields[1:2])!r:.20}"] += 1
            return
        texts = pa.array(fields[2:])
        values = self.numbers.whole(texts, np.full(len(texts), line), "communicator", 0, MOST)
        members = values[2:]
        if len(values) < 3 or values[1] != len(members) or members.max() >= self.processes:
            raise self.numbers.error(
                "no communicator",
                line,
                "tasks",
                ":".join(fields),
                f"d:1:NUMBER:HOW MANY:TASK:..., tasks below {self.processes}",
            )
        self.groups[int(values[0])] = np.unique(members)

    def _records(self, kind: str, part: Columns, rows: Ints, fields: _Fields) -> Bools:
        """Read records of one kind; tells which are replayed."""
        part.process[rows] = fields.whole(1, "task", 0, self.processes - 1)
        first: Bools = fields.whole(2, "thread", 0, MOST) == 0
        if not first.all():
            self.skipped["records of other threads than the first"] += int((~first).sum())
        if kind in _SKIPPED:
            self.skipped[_SKIPPED[kind]] += len(rows)
            return np.zeros(len(rows), dtype=bool)
        if kind == "1":
            part.kind[rows] = COMPUTE
            part.duration[rows] = fields.picoseconds(3, "duration")
        elif kind == "20":
            part.kind[rows] = MARK
            part.tag[rows] = fields.whole(3, "type", 0, MOST)
            part.bytes[rows] = fields.whole(4, "value", 0, MOST)
        elif kind == "10":
            first &= self._operation(part, rows, fields)
        else:
            first &= self._message(kind, part, rows, fields)
        return first

    def _message(self, kind: str, part: Columns, rows: Ints, fields: _Fields) -> Bools:
        part.peer[rows] = fields.whole(3, "partner", 0, self.processes - 1)
        part.bytes[rows] = fields.whole(-4, "size", 0, MOST_BYTES)
        part.tag[rows] = fields.whole(-3, "tag", -MOST, MOST)
        part.group[rows] = fields.whole(-2, "communicator", 0, MOST)
        how = fields.whole(-1, "how", 0, 3)
        kinds = _SEND if kind == "2" else _RECEIVE
        part.kind[rows] = np.array([kinds.get(i, NONE) for i in range(4)], dtype=np.int8)[how]
        if kind == "2":
            part.received[rows] = np.isin(how, _SYNCHRONOUS)
        unknown: Bools = part.kind[rows] == NONE
        if unknown.any():
            self.skipped["receives of type 3"] += int(unknown.sum())
        return ~unknown

    def _operation(self, part: Columns, rows: Ints, fields: _Fields) -> Bools:
        numbers = fields.whole(3, "operation", 0, MOST)
        part.group[rows] = fields.whole(4, "communicator", 0, MOST)
        part.bytes[rows] = fields.whole(7, "bytes sent", 0, MOST_BYTES)
        part.received[rows] = fields.whole(8, "bytes received", 0, MOST_BYTES)
        how = fields.whole(9, "how", 0, 3) if fields.many == 10 else np.ones(len(rows), dtype=np.int64)
        part.kind[rows] = np.array([_GLOBAL[i] for i in range(4)], dtype=np.int8)[how]
        known: Bools = numbers < 2 * len(OPERATIONS)  # the second half: the same, begun and not waited for
        part.operation[rows] = np.where(known, numbers % len(OPERATIONS), NONE)
        if (how == _ROOT).any():
            self.skipped["global operations that wait for the root alone (replayed as waiting for all)"] += (
                int((how == _ROOT).sum())
            )
        for number in np.unique(numbers[~known]).tolist():
            self.skipped[f"global operations of number {number}"] += int((numbers == number).sum())
        return known

    def trace(self) -> MessageTrace:
        """Put all together: communicators numbered from 1, marks counted by type, cycles with their
        bursts."""
        whole = Columns.joined(self.parts)
        marks = whole.kind == MARK
        for kind, many in zip(*np.unique(whole.tag[marks], return_counts=True), strict=True):
            self.skipped[f"events of type {kind}"] += int(many)
        used, which = np.unique(whole.group[~marks], return_inverse=True)
        with_messages = whole.kind < COLLECTIVE
        groups: list[Ints] = []
        number = np.zeros(len(used), dtype=np.int64)
        for i, one in enumerate(used.tolist()):
            members = self.groups.get(one)
            if (
                members is None
                and bool((whole.group[~with_messages & ~marks] == one).any())
                and len(self.groups)
            ):
                line = int(whole.line[(whole.group == one) & ~with_messages & ~marks][0])
                names = ", ".join(map(str, sorted(self.groups)[:10]))
                raise self.numbers.error("no such communicator", line, "communicator", one, names)
            if members is not None and len(members) < self.processes:
                groups.append(members)
                number[i] = len(groups)
            elif len(used) > 1:  # all processes, but messages of another communicator are not ours
                groups.append(np.arange(self.processes))
                number[i] = len(groups)
            else:
                number[i] = ALL
        whole.group[~marks] = number[which.ravel()]
        trace = whole.trace(self.name, self.processes, tuple(groups), (), self.skipped)
        _note_cycles(trace)
        return trace


class _Fields:
    """The fields of some records of one layout, by place; negative places count from the end."""

    def __init__(self, numbers: Numbers, flat: pa.Array, start: Ints, lines: Ints, many: int) -> None:
        self.numbers, self.flat, self.start, self.lines, self.many = numbers, flat, start, lines, many

    def whole(self, place: int, name: str, least: int, most: int) -> Ints:
        return self.numbers.whole(self._texts(place), self.lines, name, least, most)

    def picoseconds(self, place: int, name: str) -> Ints:
        return self.numbers.picoseconds(self._texts(place), self.lines, name)

    def _texts(self, place: int) -> pa.Array:
        return self.flat.take(pa.array(self.start + (place if place >= 0 else self.many + place)))


def _note_cycles(trace: MessageTrace) -> None:
    """Give each burst the cycles that stand right behind it."""
    rows = np.arange(len(trace))
    before = np.maximum.accumulate(np.where(trace.kind != MARK, rows, NONE))
    counted = np.flatnonzero((trace.kind == MARK) & (trace.tag == CYCLES) & (before >= 0))
    burst = before[counted]
    right = (trace.kind[burst] == COMPUTE) & (trace.process[burst] == trace.process[counted])
    trace.cycles[burst[right][::-1]] = trace.bytes[counted[right][::-1]]  # the first one wins
