"""Whole processes of ``scheduler-sim run``, from a trace file to the files of the result, loops compiled.

``python -m benchmarks.files JOBS FILE`` writes the generated trace of so many jobs, its kind by the ending.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from benchmarks import trace
from benchmarks.children import Usage, child, shown, whole
from benchmarks.section import Asked, table

IMPORTS = "import numba, pandas, pyarrow"
COLUMNS = "<trace", "jobs", "cpu s", "wall s", "peak MB", "trace MB", "result MB", "x imports", "x a million"
KINDS = {"SWF": "swf", "Parquet": "parquet"}
REPEATS = {1_000: 9, 1_000_000: 3}
LARGEST = 10_000_000


def section(asked: Asked) -> str:
    """Few jobs against what Python takes to import libraries, a million, and ten million."""
    sizes = {1_000: 1, 2_000: 1} if asked.quick else REPEATS
    few, million, most = min(sizes), max(sizes), 3_000 if asked.quick else LARGEST
    cases = [(kind, jobs, repeats) for jobs, repeats in sizes.items() for kind in KINDS]
    rows, times = [], {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        system, result = place / "system.yaml", place / "result"
        system.write_text(f"modules: [{{name: nodes, nodes: {trace.NODES}}}]\n", encoding="utf-8")
        command = sys.executable, "-m", "scheduler_sim", "run", system, "--policy", "easy", "--quiet"
        for kind, jobs, repeats in shown([*cases, ("SWF", most, 1)]):
            path = place / f"jobs.{KINDS[kind]}"
            child("files", str(jobs), str(path))
            if not rows:
                whole(*command, path, "--out", result)  # whatever is to be compiled
            runs, imports = [], []
            for _ in range(repeats):
                runs.append(whole(*command, path, "--out", result))
                imports += [whole(sys.executable, "-c", IMPORTS)] if jobs == few else []
            usage = times[kind, jobs] = Usage.best(runs)
            bare = Usage.best(imports) if imports else None
            if bare and not rows:
                rows.append((f"`{IMPORTS}`", "", *bare.spelt(), "", "", "1.00", ""))
            sizes_mb = path.stat().st_size / 1e6, sum(file.stat().st_size for file in result.iterdir()) / 1e6
            compared = f"{usage.cpu_s / bare.cpu_s:.2f}" if bare else ""
            growth = f"{usage.cpu_s / times[kind, million].cpu_s:.1f}" if jobs > million else ""
            written = (f"{size:,.2f}" for size in sizes_mb)
            rows.append((kind, f"{jobs:,}", *usage.spelt(), *written, compared, growth))
            path.unlink()
    return table(COLUMNS, rows)


if __name__ == "__main__":
    from scheduler_sim import write_trace

    write_trace(trace.workload(int(sys.argv[1])), sys.argv[2])
    print(json.dumps(None))
