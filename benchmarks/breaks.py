"""How often fits take a break that is none, and find one that is: ``python -m benchmarks.breaks``.

python -m benchmarks.breaks                                        200 draws a kind
python -m benchmarks.breaks --page docs/reference/scaling.md       the same, into the table of the page
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.place import Place
from benchmarks.scaling_laws import ONE_PARAMETER, Kind, broken, saturating, usl
from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.fitting import SegmentedFit, fit_laws, fit_time
from scheduler_sim.streams import stream

POINTS = (
    2 * 2.0 ** np.arange(9),
    16 * 2.0 ** np.arange(8),
    4.0 * np.array([1, 2, 4, 8, 16, 24, 32, 48, 64, 96]),
)
"""Sets of P with enough points for a break."""

SEED = 2
"""Of the draws; the odds at which a break is taken were chosen by those of seed 1."""

NOISE, REPETITIONS = (0.005, 0.02, 0.05), (1, 5)
AHEAD = 4
"""Multiple of the largest P at which one law and two are held against the truth."""

BROKEN = (Kind("another power beyond P = last / 11, half of them with a jump", broken),)
UNBROKEN = (
    *ONE_PARAMETER,
    Kind("universal scalability law, strong scaling", usl, "strong"),
    Kind("a cost that saturates", saturating),
)

PLACE = Place("breaks", "end breaks", "table")


class Found(NamedTuple):
    """Of each draw: whether a break was taken, and what one law and what was taken say of the truth.

    ``off`` : float64[n, 2], relative errors; ``inside`` : bool[n, 2], whether the envelope holds the truth.
    """

    taken: np.ndarray
    off: Floats
    inside: np.ndarray

    def cells(self) -> Iterator[str]:
        """Yield the share of breaks, and median errors and envelopes where one was taken: ``34 % (20 %)``."""
        yield f"{100 * self.taken.mean():.1f} %"
        for off, inside in zip(self.off[self.taken].T, self.inside[self.taken].T, strict=True):
            yield f"{100 * np.median(off):.0f} % ({100 * inside.mean():.0f} %)" if len(off) else ""


def drawn(kind: Kind, number: int, seed: int = SEED) -> Found:
    """Fit noisy points of as many laws of a kind."""
    draws = stream(seed, f"breaks/{kind.law.__name__}")
    taken, off, inside = [], [], []
    for _ in range(number):
        p = POINTS[draws.integers(len(POINTS))]
        law, noise, runs = kind.law(float(p[-1]), draws), draws.choice(NOISE), draws.choice(REPETITIONS)
        points = np.repeat(p, runs)
        measured = law(points) * (1 + noise * draws.standard_normal(len(points)))
        chosen = fit_laws(points, measured, scaling=kind.scaling)
        taken.append(isinstance(chosen, SegmentedFit))
        one = fit_time(points, measured, scaling=kind.scaling) if taken[-1] else chosen
        at = np.array([AHEAD * p[-1]], dtype=np.float64)
        (truth,) = law(at)
        off.append([abs(fit.predicted(at)[0] / truth - 1) for fit in (one, chosen)])
        inside.append([low[0] <= truth <= high[0] for low, high in (one.envelope(at), chosen.envelope(at))])
    return Found(np.array(taken), np.array(off), np.array(inside))


def lines(number: int) -> Iterator[str]:
    """Yield the rows of the table."""
    yield f"| truth | break taken | there, one law at {AHEAD} times | two laws |"
    yield "|---|--:|--:|--:|"
    for words, kinds in (("none", UNBROKEN), ("a break", BROKEN)):
        for kind in kinds:
            yield f"| {words}: {kind.words} | {' | '.join(drawn(kind, number).cells())} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=200, help="laws a kind; default: 200")
    parser.add_argument("--page", help="page with a place for the table")
    args = parser.parse_args(arguments)
    PLACE.require(args.page)
    text = "\n".join(lines(args.draws))
    PLACE.write(args.page, text)


if __name__ == "__main__":
    main()
