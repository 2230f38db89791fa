"""Made-up results of a benchmark over half a year: ``python workloads/benchmark_like.py``.

A solver on 1 to 8 nodes, every fourth day, with noise of 1.5 %; a new MPI makes it slower on several nodes
from May on, and one bad day is an outlier. Written as JUBE's ``result`` writes a table in its csv style.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from scheduler_sim.streams import stream

OUT = Path(__file__).parent / "sample-benchmarks.csv"
BEGIN = datetime(2026, 2, 1, 3)
UPDATE = datetime(2026, 5, 1)
RUNS, DAYS = 45, 4
BAD = 17
NODES = (1, 2, 4, 8)


def rows() -> list[str]:
    """Return the table, line by line."""
    draws = stream(3, "sample benchmarks")
    lines = ["jube_benchmark_start,mpi,nodes,taskspernode,runtime[s],bandwidth[GB/s]"]
    for run in range(RUNS):
        when = BEGIN + timedelta(days=DAYS * run)
        mpi = "4.1.4" if when < UPDATE else "4.1.5"
        for nodes in NODES:
            time = 600 / nodes + 12 + 3 * nodes * (1.25 if when >= UPDATE else 1)
            time *= (1.3 if run == BAD else 1) * (1 + 0.015 * draws.standard_normal())
            bandwidth = 11.8 * (1 + 0.01 * draws.standard_normal())
            cells = (when.isoformat(), mpi, nodes, 24, f"{time:.2f}", f"{bandwidth:.3f}")
            lines.append(",".join(map(str, cells)))
    return lines


if __name__ == "__main__":
    OUT.write_text("\n".join(rows()) + "\n", encoding="utf-8", newline="\n")
    print(f"written to {OUT.name}")
