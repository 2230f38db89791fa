"""How often steps are found, where there is one and where there is none: ``python -m benchmarks.steps``.

python -m benchmarks.steps                                    print the tables
python -m benchmarks.steps --page docs/how-to/benchmarks.md   the same, into the page
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.place import Place
from scheduler_sim.arrays import Floats
from scheduler_sim.benchmarking.steps import find_steps
from scheduler_sim.streams import stream

PLACE = Place("steps")
SERIES = 200
LENGTHS = (20, 60, 120)
SIZES = (2, 3, 5)
LATER = (4, 6, 8, 12, 20)
BEFORE = 30


def with_outliers(draws: np.random.Generator, n: int) -> Floats:
    """One run in twenty is ten times as far off."""
    return draws.standard_normal(n) * np.where(draws.random(n) < 0.05, 10.0, 1.0)


def following(share: float) -> Callable[[np.random.Generator, int], Floats]:
    """Each run takes over a share of how far the one before was off."""

    def drawn(draws: np.random.Generator, n: int) -> Floats:
        values = draws.standard_normal(n)
        for i in range(1, n):
            values[i] = share * values[i - 1] + np.sqrt(1 - share**2) * values[i]
        return values

    return drawn


NOISE: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda draws, n: draws.standard_normal(n),
    "lognormal": lambda draws, n: draws.lognormal(size=n),
    "one run in twenty far off": with_outliers,
    "each run takes over 30 % of the one before": following(0.3),
    "60 %": following(0.6),
}


def false_alarms() -> str:
    """Return the table of series without a step in which one is found."""
    lines = [f"| noise | {' | '.join(f'{n} runs' for n in LENGTHS)} |", "|---|" + "--:|" * len(LENGTHS)]
    for name, noise in NOISE.items():
        draws = stream(1, f"false alarms {name}")
        shares = [np.mean([bool(find_steps(noise(draws, n))) for _ in range(SERIES)]) for n in LENGTHS]
        lines.append(f"| {name} | {' | '.join(f'{share:.1%}' for share in shares)} |")
    return "\n".join(lines)


def seen_after() -> str:
    """Return the table of steps that are found so many runs after them."""
    lines = [
        f"| size of the step, in standard deviations | {' | '.join(f'{k} runs after' for k in LATER)} |",
        "|---|" + "--:|" * len(LATER),
    ]
    for size in SIZES:
        draws = stream(1, f"steps of {size}")
        shares = []
        for later in LATER:
            step = np.r_[np.zeros(BEFORE), np.full(later, float(size))]
            shares.append(
                np.mean([bool(find_steps(draws.standard_normal(len(step)) + step)) for _ in range(SERIES)])
            )
        lines.append(f"| {size} | {' | '.join(f'{share:.0%}' for share in shares)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    PLACE.require(args.page)
    text = f"{false_alarms()}\n\n{seen_after()}"
    PLACE.write(args.page, text)


if __name__ == "__main__":
    main()
