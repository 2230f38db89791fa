"""Whole numbers parsed many at a time equal those parsed one at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_sim.workload.numbers import decimal, integer, number_text, parse_integers

texts = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.integers(0, 10**6).map(lambda number: f"{number:025d}"),
    st.text("0123456789-+. e/:", max_size=25),
)


@given(st.lists(texts, min_size=1))
@example(
    ["", "-", "--1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-0", "/", ":"]
)
def test_many_at_a_time(words):
    data = np.frombuffer("|".join(words).encode() + b"|", dtype=np.uint8)
    ends = np.flatnonzero(data == ord("|"))
    values, valid = parse_integers(data, np.concatenate([[0], ends[:-1] + 1]), ends)
    expected = [integer(word.encode()) for word in words]
    assert valid.tolist() == [number is not None for number in expected]
    assert values.tolist() == [number or 0 for number in expected]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_reads_back(value):
    text = number_text(value)
    assert "e" not in text
    assert decimal(text.encode()) == value
