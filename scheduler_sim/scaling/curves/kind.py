"""What every scaling curve is: parameters with bounds and units, an equation, a source, a fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BeforeValidator, ValidationError

from scheduler_sim.arrays import Floats
from scheduler_sim.config.keys import Keys
from scheduler_sim.config.value import Check, choice
from scheduler_sim.errors import InputError
from scheduler_sim.scaling.parameters import PARAMETERS

READINGS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda p: p,
    "cbrt": np.cbrt,
    "log2": lambda p: 1 + np.log2(p),
}
"""The three readings of P; each is 1 at P = 1. D2.3 names them linear, cubic and log without
defining them; that cubic is the cube root follows from Rosas et al. 2014, Table 2."""

QUANTITIES = ("efficiency", "speedup", "time", "work")
"""What a curve may give: an efficiency, a speedup over one process, seconds, or processes x seconds."""

Reading = Annotated[str, choice(*READINGS)]
Gives = Annotated[str, choice(*QUANTITIES)]


@dataclass(frozen=True)
class Range(Check):
    """The values a parameter may take, and its unit (``1`` = without)."""

    least: float = -math.inf
    most: float = math.inf
    unit: str = "1"


def number(least: float, most: float = math.inf, *, above: bool = False, unit: str = "1") -> BeforeValidator:
    """Accept a finite number from ``least`` (or, with ``above``, above it) to ``most``."""

    def convert(written: Any) -> float:
        if isinstance(written, bool) or not isinstance(written, Real):
            raise TypeError
        value = float(written)
        if not (math.isfinite(value) and least <= value <= most) or (above and value == least):
            raise ValueError
        return value

    words = f"a number {'>' if above else '>='} {least:g}" if math.isfinite(least) else "a number"
    if math.isfinite(most):
        words += f" and <= {most:g}" if above else f" and at most {most:g}"
    words += "" if unit == "1" else f" ({unit})"
    return BeforeValidator(Range(words, convert, least=least, most=most, unit=unit))


Share = Annotated[float, number(0, 1)]
PositiveShare = Annotated[float, number(0, 1, above=True)]
NotNegative = Annotated[float, number(0)]
Seconds = Annotated[float, number(0, unit="s")]


class Curve(Keys):
    """A scaling curve: parameters that are checked, and what they mean.

    ``values`` takes as many arrays as ``inputs`` names, which broadcast; ``fitted`` learns the parameters.
    """

    NAME: ClassVar[str]
    GIVES: ClassVar[str]
    INPUTS: ClassVar[tuple[str, ...]] = ("processes",)
    EQUATION: ClassVar[str]
    SOURCE: ClassVar[str]
    OTHERS: ClassVar[bool] = False
    """Whether its parameters may name further inputs, of ``PARAMETERS``."""
    PARTS: ClassVar[str] = ""
    """Parameter that holds curves by name, in kinds made of others."""

    @property
    def quantity(self) -> str:
        """What the values are, one of ``QUANTITIES``."""
        return self.GIVES

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the values depend on: ``INPUTS``, but in kinds whose parameters say it."""
        return self.INPUTS

    def values(self, *inputs: ArrayLike) -> Floats:
        """Return the curve's values, float64, in the unit of its quantity.

        Raises InputError unless all inputs are finite numbers above 0, ``PARAMETERS`` from 1.
        """
        if len(inputs) != len(self.inputs):
            raise InputError(
                f"curve {self.NAME}: found {len(inputs)} inputs; allowed: {', '.join(self.inputs)}"
            )
        arrays = [np.asarray(given, dtype=np.float64) for given in inputs]
        for name, array in zip(self.inputs, arrays, strict=True):
            least = 1.0 if name in PARAMETERS else np.nextafter(0.0, 1.0)
            if not (right := np.isfinite(array) & (array >= least)).all():
                wrong = array[~right].flat[0]
                words = "from 1" if name in PARAMETERS else "above 0"
                raise InputError(
                    f"curve {self.NAME}: found {wrong:g} {name}; allowed: finite numbers {words}"
                )
        return np.asarray(self._value(*arrays), dtype=np.float64)

    def at(self, counts: Mapping[str, Floats]) -> Floats:
        """Return the values where the inputs are those named. InputError where one of them is missing."""
        missing = [name for name in self.inputs if name not in counts]
        if missing:
            raise InputError(f"curve {self.NAME}: found no {' and no '.join(missing)}, on which it depends")
        return self.values(*(counts[name] for name in self.inputs))

    def band(self, counts: Mapping[str, Floats], level: float) -> tuple[Floats, Floats]:
        """Return both ends of this share of what it holds to be possible; its value for one curve."""
        value = self.at(counts)
        return value, value

    def _value(self, *inputs: Floats) -> Floats:
        raise NotImplementedError

    def efficiency(self, processes: ArrayLike) -> Floats:
        """Return the efficiency that the curve states: its own, or speedup / P.

        Raises InputError for curves of times, which need a reference for that.
        """
        if self.quantity not in ("efficiency", "speedup"):
            raise InputError(
                f"curve {self.NAME} gives a {self.quantity}; allowed here: an efficiency, a speedup"
            )
        values = self.values(processes)
        return values if self.quantity == "efficiency" else values / np.asarray(processes, dtype=np.float64)

    @classmethod
    def of(cls, **parameters: Any) -> Self:
        """Build a curve; InputError, naming parameter and bounds, where one is out of them."""
        try:
            return cls.model_validate(parameters)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "parameters"
            shown = "" if first["type"] == "missing" else f" found {first['input']!r:.60};"
            raise InputError(f"curve {cls.NAME}: {where}:{shown} allowed: {first['msg']}") from None

    @classmethod
    def ranges(cls) -> dict[str, Range]:
        """Return bounds and units of the parameters that are numbers."""
        found = {}
        for name, info in cls.model_fields.items():
            for part in info.metadata:
                if isinstance(part, BeforeValidator) and isinstance(part.func, Range):
                    found[name] = part.func
        return found

    def at_bounds(self) -> list[str]:
        """Name the parameters that sit at one of their bounds, where a fit may have been held back."""
        return [
            name
            for name, allowed in self.ranges().items()
            if cast(float, getattr(self, name)) in (allowed.least, allowed.most)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as a profile writes it: its kind under ``curve``, then its parameters."""
        written = {"curve": self.NAME}
        for name, info in type(self).model_fields.items():
            value = getattr(self, name)
            if value != info.default:
                written[name] = _plain(value)
        return written


def _plain(value: Any) -> Any:
    if isinstance(value, Curve):
        return value.to_dict()
    if isinstance(value, Keys):
        fields = type(value).model_fields.items()
        said = {name: getattr(value, name) for name, info in fields if getattr(value, name) != info.default}
        return {name: _plain(part) for name, part in said.items()}
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
