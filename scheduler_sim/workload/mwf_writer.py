"""Writing a workload as MWF, and what of it MWF cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import numpy as np

from scheduler_sim.errors import TraceError
from scheduler_sim.texts import TextColumn, is_text_column
from scheduler_sim.workload.columns import as_column
from scheduler_sim.workload.fields import FIELDS, MWF_FIELDS
from scheduler_sim.workload.lossy import lost_columns, without_skipped
from scheduler_sim.workload.mwf import (
    LAYOUTS,
    component_ids,
    is_comment,
    mwf_app,
    mwf_constraint,
    mwf_licences,
    mwf_power,
    mwf_time_limit,
)
from scheduler_sim.workload.mwf_text import parse_api_calls
from scheduler_sim.workload.record_lines import Lines, encoding_for, lines_by_kind, lines_of, write_records
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.table import Workload

_OF_SWF = re.compile(r"\s*;\s*(Version|MaxJobs|MaxRecords)\s*:", re.IGNORECASE)
"""Header lines that are of the file alone in which they stand."""

_DERIVED_TEXTS: dict[str, Callable[[str], str]] = {
    "app": mwf_app,
    "constraint": mwf_constraint,
    "licences": mwf_licences,
}


def write_mwf(workload: Workload, out: BinaryIO, name: str) -> list[str]:
    """Write a workload as MWF; return notes on what was lost.

    What came from MWF goes back as it was, each record with the fields it had (41 or 40 grow
    to 42 only where they now need a position they lack). From elsewhere: 42 fields, missing
    text -1 (dependency kind: NA), header lines as comments, and no skipped records but those of
    run time -1, as MWF has no place for them.
    """
    source = workload.source
    notes = lost_columns(workload, "mwf")
    if source.format != "mwf":
        if "skipped_predecessor" in workload.not_honoured():
            raise TraceError("components depend on records that are left out as not simulated", file=name)
        workload = _without_arrays(without_skipped(workload, notes))
        if source.format != "table" and source.comments:
            notes.append(f"{len(source.comments)} comments between records left out")
    native = source.format == "mwf"
    columns = [_column(workload, field.name, native) for field in MWF_FIELDS]
    header = _header(source)
    comments = source.comments if native else ()
    for line in (*header, *(line for _, line in comments)):
        if not is_comment(line.encode("utf-8", "surrogateescape")):
            raise TraceError("a comment line of MWF must start with #", file=name, found=line)
    encoding = encoding_for(source.encoding, _texts(columns, header, comments, name), name)
    counts = _field_counts(workload, columns) if native else np.full(len(workload), 42)
    write_records(out, name, header, comments, _lines(columns, counts, encoding), len(workload), encoding)
    return notes


def _header(source: TraceSource) -> tuple[str, ...]:
    """Header lines, those of other formats as comments; what is made in Python has none."""
    if source.format == "table":
        return ()
    if source.format == "mwf":
        return source.header
    return tuple(_as_comment(line) for line in source.header if not _OF_SWF.match(line))


def _as_comment(line: str) -> str:
    return f"# {line.strip().lstrip('#; ')}" if line.strip() else line


def _without_arrays(workload: Workload) -> Workload:
    """Let dependencies name the tasks of arrays one by one, as MWF knows components only."""
    edges, arrays = workload.dependencies(), workload["array_job_id"]
    rows = edges["row"][arrays[edges["after_row"]] != -1].unique()
    if not len(rows):
        return workload
    texts = {name: workload[name] for name in ("dependency_ids", "dependency_kinds")}
    numbers, alone = workload["component_id"], set(workload.singletons().tolist())
    for _, of_row in edges[edges["row"].isin(rows)].groupby("row"):
        row = int(of_row["row"].iloc[0])
        kinds = [
            f"{kind}+{m}" if m else kind for kind, m in zip(of_row["kind"], of_row["minutes"], strict=True)
        ]
        texts["dependency_ids"][row] = ",".join(map(str, numbers[of_row["after_row"]]))
        texts["dependency_kinds"][row] = ",".join([*kinds, *["SINGLETON"] * (row in alone)])
    return workload.replace(**texts)


def _column(workload: Workload, name: str, native: bool) -> Any:
    """Return the column to write: what the file listed, where that still means the same."""
    table = workload.columns
    column = table[name]
    if name == "listed_component_id":
        return _component_column(workload)
    if name == "listed_nodes":
        return np.asarray(table["nodes"])
    if name == "listed_time_limit":
        listed, limit = np.asarray(column), np.asarray(table["time_limit"])
        return np.where(mwf_time_limit(listed) == limit, listed, limit)
    if name == "average_power_w":
        listed, watts = np.asarray(column), np.asarray(table["measured_power_w"])
        return np.where(mwf_power(listed) == watts, listed, np.rint(watts).astype(np.int64))
    meaning = name.removeprefix("listed_")
    if meaning != name:
        column = _listed_texts(column, table[meaning], _DERIVED_TEXTS[meaning])
    if is_text_column(column) and not native and "" in column.categories:
        missing = "NA" if name == "dependency_kinds" else "-1"
        return column.mapped(lambda text: text or missing)
    return column


def _component_column(workload: Workload) -> np.ndarray:
    table = workload.columns
    listed, jobs = np.asarray(table["listed_component_id"]), np.asarray(table["modular_job_id"])
    wanted = np.asarray(table["component_id"])
    if workload.source.dependencies_name != "component_id":  # unique ids would change what dependencies name
        return listed
    said, _ = component_ids(listed, jobs, workload.source)
    return listed if np.array_equal(said, wanted) and workload.source.format == "mwf" else wanted


def _listed_texts(listed: TextColumn, wanted: TextColumn, rule: Callable[[str], str]) -> TextColumn:
    said = np.asarray(listed.mapped(rule), dtype=object)
    want = np.asarray(wanted, dtype=object)
    if np.array_equal(said, want):
        return listed
    kept = np.where(said == want, np.asarray(listed, dtype=object), want)
    names: TextColumn = as_column(FIELDS["name"], kept, len(kept))
    return names


def _texts(
    columns: list[Any], header: Sequence[str], comments: Sequence[tuple[int, str]], name: str
) -> list[str]:
    texts = [str(text) for column in columns if is_text_column(column) for text in column.categories]
    for text in texts:
        if ";" in text or "\r" in text:
            raise TraceError(
                "a text with ; or a carriage return cannot be written in MWF", file=name, found=text
            )
    return [*texts, *header, *(line for _, line in comments)]


def _lines(columns: list[Any], counts: np.ndarray, encoding: str) -> Lines:
    made = {
        count: lines_of([columns[position] for position in LAYOUTS[count]], ";", encoding)
        for count in np.unique(counts).tolist()
    }
    return lines_by_kind(counts, made)


def _field_counts(workload: Workload, columns: list[Any]) -> np.ndarray:
    """Return the fields of each record: as many as it had, but 42 where it needs one it lacks."""
    counts = np.broadcast_to(workload.source.field_count, len(workload))
    calls = columns[41]
    asks = np.array([bool(parse_api_calls(text)) for text in calls.categories], dtype=bool)[calls.codes]
    power = (columns[19] != -1) | (columns[33] != -1)
    return np.where(((counts == 41) & asks) | ((counts == 40) & power), 42, counts)
