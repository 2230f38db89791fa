"""Reading message traces, whatever their format, and writing them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from scheduler_sim.errors import InputError
from scheduler_sim.messages.csv_table import COLUMNS, read_csv
from scheduler_sim.messages.dimemas_text import MAGIC, read_dimemas
from scheduler_sim.messages.trace import (
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    ISEND,
    KINDS,
    MARK,
    NONE,
    OPERATIONS,
    PS,
    RECV,
    SEND,
    WAIT,
    WAITALL,
    MessageTrace,
)
from scheduler_sim.output.rule import Kind, head
from scheduler_sim.output.whole import whole_file


def read_messages(path: str | Path) -> MessageTrace:
    """Read a message trace: Dimemas' text, told by its first line, else a table. Raises TraceError."""
    path = Path(path)
    return read_dimemas(path) if head(path, 64).startswith(MAGIC) else read_csv(path)


PHASE = 60000019
"""Type of the events that Extrae writes at user functions; here, at labels."""

TRACE = Kind.read_by("a message trace", read_messages)


def write_messages(trace: MessageTrace, path: str | Path, *, over: Kind | None = None) -> Path:
    """Write a trace, as ``.dim`` or ``.csv`` (each also ``.gz``), whole or not at all.

    In ``.dim`` labels become events of ``PHASE``, counted from 1. Raises InputError for another suffix, and
    for
    what a trace of Dimemas cannot say: requests, and waits for all that is under way.
    """
    path = Path(path)
    bare = path.name.removesuffix(".gz")
    if not bare.endswith((".dim", ".csv")):
        raise InputError(f"{path}: found this name; allowed: a name ending in .dim or .csv")
    lines = _dimemas_lines(trace) if bare.endswith(".dim") else _csv_lines(trace)
    with whole_file(path, over) as file:
        for line in lines:
            file.write(f"{line}\n".encode())
    return path


def _seconds(ps: int) -> str:
    whole, part = divmod(ps, PS)
    return f"{whole}.{part:012d}".rstrip("0").rstrip(".")


def _csv_lines(trace: MessageTrace) -> Iterator[str]:
    yield ",".join(COLUMNS)
    for row in range(len(trace)):
        kind = int(trace.kind[row])
        if kind == MARK:
            continue
        cells = dict.fromkeys(COLUMNS, "")
        cells |= {"process": str(trace.process[row]), "kind": KINDS[kind]}
        if kind == COMPUTE:
            cells["seconds"] = _seconds(int(trace.duration[row]))
            cells["label"] = trace.labels[trace.label[row]] if trace.label[row] >= 0 else ""
            cells["cycles"] = str(trace.cycles[row]) if trace.cycles[row] >= 0 else ""
        elif kind >= COLLECTIVE:
            prefix = "" if kind == COLLECTIVE else "i" if kind == ICOLLECTIVE else "wait_"
            cells["kind"] = prefix + OPERATIONS[trace.operation[row]]
            members = trace.groups[trace.group[row]]
            cells["peer"] = "" if len(members) == trace.processes else " ".join(map(str, members))
            cells |= {"bytes": str(trace.bytes[row]), "received": str(trace.received[row])}
        elif kind < WAIT or trace.peer[row] >= 0:
            synchronous = kind in (SEND, ISEND) and trace.received[row] == 1
            cells["kind"] = KINDS[kind].replace("send", "ssend") if synchronous else KINDS[kind]
            cells |= {
                "peer": str(trace.peer[row]),
                "bytes": str(trace.bytes[row]),
                "tag": str(trace.tag[row]),
            }
        if trace.request[row] >= 0:
            cells["request"] = str(trace.request[row])
        yield ",".join(cells.values())


def _dimemas_lines(trace: MessageTrace) -> Iterator[str]:
    used = np.unique(trace.group[trace.kind != MARK])
    yield f'#DIMEMAS:"{trace.name}":0:{trace.processes}({",".join(["1"] * trace.processes)}),{len(used)}'
    for number in used.tolist():
        members = trace.groups[number]
        yield f"d:1:{number + 1}:{len(members)}:{':'.join(map(str, members))}"
    phase = [NONE] * trace.processes
    for row in range(len(trace)):
        kind = int(trace.kind[row])
        here = f"{trace.process[row]}:0"
        label = int(trace.label[row])
        if kind == COMPUTE and label != phase[trace.process[row]]:
            phase[trace.process[row]] = label
            yield f"20:{here}:{PHASE}:{label + 1}"
        message = f"{trace.peer[row]}:-1:{trace.bytes[row]}:{trace.tag[row]}:{trace.group[row] + 1}"
        if kind == COMPUTE:
            yield f"1:{here}:{_seconds(int(trace.duration[row]))}"
        elif kind in (SEND, ISEND):
            yield f"2:{here}:{message}:{(2 if kind == ISEND else 0) + int(trace.received[row] == 1)}"
        elif kind == MARK:
            yield f"20:{here}:{trace.tag[row]}:{trace.bytes[row]}"
        elif kind >= COLLECTIVE:
            how = {COLLECTIVE: 1, ICOLLECTIVE: 0}.get(kind, 2)
            numbers = (
                f"{trace.operation[row]}:{trace.group[row] + 1}:0:0:{trace.bytes[row]}:{trace.received[row]}"
            )
            yield f"10:{here}:{numbers}:{how}"
        elif kind == WAITALL or trace.request[row] >= 0:
            raise InputError(
                f"{trace.name}: {trace.where(row)}: found a request; allowed in .dim: waits by channel"
            )
        else:
            yield f"3:{here}:{message}:{kind - RECV}"
