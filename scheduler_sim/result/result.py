"""The result of a run, in memory and as a directory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.result import documents
from scheduler_sim.result.check import LAST_TO_READ, check, first_breach
from scheduler_sim.result.columns import (
    CARRIED,
    CLOCKED,
    DEVICES,
    LIMITED,
    OF_ARRAYS,
    REASONS,
    RECORDED,
    REPAIRS,
    RESERVED,
    SLOWED,
    SPREAD,
    SUSPENDED,
    SWITCHED,
    USED,
    Column,
    Dtype,
    Further,
    component_columns,
    run_columns,
    timeline_columns,
)
from scheduler_sim.result.packed import PackedFiles, packed
from scheduler_sim.result.store import (
    LOG,
    LOST,
    MANIFEST,
    REPAIRED,
    OwnDirectory,
    write_document,
    write_measured,
    write_result,
    write_table,
)
from scheduler_sim.result.table import Deferred, frame_of, nothing, rows_of
from scheduler_sim.result.views import VIEWS

if TYPE_CHECKING:
    from scheduler_sim.report.plot import Plot


class Result:
    """The outcome of a run: everything that reports and checks need.

    Attributes
    ----------
    metrics : the numbers of ``metrics.json``, see ``docs/reference/metrics.md``.
    """

    def __init__(
        self,
        components: pd.DataFrame | Deferred,
        timeline: pd.DataFrame | Deferred,
        metrics: dict[str, Any] | None = None,
        manifest: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        runs: pd.DataFrame | None = None,
        repairs: pd.DataFrame | None = None,
    ) -> None:
        self._components, self._timeline = components, timeline
        further = Further(suspended=_has(components, SUSPENDED[0]), slowed=_has(components, SLOWED[0]))
        self._runs = nothing(run_columns(further)) if runs is None else runs
        self._repairs = nothing(REPAIRS) if repairs is None else repairs
        self.metrics = {} if metrics is None else metrics
        self._manifest = {} if manifest is None else manifest

    @property
    def manifest(self) -> dict[str, Any]:
        """What was run: version, seed, system, policy, modules (name to nodes), inputs by sha256, counts."""
        if callable(self._manifest):
            self._manifest = self._manifest()
        return self._manifest

    @manifest.setter
    def manifest(self, document: dict[str, Any]) -> None:
        self._manifest = document

    @property
    def components(self) -> pd.DataFrame:
        """One row per component, in trace order; columns in ``result.columns.component_columns``."""
        self._components = frame_of(self._components)
        return self._components

    @components.setter
    def components(self, table: pd.DataFrame) -> None:
        self._components = table

    @property
    def timeline(self) -> pd.DataFrame:
        """One row per module (and ``total``) and instant at which a value changes.

        Columns in ``result.columns.timeline_columns``.
        """
        self._timeline = frame_of(self._timeline)
        return self._timeline

    @timeline.setter
    def timeline(self, table: pd.DataFrame) -> None:
        self._timeline = table

    @property
    def runs(self) -> pd.DataFrame:
        """All runs of the components that ran more than once or lost their only run; empty if none was lost.

        Columns in ``result.columns.run_columns``.
        """
        self._runs = frame_of(self._runs)
        return self._runs

    @runs.setter
    def runs(self, table: pd.DataFrame) -> None:
        self._runs = table

    @property
    def repairs(self) -> pd.DataFrame:
        """What was changed in the trace when it was read; columns in ``result.columns.REPAIRS``."""
        self._repairs = frame_of(self._repairs)
        return self._repairs

    @property
    def tables(self) -> tuple[pd.DataFrame | Deferred, pd.DataFrame | Deferred, pd.DataFrame | Deferred]:
        """Components, timeline and runs for a writer, without making DataFrames."""
        return self._components, self._timeline, self._runs

    @property
    def further(self) -> Further:
        """Which further columns its tables have."""
        return Further(
            _has(self._components, REASONS[0]),
            _has(self._timeline, SWITCHED[0]),
            _has(self._timeline, USED[0]),
            _has(self._components, DEVICES[0]),
            _has(self._components, LIMITED[0]),
            _has(self._components, RESERVED[0]),
            _has(self._components, SUSPENDED[0]),
            rows_of(self._runs) > 0,
            _has(self._components, SPREAD[0]),
            _has(self._components, RECORDED[0]),
            _carried_in(self._components),
            _has(self._components, SLOWED[0]),
            _has(self._components, CLOCKED[0]),
            _has(self._components, OF_ARRAYS[0]),
        )

    def save(self, directory: str | Path, log: str | None = None, *, force: bool = False) -> Path:
        """Write the result to a directory, all of its files or none.

        The same result gives the same bytes; only ``run.log``, which contains ``log``, may contain times,
        hosts and paths. An older result there is replaced; other files do not change.

        Raises
        ------
        InputError : the directory contains something that is not a result, and ``force`` is not set; it
            cannot be written to; or another process is writing there.
        SchedulerSimError : the disk is full or fails; nothing has changed there.
        """
        further = self.further
        writers: dict[str, Callable[[BinaryIO], None]] = {
            "components.parquet": partial(write_table, self._components, component_columns(further)),
            "timeline.parquet": partial(write_table, self._timeline, timeline_columns(further)),
            "metrics.json": partial(write_measured, self.metrics),
            MANIFEST: partial(write_document, self.manifest),
        }
        if further.runs:
            writers[LOST] = partial(write_table, self._runs, run_columns(further))
        if rows_of(self._repairs):
            writers[REPAIRED] = partial(write_table, self._repairs, REPAIRS)
        if log is not None:
            writers[LOG] = partial(_write_text, log)
        write_result(Path(directory), writers, force=force)
        return Path(directory)

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Read a result directory, or ``STUDY/runs/ID``, which may be one of many in a pack of the study.

        Raises InputError if there is none, or if its files cannot be those of a run.
        """
        directory = Path(directory)
        return cls.read(packed(directory) or OwnDirectory(directory))

    @classmethod
    def read(cls, files: OwnDirectory | PackedFiles) -> Result:
        """Read a result from its files; raises InputError as :meth:`load`."""
        before = files.stamp()
        manifest = files.document("manifest", documents.MANIFEST)
        further = Further.of(manifest)
        found = cls(
            components=files.table("components", component_columns(further)),
            timeline=files.table("timeline", timeline_columns(further)),
            metrics=files.document("metrics", documents.METRICS),
            manifest=manifest,
            runs=files.table("runs", run_columns(further)) if further.runs else None,
            repairs=files.table("repairs", REPAIRS) if manifest.get("repaired") else None,
        )
        if files.stamp() != before:
            raise InputError(f"{files.place}: the result was replaced while it was read; read it again")
        breach = first_breach(
            found.components, found.timeline, found.metrics, manifest, found.runs, LAST_TO_READ
        )
        if breach:
            raise InputError(f"{files.place} is not as a run left it: {breach}")
        return found

    def check(self) -> None:
        """Test every invariant of a schedule; raises InvariantError with the first one that fails."""
        check(self.components, self.timeline, self.metrics, self.manifest, self.runs)

    @property
    def plot(self) -> Plot:
        """Pictures of this run by name: ``result.plot.gantt()`` and others, see ``report.plot.Plot``."""
        return VIEWS.plot(self)

    def _repr_html_(self) -> str:
        return VIEWS.card(self)

    def __repr__(self) -> str:
        modules = ", ".join(self.manifest.get("modules", {}))
        return f"Result({len(self.components)} components on {modules or 'no modules'})"


def _has(table: pd.DataFrame | Deferred, column: Column) -> bool:
    return column in table.described if isinstance(table, Deferred) else column.name in table


def _carried_in(table: pd.DataFrame | Deferred) -> tuple[tuple[str, Dtype], ...]:
    """The columns that are carried on from a trace: (name, dtype) of each."""
    if isinstance(table, Deferred):
        return tuple((one.name, one.dtype) for one in table.described if one.name.startswith(CARRIED))
    found = ((str(name), table[name].dtype) for name in table if str(name).startswith(CARRIED))
    kinds: dict[str, Dtype] = {"i": "int64", "f": "float64"}
    return tuple((name, kinds.get(dtype.kind, "text")) for name, dtype in found)


def _write_text(text: str, out: BinaryIO) -> None:
    out.write(text.encode(errors="backslashreplace"))
