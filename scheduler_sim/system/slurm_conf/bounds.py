"""Numbers of SchedulerParameters that slurmctld does not take: it logs them, and keeps its default.

After backfill.c, job_scheduler.c and cons_common.c of Slurm 22.05.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes

MOST_OF_INT = 2**31 - 1
NONE = -1
"""A value of intervals beside their bounds: no such passes."""

BOUNDS = {
    "bf_interval": (1, 10_800),
    "bf_window": (1, 43_200),
    "bf_max_job_test": (1, 1_000_000),
    "bf_node_space_size": (2, 2_000_000),
    "bf_resolution": (1, 3600),
    "bf_max_job_array_resv": (0, 1000),
    "bf_max_job_start": (0, 10_000),
    "bf_max_job_part": (0, MOST_OF_INT),
    "bf_max_job_user": (0, MOST_OF_INT),
    "bf_max_job_user_part": (0, MOST_OF_INT),
    "bf_window_linear": (1, MOST_OF_INT),
    "bf_job_part_count_reserve": (0, 100_000),
    "requeue_delay": (0, MOST_OF_INT),
    "bf_min_age_reserve": (0, 2_592_000),
    "bf_min_prio_reserve": (1, 2**32 - 1),
    "batch_sched_delay": (0, MOST_OF_INT),
    "default_queue_depth": (0, MOST_OF_INT),
    "partition_job_depth": (0, MOST_OF_INT),
    "sched_interval": (0, MOST_OF_INT),
    "sched_min_interval": (0, MOST_OF_INT),
    "preempt_reorder_count": (0, MOST_OF_INT),
}
"""The least and the most of each, in its own unit."""


def within_bounds(
    found: Mapping[str, int | str | bool], pair: Pair, notes: Notes
) -> dict[str, int | str | bool]:
    """The parameters with their numbers as C reads them; those that Slurm does not take are noted."""
    kept: dict[str, int | str | bool] = {}
    for name, written in found.items():
        if name not in BOUNDS:
            kept[name] = written
            continue
        least, most = BOUNDS[name]
        number = _as_c_reads(written)
        if number is None:
            notes.ignore(pair, "without a number, so Slurm takes its default", key=name, value="")
        elif least <= number <= most or (number == NONE and name in ("bf_interval", "sched_interval")):
            kept[name] = number
        else:
            why = f"not from {least} to {most}, so Slurm takes its default"
            notes.ignore(pair, why, key=name, value=str(written))
    return kept


def _as_c_reads(written: int | str | bool) -> int | None:
    """Read the digits at the beginning, 0 without any, as atoi does; None of a parameter without a value."""
    if isinstance(written, bool):
        return None
    digits = re.match(r"[+-]?[0-9]{1,15}", str(written))
    return int(digits[0]) if digits else 0
