"""The command line of a study: how many, on how many processes, and how far it is."""

from __future__ import annotations

import argparse
import sys

from analysis.common.runs import MOST_WORKERS, Progress


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


def progress(what: str) -> Progress:
    """Return what tells on a terminal how many of ``what`` are done."""

    def told(done: int, total: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            print(f"\r{what} {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)

    return told
