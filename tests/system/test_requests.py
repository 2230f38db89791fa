"""What components ask for in words: features and licences."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import InputError
from scheduler_sim.system.constraint import parse_constraint
from scheduler_sim.system.licence import parse_licences
from scheduler_sim.system.system import Module

CM = Module("CM", 1, features=("intel", "x"))
ESB = Module("ESB", 1, features=("Intel", "GPU", "v100"))


@pytest.mark.parametrize(
    ("constraint", "cm", "esb"),
    [
        ("", True, True),
        ("NA", True, True),
        ("-1", True, True),
        (" ", True, True),
        ("intel", True, True),
        ("GPU", False, True),
        ("ESB", False, False),  # a module's name is no feature
        ("intel&gpu", False, True),
        ("gpu|x", True, True),
        ("amd|power", False, False),
        ("x*4", True, False),  # as in a DEEP-EST sample trace
        ("x * 4 & intel", True, False),
        ("(amd|intel)&gpu", False, True),
        ("[x|gpu]&intel", True, True),
        ("((v100))", False, True),
        ("x|amd&gpu", False, False),  # from left to right, as Slurm: (x|amd)&gpu
        ("x|(amd&gpu)", True, False),
        ("amd&gpu|x", True, False),
    ],
)
def test_features(constraint: str, cm: bool, esb: bool) -> None:
    assert (CM.satisfies(constraint), ESB.satisfies(constraint)) == (cm, esb)


@pytest.mark.parametrize(
    ("constraint", "found"),
    [
        ("a&&b", "found & at character 3"),
        ("&a", "found & at character 1"),
        ("a|", "found the end at character 3"),
        ("a b", "found b at character 3"),
        ("(a", "found the end at character 3"),
        ("a)", "found ) at character 2"),
        ("(a]", "found ] at character 3"),
        ("()", "found ) at character 2"),
        ("a*", "found * at character 2"),
        ("*4", "found * at character 1"),
        ("a(b)", "found ( at character 2"),
        ("x" * 1001, "constraint of 1001 characters"),
    ],
)
def test_constraints_that_cannot_be_understood(constraint: str, found: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_constraint(constraint)
    assert found in str(raised.value)
    assert "allowed: " in str(raised.value)


@pytest.mark.parametrize(
    ("request_", "alternatives"),
    [
        ("", [{}]),
        ("NA", [{}]),
        ("-1", [{}]),
        ("any", [{}]),  # as in the DEEP-EST sample traces
        ("a", [{"a": 1}]),
        ("a:2&b", [{"a": 2, "b": 1}]),
        ("a:2,b", [{"a": 2, "b": 1}]),
        ("a; b:03", [{"a": 1, "b": 3}]),
        ("a&a:2", [{"a": 3}]),
        ("a:2|b", [{"a": 2}, {"b": 1}]),
        ("a:2&b|c", [{"a": 2, "b": 1}, {"c": 1}]),
        ("fluent@server1:4", [{"fluent@server1": 4}]),
    ],
)
def test_licences(request_: str, alternatives: list[dict[str, int]]) -> None:
    assert parse_licences(request_) == alternatives


@pytest.mark.parametrize(
    "request_", ["a:", ":2", "a:0", "a:-1", "a:b", "a:1.5", "a&", "|a", "a b", "a,,b", "a:2:3"]
)
def test_licences_that_cannot_be_understood(request_: str) -> None:
    with pytest.raises(InputError, match="allowed: name or name:count"):
        parse_licences(request_)


def test_what_is_returned_is_the_callers_own() -> None:
    parse_licences("a")[0]["a"] = 7
    assert parse_licences("a") == [{"a": 1}]


expressions = st.recursive(
    st.sampled_from(["a", "b", "c"]),
    lambda inner: st.tuples(inner, st.sampled_from("&|"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
    max_leaves=8,
)


@given(expressions, st.sets(st.sampled_from(["a", "b", "c"])))
def test_grouped_expressions_mean_what_python_means(expression: str, features: set[str]) -> None:
    meaning = expression.replace("&", " and ").replace("|", " or ")
    expected = eval(meaning, {}, {name: name in features for name in "abc"})
    assert parse_constraint(expression).holds_for(features) is expected


@given(st.text(alphabet="ab&|()[]*4:, ;\n", max_size=12) | st.text(max_size=12))
def test_any_text_is_read_or_an_input_error(text: str) -> None:
    for read in (parse_constraint, parse_licences):
        with suppress(InputError):
            read(text)
