"""How often the envelope of a fit holds the truth, kind by kind: ``python -m benchmarks.envelope``.

python -m benchmarks.envelope                                        500 draws a kind, and measured series
python -m benchmarks.envelope --page docs/reference/scaling.md       the same, into the table of the page
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.place import Place
from benchmarks.scaling_laws import CALIBRATED, HELD_BACK, POINTS, Kind
from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.fitting import fit_factor, fit_time
from scheduler_sim.scaling.names import may_exceed_one
from scheduler_sim.streams import stream
from tests.scaling import golden

TIMES = (2, 4, 16, 64)
"""Multiples of the largest P at which envelopes are held against the truth."""

SEED = 2
"""Of the draws; how forms count in envelopes was chosen by those of seeds 1 and 3."""

NOISE = (0.005, 0.02, 0.05)
REPETITIONS = (1, 5)
OPEN = 1e-9
"""Low ends below this part of the truth are as good as 0."""

FEWEST = 3
"""Points of a measured series that are fitted at least."""

PLACE = Place("envelope")


class Held(NamedTuple):
    """Whether envelopes held the truth, bool[n, k], and their widths, high / low, float64[n, k]."""

    inside: np.ndarray
    width: np.ndarray

    def cells(self) -> Iterator[str]:
        """Yield share and median width of each column: ``91 % (×1.4)``."""
        for inside, width in zip(self.inside.T, self.width.T, strict=True):
            middle = float(np.median(width))
            yield f"{100 * inside.mean():.0f} % ({f'×{middle:.3g}' if middle < 1e4 else 'open'})"


def drawn(kind: Kind, number: int, seed: int = SEED) -> Held:
    """Fit noisy points of as many laws of a kind, and hold the envelopes against a further run each."""
    draws = stream(seed, f"envelope/{kind.law.__name__}")
    lows, highs = [], []
    for _ in range(number):
        p = POINTS[draws.integers(len(POINTS))]
        law, noise, runs = kind.law(float(p[-1]), draws), draws.choice(NOISE), draws.choice(REPETITIONS)
        points, at = np.repeat(p, runs), p[-1] * np.array(TIMES, dtype=np.float64)
        measured = law(points) * (1 + noise * draws.standard_normal(len(points)))
        further = law(at) * (1 + noise * draws.standard_normal(len(at)))
        low, high = fit_time(points, measured, scaling=kind.scaling).envelope(at)
        lows.append(low / further)
        highs.append(high / further)
    return _held(np.array(lows), np.array(highs), 1.0)


def _held(low: np.ndarray, high: np.ndarray, truth: np.ndarray | float) -> Held:
    return Held((low <= truth) & (truth <= high), high / np.maximum(low, OPEN))


def measured_efficiencies() -> Iterator[tuple[Floats, Floats]]:
    """Yield P and values of each factor in D2.3, Tables 10, 13 and 16 to 19, and in Rosas et al. 2014."""
    for text in _tables():
        table = golden.table(text)
        for name in table.columns.drop("processes"):
            if not may_exceed_one(name):
                yield table["processes"].to_numpy(float), table[name].to_numpy(float)
    for _, rows in golden.rosas().groupby(["app", "factor"], sort=False):
        actual = rows["predicted"] / (1 + rows["error_pct"] / 100)
        yield rows["ranks"].to_numpy(float), actual.to_numpy(float)


def _tables() -> Iterator[str]:
    yield from (golden.XPIC, golden.NEST_ARBOR, golden.NEXTDBSCAN, golden.NEXTDBSCAN_HYBRID)
    yield from (golden.ECEARTH_1TO1, golden.ECEARTH_2TO3)


def measured_times() -> Iterator[tuple[Floats, Floats, str]]:
    """Yield P, run times over that of one process, and scaling of the applications in D2.3's tables."""
    for text in _tables():
        table = golden.table(text)
        if "global" in table:
            p, efficiency = (table[name].to_numpy(float) for name in ("processes", "global"))
            weak = text in (golden.XPIC, golden.NEST_ARBOR)
            yield p, 1 / efficiency if weak else 1 / (p * efficiency), "weak" if weak else "strong"


def predicted(series: Sequence[tuple[Floats, Floats, str]]) -> tuple[Held, Held]:
    """Fit the first points of each series, 3 and more, and hold the envelopes against the rest.

    Returns what was up to twice the largest P fitted, and what was beyond. Scaling "" is an efficiency.
    """
    rows = []
    for p, y, scaling in series:
        for k in range(FEWEST, len(p)):
            fit = fit_time(p[:k], y[:k], scaling=scaling) if scaling else fit_factor(p[:k], y[:k])
            low, high = fit.envelope(p[k:])
            rows += zip(p[k:] / p[k - 1], low, high, y[k:], strict=True)
    times, low, high, truth = np.array(rows).T[..., None]
    held, near = _held(low, high, truth), times[:, 0] <= 2
    return Held(held.inside[near], held.width[near]), Held(held.inside[~near], held.width[~near])


def lines(number: int) -> Iterator[str]:
    """Yield the rows of both tables."""
    yield f"| truth | {' | '.join(f'{times} times' for times in TIMES)} |"
    yield "|---|" + "--:|" * len(TIMES)
    for kind in (*CALIBRATED, *HELD_BACK):
        mark = "" if kind in CALIBRATED else " †"
        yield f"| {kind.words}{mark} | {' | '.join(drawn(kind, number).cells())} |"
    yield ""
    yield "| measured series † | predictions | up to twice | beyond |"
    yield "|---|--:|--:|--:|"
    efficiencies = [(p, y, "") for p, y in measured_efficiencies()]
    times = list(measured_times())
    for words, series in (
        ("efficiencies", efficiencies),
        ("run times", times),
        ("both, all", [*efficiencies, *times]),
    ):
        near, far = predicted(series)
        cells = " | ".join([*near.cells(), *far.cells()])
        yield f"| {words} of {len(series)} series | {len(near.inside) + len(far.inside)} | {cells} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.envelope",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draws", metavar="N", type=int, default=500, help="of each kind; default: 500")
    parser.add_argument("--page", metavar="FILE", help="page with a place for the tables")
    args = parser.parse_args(arguments)
    PLACE.require(args.page)
    text = "\n".join(lines(args.draws))
    PLACE.write(args.page, text)


if __name__ == "__main__":
    main()
