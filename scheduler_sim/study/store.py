"""The directory of a study: whole runs, tables of them, and nothing that looks whole but is not.

``runs/ID/`` is the result directory of a run, with ``measures.json``, what the study counts of it;
``index.parquet`` has a row a run with its factors, state, metrics and measures;
``comparison.parquet`` compares the levels of the baseline's factor; ``slices.parquet`` and
``slice_comparison.parquet`` are the same slice by slice, if the study asks for it; ``study.json``
says what was studied, ``.scheduler-sim-study`` that this is a study. All of these are the same bytes
for the same study, whoever carried it out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.compute import compute
from scheduler_sim.metrics.measures import measures
from scheduler_sim.metrics.statistics import summary
from scheduler_sim.output.failure import cannot_write
from scheduler_sim.output.whole import whole_file
from scheduler_sim.result.columns import COMPONENTS, TIMELINE, frame
from scheduler_sim.result.result import Result
from scheduler_sim.result.store import FILES, LOG, plain, read_document, write_document
from scheduler_sim.simulation.metering import sums
from scheduler_sim.study.measuring import measured
from scheduler_sim.study.place import DOCUMENTS, claimed, clear_away, remove_if_ours
from scheduler_sim.study.run import DIGITS, Run

INDEX = "index.parquet"
COMPARISON = "comparison.parquet"
STUDY = DOCUMENTS["study"]
RUNS = "runs"
MEASURES = "measures.json"
SLICES = "slices"
SLICED = "slices.parquet"
SLICE_COMPARISON = "slice_comparison.parquet"
TABLES = (INDEX, SLICED, SLICE_COMPARISON, COMPARISON)
"""What a study comes to, in the order in which it is written."""

RUN_FILES = (*FILES, LOG, MEASURES)
"""What there may be of a run."""

_RUN = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
_LEFT_BY_0_1 = re.compile(rf"\.[0-9a-f]{{{DIGITS}}}\.(partial|old)-[0-9a-f]{{12}}")


class Store:
    """A study's directory: new, empty, or that of an earlier part of the same or another study."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.runs = self.directory / RUNS

    @contextmanager
    def held(self, *, force: bool = False) -> Iterator[None]:
        """Keep others from working on the same study; see :func:`claimed` for what is refused."""
        with claimed(self.directory, force=force):
            try:
                self.runs.mkdir(exist_ok=True)
            except OSError as error:
                raise cannot_write(f"to {self.directory}", error, self.directory) from error
            yield

    def place(self, run_id: str) -> Path:
        """Return the directory of a run."""
        return self.runs / run_id

    def is_finished(self, run_id: str) -> bool:
        """Tell whether a run is there, whole: every file has its end, and the manifest names the run."""
        place = self.place(run_id)
        if not all(_has_its_end(place / name) for name in FILES):
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
        """Tell whether nothing is left to do for a run."""
        return self.is_finished(run.id) and self.is_measured(run)

    def is_measured(self, run: Run) -> bool:
        """Tell whether a finished run has its measures, of the components that count, by its slices."""
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
        Names in ``runs/`` that no run of a study can have, or that hold what a run does not: they stay.
        """
        clear_away(self.directory, (STUDY, *TABLES))
        return [path.name for path in sorted(self.runs.iterdir()) if not self._belongs(path)]

    def _belongs(self, path: Path) -> bool:
        """Tell whether a run has this place, and clear it of what is not needed."""
        if path.is_symlink() or not path.is_dir():
            return False
        if _LEFT_BY_0_1.fullmatch(path.name):
            return remove_if_ours(path, RUN_FILES)
        if not _RUN.fullmatch(path.name):
            return False
        clear_away(path, RUN_FILES)
        return self.is_finished(path.name) or remove_if_ours(path, RUN_FILES)

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
        rows: dict[str, dict[str, Any]] = {}
        for run in runs:
            if run.id not in rows:
                rows[run.id] = self._row(run, failed.get(run.id))
        return pd.DataFrame(
            [{**rows[run.id], **run.factors, "seed": int(run.factors["seed"])} for run in runs]
        )

    def slices(self, index: pd.DataFrame, factors: Sequence[str]) -> pd.DataFrame:
        """Return a row a finished run and slice: id, factors, ``by``, ``slice``, ``small``, the measures."""
        rows = [
            {**run, "by": by, "slice": name, **measured}
            for run in index[index["state"] == "finished"][["id", *factors]].to_dict("records")
            for by, slices in read_document(self.place(run["id"]) / MEASURES)[SLICES].items()
            for name, measured in slices.items()
        ]
        return pd.DataFrame(rows).replace({None: np.nan})

    def write_tables(self, tables: Mapping[str, pd.DataFrame]) -> None:
        """Write tables by the names of their files, in this order."""
        for name, table in tables.items():
            with whole_file(self.directory / name) as file:
                to_parquet(table, file)

    def _row(self, run: Run, error: str | None) -> dict[str, Any]:
        row: dict[str, Any] = {"id": run.id, **run.factors}
        row["seed"] = int(run.factors["seed"])
        if not self.is_finished(run.id):
            return {**row, "state": "failed" if error else "missing", "error": error or ""}
        metrics = dict(flat(read_document(self.place(run.id) / "metrics.json")))
        document = read_document(self.place(run.id) / MEASURES)
        counted = dict(flat({name: value for name, value in document.items() if name != SLICES}))
        return {**row, "state": "finished", "error": "", **metrics, **counted}


def _has_its_end(path: Path) -> bool:
    """Tell whether a file was written to its end: a power cut may leave an empty or a short one."""
    end = b"PAR1" if path.suffix == ".parquet" else b"}\n"
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - len(end), 0))
            return size > 2 * len(end) and file.read() == end
    except OSError:
        return False


def known_metrics(modules: Iterable[str], energy: Mapping[str, Any] | None = None) -> list[str]:
    """Return the metrics that an index has of runs on systems with these modules.

    ``energy`` : that key of their models, None without.
    """
    modules = list(modules)
    components, timeline = (
        frame({c.name: [] for c in columns}, columns) for columns in (COMPONENTS, TIMELINE)
    )
    nothing = compute(components, timeline, modules=dict.fromkeys(modules, 1))
    documents = [nothing, measures(components)]
    if energy is not None:
        added_up = sums(modules, capped=energy.get("cap") is not None)
        documents.append({"energy": {**added_up, "energy_delay_product": summary(np.empty(0))}})
    return sorted({name for document in documents for name, _ in flat(document)})


def flat(metrics: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of ``metrics.json`` as ``wait_time_mean``; what is null as NaN."""
    for name, value in metrics.items():
        path = f"{above}{name}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{path}_")
        elif value is None:
            yield path, float("nan")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield path, float(value)


def to_parquet(table: pd.DataFrame, out: BinaryIO) -> None:
    """Write a table as Parquet; the same table gives the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(arrow, out, compression="zstd", compression_level=1)
