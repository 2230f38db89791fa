"""How far predictions are off beyond the points, beside Extra-P: ``python -m benchmarks.extrapolation``.

python -m benchmarks.extrapolation                                                 ours alone
python -m benchmarks.extrapolation --extrap venv/bin/python                        beside Extra-P
python -m benchmarks.extrapolation --extrap ... --page docs/reference/scaling.md   the same, into its place

Laws are drawn (seeded) and measured with relative, normal noise; both tools get the same measurements,
repetitions and all. Extra-P 4.2.5 runs its default modelers; for strong scaling it is given P T(P).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks import extrap_peer, scaling_laws
from benchmarks.place import Place
from benchmarks.scaling_laws import ONE_PARAMETER, POINTS, SEVERAL, Kind, Law
from benchmarks.section import table
from scheduler_sim.arrays import Floats
from scheduler_sim.scaling.fitting import fit_time
from scheduler_sim.streams import stream

SEED = 26
"""Of the draws; nothing was chosen by them."""

NAMES = ("processes", "size", "threads")
PLACE = Place("extrapolation", "end extrapolation")


class Stratum(NamedTuple):
    """Laws of a kind, how they are measured, and how far beyond the points they are predicted."""

    kind: Kind
    noise: float
    repetitions: int
    times: tuple[int, ...]
    parameters: int = 1
    design: str = ""


class Case(NamedTuple):
    """A law drawn: points, float64[n, k], measured, float64[n, r], where to predict, and the law there."""

    points: Floats
    measured: Floats
    at: Floats
    truth: Floats


ONE = [
    Stratum(kind, noise, repetitions, (4, 16))
    for kind in ONE_PARAMETER
    for repetitions in (1, 5)
    for noise in (0.01, 0.02, 0.05)
]
MANY = [
    Stratum(kind, noise, 5, (16,), parameters, design)
    for parameters in (2, 3)
    for design in ("full", "lines")
    for kind in SEVERAL
    for noise in (0.02, 0.05)
]


def cases(stratum: Stratum, number: int, seed: int = SEED) -> Iterator[Case]:
    """Draw as many laws of a stratum, and measure them. Noise is relative and normal."""
    words = f"{stratum.kind.law.__name__}/{stratum.design}/{stratum.parameters}"
    draws = stream(seed, f"extrapolation/{words}/{stratum.noise}/{stratum.repetitions}")
    for _ in range(number):
        if stratum.parameters == 1:
            points = POINTS[draws.integers(len(POINTS))][:, None]
            one = stratum.kind.law(float(points[-1, 0]), draws)
            law: Law = lambda x, one=one: one(x[:, 0])  # type: ignore[misc]  # noqa: E731
        else:
            points = getattr(scaling_laws, stratum.design)(stratum.parameters)
            law = stratum.kind.law(points.max(axis=0), draws)
        at = points.max(axis=0) * np.array(stratum.times, dtype=float)[:, None]
        noise = draws.standard_normal((len(points), stratum.repetitions))
        yield Case(points, law(points)[:, None] * (1 + stratum.noise * noise), at, law(at))


def ours(stratum: Stratum, drawn: Sequence[Case]) -> Floats:
    """Return what we predict, float64[cases, places]."""
    found = []
    for case in drawn:
        points = np.repeat(case.points, case.measured.shape[1], axis=0)
        names = NAMES[: stratum.parameters]
        fit = fit_time(points, case.measured.ravel(), parameters=names, scaling=stratum.kind.scaling)
        found.append(fit.predicted(case.at))
    return np.array(found)


def extra_p(stratum: Stratum, drawn: Sequence[Case], interpreter: str) -> Floats:
    """Return what Extra-P predicts, float64[cases, places]. RuntimeError where it cannot be run."""
    strong = stratum.kind.scaling == "strong"
    asked = [
        {
            "points": case.points.tolist(),
            "values": (case.measured * (case.points[:, :1] if strong else 1)).tolist(),
            "at": case.at.tolist(),
        }
        for case in drawn
    ]
    command = [interpreter, extrap_peer.__file__]
    text = "".join(f"{json.dumps(one)}\n" for one in asked)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{interpreter}: Extra-P cannot be run: {done.stderr.strip()[-300:]}")
    found = np.array([json.loads(line) for line in done.stdout.splitlines()[1:]])
    return found / np.array([case.at[:, 0] for case in drawn]) if strong else found


class Errors(NamedTuple):
    """Relative errors of a stratum: the median, and within what nine of ten are, float64[places]."""

    median: Floats
    most: Floats

    def cell(self, place: int) -> str:
        """Return both, in per cent: ``2.1, 14``."""
        return f"{_digits(100 * self.median[place])}, {_digits(100 * self.most[place])}"


def _digits(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def errors(predicted: Floats, drawn: Sequence[Case]) -> Errors:
    """Return how far predictions are off."""
    off = np.abs(predicted / np.array([case.truth for case in drawn]) - 1)
    return Errors(np.median(off, axis=0), np.quantile(off, 0.9, axis=0))


class Compared(NamedTuple):
    """A stratum, our errors, and Extra-P's, None where it was not run."""

    stratum: Stratum
    ours: Errors
    theirs: Errors | None

    def behind(self) -> list[str]:
        """Name the comparisons in which we are further off."""
        if self.theirs is None:
            return []
        return [
            f"{words} at {times} times"
            for words, mine, other in (
                ("median", self.ours.median, self.theirs.median),
                ("nine of ten", self.ours.most, self.theirs.most),
            )
            for times, own, peer in zip(self.stratum.times, mine, other, strict=True)
            if own > peer
        ]


def compared(stratum: Stratum, number: int, interpreter: str | None) -> Compared:
    """Draw, predict by both, and compare."""
    drawn = list(cases(stratum, number))
    theirs = errors(extra_p(stratum, drawn, interpreter), drawn) if interpreter else None
    return Compared(stratum, errors(ours(stratum, drawn), drawn), theirs)


def tables(found: Sequence[Compared]) -> Iterator[str]:
    """Yield a table of one parameter, one of several, and in what we are behind."""
    peer = any(one.theirs for one in found)
    for parameters, heads in (
        ((1,), ("<truth", "runs a point")),
        ((2, 3), ("<truth", "parameters", "<points")),
    ):
        rows = [one for one in found if one.stratum.parameters in parameters]
        if not rows:
            continue
        times = rows[0].stratum.times
        columns = [
            f"{words}, {m} times" for m in times for words in (("here", "Extra-P") if peer else ("here",))
        ]
        yield table([*heads, "noise", *columns], [_row(one, peer) for one in rows])
    if peer:
        yield _behind(found)
    else:
        yield "Extra-P was not run: say with `--extrap` which interpreter has it."


def _row(one: Compared, peer: bool) -> list[str]:
    stratum = one.stratum
    if stratum.parameters == 1:
        cells = [stratum.kind.words, str(stratum.repetitions)]
    else:
        cells = [stratum.kind.words, str(stratum.parameters), stratum.design]
    cells.append(f"{100 * stratum.noise:g} %")
    for place in range(len(stratum.times)):
        cells.append(one.ours.cell(place))
        if peer:
            cells.append(one.theirs.cell(place) if one.theirs else "")
    return cells


def _behind(found: Sequence[Compared]) -> str:
    places = [f"{_named(one.stratum)}: {', '.join(one.behind())}" for one in found if one.behind()]
    number, every = sum(len(one.behind()) for one in found), sum(2 * len(one.stratum.times) for one in found)
    said = f"Further off than Extra-P in {number} of {every} comparisons"
    return f"{said}." if not places else said + ":\n\n" + "\n".join(f"- {place}" for place in places)


def _named(stratum: Stratum) -> str:
    several = f", {stratum.parameters} parameters, {stratum.design}" if stratum.parameters > 1 else ""
    return f"{stratum.kind.words}{several}, {100 * stratum.noise:g} %, {stratum.repetitions} runs"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.extrapolation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draws", metavar="N", type=int, default=200, help="of a stratum of one parameter")
    parser.add_argument(
        "--several", metavar="N", type=int, default=40, help="of a stratum of two parameters; half of three"
    )
    parser.add_argument(
        "--extrap", metavar="PYTHON", help="interpreter that has Extra-P; default: it is left out"
    )
    parser.add_argument("--page", metavar="FILE", help="page with a place for the tables")
    args = parser.parse_args(arguments)
    PLACE.require(args.page)
    found = []
    for stratum in (*ONE, *MANY):
        number = {1: args.draws, 2: args.several, 3: args.several // 2}[stratum.parameters]
        if number:
            try:
                found.append(compared(stratum, number, args.extrap))
            except (RuntimeError, OSError) as error:
                sys.exit(f"--extrap: {error}")
            if not args.page:
                print(" | ".join(_row(found[-1], bool(args.extrap))), flush=True)
    text = "\n\n".join(tables(found))
    PLACE.write(args.page, text)


if __name__ == "__main__":
    main()
