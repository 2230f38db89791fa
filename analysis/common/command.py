"""The command line of a study: how many, on how many processes, how far it is, and what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from analysis.common.runs import MOST_WORKERS, Progress
from scheduler_sim.errors import SchedulerSimError


def count(text: str) -> int:
    """Read a number of seeds or jobs: an interval takes at least 2."""
    number = int(text)
    if number < 2:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: 2 or more")
    return number


def add_usual(parser: argparse.ArgumentParser, out: str) -> None:
    """Add what every study takes: processes, the folder it writes to, and drawing without running."""
    workers = range(1, MOST_WORKERS + 1)
    parser.add_argument("--workers", type=int, choices=workers, default=MOST_WORKERS, help="processes")
    parser.add_argument("--out", default=out, help="folder of the page and its results")
    parser.add_argument("--draw", action="store_true", help="draw anew from the runs that are there")


def carry_out(run: Callable[[], None], draw: Callable[[], Path], *, only_draw: bool) -> int:
    """Run a study, unless it is only to be drawn, and draw its page; return the exit code."""
    try:
        if not only_draw:
            run()
        page = draw()
    except SchedulerSimError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"page: {page}")
    return 0


def progress(what: str) -> Progress:
    """Return what tells on a terminal how many of ``what`` are done."""

    def told(done: int, total: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            print(f"\r{what} {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)

    return told
