"""A run for other tools: CSV and Parquet tables, Chrome traces (Perfetto), Paje traces (ViTE).

What is written depends on the suffix: ``.csv``, ``.parquet``, ``.json``, ``.paje``, or
``.evalys.csv`` for evalys.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.output.rule import Kind, head, lines_of
from scheduler_sim.output.whole import whole_file
from scheduler_sim.report.evalys import COLUMNS, SUFFIX, write_evalys
from scheduler_sim.report.module_view import shared_modules
from scheduler_sim.report.wording import no_formula, plain
from scheduler_sim.result.columns import BUSY, CARRIED, Column, Further, component_columns, rows_named
from scheduler_sim.result.node_rows import Lanes, node_lanes
from scheduler_sim.result.nodes import NodeRuns, node_numbers
from scheduler_sim.result.result import Result
from scheduler_sim.result.store import FILES, MANIFEST, write_table

MICROSECONDS = 1_000_000
COUNTERS = ("nodes_busy", "queue_components")
PAJE_EVENTS = (
    ("PajeDefineContainerType", 0, ("Alias string", "Type string", "Name string")),
    ("PajeDefineStateType", 1, ("Alias string", "Type string", "Name string")),
    (
        "PajeCreateContainer",
        2,
        ("Time date", "Alias string", "Type string", "Container string", "Name string"),
    ),
    ("PajeSetState", 3, ("Time date", "Type string", "Container string", "Value string")),
    ("PajeDestroyContainer", 4, ("Time date", "Type string", "Name string")),
)
PAJE_HEAD = "".join(
    [
        "".join([f"%EventDef {name} {number}\n", *(f"% {field}\n" for field in fields), "%EndEventDef\n"])
        for name, number, fields in PAJE_EVENTS
    ]
    + [
        '0 System 0 "System"\n0 Module System "Module"\n0 Node Module "Node"\n',
        '1 Component Node "Component"\n',
    ]
)
CHROME_HEAD = '{"displayTimeUnit":"ms","otherData":{"generator":"scheduler-sim"},"traceEvents":[\n'
"""Beginnings by which our exports are known."""


def export(result: Result, path: str | Path, *, force: bool = True) -> None:
    """Write a run in the format that the suffix names, whole or not at all.

    A regular file there is replaced, without ``force`` only by an export of the same format.

    Raises
    ------
    InputError : for another suffix, or if the file may not be written there.
    SchedulerSimError : the disk is full or fails.
    """
    suffix = suffix_of(path)
    if suffix not in WRITERS:
        raise InputError(f"{path}: unknown format; allowed: {', '.join(WRITERS)}")
    with whole_file(path, None if force else EXPORTS[suffix]) as out:
        WRITERS[suffix](result, out)


def suffix_of(path: str | Path) -> str:
    """Return what tells how a file is written."""
    return SUFFIX if Path(path).name.lower().endswith(SUFFIX) else Path(path).suffix.lower()


def _csv(result: Result, out: BinaryIO) -> None:
    """Write the components; text that a spreadsheet would take for a formula gets an apostrophe before it.

    Names in traces are anybody's: ``=cmd|...`` in one must not run where the file is opened. Parquet has
    the names as they are.
    """
    text = {
        column.name: _no_formula(result.components[column.name])
        for column in _columns(result)
        if column.dtype == "text"
    }
    result.components.assign(**text).to_csv(out, index=False, lineterminator="\n")


def _columns(result: Result) -> tuple[Column, ...]:
    return component_columns(result.further)


def _no_formula(names: pd.Series) -> pd.Series:
    words = {name: no_formula(str(name)) for name in names.unique()}
    return names.astype(object).map(words)


def _parquet(result: Result, out: BinaryIO) -> None:
    write_table(result.components, _columns(result), out)


def _chrome(result: Result, out: BinaryIO) -> None:
    """Write the Trace Event Format: a process for each module, a thread for each node.

    Where jobs share nodes, one for each lane of a node. A component is a slice on the lowest node of each
    run of nodes it had; ``args`` has the rest.
    """
    with _text(out) as file:
        file.write(CHROME_HEAD)
        lines = (json.dumps(event, separators=(",", ":")) for event in _chrome_events(result))
        file.write(",\n".join(lines))
        file.write("\n]}\n")


def _chrome_events(result: Result) -> Iterator[dict[str, object]]:
    modules = _modules(result)
    number = {name: place for place, name in enumerate(modules, start=1)}
    runs = node_numbers(result.components, modules)
    tracks = _tracks(result, modules, runs)
    for name, pid in number.items():
        yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": plain(name)}}
        for tid, (node, lane) in enumerate(tracks.named(name)):
            told: dict[str, object] = {"ph": "M", "pid": pid, "tid": tid}
            yield {**told, "name": "thread_name", "args": {"name": f"node {_track_name(node, lane)}"}}
            yield {**told, "name": "thread_sort_index", "args": {"sort_index": tid}}
    table = result.components.iloc[runs.row]
    table = table.assign(start_time=runs.start, end_time=runs.end)
    columns = (table[name].tolist() for name in ("component_id", "module", "start_time", "end_time", "state"))
    texts = (table[name].astype(str).tolist() for name in ("name", "user", "app"))
    asked, firsts = table["time_limit"].tolist(), runs.first.tolist()
    threads = tracks.thread[np.cumsum(runs.count) - runs.count].tolist()
    rows = zip(*columns, *texts, asked, firsts, runs.count.tolist(), threads, _held(table), strict=True)
    for component, module, start, end, state, name, user, app, limit, first, count, thread, held in rows:
        told = {"state": state, "user": user, "app": app, "time_limit_s": limit, "first_node": first}
        yield {
            "ph": "X",
            "pid": number[module],
            "tid": thread,
            "ts": start * MICROSECONDS,
            "dur": (end - start) * MICROSECONDS,
            "name": f"{component} {name}".strip(),
            "args": {**told, "nodes_here": count, **held},
        }
    yield from _chrome_counters(result, number)


def _held(table: pd.DataFrame) -> list[dict[str, float]]:
    """Return what components had of their nodes, where jobs share them."""
    kinds = [kind for kind in BUSY if kind in table]
    columns = [table[kind].tolist() for kind in kinds]
    return [dict(zip(kinds, own, strict=True)) for own in zip(*columns, strict=True)] or [{}] * len(table)


@dataclass(frozen=True)
class _Tracks:
    """Nodes as a trace shows them: of each (module, node) its lanes, and on which thread components are.

    ``thread`` : int64[n], of each node of each run of nodes, one after the other
    """

    lanes: Lanes
    count: dict[str, list[int]]
    thread: np.ndarray

    def named(self, module: str) -> Iterator[tuple[int, int]]:
        """Yield node and lane of each thread of a module that has to be named."""
        for node, lanes in enumerate(self.count.get(module, [])):
            yield from ((node, lane) for lane in range(lanes))


def _tracks(result: Result, modules: Mapping[str, int], runs: NodeRuns) -> _Tracks:
    """Give each lane of each node that jobs share a thread; of other modules each node has one."""
    shared = shared_modules(result.manifest)
    lanes = node_lanes(runs, result.components, shared)
    count, thread = {}, lanes.node.copy()
    for module in shared:
        own = rows_named(result.components["module"], module)[lanes.row]
        several = np.ones(modules[module], dtype=np.int64)
        np.maximum.at(several, lanes.node[own], lanes.lane[own] + 1)
        thread[own] = (np.cumsum(several) - several)[lanes.node[own]] + lanes.lane[own]
        count[module] = several.tolist()
    return _Tracks(lanes, count, thread)


def _track_name(node: int, lane: int) -> str:
    return f"{node} ({lane + 1})" if lane else f"{node}"


def _chrome_counters(result: Result, number: dict[str, int]) -> Iterator[dict[str, object]]:
    timeline = result.timeline
    for module, pid in number.items():
        own = timeline[rows_named(timeline["module"], module)]
        for column in (*COUNTERS, *(busy for busy in BUSY.values() if busy in own)):
            for time, value in zip(own["time"].tolist(), own[column].tolist(), strict=True):
                stamp = time * MICROSECONDS
                yield {"ph": "C", "pid": pid, "ts": stamp, "name": column, "args": {column: value}}


def _paje(result: Result, out: BinaryIO) -> None:
    """Write a Paje trace: a container for each module and node, whose state is the component it runs.

    Where jobs share nodes there is one for each lane of a node.
    """
    modules = _modules(result)
    with _text(out) as file:
        file.write(PAJE_HEAD)
        containers = {name: f"m{place}" for place, name in enumerate(modules)}
        runs = node_numbers(result.components, modules)
        tracks = _tracks(result, modules, runs)
        changes = _node_changes(result.components, tracks.lanes, containers)
        first = changes[0][0] if changes else 0
        file.write(f'2 {first} system System 0 "system"\n')
        own = {name: list(tracks.named(name)) or [(i, 0) for i in range(n)] for name, n in modules.items()}
        for name, several in own.items():
            module = containers[name]
            file.write(f'2 {first} {module} Module system "{_quoted(name)}"\n')
            for one in several:
                file.write(f'2 {first} {_container(module, *one)} Node {module} "{_track_name(*one)}"\n')
        for time, _, container, value in changes:
            file.write(f'3 {time} Component {container} "{value}"\n')
        last = changes[-1][0] if changes else 0
        for name, several in own.items():
            for one in several:
                file.write(f"4 {last} Node {_container(containers[name], *one)}\n")
            file.write(f"4 {last} Module {containers[name]}\n")
        file.write(f"4 {last} System system\n")


def _container(module: str, node: int, lane: int) -> str:
    return f"{module}n{node}l{lane}" if lane else f"{module}n{node}"


def _node_changes(
    components: pd.DataFrame, lanes: Lanes, containers: dict[str, str]
) -> list[tuple[int, int, str, str]]:
    """Return (time, 0 for an end and 1 for a start, container, value) of every lane of nodes, in order."""
    table = components.iloc[lanes.row].assign(start_time=lanes.start, end_time=lanes.end)
    lasting = (table["end_time"] > table["start_time"]).to_numpy()
    columns = (table[name][lasting].tolist() for name in ("component_id", "module", "start_time", "end_time"))
    changes = []
    rows = zip(*columns, lanes.node[lasting].tolist(), lanes.lane[lasting].tolist(), strict=True)
    for component, module, start, end, node, lane in rows:
        container = _container(containers[module], node, lane)
        changes.append((start, 1, container, str(component)))
        changes.append((end, 0, container, "idle"))
    return sorted(changes)


def _modules(result: Result) -> dict[str, int]:
    return {str(name): int(nodes) for name, nodes in result.manifest["modules"].items()}


def _quoted(text: str) -> str:
    return plain(text).replace('"', "'")


@contextmanager
def _text(out: BinaryIO) -> Iterator[TextIO]:
    text = TextIOWrapper(out, encoding="utf-8", newline="\n", write_through=True)
    try:
        yield text
    finally:
        text.detach()  # so that the file stays open


WRITERS: dict[str, Callable[[Result, BinaryIO], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".json": _chrome,
    ".paje": _paje,
    SUFFIX: write_evalys,
}


def _begins_with(text: str) -> Callable[[Path], bool]:
    return lambda path: head(path, len(text.encode())) == text.encode()


def _is_table(path: Path) -> bool:
    return _are_ours(next(lines_of(head(path)), b"").decode(errors="replace").split(","))


def _is_parquet(path: Path) -> bool:
    """Look at the columns; the table of a result in its directory has the same, and is no export."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.name in FILES and os.path.exists(path.parent / MANIFEST):
        return False
    try:
        return _are_ours(pq.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError):
        return False


def _are_ours(names: Sequence[str]) -> bool:
    """Tell whether these are columns of the components of a result, of an older version as well."""
    flags: dict[str, Any] = {name: True for name in Further._fields if name != "carried"}
    own = {name for name in names if not name.startswith(CARRIED)}
    known = {column.name for column in component_columns(Further(**flags))}
    return {"component_id", "start_time", "end_time", "state"} <= own <= known


EXPORTS = {
    ".csv": Kind("an export of components in CSV", _is_table),
    ".parquet": Kind("an export of components in Parquet", _is_parquet),
    ".json": Kind("a trace for Perfetto that scheduler-sim wrote", _begins_with(CHROME_HEAD)),
    ".paje": Kind("a Paje trace that scheduler-sim wrote", _begins_with(PAJE_HEAD)),
    SUFFIX: Kind("the jobs of a run for evalys", _begins_with(",".join(COLUMNS) + "\n")),
}
