"""A trace like a site's own, of any length: learn its laws, generate more, and compare the two.

``python workloads/site_like.py [TRACE] [JOBS]``; by default ten times as many jobs as the sample has.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from scheduler_sim import Recipe, generate, read_trace
from scheduler_sim.generation.fitting import fit

SAMPLE = Path(__file__).parent / "sample-1000.swf"


def main(trace: str | Path = SAMPLE, jobs: int | None = None) -> None:
    """Print the fit, and the quartiles of the trace and of what is generated from it."""
    site = read_trace(trace)
    learnt = fit(site)
    print(learnt.text())
    more = generate(Recipe.of(**learnt.recipe(jobs or 10 * len(site))), seed=1)
    live = site["skipped"] == 0
    for column in ("nodes", "run_time"):
        theirs, ours = (np.percentile(values, (25, 50, 75)) for values in (site[column][live], more[column]))
        print(f"{column:9} quartiles: trace {theirs.round()}, generated {ours.round()}")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
