"""Run the study, or draw it anew from its runs: ``python -m analysis.learnt_scheduler --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.common.command import add_usual, carry_out, count, progress
from analysis.learnt_scheduler.cases import DATA, Recorded
from analysis.learnt_scheduler.conduct import Setup, conduct, load, save
from analysis.learnt_scheduler.page import RESULTS, write

HERE = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Write runs, figure and page; return the exit code."""
    given = _parser().parse_args(arguments)
    setup, folder, data = Setup(given.seeds), Path(given.out), Path(given.data)

    def run() -> None:
        Recorded(data)  # before anything is run
        save(conduct(setup, data, given.workers, progress("seed")), setup, folder / RESULTS)

    return carry_out(run, lambda: write(load(folder / RESULTS), folder), only_draw=given.draw)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analysis.learnt_scheduler", description=__doc__)
    parser.add_argument("--seeds", type=count, default=Setup().seeds, help="traces of each kind")
    parser.add_argument(
        "--data", default=str(DATA), help="folder of the recorded traces, which this project has not"
    )
    add_usual(parser, str(HERE))
    return parser


if __name__ == "__main__":
    sys.exit(main())
