"""The generated trace: jobs of the Cirne-Berman model, arriving at random at a given load.

Sizes, requested times and the accuracy of requests follow W. Cirne and F. Berman, "A
comprehensive model of the supercomputer workload" (WWC-4, 2001), with the constants that the
DEEP-EST project used (deliverable D2.3). Gaps between submissions are exponential; their mean
is solved from the jobs that were drawn, so that they offer the machine exactly the load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler_sim import Workload

NODES = 1024
LOAD = 0.85
SEED = 1

SIZE_A, SIZE_B = 0.1, 0.4  # sizes 2^((u - b)/a), u uniform: 40 % serial, at most 64 nodes
TO_POWER_OF_TWO = 0.1  # share of sizes rounded to the nearest power of two
REQUEST_A, REQUEST_B = 0.1, -0.75  # requests 2^((u - b)/a) s: 3 min to 51.5 h
ACCURACY_SHAPE, ACCURACY_SCALE = 0.6, 0.6  # run time over request: gamma ...
ACCURACY_RANGE = 1e-5, 1.0  # ... cut to this range


def generate(jobs: int, nodes: int = NODES, load: float = LOAD, seed: int = SEED) -> dict[str, np.ndarray]:
    """Draw ``jobs`` jobs for ``nodes`` nodes, offering ``load`` of them.

    Returns
    -------
    int64[jobs] columns of a workload: nodes, submit_time, run_time, time_limit (s)
    """
    random = np.random.default_rng(seed)
    size = np.ceil(2.0 ** ((random.random(jobs) - SIZE_B) / SIZE_A)).clip(1, None)
    rounded = random.random(jobs) <= TO_POWER_OF_TWO
    size[rounded] = 2.0 ** np.rint(np.log2(size[rounded]))
    size = np.minimum(size, nodes).astype(np.int64)
    limit = np.ceil(2.0 ** ((random.random(jobs) - REQUEST_B) / REQUEST_A)).astype(np.int64)
    accuracy = random.gamma(ACCURACY_SHAPE, ACCURACY_SCALE, jobs).clip(*ACCURACY_RANGE)
    run = np.maximum(np.ceil(limit * accuracy), 1).astype(np.int64)
    gaps = random.exponential(1.0, jobs)
    gaps[0] = 0.0
    span = float((size * run).sum()) / (load * nodes)  # s over which they arrive
    submit = np.floor(np.cumsum(gaps) * (span / max(gaps.sum(), 1.0))).astype(np.int64)
    return {"nodes": size, "submit_time": submit, "run_time": run, "time_limit": limit}


def workload(jobs: int) -> Workload:
    """Return the generated trace of ``jobs`` jobs."""
    from scheduler_sim import Workload

    return Workload.from_columns(**generate(jobs))
