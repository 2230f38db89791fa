"""How often the envelope of a fit holds the truth, kind by kind: ``python -m benchmarks.envelope``.

python -m benchmarks.envelope                                        200 draws a kind, and measured series
python -m benchmarks.envelope --page docs/reference/scaling.md       the same, into the table of the page
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.fitting import fit_factor, fit_time
from scheduler_sim.scaling.names import may_exceed_one
from scheduler_sim.streams import stream
from tests.scaling import golden

TIMES = (2, 4, 16, 64)
"""Multiples of the largest P at which envelopes are held against the truth."""

POINTS = (
    16 * 2.0 ** np.arange(5),
    64 * 2.0 ** np.arange(7),
    2 * 2.0 ** np.arange(9),
    np.array([24, 48, 96, 160, 240, 384.0]),
)
SEED = 2
"""Of the draws; the widening of envelopes was chosen by those of seed 1."""

NOISE = (0.005, 0.02, 0.05)
OPEN = 1e-9
"""Low ends below this part of the truth are as good as 0."""

FEWEST = 3
"""Points of a measured series that are fitted at least."""

MARKS = re.compile(r"(<!-- envelope: .*? -->\n).*?(<!-- end -->)", re.DOTALL)

Law = Callable[[Floats], Floats]
Draws = np.random.Generator

PLAIN: Mapping[str, Law] = {
    "log p": np.log2,
    "√p": np.sqrt,
    "p": lambda p: p,
    "p log p": lambda p: p * np.log2(p),
    "p²": np.square,
}
OTHER: Mapping[str, Law] = {
    "p^(1/3)": np.cbrt,
    "p^(2/3)": lambda p: p ** (2 / 3),
    "p^(3/2)": lambda p: p**1.5,
    "p³": lambda p: p**3,
    "log² p": lambda p: np.log2(p) ** 2,
    "√p log p": lambda p: np.sqrt(p) * np.log2(p),
}


def _one_of(laws: Mapping[str, Law], last: float, draws: Draws) -> Law:
    """Return one of the laws, 1 at the last point."""
    law = laws[str(draws.choice(list(laws)))]
    return lambda p: law(p) / law(np.array([last]))[0]


def _constant(draws: Draws, least: float = 0.05, most: float = 3.0) -> float:
    """Return a part that does not depend on P, as often as not 0."""
    return float(draws.uniform(least, most)) if draws.random() < 0.5 else 0.0


def plain(last: float, draws: Draws) -> Law:
    """A constant, or one plain term with or without one."""
    if draws.random() < 1 / 6:
        return np.ones_like
    constant, term = _constant(draws), _one_of(PLAIN, last, draws)
    return lambda p: constant + term(p)


def two_terms(last: float, draws: Draws) -> Law:
    """Two different plain terms in any proportion, with or without a constant."""
    names = draws.choice(list(PLAIN), 2, replace=False)
    one, other = (_one_of({name: PLAIN[name]}, last, draws) for name in names)
    share, constant = draws.uniform(0.1, 0.9), _constant(draws, most=2.0)
    return lambda p: constant + share * one(p) + (1 - share) * other(p)


def other_term(last: float, draws: Draws) -> Law:
    """A term with a less plain exponent."""
    constant, term = _constant(draws, most=2.0), _one_of(OTHER, last, draws)
    return lambda p: constant + term(p)


def strong(last: float, draws: Draws) -> Law:
    """Work that is shared, a serial part, and communication."""
    serial = 10 ** draws.uniform(-2, 0.7) / last
    messages = 5 * 10 ** draws.uniform(-2, 0) / last
    law = _one_of({name: PLAIN[name] for name in ("log p", "√p", "p")}, last, draws)
    return lambda p: 1 / p + serial + messages * law(p)


def usl(last: float, draws: Draws) -> Law:
    """Gunther's law, contention and coherency."""
    a, b = 10 ** draws.uniform(-4, -1.5), 10 ** draws.uniform(-8, -5)
    return lambda p: (1 + a * (p - 1) + b * p * (p - 1)) / p


def any_power(last: float, draws: Draws) -> Law:
    """A power that is no simple fraction."""
    exponent, constant = draws.uniform(0.1, 2.2), draws.uniform(0, 2)
    return lambda p: constant + (p / last) ** exponent


def saturating(last: float, draws: Draws) -> Law:
    """A cost that rises and then stands still."""
    half, constant = last * 10 ** draws.uniform(-0.7, 0.7), draws.uniform(0.2, 2)
    return lambda p: constant + p / (p + half)


def knee(last: float, draws: Draws) -> Law:
    """A cost that begins at some P, at times beyond the points."""
    begin, exponent = last * 10 ** draws.uniform(-0.5, 0.8), draws.uniform(0.3, 1.2)
    return lambda p: np.maximum(p / begin, 1) ** exponent + 0.1 * np.log2(p) / np.log2(last)


def step(last: float, draws: Draws) -> Law:
    """A plain term, and a jump of up to a quarter at some P before the last, as of a cache or a switch."""
    begin, height = last * 2.0 ** -draws.integers(0, 4), draws.uniform(-0.25, 0.25)
    term = _one_of(PLAIN, last, draws)
    return lambda p: (1 + 0.5 * term(p)) * np.where(p >= begin, 1 + height, 1)


class Kind(NamedTuple):
    """A kind of truth, what it is called, and how its runs scale."""

    words: str
    law: Callable[[float, Draws], Law]
    scaling: str = "weak"


CALIBRATED = (
    Kind("one plain term, with and without a constant", plain),
    Kind("two plain terms, with and without a constant", two_terms),
    Kind("one other term", other_term),
    Kind("strong scaling: serial part, communication", strong, "strong"),
)
"""Kinds for which the widening of envelopes was chosen."""

HELD_BACK = (
    Kind("powers that are no simple fractions", any_power),
    Kind("universal scalability law, strong scaling", usl, "strong"),
    Kind("a jump among the points", step),
    Kind("a cost that saturates", saturating),
    Kind("a cost that begins, at times beyond the points", knee),
)
"""Kinds that had no part in that."""


class Held(NamedTuple):
    """Whether envelopes held the truth, bool[n, k], and their widths, high / low, float64[n, k]."""

    inside: np.ndarray
    width: np.ndarray

    def cells(self) -> Iterator[str]:
        """Yield share and median width of each column: ``91 % (×1.4)``."""
        for inside, width in zip(self.inside.T, self.width.T, strict=True):
            middle = float(np.median(width))
            yield f"{100 * inside.mean():.0f} % ({f'×{middle:.3g}' if middle < 1e4 else 'open'})"


def drawn(kind: Kind, number: int) -> Held:
    """Fit noisy points of as many laws of a kind, and hold the envelopes against them."""
    draws = stream(SEED, f"envelope/{kind.law.__name__}")
    lows, highs = [], []
    for _ in range(number):
        p = POINTS[draws.integers(len(POINTS))]
        law = kind.law(float(p[-1]), draws)
        measured = law(p) * (1 + draws.choice(NOISE) * draws.standard_normal(len(p)))
        at = p[-1] * np.array(TIMES, dtype=np.float64)
        low, high = fit_time(p, measured, scaling=kind.scaling).envelope(at)
        lows.append(low / law(at))
        highs.append(high / law(at))
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
    for words, series in (("efficiencies", efficiencies), ("run times", list(measured_times()))):
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
    parser.add_argument("--draws", metavar="N", type=int, default=200, help="of each kind; default: 200")
    parser.add_argument("--page", metavar="FILE", help="page with a place for the tables")
    args = parser.parse_args(arguments)
    page = Path(args.page).read_text(encoding="utf-8") if args.page else ""
    if args.page and not MARKS.search(page):
        sys.exit(
            f"{args.page}: found no place for the tables; allowed: <!-- envelope: ... --> and <!-- end -->"
        )
    text = "\n".join(lines(args.draws))
    if args.page:
        filled = MARKS.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)
        Path(args.page).write_text(filled, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
