"""How long components were suspended for others: nothing of them is lost, but their nodes did nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_sim.metrics.metric import Run
from scheduler_sim.metrics.statistics import Summaries
from scheduler_sim.result.columns import TOTAL
from scheduler_sim.texts import TextColumn


def suspended_of(run: Run) -> dict[str, Any]:
    """Return how many of those that ran were suspended, how often and how long, and their node-seconds."""
    seconds = np.asarray(run.suspended_time)
    texts = TextColumn.of(run.components["suspended"])
    each = np.array([str(text).count(",") + (text != "") for text in texts.categories], dtype=np.int64)
    held = {name: int((run.jobs.nodes * seconds)[run.in_module(name)].sum()) for name in run.modules}
    return {
        "components": int(np.count_nonzero(seconds)),
        "times": int(each[texts.codes][run.ran].sum()),
        "time": Summaries().of(seconds[seconds > 0]),
        "node_seconds": held | {TOTAL: sum(held.values())},
    }
