"""The kinds of value that a configuration key may have.

Each is a pydantic type whose error says what is allowed, in words. Text that spells a
number counts as that number, so values may come from a file or from ``--set``.
"""

from __future__ import annotations

import math
import re
from calendar import timegm
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from numbers import Integral, Real
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from scheduler_sim.errors import InputError, did_you_mean

MOST_SECONDS = 10**12
MOST_UNITS = 10**15
MOST_PIECES = 10**9
MOST_COUNTED = 10**15  # of generic resources, which may be bytes: thousandths of them can be counted
LONGEST_TITLE = 200
DATE = "%Y-%m-%dT%H:%M:%S"
NO_LIMIT = ("UNLIMITED", "INFINITE")
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Check:
    """Turns what was written into a value, or says what is allowed.

    Attributes
    ----------
    allowed : the values that pass, in words.
    convert : raises ``ValueError`` or ``TypeError`` on anything else.
    words : the allowed words, for a hint; empty where any text will do.
    """

    allowed: str
    convert: Callable[[Any], Any]
    words: Sequence[str] = ()

    def __call__(self, written: Any) -> Any:
        """Return the value. Raises the error that pydantic collects."""
        try:
            return self.convert(written)
        except _TooLarge as error:
            raise PydanticCustomError("allowed", "{text}", {"text": str(error)}) from None
        except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):  # a value of any type
            hint = did_you_mean(written[:80], self.words) if isinstance(written, str) else ""
            raise PydanticCustomError("allowed", "{text}", {"text": self.allowed + hint}) from None


class _TooLarge(ValueError):
    """Beyond what the simulator counts with; says the limit."""


def whole(minimum: int, maximum: int = 10**9) -> BeforeValidator:
    """Accept an integer from ``minimum`` to ``maximum``."""

    def convert(written: Any) -> int:
        value = _number(written)
        if value != int(value) or value < minimum:
            raise ValueError
        if value > maximum:
            raise _TooLarge(f"an integer from {minimum} to {maximum}")
        return int(value)

    return BeforeValidator(Check(f"an integer >= {minimum}", convert))


def real(minimum: float) -> BeforeValidator:
    """Accept a finite number of at least ``minimum``."""

    def convert(written: Any) -> float:
        value = float(_number(written))
        if not (math.isfinite(value) and value >= minimum):
            raise ValueError
        if value > MOST_UNITS:
            raise _TooLarge(f"a number from {minimum:g} to {MOST_UNITS:g}")
        return value

    return BeforeValidator(Check(f"a number >= {minimum:g}", convert))


def decimal(most: int = MOST_PIECES) -> BeforeValidator:
    """Accept a number of at least 0 with at most three decimals; a whole one stays an integer."""

    def convert(written: Any) -> float:
        value = _number(written)
        if not (math.isfinite(value) and value >= 0 and abs(value * 1000 - round(value * 1000)) < 1e-6):
            raise ValueError
        if value > most:
            raise _TooLarge(f"a number from 0 to {most}")
        return int(value) if value == int(value) else round(value, 3)

    return BeforeValidator(Check("a number >= 0, with at most three decimals", convert))


def above_zero() -> BeforeValidator:
    """Accept a finite number above 0."""

    def convert(written: Any) -> float:
        value = float(_number(written))
        if not 0.0 < value <= MOST_UNITS:
            raise ValueError
        return value

    return BeforeValidator(Check("a number > 0", convert))


def between(least: float, most: float) -> BeforeValidator:
    """Accept a number from ``least`` to ``most``."""

    def convert(written: Any) -> float:
        value = float(_number(written))
        if not least <= value <= most:
            raise ValueError
        return value

    return BeforeValidator(Check(f"a number from {least:g} to {most:g}", convert))


def choice(*words: str) -> BeforeValidator:
    """Accept one of a few words, in any case."""
    by_lower = {word.lower(): word for word in words}
    longest = max(map(len, words))

    def convert(written: Any) -> str:
        if not isinstance(written, str) or len(written) > longest or written.lower() not in by_lower:
            raise ValueError
        return by_lower[written.lower()]

    return BeforeValidator(Check(", ".join(words), convert, words))


def is_feature(text: str) -> bool:
    """Whether a constraint can ask for a feature of that name, which may have a colon: ``rack:12``."""
    return 1 <= len(text) <= 64 and text.isprintable() and not re.search(r"[\s,;|&*()\[\]]", text)


def feature() -> BeforeValidator:
    """Accept a feature of nodes."""

    def convert(written: Any) -> str:
        if isinstance(written, int) and not isinstance(written, bool):
            written = str(written)
        if not isinstance(written, str) or not is_feature(written) or written.upper() in ("NA", "-1"):
            raise ValueError
        return written

    allowed = "a feature: 1 to 64 characters without blanks and , ; | & * ( ) [ ], not NA"
    return BeforeValidator(Check(allowed, convert))


def word(kind: str) -> BeforeValidator:
    """Accept a name that can stand in a trace: no blanks, commas, semicolons or operators."""

    def convert(written: Any) -> str:
        if isinstance(written, int) and not isinstance(written, bool):
            written = str(written)
        if not (isinstance(written, str) and 1 <= len(written) <= 64 and written.isprintable()):
            raise ValueError
        if re.search(r"[\s,;|&*()\[\]:]", written) or written.upper() in ("NA", "-1"):
            raise ValueError
        return written

    return BeforeValidator(
        Check(f"{kind}: 1 to 64 characters without blanks and , ; : | & * ( ) [ ], not NA", convert)
    )


def _number(written: Any) -> int | float:
    if isinstance(written, str):
        if len(written) > 40:
            raise ValueError
        text = written.strip()
        return int(text) if re.fullmatch(r"[-+]?[0-9]+", text) else float(text)
    if isinstance(written, bool) or not isinstance(written, Real):
        raise TypeError
    return int(written) if isinstance(written, Integral) else float(written)


def _flag(written: Any) -> bool:
    if isinstance(written, str):
        return _FLAGS[written.lower()]
    if not isinstance(written, bool):
        raise TypeError
    return written


def _text(written: Any) -> str:
    if not isinstance(written, str):
        raise TypeError
    return written


def _title(written: Any) -> str:
    if not (isinstance(written, str) and len(written) <= LONGEST_TITLE and written.isprintable()):
        raise ValueError
    return written


def duration(written: Any) -> int | None:
    """Read a duration in seconds; None is without limit.

    An integer counts seconds. Text is ``90s``, ``30m``, ``24h`` or ``7d``, or Slurm's
    ``[days-]hours:minutes:seconds``, ``minutes:seconds``, ``days-hours[:minutes]``,
    or ``UNLIMITED``.
    """
    if isinstance(written, str) and len(written) > 40:
        raise ValueError
    if isinstance(written, str) and not re.fullmatch(r"\s*[-+]?[0-9.]+\s*", written):
        text = written.strip()
        if text.upper() in NO_LIMIT:
            return None
        seconds = _spelt_duration(text)
    else:
        value = _number(written)
        if value != int(value):
            raise ValueError
        seconds = int(value)
    if seconds < 1:
        raise ValueError
    if seconds > MOST_SECONDS:
        raise _TooLarge(f"at most {MOST_SECONDS} seconds, or UNLIMITED")
    return seconds


def span(written: Any) -> int:
    """Read a duration in seconds as ``duration`` does, also of no time at all, but not without limit."""
    if not isinstance(written, bool) and str(written).strip() in ("0", "0s"):
        return 0
    if (seconds := duration(written)) is None:
        raise ValueError
    return seconds


def _moment(written: Any) -> int | str:
    """Accept whole seconds on a trace's clock, or a date, which stays text: its clock is the trace's."""
    if isinstance(written, datetime):  # YAML reads dates by itself
        written = written.isoformat()
    if isinstance(written, str) and not re.fullmatch(r"\s*[-+]?[0-9]+\s*", written):
        return datetime.strptime(written.strip()[:32].replace(" ", "T"), DATE).strftime(DATE)
    value = _number(written)
    if value != int(value) or abs(value) > MOST_SECONDS:
        raise ValueError
    return int(value)


def seconds_of(moment: int | str, unix_start: int | None) -> int:
    """Return a moment in s on a trace's own clock, whose second 0 is ``unix_start`` (s since 1970).

    Dates are on the clock of that second 0. Raises InputError for a date where that is not known.
    """
    if isinstance(moment, int):
        return moment
    if unix_start is None:
        raise InputError(
            f"found {moment}, with a trace that does not say when it began; allowed: seconds on the trace's"
            " clock, or UnixStartTime in its header"
        )
    return timegm(datetime.strptime(moment, DATE).timetuple()) - unix_start


def _spelt_duration(text: str) -> int:
    if unit := re.fullmatch(r"([0-9]{1,15})\s*([smhdSMHD])", text):
        return int(unit[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit[2].lower()]
    if clock := re.fullmatch(r"([0-9]{1,10})-([0-9]{1,2})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?", text):
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if clock := re.fullmatch(r"(?:([0-9]{1,10}):)?([0-9]{1,10}):([0-9]{1,2})", text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return (hours * 60 + minutes) * 60 + seconds
    raise ValueError


Count = Annotated[int, whole(0)]
PositiveCount = Annotated[int, whole(1)]
OptionalCount = Annotated[int | None, whole(1)]
Units = Annotated[int, whole(0, MOST_UNITS)]
Seconds = Annotated[int, whole(0, MOST_SECONDS)]
Amount = Annotated[float, real(0)]
Decimal = Annotated[int | float, decimal()]
Pieces = Annotated[int | float, decimal(MOST_COUNTED)]
Positive = Annotated[float, above_zero()]
Percent = Annotated[float, between(0, 100)]
Flag = Annotated[bool, BeforeValidator(Check("true, false", _flag, ("true", "false")))]
Feature = Annotated[str, feature()]
Text = Annotated[str, BeforeValidator(Check("text", _text))]
Title = Annotated[
    str, BeforeValidator(Check(f"text on one line, at most {LONGEST_TITLE} characters", _title))
]
Name = Annotated[str, word("a name")]
Moment = Annotated[
    int | str | None,
    BeforeValidator(Check("seconds on the trace's clock (an integer), or 2026-02-28T13:00:00", _moment)),
]
Duration = Annotated[
    int | None,
    BeforeValidator(
        Check("seconds (an integer >= 1), or 30m, 24h, 12:00:00, 2-00:00:00, UNLIMITED", duration)
    ),
]
Span = Annotated[
    int, BeforeValidator(Check("seconds (an integer >= 0), or 30m, 24h, 12:00:00, 2-00:00:00", span))
]
