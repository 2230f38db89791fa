"""From a store to points that ``fit scaling`` reads: what a benchmark took on how many processes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from scheduler_sim.benchmarking.series import Series
from scheduler_sim.errors import InputError, did_you_mean
from scheduler_sim.numerals import finite
from scheduler_sim.units import DAY, HOUR, MINUTE

SECONDS = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "ns": 1e-9,
    "min": MINUTE,
    "h": HOUR,
    "d": DAY,
}
"""Units of time, in seconds."""


@dataclass(frozen=True)
class Points:
    """Points to write.

    Attributes
    ----------
    table : ``processes`` and ``time`` (s), a row a run since the last step of its series
    left_out : runs before such steps
    """

    table: pd.DataFrame
    left_out: int

    def text(self) -> str:
        """Return it as CSV."""
        return self.table.to_csv(index=False, lineterminator="\n")


def points_of(
    series: Sequence[Series], benchmark: str, metric: str, processes: str, where: Mapping[str, str]
) -> Points:
    """Take the runs since the last step of each series of one metric as points.

    Parameters
    ----------
    processes : parameter that is the number of processes, or a product as in ``nodes*taskspernode``.
    where : values of the other parameters.

    Raises
    ------
    InputError : no such benchmark, metric or parameter, a unit that is no time, a parameter that is no
        number, or other parameters that differ.
    """
    one = _known("--benchmark", benchmark, series, lambda s: s.benchmark)
    one = _known("--metric", metric, one, lambda s: s.metric)
    if (unit := one[0].unit) not in SECONDS:
        raise InputError(
            f"--metric: found {metric}, in {unit or 'no unit'}; allowed: a time, in {', '.join(SECONDS)}"
        )
    counted = processes.split("*")
    for option, names in (("--processes", counted), ("--where", list(where))):
        for name in names:
            if any(name not in s.parameters for s in one):
                there = list(one[0].parameters)
                raise InputError(
                    f"{option}: found {name!r:.60}; allowed: {', '.join(there)}{did_you_mean(name, there)}"
                )
    one = [s for s in one if all(s.parameters[name] == value for name, value in where.items())]
    if not one:
        raise InputError(f"--where: no series has {', '.join(f'{k}={v}' for k, v in where.items())}")
    _check_the_rest(one, [*counted, *where])
    rows = [
        (math.prod(_number(s.parameters[name], name) for name in counted), value * SECONDS[unit])
        for s in one
        for value in s.values[s.since :].tolist()
    ]
    table = pd.DataFrame(rows, columns=["processes", "time"]).sort_values("processes", kind="stable")
    return Points(table, sum(s.since for s in one))


def _known(
    option: str, wanted: str, series: Sequence[Series], name_of: Callable[[Series], str]
) -> list[Series]:
    found = [s for s in series if name_of(s) == wanted]
    if not found:
        there = list(dict.fromkeys(map(name_of, series)))
        raise InputError(
            f"{option}: found {wanted!r:.60}; allowed: {', '.join(there)}{did_you_mean(wanted, there)}"
        )
    return found


def _check_the_rest(series: Sequence[Series], said: Sequence[str]) -> None:
    """Refuse series that differ in what nobody chose: they would be points of different problems."""
    for name in series[0].parameters:
        values = list(dict.fromkeys(s.parameters[name] for s in series))
        if name not in said and len(values) > 1:
            raise InputError(
                f"found {name} = {', '.join(values)[:200]}; allowed: one of them, as in"
                f" --where {name}={values[0]}"
            )


def _number(text: str, name: str) -> float:
    try:
        return finite(text)
    except ValueError:
        raise InputError(f"--processes: found {name} = {text!r:.40}; allowed: a number") from None
