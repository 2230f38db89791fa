"""Draw jobs on nodes under FCFS and EASY: ``two_policies.py SYSTEM TRACE FILE.png [FIRST LAST]`` (hours)."""

from __future__ import annotations

import sys

from scheduler_sim import simulate
from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.report.look import save_png
from scheduler_sim.report.side_by_side import side_by_side

POLICIES = {"FCFS": "fcfs", "EASY backfill": "easy"}


def main(system: str, trace: str, picture: str, *hours: str) -> int:
    """Run both policies and draw the picture; return the exit code."""
    try:
        results = {name: simulate(system, trace, policy) for name, policy in POLICIES.items()}
        span = (int(hours[0]) * 3600, int(hours[1]) * 3600) if hours else None
        save_png(side_by_side(results, span), picture)
    except SchedulerSimError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"picture: {picture}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (4, 6):
        sys.exit(f"usage: {sys.argv[0]} SYSTEM TRACE FILE.png [FIRST LAST]")
    sys.exit(main(*sys.argv[1:]))
