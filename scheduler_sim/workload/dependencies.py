"""Dependencies between components: read from their text, resolved to rows, checked for cycles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pandas as pd

from scheduler_sim.errors import TraceError
from scheduler_sim.workload.circles import on_circles
from scheduler_sim.workload.dependency_text import ALONE, DYNAMIC, Wish, parse_wishes
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.validation import problem

_COLUMNS = {"row": np.int64, "after_row": np.int64, "kind": object, "minutes": np.int64}


@dataclass
class Dependencies:
    """What the components of a trace wait for.

    Parameters
    ----------
    edges : row, after_row (int64), kind (AFTER, AFTERANY, AFTEROK, AFTERNOTOK), minutes (int64, AFTER only)
    ties : row, after_row (int64): DYNAMIC, ``row`` starts its delay after the start of ``after_row``
    singletons : int64[n], rows that wait for all of the same user and name, ascending
    counts : rows concerned by what is not an edge, by name
    """

    edges: pd.DataFrame
    ties: pd.DataFrame
    singletons: np.ndarray
    counts: dict[str, int] = field(default_factory=dict)


def parse_dependencies(table: pd.DataFrame, source: TraceSource) -> Dependencies:
    """Return the dependencies between rows that are simulated.

    Only rows that have any are looked at. The ids are component ids, or job numbers where
    ``source.dependencies_name`` says so; a dependency on a job or on an array is one on each of
    its components. AFTERCORR becomes AFTEROK on the task of the same number, or on the whole
    array where either has no such task, as in Slurm (``test_job_dependency``).

    Raises
    ------
    TraceError
        for an unknown id or kind, lists that do not pair up, and cycles.
    """
    skipped = table["skipped"].to_numpy() != 0
    rows, wishes = _wishes_of_rows(table, source, skipped)
    counts = dict.fromkeys(("dynamic", "singleton", "skipped_predecessor"), 0)
    if not len(rows):
        return Dependencies(_NO_EDGES, _NO_TIES, np.empty(0, dtype=np.int64), counts)
    targets = _Targets(table, source, wishes)
    tasks = table["array_task_id"].to_numpy()
    found: list[tuple[int, int, str, int]] = []
    ties: list[tuple[int, int]] = []
    singletons = []
    lost: dict[int, object] = {}
    for row, wanted in zip(rows.tolist(), wishes, strict=True):
        concerned = {ALONE[wish.kind] for wish in wanted if wish.kind in ALONE}
        if "singleton" in concerned:
            singletons.append(row)
        for wish in wanted:
            if wish.wanted is None:
                continue
            after = targets.rows(wish, int(tasks[row]))
            if not after:
                lost.setdefault(row, wish.wanted if wish.task is None else f"{wish.wanted}_{wish.task}")
                continue
            if skipped[after].any():
                concerned.add("skipped_predecessor")
            if wish.kind == DYNAMIC:
                ties += [(row, other) for other in after if not skipped[other]]
                continue
            kind = "AFTEROK" if wish.kind == "AFTERCORR" else wish.kind
            found += [(row, other, kind, wish.minutes) for other in after if not skipped[other]]
        for name in concerned:
            counts[name] += 1
    if lost:
        message = "depends on a component that is not in the trace"
        allowed = "the id of a component of this trace"
        named = next(iter(lost.values()))
        raise problem(table, source, np.array(list(lost)), "dependency_ids", message, named, allowed)
    edges, tied = _edges_of(found), _ties_of(ties)
    _refuse_cycles(table, source, pd.concat([edges[["row", "after_row"]], tied]))
    return Dependencies(edges, tied, np.array(singletons, dtype=np.int64), counts)


def _edges_of(found: list[tuple[int, int, str, int]]) -> pd.DataFrame:
    return pd.DataFrame(found, columns=list(_COLUMNS)).astype(_COLUMNS)


def _ties_of(found: list[tuple[int, int]]) -> pd.DataFrame:
    return pd.DataFrame(found, columns=["row", "after_row"]).astype(np.int64)


_NO_EDGES, _NO_TIES = _edges_of([]), _ties_of([])


class _Targets:
    """The rows an id means: those of an array if it is the number of one, else of a component or job."""

    def __init__(self, table: pd.DataFrame, source: TraceSource, wishes: Iterable[list[Wish]]) -> None:
        wanted = {wish.wanted for wish in chain.from_iterable(wishes) if wish.wanted is not None}
        numbers = np.array(sorted(wanted), dtype=np.int64)
        self._named = _rows_by(table[source.dependencies_name].to_numpy(), numbers)
        self._arrays = _rows_by(table["array_job_id"].to_numpy(), numbers)
        tasks = table["array_task_id"].to_numpy()
        self._tasks: dict[tuple[int | None, int], list[int]] = {}
        for array, rows in self._arrays.items():
            for row in rows:
                self._tasks.setdefault((array, int(tasks[row])), []).append(row)

    def rows(self, wish: Wish, own_task: int) -> list[int]:
        """Return the rows that a wish of a component (task ``own_task`` of its array, or -1) names."""
        if wish.task is not None:
            return self._tasks.get((wish.wanted, wish.task), [])
        array = self._arrays.get(wish.wanted)
        if array is None:
            return self._named.get(wish.wanted, [])
        if wish.kind == "AFTERCORR" and own_task >= 0:
            return self._tasks.get((wish.wanted, own_task), array)
        return array


def _rows_by(ids: np.ndarray, wanted: np.ndarray) -> dict[int | None, list[int]]:
    rows: dict[int | None, list[int]] = {}
    for row in np.flatnonzero(np.isin(ids, wanted)).tolist():
        rows.setdefault(int(ids[row]), []).append(row)
    return rows


def _wishes_of_rows(
    table: pd.DataFrame, source: TraceSource, skipped: np.ndarray
) -> tuple[np.ndarray, list[list[Wish]]]:
    """Return the rows that say anything about dependencies, and what each says; equal texts are read once."""
    ids, kinds = table["dependency_ids"].array, table["dependency_kinds"].array
    id_texts, kind_texts = list(ids.categories), list(kinds.categories)
    silent_id = np.array([is_missing(text) for text in id_texts], dtype=bool)
    silent_kind = np.array([is_missing(text) for text in kind_texts], dtype=bool)
    if silent_id.all() and silent_kind.all():
        return np.zeros(0, dtype=np.int64), []
    rows = np.flatnonzero(~((silent_id[ids.codes] & silent_kind[kinds.codes]) | skipped))
    pairs = list(zip(ids.codes[rows].tolist(), kinds.codes[rows].tolist(), strict=True))
    known: dict[tuple[int, int], list[Wish]] = {}
    wrong: dict[tuple[int, int], TraceError] = {}
    for pair in dict.fromkeys(pairs):
        try:
            known[pair] = parse_wishes(id_texts[pair[0]], kind_texts[pair[1]])
        except TraceError as error:
            wrong[pair] = error
    if wrong:
        unclear = rows[[pair in wrong for pair in pairs]]
        said = next(iter(wrong.values()))
        raise problem(table, source, unclear, str(said.field), said.message, said.found, said.allowed)
    return rows, [known[pair] for pair in pairs]


def _refuse_cycles(table: pd.DataFrame, source: TraceSource, edges: pd.DataFrame) -> None:
    row, after = edges["row"].to_numpy(), edges["after_row"].to_numpy()
    those = np.unique(row[on_circles(row, after)])
    if not len(those):
        return
    first = int(those[0])
    raise problem(
        table,
        source,
        those,
        "dependency_ids",
        "the dependencies form a circle",
        str(table["dependency_ids"].iloc[first]),
        "dependencies that lead back to no component",
    )
