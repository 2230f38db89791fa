"""Extra-P's text format and JSON lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from scheduler_sim.config.problem import Location, listed
from scheduler_sim.errors import ConfigError
from scheduler_sim.numerals import finite


class Measurement(NamedTuple):
    """One value of one metric of one call path at one point, a number for each parameter.

    ``line`` is 0 where ``where`` says the field of a JSON file instead.
    """

    line: int
    callpath: str
    metric: str
    at: tuple[float, ...]
    value: float
    where: Location = ()


class Measurements(NamedTuple):
    """What a file holds: its parameters as it names them, and all values."""

    parameters: tuple[str, ...]
    found: list[Measurement]


WHOLE = "time"
"""Name of the call path where a file names none."""


def read_text_format(path: Path, text: str) -> Measurements:
    """Read PARAMETER, POINTS, METRIC, REGION and DATA lines. Raises ConfigError with every problem."""
    problems: list[str] = []
    found: list[Measurement] = []
    parameters: list[str] = []
    points: list[tuple[float, ...]] = []
    metric, region, row = "time", WHOLE, 0
    for at, line in enumerate(text.splitlines(), start=1):
        word, _, rest = line.strip().partition(" ")
        if not word or word.startswith("#"):
            continue
        if word == "PARAMETER":
            parameters += rest.split()
        elif word == "POINTS":
            points += _points(path, at, rest, max(len(parameters), 1), problems)
        elif word == "METRIC":
            metric, row = rest.strip() or "time", 0
        elif word == "REGION":
            region, row = rest.strip() or WHOLE, 0
        elif word == "DATA":
            values = _numbers(path, at, rest, problems)
            if row >= len(points):
                problems.append(
                    f"{path}:{at}: found DATA line {row + 1} of {region}; allowed: {len(points)}, as POINTS"
                )
            else:
                found += [Measurement(at, region, metric, points[row], value) for value in values]
            row += 1
        else:
            problems.append(
                f"{path}:{at}: found {word!r:.40}; allowed: PARAMETER, POINTS, METRIC, REGION, DATA"
            )
    if not found and not problems:
        problems.append(f"{path}: found no DATA; allowed: a line of it for each of POINTS")
    if problems:
        raise ConfigError(listed(problems))
    return Measurements(tuple(parameters) or ("p",), found)


def _points(path: Path, line: int, text: str, each: int, problems: list[str]) -> list[tuple[float, ...]]:
    """Read points of so many parameters: ``(64 1000) (128 1000)``, of one also without brackets."""
    numbers = _numbers(path, line, re.sub(r"[(),]", " ", text), problems)
    if len(numbers) % each:
        problems.append(f"{path}:{line}: found {len(numbers)} numbers; allowed: {each} for each of POINTS")
    return [tuple(numbers[k : k + each]) for k in range(0, len(numbers) - each + 1, each)]


def _numbers(path: Path, line: int, text: str, problems: list[str]) -> list[float]:
    values = []
    for word in text.split():
        try:
            values.append(finite(word))
        except ValueError:
            problems.append(f"{path}:{line}: found {word!r:.40}; allowed: numbers")
    return values


def read_jsonl(path: Path, text: str) -> Measurements:
    """Read lines ``{"params": {"p": 64}, "callpath": ..., "metric": ..., "value": 1.5}``.

    The value may be a list, of repetitions.

    Raises ConfigError with every problem.
    """
    problems: list[str] = []
    found: list[Measurement] = []
    parameters: tuple[str, ...] = ()
    for at, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            said = json.loads(line)
            params, value = said["params"], said["value"]
            values = value if isinstance(value, list) and value else [value]
            parameters = parameters or tuple(map(str, params))
            if any(isinstance(number, bool) for number in (*values, *params.values())):
                raise TypeError
            if not parameters or set(params) != set(parameters):
                raise ValueError
            path_here, metric = str(said.get("callpath") or WHOLE), str(said.get("metric") or "time")
            point = tuple(float(params[name]) for name in parameters)
            found += [Measurement(at, path_here, metric, point, float(one)) for one in values]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            problems.append(
                f'{path}:{at}: found {line.strip()!r:.60}; allowed: {{"params": {{"p": 64}}, "value": 1.5}},'
                " the same parameters on every line, optionally callpath and metric"
            )
    if not found and not problems:
        problems.append(f"{path}: found no measurements")
    if problems:
        raise ConfigError(listed(problems))
    return Measurements(parameters, found)
