"""The keys of what stands between the nodes and the grid: conversion of power, and cooling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Amount, Check, PositiveCount, Title

Points = dict[str, float]


def _curve(least: float, most: float, of_negative: bool) -> Callable[[Any], float | Points]:
    """Take a number, or a mapping of numbers to numbers, values from ``least`` to ``most``."""

    def value(written: Any) -> float:
        if isinstance(written, bool):
            raise TypeError
        number = float(written)
        if not least <= number <= most:
            raise ValueError
        return number

    def place(written: Any) -> str:
        number = float(written)
        if isinstance(written, bool) or not isfinite(number) or (number < 0 and not of_negative):
            raise ValueError
        return str(written)

    def convert(written: Any) -> float | Points:
        if not isinstance(written, Mapping):
            return value(written)
        if not written:
            raise ValueError
        return {place(at): value(one) for at, one in written.items()}

    return convert


Efficiency = Annotated[
    float | Points,
    BeforeValidator(
        Check("a number from 0.01 to 1, or a mapping of W to such numbers", _curve(0.01, 1, False))
    ),
]
PueByTemperature = Annotated[
    float | Points,
    BeforeValidator(
        Check("a number from 1 to 100, or a mapping of degrees to such numbers", _curve(1, 100, True))
    ),
]


def _temperature(written: Any) -> Any:
    if isinstance(written, bool) or not isinstance(written, int | float | str | dict):
        raise TypeError
    if isinstance(written, int | float) and not -100 <= written <= 100:
        raise ValueError
    if isinstance(written, dict) and not {"time", "value"} <= set(written) <= {"name", "time", "value"}:
        raise ValueError
    return written


Temperature = Annotated[
    Any,
    BeforeValidator(
        Check("degrees from -100 to 100, or a CSV file of time and value, or a mapping of both", _temperature)
    ),
]


class StageKeys(Keys):
    """One conversion of power, such as a rectifier: a device takes (load + loss_w) / efficiency."""

    name: Title = Field(description="name of the stage, such as rectifier")
    nodes: PositiveCount = Field(default=1, description="nodes fed by one device")
    feeds_w: Amount = Field(default=0, description="other load of a device, such as a switch, W")
    loss_w: Amount = Field(default=0, description="constant loss of a device, at any load, W")
    efficiency: Efficiency = Field(
        default=1.0,
        description="(load + loss_w) / power taken by the device; or a mapping of the load (W) to"
        " this ratio, linear in between, constant beyond",
    )


class CoolingKeys(Keys):
    """Cooling: the power of the facility over the power of nodes, conversion and fixed_w."""

    pue: PueByTemperature = Field(
        description="power with cooling / power without; or a mapping of the outside temperature to"
        " this ratio, linear in between, constant beyond"
    )
    temperature: Temperature | None = Field(
        default=None,
        description="outside temperature, in the same degrees as in pue: a number, or a series over time",
    )


class FacilityKeys(Keys):
    """Everything between the nodes and the grid."""

    conversion: list[StageKeys] = Field(
        default=[],
        description="stages of power conversion, starting at the nodes; each stage feeds the ones before it",
    )
    fixed_w: Amount = Field(
        default=0,
        description="other constant load of the system, not through the conversion, such as pumps, W",
    )
    cooling: CoolingKeys | None = Field(default=None, description="cooling; by default none, or energy.pue")
