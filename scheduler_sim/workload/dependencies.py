"""Dependencies between components: read from their text, resolved to rows, checked for cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from scheduler_sim.arrays import Ints
from scheduler_sim.errors import TraceError
from scheduler_sim.texts import words
from scheduler_sim.workload.circles import on_circles
from scheduler_sim.workload.dependency_text import ALONE, DYNAMIC, Wish, parse_wishes
from scheduler_sim.workload.mwf_text import is_missing
from scheduler_sim.workload.source import TraceSource
from scheduler_sim.workload.validation import problem


class Pairs(NamedTuple):
    """``row`` waits for ``after_row``, or is tied to it: int64[pairs] each, row numbers."""

    row: Ints
    after_row: Ints

    def picked(self, which: np.ndarray) -> Pairs:
        """Return some of them."""
        return Pairs(self.row[which], self.after_row[which])


class Edges(NamedTuple):
    """Dependencies, column by column.

    Attributes
    ----------
    row, after_row : int64[edges], ``row`` waits for ``after_row``, row numbers of the table
    kind : object[edges], AFTER, AFTERANY, AFTEROK or AFTERNOTOK
    minutes : int64[edges], after the start; 0 but for AFTER
    """

    row: Ints
    after_row: Ints
    kind: np.ndarray
    minutes: Ints


@dataclass
class Dependencies:
    """What the components of a trace wait for.

    Parameters
    ----------
    edges : what waits for a start or an end
    ties : DYNAMIC, ``row`` starts its delay after the start of ``after_row``
    singletons : int64[n], rows that wait for all of the same user and name, ascending
    counts : rows concerned by what is not an edge, by name
    """

    edges: Edges
    ties: Pairs
    singletons: np.ndarray
    counts: dict[str, int] = field(default_factory=dict)


def parse_dependencies(columns: Mapping[str, Any], source: TraceSource) -> Dependencies:
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
    skipped = columns["skipped"] != 0
    rows, wishes = _wishes_of_rows(columns, source, skipped)
    counts = dict.fromkeys(("dynamic", "singleton", "skipped_predecessor"), 0)
    if not len(rows):
        return Dependencies(_edges_of([]), _pairs_of([]), np.empty(0, dtype=np.int64), counts)
    targets = _Targets(columns, source, wishes)
    tasks = columns["array_task_id"]
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
        raise problem(source, np.array(list(lost)), "dependency_ids", message, named, allowed)
    edges, tied = _edges_of(found), _pairs_of(ties)
    row, after_row = (np.concatenate(both) for both in zip(edges[:2], tied, strict=True))
    _refuse_cycles(columns, source, row, after_row)
    return Dependencies(edges, tied, np.array(singletons, dtype=np.int64), counts)


def _edges_of(found: list[tuple[int, int, str, int]]) -> Edges:
    row, after, kind, minutes = zip(*found, strict=True) if found else ((), (), (), ())
    return Edges(_ints(row), _ints(after), words(kind), _ints(minutes))


def _pairs_of(found: list[tuple[int, int]]) -> Pairs:
    return Pairs(*_ints(found).reshape(-1, 2).T)


def _ints(numbers: Sequence[Any]) -> Ints:
    return np.array(numbers, dtype=np.int64)


class _Targets:
    """The rows an id means: those of an array if it is the number of one, else of a component or job."""

    def __init__(self, columns: Mapping[str, Any], source: TraceSource, wishes: Iterable[list[Wish]]) -> None:
        wanted = {wish.wanted for wish in chain.from_iterable(wishes) if wish.wanted is not None}
        numbers = np.array(sorted(wanted), dtype=np.int64)
        self._named = _rows_by(columns[source.dependencies_name], numbers)
        self._arrays = _rows_by(columns["array_job_id"], numbers)
        tasks = columns["array_task_id"]
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
    columns: Mapping[str, Any], source: TraceSource, skipped: np.ndarray
) -> tuple[np.ndarray, list[list[Wish]]]:
    """Return the rows that say anything about dependencies, and what each says; equal texts are read once."""
    ids, kinds = columns["dependency_ids"], columns["dependency_kinds"]
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
        raise problem(source, unclear, str(said.field), said.message, said.found, said.allowed)
    return rows, [known[pair] for pair in pairs]


def _refuse_cycles(columns: Mapping[str, Any], source: TraceSource, row: Ints, after: Ints) -> None:
    those = np.unique(row[on_circles(row, after)])
    if not len(those):
        return
    first = int(those[0])
    raise problem(
        source,
        those,
        "dependency_ids",
        "the dependencies form a circle",
        columns["dependency_ids"][first],
        "dependencies that lead back to no component",
    )
