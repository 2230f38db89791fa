"""Formulas over columns: what they come to, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.loaders.formula import read_formula
from tests.conftest import examples

COLUMNS = {"a": np.array([6.0, 8.0]), "b c": np.array([2.0, 0.0]), "d.e": np.array([np.nan, 1.0])}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", [6, 8]),
        ("60", [60, 60]),
        ("a * 60 + 1", [361, 481]),
        ("1 + a * 60", [361, 481]),
        ("a - 1 - 2", [3, 5]),
        ("a / 2 / 2", [1.5, 2]),
        ("-(a - 10) × 2", [8, 4]),
        ("a ÷ `b c`", [3, np.nan]),
        ('"b c" − -1', [3, 1]),
        ("d.e", [np.nan, 1]),
        ("1.5e1", [15, 15]),
    ],
)
def test_what_it_comes_to(text, found):
    formula = read_formula(text)
    values = np.broadcast_to(formula(COLUMNS.__getitem__), 2)
    np.testing.assert_array_equal(values, np.array(found, dtype=float))


def test_a_name_alone_is_a_column():
    assert read_formula(" a ").column == "a"
    assert read_formula("(a)").column == "a"
    assert read_formula("-a").column is None
    assert read_formula("a + `b c` + a").names == ("a", "b c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found its end"),
        ("a +", "found its end"),
        ("(a", "a closing parenthesis"),
        ("a b", "found 'b'"),
        ("a)", r"found '\)'"),
        ("a ** b", r"found '\*'"),
        ("__import__('os')", "allowed"),
        ("a; b", "found '; b'"),
        ("a if b", "found 'if'"),
        ("(" * 60 + "a" + ")" * 60, "more than 50 parentheses"),
        ("-" * 60 + "a", "more than 50 parentheses"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        read_formula(text)


@given(st.text("ab+-*/() .19\"`é;'", max_size=30))
@examples(300)
def test_any_text_is_a_formula_or_an_input_error(text):
    try:
        formula = read_formula(text)
    except InputError:
        return
    assert formula(lambda name: np.array([1.0])).dtype == np.float64


SUMS = st.recursive(
    st.sampled_from(["a", "3", "0.5"]),
    lambda part: st.tuples(part, st.sampled_from("+-*"), part).map(lambda three: f"({' '.join(three)})"),
    max_leaves=12,
)


@given(SUMS)
@examples(100)
def test_it_is_what_python_makes_of_it(text):
    assert (
        read_formula(text)(COLUMNS.__getitem__).tolist()
        == np.broadcast_to(
            eval(text, {"a": COLUMNS["a"]}), np.shape(read_formula(text)(COLUMNS.__getitem__))
        ).tolist()
    )
