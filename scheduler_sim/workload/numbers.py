"""Whole numbers from text, many at a time and strictly: digits with an optional minus, nothing else."""

from __future__ import annotations

import re

import numpy as np

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_INTEGER = re.compile(rb"-?[0-9]+")
_DECIMAL = re.compile(rb"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_MINUS = ord("-")
_SURE_DIGITS = 18  # fit int64 whatever they are
_MAX_TEXT = 400


def parse_integers(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers written in ``data[start:end]`` and whether each is one.

    Parameters
    ----------
    data : uint8[:], the text; starts, ends : int64[n], where each number stands

    Returns
    -------
    values : int64[n], 0 where the text is no integer within int64; valid : bool[n]
    """
    filled = ends > starts
    first = np.minimum(starts, len(data) - 1)
    negative = filled & (data[first] == _MINUS)
    width = ends - starts - negative
    valid = filled & (width > 0)
    values = np.zeros(len(starts), dtype=np.int64)
    active = np.flatnonzero(valid & (width <= _SURE_DIGITS))
    last, left = ends[active] - 1, width[active]
    power = 1
    while active.size:
        digit = data[last] - np.uint8(ord("0"))  # wraps, so that anything else is above 9
        wrong = digit > 9
        if wrong.any():
            valid[active[wrong]] = False
        values[active] += digit.astype(np.int64) * power
        more = left > 1
        if not more.all():
            active, last, left = active[more], last[more], left[more]
        last, left, power = last - 1, left - 1, power * 10
    np.negative(values, out=values, where=negative)
    for index in np.flatnonzero(valid & (width > _SURE_DIGITS)).tolist():
        number = integer(data[starts[index] : ends[index]].tobytes())
        valid[index] = number is not None
        values[index] = number or 0
    values[~valid] = 0
    return values, valid


def integer(text: bytes) -> int | None:
    """Return the integer that ``text`` is, None if it is none or beyond int64."""
    if len(text) > _MAX_TEXT or not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if INT64_MIN <= number <= INT64_MAX else None


def decimal(text: bytes) -> float | None:
    """Return the plain decimal number that ``text`` is (no exponent, no nan), or None."""
    if len(text) > _MAX_TEXT or not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    return number if abs(number) < float("inf") else None


def number_text(value: float) -> str:
    """Return the shortest plain text of a number: whole ones without a point, never an exponent."""
    if value == int(value):
        return str(int(value))
    return np.format_float_positional(value, unique=True, trim="-")
