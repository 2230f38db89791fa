"""What is read, of which source and format, and how long that takes: the table of a page.

``python -m benchmarks.reading docs/reference/sources.md [--jobs N] [--data FOLDER]`` fills the table between
the marks ``reading`` and ``end``; without a page it is printed. Each source's sample is made N jobs long.
FOLDER has real data, which are not in the repository; the files that the table tells of are listed in
``REAL``. Without it, or where one is not there, its row says so.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.page import filled, machine
from scheduler_sim import Workload, read_trace

SAMPLES = Path(__file__).parent.parent / "workloads" / "source_samples.py"
HEAD = (
    "| source | layout tried | real data tried | jobs read | skipped | repaired | s a million |\n|"
    + "---|" * 7
)
TABLES = {"csv": "guessed.csv", "jsonl": "guessed.jsonl", "parquet": "guessed.parquet"}
"""Formats of tables whose columns go by their names."""

REAL: dict[str, tuple[str, ...]] = {
    "openb": tuple(
        f"openb/openb_pod_list_{name}.csv.gz" for name in ("default", "gpushare40", "cpu100", "gpuspec33")
    ),
    "swf": (
        "traces/KTH-SP2-1996-2.1-cln.swf.gz",
        "traces/NASA-iPSC-1993-3.1-cln.swf.gz",
        "traces/theta_2022.swf.gz",
        "traces/CEA-Curie-sample.predictsim.swf.gz",
    ),
    "mwf": ("traces/traceD2-2.mwf.gz",),
    "sacct": ("sites/university/sacct.txt.gz",),
    "slurm-sim-events": ("sites/ub_medium/workload_5k.events.gz",),
}
"""Real data, by the source or format as which they are read."""

MADE_UP = ("sites/university/sacct.txt.gz",)
"""What is among them, and no site has run."""

TIMES = 3


def main() -> None:
    """Read all, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", nargs="?", type=Path, help="with a place for the table")
    parser.add_argument("--jobs", type=int, default=50_000, metavar="N", help="jobs of each sample")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where real data are")
    args = parser.parse_args()
    text = section(args.jobs, args.data)
    if args.page is None:
        print(text)
    else:
        args.page.write_text(
            filled(args.page.read_text(encoding="utf-8"), {"reading": text}), encoding="utf-8"
        )


def section(jobs: int, data: Path | None) -> str:
    """Return the table, and where it was made."""
    rows = [*_of_samples(jobs), *_of_real_data(data)]
    about = f"Processor time, the least of {TIMES}; samples made {jobs:,} jobs long. {machine()}."
    return "\n".join([HEAD, *rows, "", about])


def _of_samples(jobs: int) -> Iterator[str]:
    """Yield a row for each named source and each format of tables, of samples that long."""
    script = runpy.run_path(str(SAMPLES))
    made = script["jobs"](jobs)
    with tempfile.TemporaryDirectory() as folder:
        for source, (write, name) in script["SAMPLES"].items():
            path = Path(folder) / name
            write(made, path)
            yield _row(f"`{source}`", "published", "–", *measured(path, source))
        names = {"submit": "submit_time", "start": "start_time", "end": "end_time", "limit": "time_limit"}
        table = made.rename(columns=names).drop(columns="failed")
        for kind, name in TABLES.items():
            path = Path(folder) / name
            if kind == "csv":
                table.to_csv(path, index=False)
            elif kind == "jsonl":
                table.to_json(path, orient="records", lines=True)
            else:
                table.to_parquet(path)
            yield _row(f"any table, {kind}", "ours", "–", *measured(path))


def _of_real_data(data: Path | None) -> Iterator[str]:
    for source, files in REAL.items():
        for file in files:
            layout = "published" if file in MADE_UP else "real"
            what = f"`{Path(file).name}`{', which is made up' if file in MADE_UP else ''}"
            if data is None or not (data / file).is_file():
                yield _row(f"`{source}`", layout, f"{what}, not at hand", "–", "–", "–", "–")
            else:
                yield _row(f"`{source}`", layout, what, *measured(data / file, source))


def measured(path: Path, source: str | None = None) -> tuple[str, str, str, str]:
    """Return jobs read, skipped, repaired, and s a million; the same file several times."""
    least, jobs = float("inf"), None
    for _ in range(TIMES):
        before = time.process_time()
        jobs = read_trace(path, source)
        least = min(least, time.process_time() - before)
    assert jobs is not None
    print(f"{path.name}: {len(jobs):,} jobs in {least:.2f} s", file=sys.stderr)
    return (*counts(jobs), f"{least / len(jobs) * 1e6:.1f}")


def counts(jobs: Workload) -> tuple[str, str, str]:
    """Return what the table says of a workload: jobs read, skipped and repaired."""
    return f"{len(jobs):,}", f"{int((jobs['skipped'] != 0).sum()):,}", f"{len(jobs.repairs):,}"


def _row(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
