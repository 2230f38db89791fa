"""Run the study, or draw it anew from its runs: ``python -m analysis.modular_vs_homogeneous --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.common.command import add_usual, carry_out, count, progress
from analysis.modular_vs_homogeneous import mixes
from analysis.modular_vs_homogeneous.cases import JOBS, POLICIES
from analysis.modular_vs_homogeneous.conduct import Setup, conduct, load, save
from analysis.modular_vs_homogeneous.page import RESULTS, write

HERE = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Write runs, figures and page; return the exit code."""
    given = _parser().parse_args(arguments)
    policies = tuple(given.policies)
    setup = Setup(given.seeds, min(given.seeds_beyond, given.seeds), given.jobs, policies)
    folder = Path(given.out)

    def run() -> None:
        print(f"{' + '.join(f'{n:,}' for n in setup.simulations())} simulations of {setup.jobs:,} jobs")
        save(conduct(setup, given.workers, progress("seed")), setup, folder / RESULTS)
        if given.search:
            mixes.conduct(folder / RESULTS, given.workers, progress("mixes"))

    def draw() -> Path:
        found = mixes.load(folder / RESULTS) if given.search else None
        return write(load(folder / RESULTS), found, folder)

    return carry_out(run, draw, only_draw=given.draw)


def _parser() -> argparse.ArgumentParser:
    defaults = Setup()
    parser = argparse.ArgumentParser(prog="python -m analysis.modular_vs_homogeneous", description=__doc__)
    parser.add_argument("--seeds", type=count, default=defaults.seeds, help="of D2.3's workload")
    parser.add_argument(
        "--seeds-beyond", type=int, default=defaults.seeds_beyond, help="of other loads; 0 leaves them out"
    )
    parser.add_argument("--jobs", type=count, default=JOBS, help="of a workload")
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES, help="easy is needed")
    parser.add_argument("--no-search", dest="search", action="store_false", help="without the best mix")
    add_usual(parser, str(HERE))
    return parser


if __name__ == "__main__":
    sys.exit(main())
