"""Run the study, or draw it anew from its runs: ``python -m analysis.site_rules --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.common.command import add_usual, carry_out, count, progress
from analysis.site_rules.conduct import Setup, conduct, load, save
from analysis.site_rules.page import RESULTS, write

HERE = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Write runs, figures and page; return the exit code."""
    given = _parser().parse_args(arguments)
    setup, folder = Setup(given.seeds), Path(given.out)

    def run() -> None:
        print(f"{setup.simulations():,} simulations")
        save(conduct(setup, given.workers, progress("seed")), setup, folder / RESULTS)

    return carry_out(run, lambda: write(load(folder / RESULTS), folder), only_draw=given.draw)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analysis.site_rules", description=__doc__)
    parser.add_argument("--seeds", type=count, default=Setup().seeds, help="weeks of jobs")
    add_usual(parser, str(HERE))
    return parser


if __name__ == "__main__":
    sys.exit(main())
