"""How long public data take to read: each source's sample, made as long as is asked for.

``python -m benchmarks.reading [--jobs N]`` prints a table: source, jobs, processor time (s a million).
"""

from __future__ import annotations

import argparse
import runpy
import tempfile
import time
from pathlib import Path

from scheduler_sim import read_trace

SAMPLES = Path(__file__).parent.parent / "workloads" / "source_samples.py"


def main() -> None:
    """Write each sample, read it, and print how long that took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=100_000, metavar="N", help="jobs of each sample")
    jobs = parser.parse_args().jobs
    script = runpy.run_path(str(SAMPLES))
    made = script["jobs"](jobs)
    print("| source | jobs | s a million |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for source, (write, name) in script["SAMPLES"].items():
            path = Path(folder) / name
            write(made, path)
            before = time.process_time()
            read = len(read_trace(path, source))
            seconds = time.process_time() - before
            print(f"| {source} | {read:,} | {seconds / read * 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
