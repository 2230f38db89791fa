"""Reading what EAR and the DEEP-EST Slurm simulator store: coefficients of pairs, signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from scheduler_sim.arrays import Floats
from scheduler_sim.energy.laws import CPI, ONE, LinearMap, Stall, power_law, time_law
from scheduler_sim.energy.model import Model
from scheduler_sim.energy.points import KHZ, MODULE, POWER, TIME, WORKLOAD, Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import TraceError
from scheduler_sim.numerals import finite, is_digits

TPI = "tpi"
POWER_TERMS = (POWER, TPI, ONE)
CPI_TERMS = (CPI, TPI, ONE)

_PAIR = re.compile(
    r"ref\s+(\d+)\s+pstate\s+(\d+)\s+avail\s+([01])" + "".join(rf"\s+{letter}\s+(\S+)" for letter in "ABCDEF")
)


class _Line(NamedTuple):
    number: int
    text: str


def ear_model(path: str | Path, pstates: PStates | None = None, name: str = "EAR") -> Model:
    """Read EAR's coefficients: P' = A·P + B·TPI + C, CPI' = D·CPI + E·TPI + F.

    Text with ``ref ... pstate ... avail ...`` in each line names its frequencies (kHz). A matrix has k² rows
    of A to F, references and in them targets ascending; its ``pstates`` are given.
    A row of zeros, or ``avail 0``, is a pair that is not available.

    Raises TraceError for anything else, with file and line.
    """
    lines = list(_lines(path))
    if lines and (any(_PAIR.match(line.text) for line in lines)):
        pairs = dict(_named_pairs(path, lines))
        states = PStates.of(sorted({khz for pair in pairs for khz in pair}))
        cube = np.full((len(states), len(states), 6), np.nan)
        for (reference, target), row in pairs.items():
            cube[states.index(reference), states.index(target)] = row
    else:
        states, cube = _matrix(path, lines, pstates)
    return Model(
        name,
        states,
        power_law("affine", POWER_TERMS, states, cube[:, :, :3]),
        time_law("cpi", CPI_TERMS, states, cube[:, :, 3:]),
    )


def ratio_model(
    path: str | Path,
    pstates: PStates,
    reference_khz: int,
    counters: Sequence[str],
    time: LinearMap | None = None,
) -> Model:
    """Read Auweter's matrix of one reference frequency: a row for each target, counters and then a constant.

    P(f) = P(f0) · (row · counters) (D2.3 eq. 5.1). Without a law of time, T ∝ 1 / f.
    Raises TraceError where the file is no such matrix.
    """
    terms = (*counters, ONE)
    rows = np.array([_numbers(path, line, len(terms)) for line in _lines(path)])
    if len(rows) != len(pstates):
        raise TraceError(f"{len(rows)} rows", file=path, allowed=f"one for each of {len(pstates)} P-states")
    cube = np.full((len(pstates), len(pstates), len(terms)), np.nan)
    cube[pstates.index(reference_khz)] = rows
    law = Stall.constant(pstates) if time is None else Stall(time)
    return Model("ratio", pstates, power_law("ratio", terms, pstates, cube), law)


def ear_signatures(path: str | Path, nominal_khz: Sequence[int]) -> Points:
    """Read an applications file: their number, then ``app module fields T P CPI TPI`` a line.

    ``nominal_khz``, at which they ran, is that of each module by its number. Modules are called by their
    numbers; commas are decimal points.

    Raises TraceError with file and line.
    """
    first, *rest = list(_lines(path)) or [_Line(1, "")]
    if not is_digits(first.text):
        raise TraceError(
            "no number of applications", file=path, line=first.number, found=first.text, allowed="a number"
        )
    rows = []
    for line in rest:
        app, module, fields, *values = _numbers(path, line, 7)
        if fields != 4 or not 0 <= module < len(nominal_khz):
            allowed = f"4 fields of a module 0 to {len(nominal_khz) - 1}"
            raise TraceError("not a signature", file=path, line=line.number, found=line.text, allowed=allowed)
        rows.append((f"{app:g}", f"{module:g}", nominal_khz[int(module)], *values))
    table = pd.DataFrame(rows, columns=[WORKLOAD, MODULE, KHZ, TIME, POWER, CPI, TPI])
    if table[WORKLOAD].nunique() != int(first.text):
        found = f"{table[WORKLOAD].nunique()} applications"
        raise TraceError("not what the first line says", file=path, line=1, found=found, allowed=first.text)
    return Points.of({str(name): table[name] for name in table}, name=str(path))


def _lines(path: str | Path) -> Iterator[_Line]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise TraceError(f"cannot be read: {error.strerror or error}", file=path) from None
    except UnicodeDecodeError:
        raise TraceError("not text in UTF-8", file=path) from None
    yield from (_Line(i, line.strip()) for i, line in enumerate(text.splitlines(), 1) if line.strip())


def _named_pairs(path: str | Path, lines: list[_Line]) -> Iterator[tuple[tuple[int, int], Floats]]:
    for line in lines:
        match = _PAIR.match(line.text)
        if match is None:
            if set(line.text.split()) == {"0"}:  # the place of a pair that was never measured
                continue
            allowed = "ref KHZ pstate KHZ avail 0|1 A .. B .. C .. D .. E .. F .."
            raise TraceError("no coefficients", file=path, line=line.number, found=line.text, allowed=allowed)
        if match[3] == "1":
            texts = " ".join(match.groups()[3:])
            yield (int(match[1]), int(match[2])), _numbers(path, _Line(line.number, texts), 6)


def _matrix(path: str | Path, lines: list[_Line], pstates: PStates | None) -> tuple[PStates, Floats]:
    rows = np.array([_numbers(path, line, 6) for line in lines]).reshape(-1, 6)
    if pstates is None:
        raise TraceError("a matrix does not name its frequencies", file=path, allowed="with P-states")
    k = len(pstates)
    if len(rows) != k * k:
        allowed = f"{k}² rows for {k} P-states"
        raise TraceError(f"{len(rows)} rows", file=path, allowed=allowed)
    rows[(rows == 0).all(axis=1)] = np.nan
    return pstates, rows.reshape(k, k, 6)


def _numbers(path: str | Path, line: _Line, count: int) -> Floats:
    texts = line.text.replace(",", ".").split()
    try:
        numbers = np.array([finite(text) for text in texts])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise TraceError(
            "not a row of numbers", file=path, line=line.number, found=line.text, allowed=f"{count} numbers"
        )
    return numbers
