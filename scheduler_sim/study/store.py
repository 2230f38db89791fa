"""The directory of a study: whole runs, tables of them, and nothing that looks whole but is not.

``packs/NAME/`` has the results of many runs, each with what the study counts of it, its measures;
``runs/ID/`` is the result directory of one run, with ``measures.json``. A run is whole in either, and a
directory of its own comes first. ``index.parquet`` has a row a run with its factors, state, pack,
metrics and measures;
``comparison.parquet`` compares the levels of the baseline's factor; ``slices.parquet`` and
``slice_comparison.parquet`` are the same slice by slice, if the study asks for it; ``study.json``
says what was studied, ``.scheduler-sim-study`` that this is a study. All of these are the same bytes
for the same study, whoever carried it out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.compute import compute
from scheduler_sim.metrics.measures import measures
from scheduler_sim.metrics.statistics import summary
from scheduler_sim.output.whole import whole_file
from scheduler_sim.result.columns import COMPONENTS, TIMELINE, frame
from scheduler_sim.result.packed import MEMBERS, PACKS, RUNS, PackedFiles
from scheduler_sim.result.result import Result
from scheduler_sim.result.store import (
    FILES,
    LOG,
    LOST,
    has_its_end,
    parsed,
    plain,
    read_document,
    write_document,
)
from scheduler_sim.simulation.metering import sums
from scheduler_sim.study.measuring import measured
from scheduler_sim.study.packs import Packs
from scheduler_sim.study.place import DOCUMENTS, claimed, clear_away, remove_if_ours
from scheduler_sim.study.run import DIGITS, Run

INDEX = "index.parquet"
COMPARISON = "comparison.parquet"
STUDY = DOCUMENTS["study"]
MEASURES = "measures.json"
SLICES = "slices"
SLICED = "slices.parquet"
SLICE_COMPARISON = "slice_comparison.parquet"
TABLES = (INDEX, SLICED, SLICE_COMPARISON, COMPARISON)
"""What a study comes to, in the order in which it is written."""

RUN_FILES = (*FILES, LOST, LOG, MEASURES)
"""What there may be of a run."""

_RUN = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
_LEFT_BY_0_1 = re.compile(rf"\.[0-9a-f]{{{DIGITS}}}\.(partial|old)-[0-9a-f]{{12}}")


class Store:
    """A study's directory: new, empty, or that of an earlier part of the same or another study."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.runs = self.directory / RUNS
        self.packs = Packs(self.directory)

    @contextmanager
    def held(self, *, force: bool = False) -> Iterator[None]:
        """Keep others from working on the same study; see :func:`claimed` for what is refused."""
        with claimed(self.directory, force=force):
            yield

    def place(self, run_id: str) -> Path:
        """Return the directory of a run, or what names it if it is in a pack."""
        return self.runs / run_id

    def load(self, run_id: str) -> Result:
        """Read the result of a run; faster for one in a pack once :meth:`Packs.look` has found it."""
        kept = self.packs.kept.get(run_id)
        if kept is None or self.has_directory(run_id):
            return Result.load(self.place(run_id))
        return Result.read(PackedFiles(self.packs.pack(kept.pack), run_id))

    def has_directory(self, run_id: str) -> bool:
        """Tell whether a run has one, whole: every file has its end, and the manifest names the run."""
        place = self.place(run_id)
        if not all(has_its_end(place / name) for name in FILES):
            return False
        try:
            finished: bool = read_document(place / "manifest.json").get("run", {}).get("id") == run_id
            return finished
        except InputError:
            return False

    def keep(self, run: Run, result: Result) -> None:
        """Write the result of a run, whole or not at all; its place is ours, whatever else lies there."""
        result.save(self.place(run.id), force=True)

    def is_done(self, run: Run) -> bool:
        """Tell whether nothing is left to do for a run, by what was last seen of the packs."""
        if self.has_directory(run.id):
            return self._is_measured(run)
        return not run.own_directory and self.packs.is_measured(run)

    def pack_of(self, run_id: str) -> str:
        """Return the pack that a run without a directory of its own is in; empty if in none."""
        kept = self.packs.kept.get(run_id)
        return "" if kept is None or self.has_directory(run_id) else kept.pack

    def _is_measured(self, run: Run) -> bool:
        """Tell whether a run's directory has its measures, of the components that count, by its slices."""
        try:
            found = read_document(self.place(run.id) / MEASURES)
        except InputError:
            return False
        return found.get("trim") == run.trim.to_dict() and tuple(found.get("slices", ())) == run.slices

    def measure(self, run: Run, result: Result | None) -> None:
        """Write the measures of a finished run; without its result that is read."""
        document = measured(result or Result.load(self.place(run.id)), run.trim, run.slices)
        with whole_file(self.place(run.id) / MEASURES) as file:
            write_document(document, file)

    def clear_leftovers(self) -> list[str]:
        """Remove what killed workers left: files half written, and runs that are not whole.

        Returns
        -------
        Paths in ``runs/`` and ``packs/`` that no run or pack of a study can have, or that hold what it does
        not: they stay.
        """
        clear_away(self.directory, (STUDY, *TABLES))
        runs = sorted(self.runs.iterdir()) if os.path.isdir(self.runs) else []
        left_alone = [f"{RUNS}/{path.name}" for path in runs if not self._belongs(path)]
        return [*left_alone, *(f"{PACKS}/{name}" for name in self.packs.clear_leftovers())]

    def _belongs(self, path: Path) -> bool:
        """Tell whether a run has this place, and clear it of what is not needed."""
        if path.is_symlink() or not os.path.isdir(path):
            return False
        if _LEFT_BY_0_1.fullmatch(path.name):
            return remove_if_ours(path, RUN_FILES)
        if not _RUN.fullmatch(path.name):
            return False
        clear_away(path, RUN_FILES)
        return self.has_directory(path.name) or remove_if_ours(path, RUN_FILES)

    def begin(self, document: Mapping[str, Any]) -> None:
        """Write what is studied; the tables of any other study go first, the index last of them.

        So there are an index and no comparison only while a study ends, and never of two studies.
        """
        if self._studied() == plain(document):
            return
        for name in reversed(TABLES):
            (self.directory / name).unlink(missing_ok=True)
        with whole_file(self.directory / STUDY) as file:
            write_document(document, file)

    def _studied(self) -> dict[str, Any] | None:
        try:
            return read_document(self.directory / STUDY)
        except InputError:
            return None

    def index(self, runs: Sequence[Run], failed: Mapping[str, str]) -> pd.DataFrame:
        """Return a row a run, in the order of the study."""
        numbers = {
            run_id: (pack, dict(flat(metrics)), dict(flat({**measures, SLICES: None})))
            for run_id, pack, metrics, measures in self._kept({run.id for run in runs}, "metrics", "measures")
        }
        return pd.DataFrame([_row(run, failed.get(run.id), numbers.get(run.id)) for run in runs])

    def slices(self, index: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
        """Return a row a finished run and slice: id, factors, ``by``, ``slice``, ``small``, the measures."""
        finished = index[index["state"] == "finished"][["id", *factors]].to_dict("records")
        sliced = {
            run_id: measures[SLICES]
            for run_id, _, measures in self._kept({run["id"] for run in finished}, "measures")
        }
        rows = [
            {**run, "by": by, "slice": name, **measured}
            for run in finished
            for by, slices in sliced[run["id"]].items()
            for name, measured in slices.items()
        ]
        return pd.DataFrame(rows).replace({None: np.nan})

    def _kept(self, run_ids: Collection[str], *documents: str) -> Iterator[tuple[Any, ...]]:
        """Yield id, pack (empty: it has a directory) and documents of each of these runs that is there."""
        for pack, run_id, *texts in self.packs.rows(*documents):
            if run_id in run_ids:
                yield run_id, pack, *(parsed(text, self.packs.place / pack / MEMBERS) for text in texts)
        for run_id in run_ids:
            if self.has_directory(run_id):
                yield run_id, "", *(read_document(self.place(run_id) / f"{name}.json") for name in documents)

    def write_tables(self, tables: Mapping[str, pd.DataFrame]) -> None:
        """Write tables by the names of their files, in this order."""
        for name, table in tables.items():
            with whole_file(self.directory / name) as file:
                to_parquet(table, file)


def _row(
    run: Run, error: str | None, found: tuple[str, dict[str, float], dict[str, float]] | None
) -> dict[str, Any]:
    row: dict[str, Any] = {"id": run.id, **run.factors, "seed": int(run.factors["seed"])}
    if found is None:
        return {**row, "state": "failed" if error else "missing", "error": error or "", "pack": ""}
    pack, metrics, measures = found
    return {**row, "state": "finished", "error": "", "pack": pack, **metrics, **measures}


def known_metrics(
    modules: Iterable[str], energy: Mapping[str, Any] | None = None, shared: Iterable[str] = ()
) -> list[str]:
    """Return the metrics that an index has of runs on systems with these modules.

    ``energy`` : that key of their models, None without; ``shared`` : the modules that jobs share.
    """
    modules = list(modules)
    components, timeline = (
        frame({c.name: [] for c in columns}, columns) for columns in (COMPONENTS, TIMELINE)
    )
    nothing = compute(
        components, timeline, modules=dict.fromkeys(modules, 1), shared={name: {} for name in shared}
    )
    documents = [nothing, measures(components)]
    if energy is not None:
        added_up = sums(modules, **{key: energy.get(key) is not None for key in ("cap", "facility")})
        documents.append({"energy": {**added_up, "energy_delay_product": summary(np.empty(0))}})
    return sorted({name for document in documents for name, _ in flat(document)})


def flat(metrics: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of ``metrics.json`` as ``wait_time_mean``; what is null as NaN."""
    for name, value in metrics.items():
        kind = type(value)
        if kind is float or kind is int or (kind is not bool and isinstance(value, (int, float))):
            yield f"{above}{name}", float(value)
        elif value is None:
            yield f"{above}{name}", float("nan")
        elif isinstance(value, Mapping):
            yield from flat(value, f"{above}{name}_")


def to_parquet(table: pd.DataFrame, out: BinaryIO) -> None:
    """Write a table as Parquet; the same table gives the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(arrow, out, compression="zstd", compression_level=1)
