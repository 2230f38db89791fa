"""Run the study, or draw it anew from its runs: ``python -m analysis.dynamic_workflows --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.common.command import add_usual, carry_out, count, progress
from analysis.dynamic_workflows.cases import JOBS
from analysis.dynamic_workflows.conduct import Setup, conduct, load, save
from analysis.dynamic_workflows.page import RESULTS, write

HERE = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Write runs, figures and page; return the exit code."""
    given = _parser().parse_args(arguments)
    setup = Setup(given.seeds, min(given.seeds_beyond, given.seeds), given.jobs, given.policy)
    folder = Path(given.out)

    def run() -> None:
        counts = " + ".join(f"{n:,}" for n in setup.simulations())
        print(f"{counts} simulations of {3 * setup.jobs:,} jobs")
        save(conduct(setup, given.workers, progress("seed")), setup, folder / RESULTS)

    return carry_out(run, lambda: write(load(folder / RESULTS), folder), only_draw=given.draw)


def _parser() -> argparse.ArgumentParser:
    defaults = Setup()
    parser = argparse.ArgumentParser(prog="python -m analysis.dynamic_workflows", description=__doc__)
    parser.add_argument("--seeds", type=count, default=defaults.seeds, help="of D2.3's cases")
    parser.add_argument(
        "--seeds-beyond",
        type=int,
        default=defaults.seeds_beyond,
        help="of the other cases; 0 leaves them out",
    )
    parser.add_argument("--jobs", type=count, default=JOBS, help="a module")
    parser.add_argument("--policy", default=defaults.policy, help="name of the policy")
    add_usual(parser, str(HERE))
    return parser


if __name__ == "__main__":
    sys.exit(main())
