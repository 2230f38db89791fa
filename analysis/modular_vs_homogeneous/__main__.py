"""Run the study, or draw it anew from its runs: ``python -m analysis.modular_vs_homogeneous --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from analysis.modular_vs_homogeneous import mixes
from analysis.modular_vs_homogeneous.cases import JOBS, POLICIES
from analysis.modular_vs_homogeneous.conduct import MOST_WORKERS, Setup, conduct, load, save
from analysis.modular_vs_homogeneous.page import RESULTS, write
from scheduler_sim.errors import SchedulerSimError

HERE = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Write runs, figures and page; return the exit code."""
    given = _parser().parse_args(arguments)
    policies = tuple(given.policies)
    setup = Setup(given.seeds, min(given.seeds_beyond, given.seeds), given.jobs, policies)
    folder = Path(given.out)
    try:
        if not given.draw:
            print(f"{' + '.join(f'{n:,}' for n in setup.simulations())} simulations of {setup.jobs:,} jobs")
            save(conduct(setup, given.workers, _progress("seed")), setup, folder / RESULTS)
        if given.search and not given.draw:
            mixes.conduct(folder / RESULTS, given.workers, _progress("mixes"))
        found = mixes.load(folder / RESULTS) if given.search else None
        page = write(load(folder / RESULTS), found, folder)
    except SchedulerSimError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"page: {page}")
    return 0


def _progress(what: str) -> Callable[[int, int], None]:
    def told(done: int, total: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == total else ""
            print(f"\r{what} {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)

    return told


def _parser() -> argparse.ArgumentParser:
    defaults = Setup()
    parser = argparse.ArgumentParser(prog="python -m analysis.modular_vs_homogeneous", description=__doc__)
    parser.add_argument("--seeds", type=_count, default=defaults.seeds, help="of D2.3's workload")
    parser.add_argument(
        "--seeds-beyond", type=int, default=defaults.seeds_beyond, help="of other loads; 0 leaves them out"
    )
    parser.add_argument("--jobs", type=_count, default=JOBS, help="of a workload")
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES, help="easy is needed")
    parser.add_argument(
        "--workers", type=int, choices=range(1, MOST_WORKERS + 1), default=MOST_WORKERS, help="processes"
    )
    parser.add_argument("--no-search", dest="search", action="store_false", help="without the best mix")
    parser.add_argument("--out", default=str(HERE), help="folder of the page and its results")
    parser.add_argument("--draw", action="store_true", help="draw anew from the runs that are there")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 2:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: 2 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
