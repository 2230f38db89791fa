"""Hostlist expressions: worked cases, mistakes, and a round trip."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.system.slurm_conf.hostlist import expand, natural_key, split


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("login", ["login"]),
        ("a,b", ["a", "b"]),
        (" a, b ", ["a", "b"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[8-11]", ["n8", "n9", "n10", "n11"]),
        ("n[001-003,200]", ["n001", "n002", "n003", "n200"]),
        ("n[7],m[1-2]x", ["n7", "m1x", "m2x"]),
        ("r[0-1]n[1-2]", ["r0n1", "r0n2", "r1n1", "r1n2"]),
        ("n[2, 1]", ["n2", "n1"]),
        ("[1-2]", ["1", "2"]),
        ("n[1-1]", ["n1"]),
    ],
)
def test_expressions(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names separated by single commas"),
        ("a,,b", "names separated by single commas"),
        ("a,", "names separated by single commas"),
        ("n[1-3", "names with closed brackets"),
        ("n1-3]", "names with closed brackets"),
        ("n[1[2]]", "names with closed brackets"),
        ("n[3-1]", "the smaller number first"),
        ("n[a-b]", "numbers and ranges"),
        ("n[]", "numbers and ranges"),
        ("n[1-]", "numbers and ranges"),
        ("n[0-99999999]", "more than 1,000,000 names"),
        ("n[0-9999]m[0-9999]", "more than 1,000,000 names"),
        ("n[0-600000],m[0-600000]", "more than 1,000,000 names"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        expand(text)


def test_commas_in_brackets_do_not_split() -> None:
    assert split("ALL,n[1,3-4],big") == ["ALL", "n[1,3-4]", "big"]


def test_numbers_sort_by_value() -> None:
    names = ["n10", "n9", "m2", "n1x2", "n1x10", "n"]
    assert sorted(names, key=natural_key) == ["m2", "n", "n1x2", "n1x10", "n9", "n10"]


ranges = st.tuples(st.integers(0, 60), st.integers(0, 12)).map(lambda r: (r[0], r[0] + r[1]))
prefixes = st.text(alphabet="abc-.", min_size=1, max_size=4)


@given(st.lists(st.tuples(prefixes, st.lists(ranges, min_size=1, max_size=3), st.integers(1, 3)), min_size=1))
def test_what_is_written_with_brackets_comes_back_name_by_name(parts) -> None:
    """Written here by hand from numbers: leading zeros go by the width of the first number."""
    written, wanted = [], []
    for prefix, numbers, width in parts:
        items = [f"{low:0{width}}-{high}" if high > low else f"{low:0{width}}" for low, high in numbers]
        written.append(f"{prefix}[{','.join(items)}]")
        wanted += [f"{prefix}{n:0{width}}" for low, high in numbers for n in range(low, high + 1)]
    assert expand(",".join(written)) == wanted


@given(st.lists(st.text(alphabet="abz019-_.", min_size=1, max_size=6), min_size=1, max_size=5))
def test_plain_names_are_themselves(names: list[str]) -> None:
    assert expand(",".join(names)) == names


@given(st.text(alphabet="an[]0129-, ", max_size=14) | st.text(max_size=14))
def test_any_text_is_read_or_an_input_error(text: str) -> None:
    with suppress(InputError):
        assert all(name and "[" not in name for name in expand(text))
