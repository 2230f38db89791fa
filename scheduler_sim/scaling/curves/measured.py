"""Curves from a table of measurements, and from a user's formula."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from scheduler_sim.arrays import Floats
from scheduler_sim.config.value import Check, Text
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.curves.kind import Curve, Gives
from scheduler_sim.scaling.formula import FUNCTIONS, check_formula, value_of
from scheduler_sim.scaling.least_squares import bounded


def _pairs(written: Any) -> tuple[tuple[float, float], ...]:
    """Read [[24, 0.99], [48, 0.98]]: processes and value, both above 0, processes rising."""
    pairs = tuple((float(p), float(y)) for p, y in written)
    if any(isinstance(part, bool | str) for pair in written for part in pair):
        raise TypeError
    processes = [p for p, _ in pairs]
    if not pairs or sorted(set(processes)) != processes:
        raise ValueError
    if not all(np.isfinite(part) and part > 0 for pair in pairs for part in pair):
        raise ValueError
    return pairs


Pairs = Annotated[
    tuple[tuple[float, float], ...],
    BeforeValidator(Check("a list of [processes, value], both above 0, with processes rising", _pairs)),
]


class Table(Curve):
    """Measured values, with straight lines over log P between them and flat outside."""

    NAME: ClassVar[str] = "table"
    EQUATION: ClassVar[str] = "linear in log P between the points, the nearest one's value outside"
    SOURCE: ClassVar[str] = "measurements, such as the tables of D2.3, section 4"

    points: Pairs = Field(description="[[processes, value], ...]")
    gives: Gives = Field(default="efficiency", description="what the values are")

    @property
    def quantity(self) -> str:
        """As stated."""
        return self.gives

    def _value(self, *inputs: Floats) -> Floats:
        p, y = np.array(self.points).T
        interpolated: Floats = np.interp(np.log(inputs[0]), np.log(p), y)
        return interpolated

    @classmethod
    def fitted(cls, processes: Floats, y: Floats, gives: str = "efficiency") -> Self:
        """Take the points as they are."""
        order = np.argsort(processes)
        pairs = zip(processes[order].tolist(), y[order].tolist(), strict=True)
        return cls.of(points=[list(pair) for pair in pairs], gives=gives)


def _constants(written: Any) -> dict[str, float]:
    read = {}
    for name, value in dict(written).items():
        if not (isinstance(name, str) and name.isidentifier() and name != "p" and name not in FUNCTIONS):
            raise ValueError
        if isinstance(value, bool) or not np.isfinite(float(value)):
            raise ValueError
        read[name] = float(value)
    return read


Constants = Annotated[
    dict[str, float],
    BeforeValidator(Check("numbers by name; p and the functions' names are taken", _constants)),
]


class Formula(Curve):
    """Arithmetic over p and named constants, parsed and never run as code."""

    NAME: ClassVar[str] = "formula"
    EQUATION: ClassVar[str] = "as stated, over p"
    SOURCE: ClassVar[str] = "the user; the idea of performance expressions is ElastiSim's"

    constants: Constants = Field(default={}, description="numbers by name")
    formula: Text = Field(description=f"numbers, p, constants, + - * / **, {', '.join(FUNCTIONS)}")
    gives: Gives = Field(default="time", description="what the formula gives")

    @field_validator("formula")
    @classmethod
    def _parses(cls, formula: str, info: ValidationInfo) -> str:
        try:
            check_formula(formula, ("p", *info.data.get("constants", {})))
        except InputError as error:
            raise PydanticCustomError("allowed", "{text}", {"text": f"arithmetic; {error}"}) from None
        return formula

    @property
    def quantity(self) -> str:
        """As stated."""
        return self.gives

    def _value(self, *inputs: Floats) -> Floats:
        found = np.broadcast_to(
            value_of(self.formula, {"p": inputs[0], **self.constants}), np.shape(inputs[0])
        )
        if not (np.isfinite(found) & (found > 0)).all():
            where = inputs[0][~(np.isfinite(found) & (found > 0))].flat[0]
            raise InputError(f"formula {self.formula!r} gives no number above 0 at p = {where:g}")
        return found

    @classmethod
    def fitted(
        cls, processes: Floats, y: Floats, formula: str, start: dict[str, float], gives: str = "time"
    ) -> Self:
        """Learn the constants, all >= 0, by least squares of relative errors, from where they start."""
        check_formula(formula, ("p", *start))
        names = list(start)

        def residuals(values: Floats) -> Floats:
            found = value_of(formula, {"p": processes, **dict(zip(names, values.tolist(), strict=True))})
            return np.nan_to_num(found / y - 1, nan=1e6, posinf=1e6, neginf=-1e6)

        found = bounded(residuals, [list(start.values())], [0.0] * len(names), [np.inf] * len(names))
        return cls.of(formula=formula, constants=dict(zip(names, found.tolist(), strict=True)), gives=gives)
