"""Run the study, or draw it anew from its predictions: ``python -m analysis.prediction --help``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.common.command import add_usual, carry_out, count, progress
from analysis.prediction.cases import DATA
from analysis.prediction.conduct import Setup, conduct, load, save
from analysis.prediction.page import RESULTS, write

HERE = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Write predictions, figure and page; return the exit code."""
    given = _parser().parse_args(arguments)
    setup, folder = Setup(given.draws, given.every), Path(given.out)

    def run() -> None:
        found = conduct(setup, Path(given.data), given.workers, progress("instant"))
        save(found, setup, folder / RESULTS)

    return carry_out(run, lambda: write(load(folder / RESULTS), folder), only_draw=given.draw)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analysis.prediction", description=__doc__)
    parser.add_argument("--draws", type=count, default=Setup().draws, help="draws of each prediction")
    parser.add_argument("--every", type=int, default=Setup().every, help="one of so many instants")
    parser.add_argument("--data", default=str(DATA), help="folder of the traces, which this project has not")
    add_usual(parser, str(HERE))
    return parser


if __name__ == "__main__":
    sys.exit(main())
