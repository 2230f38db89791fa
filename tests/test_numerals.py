"""Numbers as people write them."""

from __future__ import annotations

import pytest

from scheduler_sim.numerals import finite, integer, is_digits


@pytest.mark.parametrize("text", ["30_1", "", "1.0", "٣", "²", "0x10", "inf", "nan", "1 2", "--1", "9" * 41])
def test_what_is_no_whole_number(text):
    with pytest.raises(ValueError, match="not a whole number"):
        integer(text)


@pytest.mark.parametrize("text", ["30_1.5", "", "٣", "inf", "-Infinity", "nan", "1e9999", "1e", "."])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match="not a number"):
        finite(text)


def test_numbers():
    assert [integer(text) for text in ("7", " -7", "+07")] == [7, -7, 7]
    assert [finite(text) for text in ("7", "-.5", "1.", "2E3 ")] == [7.0, -0.5, 1.0, 2000.0]
    assert [is_digits(text) for text in ("07", "", "²", "٣", "1_0")] == [True, False, False, False, False]
