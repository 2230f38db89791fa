"""Dependencies between components: read from their text, resolved to rows, checked for cycles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.errors import did_you_mean
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.validation import problem

#: Kinds the clock honours: after its start, its end, its success, its failure.
HONOURED = ("AFTER", "AFTERANY", "AFTEROK", "AFTERNOTOK")
#: Kinds that are counted only, under these names.
COUNTED = {"DYNAMIC": "dynamic", "SINGLETON": "singleton", "SINGLE": "singleton"}

_NUMBER = re.compile(r"[0-9]{1,18}")


class _Wish(NamedTuple):
    """One dependency as the text gives it; ``wanted`` is None where the kind needs no id."""

    kind: str
    wanted: int | None


def parse_dependencies(table: pd.DataFrame, source: TraceSource) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the honoured dependencies (row, after_row, kind) and the counts of the others.

    Only rows that have any are looked at. The ids are component ids, or job numbers where
    ``source.dependencies_name`` says so; a dependency on a job is one on each of its components.
    """
    ids, kinds = table["dependency_ids"].array, table["dependency_kinds"].array
    id_texts, kind_texts = list(ids.categories), list(kinds.categories)
    silent_id = np.array([is_missing(text) for text in id_texts], dtype=bool)
    silent_kind = np.array([is_missing(text) for text in kind_texts], dtype=bool)
    skipped = table["skipped"].to_numpy() != 0
    rows = np.flatnonzero(~((silent_id[ids.codes] & silent_kind[kinds.codes]) | skipped))
    pairs = list(zip(ids.codes[rows].tolist(), kinds.codes[rows].tolist(), strict=True))

    wishes: dict[tuple[int, int], list[_Wish]] = {}
    for row, pair in zip(rows.tolist(), pairs, strict=True):
        if pair not in wishes:
            wishes[pair] = _wishes(table, source, row, id_texts[pair[0]], kind_texts[pair[1]])
    target = _rows_by_id(table[source.dependencies_name].to_numpy(), wishes.values())
    counts = {"dynamic": 0, "singleton": 0, "skipped_predecessor": 0}
    found: list[tuple[int, int, str]] = []
    for row, pair in zip(rows.tolist(), pairs, strict=True):
        concerned = set()
        for kind, wanted in wishes[pair]:
            if kind in COUNTED:
                concerned.add(COUNTED[kind])
                continue
            if wanted not in target:
                raise problem(
                    table,
                    source,
                    row,
                    "dependency_ids",
                    "depends on a component that is not in the trace",
                    wanted,
                    "the id of a component of this trace",
                )
            for after_row in target[wanted]:
                if skipped[after_row]:
                    concerned.add("skipped_predecessor")
                else:
                    found.append((row, after_row, kind))
        for name in concerned:
            counts[name] += 1
    edges = pd.DataFrame(found, columns=["row", "after_row", "kind"])
    edges = edges.astype({"row": np.int64, "after_row": np.int64, "kind": object})
    _refuse_cycles(table, source, edges)
    return edges, counts


def _rows_by_id(ids: np.ndarray, wishes: Iterable[list[_Wish]]) -> dict[int | None, list[int]]:
    wanted = {wish.wanted for wish in chain.from_iterable(wishes) if wish.wanted is not None}
    rows: dict[int | None, list[int]] = {}
    for row in np.flatnonzero(np.isin(ids, np.array(sorted(wanted), dtype=np.int64))).tolist():
        rows.setdefault(int(ids[row]), []).append(row)
    return rows


def _wishes(table: pd.DataFrame, source: TraceSource, row: int, ids: str, kinds: str) -> list[_Wish]:
    wanted = [] if is_missing(ids) else [part.strip() for part in ids.split(",")]
    named = [] if is_missing(kinds) else [part.strip().upper() for part in kinds.split(",")]
    allowed = ", ".join((*HONOURED, *COUNTED))
    for kind in named:
        if kind not in HONOURED and kind not in COUNTED:
            hint = did_you_mean(kind, (*HONOURED, *COUNTED))
            raise problem(
                table, source, row, "dependency_kinds", f"unknown kind of dependency{hint}", kind, allowed
            )
    for number in wanted:
        if not _NUMBER.fullmatch(number):
            raise problem(
                table,
                source,
                row,
                "dependency_ids",
                "not a dependency",
                ids,
                "ids separated by commas; -1 = none",
            )
    if not wanted and all(kind in COUNTED for kind in named):
        return [_Wish(kind, None) for kind in named]
    if wanted and len(named) == 1:
        named = named * len(wanted)
    if len(named) != len(wanted):
        raise problem(
            table,
            source,
            row,
            "dependency_kinds",
            f"the kinds do not pair up with the ids {ids!r}",
            kinds,
            f"one kind for each id, or one for all, of {allowed}",
        )
    return [_Wish(kind, int(number)) for kind, number in zip(named, wanted, strict=True)]


def _refuse_cycles(table: pd.DataFrame, source: TraceSource, edges: pd.DataFrame) -> None:
    if edges.empty:
        return
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row, after = edges["row"].to_numpy(), edges["after_row"].to_numpy()
    members, ends = np.unique(np.concatenate([row, after]), return_inverse=True)
    here, there = ends[: len(row)], ends[len(row) :]
    graph = coo_array((np.ones(len(row), dtype=np.int8), (here, there)), shape=(len(members),) * 2)
    count, label = connected_components(graph.tocsr(), directed=True, connection="strong")
    if count == len(members) and not (here == there).any():
        return
    circular = np.flatnonzero(label[here] == label[there])
    first = int(row[circular[np.argmin(row[circular])]])
    raise problem(
        table,
        source,
        first,
        "dependency_ids",
        "the dependencies form a circle",
        str(table["dependency_ids"].iloc[first]),
        "dependencies that lead back to no component",
    )
