"""What values of others mean as numbers: plain ones, moments, durations; and what says nothing.

A moment becomes seconds since 1970 in UTC, a duration seconds. One without an offset is on the clock of a
time zone; of an hour that a clock shows twice the first is meant, one that it leaves out is moved on.
"""

from __future__ import annotations

import json
import re
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as compute

NOTHING = ("", "na", "n/a", "nan", "nat", "null", "none", "(null)", "unknown", "-")
"""Texts that say nothing, in any case."""

_ISO = re.compile(
    r"\d{4}-\d\d-\d\d|\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d(:?\d\d([.,]\d+)?)?\s?(Z|UTC|[+-]\d\d(:?\d\d)?)?"
)
_OFFSET = re.compile(r"(Z|UTC|[+-]\d\d(:?\d\d)?)$")
_DURATION = re.compile(r"(?:(\d{1,9})(?:-| days?,? ))?(\d{1,9}):(\d\d?)(?::(\d\d?(?:\.\d+)?))?")
_DAYS = re.compile(r"(\d{1,9}) days?")

_OF_TIME = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_OF_MEMORY = {"B": 1 / 1024, "KB": 1.0, "MB": 1024.0, "GB": 1024.0**2, "TB": 1024.0**3}
_OF_POWER = {"W": 1.0, "kW": 1e3, "mW": 1e-3}
_OF_FREQUENCY = {"Hz": 1e-3, "kHz": 1.0, "MHz": 1e3, "GHz": 1e6}

OF_LISTS = ("mean", "max")
"""What may be taken of the numbers in a list."""

UNITS = _OF_TIME | _OF_MEMORY | {"KiB": 1.0, "MiB": 1024.0, "GiB": 1024.0**2} | _OF_POWER | _OF_FREQUENCY
"""How many of ours (s, KB, kHz, W) each unit is. A KB is 1,024 bytes here, as in Slurm."""


def zone_named(name: str) -> ZoneInfo | None:
    """Return a time zone by its name in the tz database, None for any other text."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


class Numbers:
    """A column as numbers.

    Attributes
    ----------
    values : float64[rows], NaN where nothing is said, or what is said is no number
    wrong : bool[rows], where something is said that is none
    moments : whether they are seconds since 1970
    """

    def __init__(self, values: np.ndarray, wrong: np.ndarray, moments: bool) -> None:
        self.values, self.wrong, self.moments = values, wrong, moments


def numbers_of(column: pa.Array, zone: ZoneInfo, time_format: str | None = None) -> Numbers | None:
    """Return a column as numbers, None for lists and the like, which are none."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        words = numbers_of(column.dictionary, zone, time_format)
        if words is None:
            return None
        codes = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        there = column.is_valid().to_numpy(zero_copy_only=False)
        values = (
            np.where(there, words.values[codes], np.nan) if len(words.values) else np.full(len(codes), np.nan)
        )
        wrong = words.wrong[codes] & there if len(words.wrong) else np.zeros(len(codes), dtype=bool)
        return Numbers(values, wrong, words.moments)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _of_texts(column, zone, time_format)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _of_moments(column, zone)
    if pa.types.is_duration(kind):
        column = compute.divide(column.cast(pa.duration("ns")).cast(pa.int64()).cast(pa.float64()), 1e9)
    elif pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
        column = column.cast(pa.float64()) if pa.types.is_decimal(kind) else column.cast(pa.int8())
    elif pa.types.is_null(kind):
        return Numbers(np.full(len(column), np.nan), np.zeros(len(column), dtype=bool), False)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)
    infinite = np.isinf(values)
    return Numbers(np.where(infinite, np.nan, values), infinite, False)


def numbers_of_lists(column: pa.Array, how: str) -> Numbers | None:
    """Return the ``mean`` or the ``max`` of the list of numbers in each row, None for lists of other things.

    Lists may stand as text, ``[1, 2.5]``. What says nothing in a list does not count; an empty one says
    nothing. A column of plain numbers is taken as lists of one.
    """
    kind = column.type
    spelt = np.zeros(len(column), dtype=bool)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        found = [_list_in(text) for text in column.to_pylist()]
        spelt = np.array([one is None for one in found], dtype=bool)
        column = pa.array(found, pa.large_list(pa.float64()))
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return numbers_of(column, ZoneInfo("UTC"))
    try:
        column = column.cast(pa.large_list(pa.float64()))
    except pa.ArrowException:
        return None
    size = compute.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    flat = column.flatten().to_numpy(zero_copy_only=False)
    there = np.isfinite(flat)
    values, some = np.full(len(size), np.nan), size > 0
    starts = (np.cumsum(size) - size)[some]
    if len(starts):
        count = np.add.reduceat(there.astype(np.int64), starts)
        with np.errstate(invalid="ignore"):
            if how == "mean":
                values[some] = np.add.reduceat(np.where(there, flat, 0.0), starts) / count
            else:
                most = np.maximum.reduceat(np.where(there, flat, -np.inf), starts)
                values[some] = np.where(count > 0, most, np.nan)
    return Numbers(values, spelt, False)


def _list_in(text: str | None) -> list[Any] | None:
    """Return the numbers of a list that stands as text, None for any other text."""
    if text is None or text.strip().lower() in NOTHING:
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = found if isinstance(found, list) else [found]
    good = all(one is None or (isinstance(one, int | float) and not isinstance(one, bool)) for one in found)
    return [None if one is None else float(one) for one in found] if good else None


def _of_moments(column: pa.Array, zone: ZoneInfo) -> Numbers:
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    aware = column.type.tz is not None
    nanoseconds = pa.timestamp("ns", tz=column.type.tz)
    whole = (
        column.cast(pa.timestamp("us", tz=column.type.tz), safe=False)
        if column.type != nanoseconds
        else column
    )
    found = pd.DatetimeIndex(whole.to_pandas())
    found = found.tz_convert("UTC") if aware else _on_clock(found, zone)
    return Numbers(_since_1970(found), np.zeros(len(column), dtype=bool), True)


def _of_texts(column: pa.Array, zone: ZoneInfo, time_format: str | None) -> Numbers:
    """Of each text once: a number, a moment, a duration, or nothing of the kind."""
    encoded = column.dictionary_encode()
    texts = pd.Series([word.strip() for word in encoded.dictionary.to_pylist()], dtype=object)
    values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64, copy=True)
    values[np.isinf(values)] = np.nan
    silent = texts.str.lower().isin(NOTHING).to_numpy(dtype=bool)
    open_ = np.isnan(values) & ~silent
    moments = False
    if open_.any():
        found = _moments_in(texts[open_], zone, time_format)
        moments = bool((~np.isnan(found)).any())
        found = np.where(np.isnan(found), [_seconds_in(text) for text in texts[open_]], found)
        values[open_] = found
    wrong = np.isnan(values) & ~silent
    codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    there = encoded.is_valid().to_numpy(zero_copy_only=False)
    if not len(values):
        return Numbers(np.full(len(codes), np.nan), np.zeros(len(codes), dtype=bool), False)
    return Numbers(np.where(there, values[codes], np.nan), wrong[codes] & there, moments)


def _moments_in(texts: pd.Series, zone: ZoneInfo, time_format: str | None) -> np.ndarray:
    """Seconds since 1970, NaN for what is no moment."""
    found = np.full(len(texts), np.nan)
    if time_format is not None:
        parsed = pd.to_datetime(texts, format=time_format, errors="coerce", utc="%z" in time_format)
        index = pd.DatetimeIndex(parsed)
        return _since_1970(index if index.tz is not None else _on_clock(index, zone))
    iso = texts.map(lambda text: _ISO.fullmatch(text) is not None).to_numpy(dtype=bool)
    if not iso.any():
        return found
    some = texts[iso].str.replace(" ?UTC$", "Z", regex=True).str.replace(",", ".", regex=False)
    aware = some.map(lambda text: _OFFSET.search(text, 11) is not None).to_numpy(dtype=bool)
    index = pd.DatetimeIndex(pd.to_datetime(some, format="ISO8601", errors="coerce", utc=True))
    on_clock = _since_1970(_on_clock(index.tz_localize(None), zone))
    found[iso] = np.where(aware, _since_1970(index), on_clock)
    return found


def _on_clock(index: pd.DatetimeIndex, zone: ZoneInfo) -> pd.DatetimeIndex:
    first = np.ones(
        len(index), dtype=bool
    )  # summer time, which is the first of two hours that are called alike
    return index.tz_localize(zone, ambiguous=first, nonexistent="shift_forward").tz_convert("UTC")


def _since_1970(index: pd.DatetimeIndex) -> np.ndarray:
    missing = np.asarray(index.isna())
    ticks = index.as_unit("us").asi8 if len(index) else np.zeros(0, dtype=np.int64)  # ns end in 2262
    seconds = ticks // 1_000_000 + ticks % 1_000_000 / 1e6
    return np.where(missing, np.nan, seconds)


def _seconds_in(text: str) -> float:
    """Seconds of ``[days-]hours:minutes[:seconds]``, NaN for any other text."""
    match = _DURATION.fullmatch(text)
    if match is None:
        days = _DAYS.fullmatch(text)
        return float(days[1]) * 86400 if days else float("nan")
    days_, hours, minutes, seconds = match.groups()
    return int(days_ or 0) * 86400.0 + int(hours) * 3600 + int(minutes) * 60 + float(seconds or 0)
