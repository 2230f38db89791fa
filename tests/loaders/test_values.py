"""What values of others mean: numbers, moments on clocks, durations, nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from scheduler_sim.loaders.values import numbers_of, numbers_of_lists

ROME, ZULU = ZoneInfo("Europe/Rome"), ZoneInfo("UTC")


def one(text, zone=ZULU, time_format=None):
    found = numbers_of(pa.array([text]), zone, time_format)
    return "wrong" if found.wrong[0] else float(found.values[0])


def since_1970(*parts):
    return datetime(*parts, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2021-03-01 12:00:00", since_1970(2021, 3, 1, 12)),
        ("2021-03-01T12:00", since_1970(2021, 3, 1, 12)),
        ("2021-03-01", since_1970(2021, 3, 1)),
        ("2021-03-01T12:00:00.25Z", since_1970(2021, 3, 1, 12) + 0.25),
        ("2021-03-01T12:00:00+02:00", since_1970(2021, 3, 1, 10)),
        ("2021-03-01 12:00:00 UTC", since_1970(2021, 3, 1, 12)),
    ],
)
def test_moments(text, seconds):
    assert one(text) == seconds


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2021-03-28 01:59:59", (2021, 3, 28, 0, 59, 59)),
        ("2021-03-28 02:30:00", (2021, 3, 28, 1, 0, 0)),  # no clock in Rome showed it: moved on to 3 o'clock
        ("2021-03-28 03:00:00", (2021, 3, 28, 1, 0, 0)),
        ("2021-10-31 02:30:00", (2021, 10, 31, 0, 30, 0)),  # twice: the first, in summer time
        ("2021-07-01 00:00:00Z", (2021, 7, 1, 0, 0, 0)),
    ],
)
def test_clocks_that_change(text, utc):
    assert one(text, ROME) == since_1970(*utc)


def test_a_format_of_their_own():
    assert one("31.01.2021 13:05", ROME, "%d.%m.%Y %H:%M") == since_1970(2021, 1, 31, 12, 5)
    assert one("2021-01-31", ROME, "%d.%m.%Y %H:%M") == "wrong"


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("1.5e3", 1500), ("01:02:03", 3723), ("2-00:00:30", 172830), ("1 day, 0:00:01", 86401),
     ("3 days", 259200), ("10:30", 37800), ("-4", -4)],
)  # fmt: skip
def test_numbers_and_durations(text, value):
    assert one(text) == value


@pytest.mark.parametrize("text", ["", "NA", "nan", "None", "null", "Unknown", "-"])
def test_what_says_nothing(text):
    assert np.isnan(one(text))


@pytest.mark.parametrize("text", ["oops", "1,000", "0x10", "inf", "2021-13-01 00:00:00", "25"])
def test_what_is_none(text):
    assert one(text) == (25 if text == "25" else "wrong")


def test_types_of_arrow():
    moments = pa.array([datetime(2021, 7, 1), None])
    found = numbers_of(moments, ROME)
    assert found.moments
    assert found.values[0] == since_1970(2021, 6, 30, 22)
    assert np.isnan(found.values[1])
    assert numbers_of(pa.array([[1]]), ZULU) is None
    assert numbers_of(pa.array([True, False]), ZULU).values.tolist() == [1, 0]
    words = pa.array(["5", None, "x"]).dictionary_encode()
    found = numbers_of(words, ZULU)
    assert found.values[0] == 5
    assert found.wrong.tolist() == [False, False, True]


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.large_list(pa.float32()), None])
@pytest.mark.parametrize(
    ("how", "numbers"), [("mean", [150.0, None, None, 2.5, None]), ("max", [200.0, None, None, 2.5, None])]
)
def test_lists_of_numbers(kind, how, numbers):
    """What says nothing in a list does not count; text that is a list is one; an empty list says nothing."""
    lists = [[100, None, 200, float("nan")], [], None, [2.5], [None]]
    text = ["[100, null, 200, NaN]", "[]", None, "2.5", "[null]"]
    column = pa.array(text) if kind is None else pa.array(lists, kind)
    found = numbers_of_lists(column, how)
    assert [None if np.isnan(one) else one for one in found.values] == numbers
    assert not found.wrong.any()


def test_lists_of_other_things():
    assert numbers_of_lists(pa.array([["a"], ["b"]]), "mean") is None
    assert numbers_of_lists(pa.array([[[1]], [[2]]]), "mean") is None
    assert numbers_of_lists(pa.array([3, 4]), "max").values.tolist() == [3, 4], "of one number each"
    found = numbers_of_lists(pa.array(["[1", "[true]", '["1"]', "[1]", "[" * 100_000]), "mean")
    assert found.wrong.tolist() == [True, True, True, False, True]


def test_fixed_lists_and_empty_tables():
    fixed = pa.array([[1, 3], [5, 7]], pa.list_(pa.int64(), 2))
    assert numbers_of_lists(fixed, "mean").values.tolist() == [2, 6]
    assert numbers_of_lists(fixed.slice(1), "max").values.tolist() == [7]
    assert len(numbers_of_lists(pa.array([], pa.list_(pa.float64())), "mean").values) == 0
