"""Results of many small runs in few files: packs in the directory of a study.

A pack is a directory ``packs/NAME`` that appears whole. Its ``components.parquet`` and
``timeline.parquet`` are those of its runs, one after the other, with the run's id as the first column;
``runs.parquet`` has a row a run: its id, how many rows of both are its own, ``manifest.json`` and
``metrics.json`` as text, the runs of components where some were lost, and whatever else is kept of it.
Wherever the directory of a result is named,
``STUDY/runs/ID`` names a packed one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pandas as pd

from scheduler_sim.arrow_arrays import number_array, text_array
from scheduler_sim.errors import InputError
from scheduler_sim.output.directory import put_directory
from scheduler_sim.output.whole import whole_file
from scheduler_sim.result.columns import (
    Column,
    Columns,
    Further,
    component_columns,
    frame,
    not_known,
    numbers,
    run_columns,
    timeline_columns,
)
from scheduler_sim.result.store import DECIMALS, MANIFEST, parsed, read_table, rounded, spelt, table_writer
from scheduler_sim.result.table import Deferred, frame_of, pieces, rows_of
from scheduler_sim.texts import TextColumn

if TYPE_CHECKING:
    import pyarrow as pa

    from scheduler_sim.result.result import Result

RUNS, PACKS = "runs", "packs"
"""Where a study has the runs that have a directory of their own, and where the packs."""

MEMBERS = "runs.parquet"
LOST = "runs"
"""Column of it: the runs of components that lost some, as JSON."""

PACK_FILES = ("components.parquet", "timeline.parquet", MEMBERS)
PACK_NAME = re.compile(r"[0-9a-f]{20}")
RUN = Column("run", "text", "", "id of the run")
ROWS_PER_GROUP = 1 << 16
"""Runs with fewer rows share a row group; so much is read at least for one."""


@dataclass(frozen=True)
class Member:
    """A run of a pack: its id, its result, and what else is kept of it, by column of ``runs.parquet``."""

    run_id: str
    further: Further
    components: pd.DataFrame | Deferred
    timeline: pd.DataFrame | Deferred
    runs: pd.DataFrame | Deferred
    manifest: Mapping[str, Any]
    metrics: Mapping[str, Any]
    kept: Mapping[str, str]

    @classmethod
    def of(cls, run_id: str, result: Result, kept: Mapping[str, str]) -> Member:
        """Take a result as it is, its tables worked out or not."""
        return cls(run_id, result.further, *result.tables, result.manifest, result.metrics, kept)


class Pack:
    """A pack that is there."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def columns(self, *names: str) -> dict[str, list[Any]]:
        """Read columns of ``runs.parquet``; raises InputError if it is not one."""
        table = self._members(list(names))
        return {name: table.column(name).to_pylist() for name in names}

    def rewrite(self, kept: Mapping[str, Mapping[str, str]]) -> None:
        """Replace what is kept of some runs, by id; whole or not at all."""
        members = self._members()
        ids = members.column("id").to_pylist()
        for name in dict.fromkeys(name for one in kept.values() for name in one):
            place = members.column_names.index(name)
            older = members.column(name).to_pylist()
            newer = [kept.get(i, {}).get(name, was) for i, was in zip(ids, older, strict=True)]
            members = members.set_column(place, name, [newer])
        with whole_file(self.place / MEMBERS) as file:
            _write_members(members, file)

    def _members(self, names: list[str] | None = None) -> pa.Table:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.place / MEMBERS
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                table = file.read(columns=names)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{path}: not a whole table of the runs of a pack: {error}") from error
        missing = [name for name in names or () if name not in table.column_names]
        if missing:
            raise InputError(f"{path}: not a table of the runs of a pack: {missing[0]} is missing")
        return table


class PackedFiles:
    """A result in a pack, read as :class:`~scheduler_sim.result.store.OwnDirectory` reads one."""

    def __init__(self, pack: Pack, run_id: str) -> None:
        self._pack, self._run_id = pack, run_id
        self._members = pack.columns("id", "components", "timeline", "manifest", "metrics")
        self._row = self._members["id"].index(run_id)

    @property
    def place(self) -> Path:
        """What names the result."""
        return self._pack.place.parent.parent / RUNS / self._run_id

    def stamp(self) -> None:
        """Nothing replaces a run in a pack."""

    def document(self, name: str, shape: Mapping[str, Any]) -> dict[str, Any]:
        """Read ``manifest`` or ``metrics``."""
        return parsed(self._members[name][self._row], self._pack.place / MEMBERS, shape)

    def table(self, name: str, columns: Sequence[Column]) -> pd.DataFrame:
        """Read ``components``, ``timeline`` or ``runs``."""
        if name == LOST:
            return self._lost(columns)
        path = self._pack.place / f"{name}.parquet"
        rows = self._members[name]
        first = sum(rows[: self._row])
        data = read_table(path, (RUN, *columns), range(first, first + rows[self._row]))
        if list(data[RUN.name].unique()) not in ([], [self._run_id]):
            raise InputError(f"{path}: the rows of run {self._run_id} are those of another one")
        return data.drop(columns=RUN.name)

    def _lost(self, columns: Sequence[Column]) -> pd.DataFrame:
        """Read the table of runs, which stands in that of the members."""
        path, text = self._pack.place / MEMBERS, self._pack.columns(LOST)[LOST][self._row]
        found = parsed(text, path)
        missing = [column.name for column in columns if column.name not in found]
        if missing:
            raise InputError(f"{path}: not the runs of components: {missing[0]} is missing")
        return frame({column.name: found[column.name] for column in columns}, columns)


def packed(directory: Path) -> PackedFiles | None:
    """Return the files of the run that ``STUDY/runs/ID`` names, None if it is not in a pack."""
    if os.path.exists(directory / MANIFEST):
        return None
    place = Path(os.path.abspath(directory))
    if place.parent.name != RUNS:
        return None
    for pack in packs_in(place.parent.parent):
        if place.name in pack.columns("id")["id"]:
            return PackedFiles(pack, place.name)
    return None


def packs_in(study: Path) -> Iterator[Pack]:
    """Yield the packs of a study, by name."""
    if os.path.isdir(study / PACKS):
        for place in sorted((study / PACKS).iterdir()):
            if PACK_NAME.fullmatch(place.name) and os.path.isfile(place / MEMBERS):
                yield Pack(place)


def write_pack(place: Path, members: Sequence[Member]) -> None:
    """Write a pack of runs of one kind, in their order; the same runs give the same bytes.

    See ``Result.further``. A pack that is there already stays. Raises OSError if it cannot be written.
    """
    further = members[0].further
    components = {member.run_id: member.components for member in members}
    timelines = {member.run_id: member.timeline for member in members}
    put_directory(
        place,
        {
            "components.parquet": partial(_write_joined, components, component_columns(further)),
            "timeline.parquet": partial(_write_joined, timelines, timeline_columns(further)),
            MEMBERS: partial(_write_members, _table_of(members)),
        },
    )


def _table_of(members: Sequence[Member]) -> pa.Table:
    import pyarrow as pa

    columns: dict[str, list[Any]] = {
        "id": [member.run_id for member in members],
        "components": [rows_of(member.components) for member in members],
        "timeline": [rows_of(member.timeline) for member in members],
        "manifest": [spelt(member.manifest) for member in members],
        "metrics": [spelt(member.metrics, DECIMALS) for member in members],
    }
    if members[0].further.runs:
        columns[LOST] = [_spelt_runs(frame_of(member.runs), member.further) for member in members]
    for name in dict.fromkeys(name for member in members for name in member.kept):
        columns[name] = [member.kept.get(name, "") for member in members]
    return pa.table(columns)


def _spelt_runs(runs: pd.DataFrame, further: Further) -> str:
    return spelt({column.name: runs[column.name].tolist() for column in run_columns(further)}, DECIMALS)


def _write_members(table: pa.Table, out: BinaryIO) -> None:
    import pyarrow.parquet as pq

    pq.write_table(
        table,
        out,
        compression="zstd",
        compression_level=1,
        use_dictionary=False,
        write_page_checksum=True,
        write_statistics=["id"],
    )


def _write_joined(
    tables: Mapping[str, pd.DataFrame | Deferred], columns: Sequence[Column], out: BinaryIO
) -> None:
    """Write tables of runs one below the other, each with the id of its run; nothing in them is missing."""
    import pyarrow as pa

    described = (RUN, *columns)
    with table_writer(out, described, statistics=[RUN.name], compression="lz4") as writer:
        for ids, parts in _groups(tables, columns[0].name):
            rows = [len(part[columns[0].name]) for part in parts]
            arrays = [text_array(TextColumn(np.repeat(np.arange(len(ids)), rows), ids))]
            arrays += [_joined(parts, column, rows) for column in columns]
            writer.write_table(pa.table(arrays, schema=writer.schema))


def _groups(
    tables: Mapping[str, pd.DataFrame | Deferred], column: str
) -> Iterator[tuple[list[str], list[Columns]]]:
    """Yield neighbouring tables, or pieces of them, that are a row group together, each with its run."""
    ids: list[str] = []
    parts: list[Columns] = []
    for run_id, table in tables.items():
        for part in pieces(table):
            ids.append(run_id)
            parts.append(part)
            if sum(len(one[column]) for one in parts) >= ROWS_PER_GROUP:
                yield ids, parts
                ids, parts = [], []
    if parts:
        yield ids, parts


def _joined(parts: Sequence[Columns], column: Column, rows: Sequence[int]) -> pa.Array:
    """Return a column of one table after that of another."""
    if column.dtype == "text":
        return _joined_text([part[column.name] for part in parts])
    values = np.concatenate(
        [
            numbers(part, column.name) if column.name in part else not_known(count)
            for part, count in zip(parts, rows, strict=True)
        ]
    )
    return number_array(rounded(values) if column.dtype == "float64" else values.astype(np.int64, copy=False))


def _joined_text(parts: Sequence[Any]) -> pa.DictionaryArray:
    number: dict[str, int] = {}
    codes = []
    for part in parts:
        category = TextColumn.of(part)
        words = [*category.categories, ""]  # code -1, missing, is ""
        codes.append(np.array([number.setdefault(str(word), len(number)) for word in words])[category.codes])
    return text_array(TextColumn(np.concatenate(codes), number))
