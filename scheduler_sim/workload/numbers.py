"""Numbers from text and back, strictly: digits, an optional minus, in decimals a point, nothing else."""

from __future__ import annotations

import re

import numpy as np

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_INTEGER = re.compile(rb"-?[0-9]+")
_DECIMAL = re.compile(rb"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_MOST_DIGITS = 19  # of a number within int64


def integer(text: bytes) -> int | None:
    """Return the integer that ``text`` is, None if it is none or beyond int64."""
    if not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip(b"-0")
    if len(digits) > _MOST_DIGITS:
        return None
    number = int(digits or b"0") * (-1 if text.startswith(b"-") else 1)
    return number if INT64_MIN <= number <= INT64_MAX else None


def decimal(text: bytes) -> float | None:
    """Return the plain decimal number that ``text`` is (no exponent, no nan), or None."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    return number if abs(number) < float("inf") else None


def number_text(value: float) -> str:
    """Return the shortest plain text of a number: whole ones without a point, never an exponent."""
    if value == int(value):
        return str(int(value))
    return np.format_float_positional(value, unique=True, trim="-")
