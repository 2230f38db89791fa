"""Draw busy nodes and queue over time of a result directory: ``overview.py DIR FILE.png``."""

from __future__ import annotations

import sys

from scheduler_sim import Result
from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.report.figures import overview, save_png


def main(directory: str, picture: str) -> int:
    """Draw the picture; return the exit code."""
    try:
        save_png(overview(Result.load(directory)), picture)
    except SchedulerSimError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"picture: {picture}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} DIR FILE.png")
    sys.exit(main(*sys.argv[1:]))
