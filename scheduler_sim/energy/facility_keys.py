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

    name: Title = Field(description="what it is called, such as rectifier")
    nodes: PositiveCount = Field(default=1, description="nodes that one device feeds")
    feeds_w: Amount = Field(default=0, description="what else a device feeds, such as a switch, W")
    loss_w: Amount = Field(default=0, description="what a device loses at any load, W")
    efficiency: Efficiency = Field(
        default=1.0,
        description="load + loss_w over what the device takes; or that by its load (W), between on a line,"
        " beyond flat",
    )


class CoolingKeys(Keys):
    """Cooling: what the facility takes, over what stands behind the conversion."""

    pue: PueByTemperature = Field(
        description="power with cooling over power without; or that by the temperature outside, between on a"
        " line, beyond flat"
    )
    temperature: Temperature | None = Field(
        default=None, description="outside, in the degrees of pue: a number, or a series over time"
    )


class FacilityKeys(Keys):
    """From the nodes to the grid."""

    conversion: list[StageKeys] = Field(
        default=[], description="from the nodes on; each stage feeds those before it"
    )
    fixed_w: Amount = Field(
        default=0, description="what else the system takes behind the conversion, such as pumps, W"
    )
    cooling: CoolingKeys | None = Field(default=None, description="cooling; by default none, or energy.pue")
