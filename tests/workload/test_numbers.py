"""Numbers of traces: what is one, and their text."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_sim.workload.numbers import decimal, integer, number_text

texts = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.integers(0, 10**6).map(lambda number: f"{number:025d}"),
    st.text("0123456789-+. e/:", max_size=25),
)


@given(texts)
@example("")
@example("-")
@example("--1")
@example("9223372036854775807")
@example("9223372036854775808")
@example("-9223372036854775808")
@example("-0")
def test_an_integer_is_digits_with_an_optional_minus_within_int64(text):
    number = int(text) if re.fullmatch("-?[0-9]+", text) else None
    assert integer(text.encode()) == (number if number is not None and -(2**63) <= number < 2**63 else None)


@pytest.mark.parametrize("digits", [400, 60_000])
def test_numbers_may_be_as_long_as_a_line(digits):
    assert integer(b"-" + b"0" * digits + b"7") == -7
    assert integer(b"7" * digits) is None
    assert decimal(b"0." + b"0" * digits + b"7") == 0
    assert decimal(b"7" * digits) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_reads_back(value):
    text = number_text(value)
    assert "e" not in text
    assert decimal(text.encode()) == value
