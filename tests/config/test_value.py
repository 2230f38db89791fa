"""The kinds of value: durations above all."""

from __future__ import annotations

import pytest

from scheduler_sim.config.problem import found, key_path, listed
from scheduler_sim.config.value import duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        (1, 1),
        (3600, 3600),
        (60.0, 60),
        ("90", 90),
        ("90s", 90),
        ("30m", 1800),
        ("24h", 86400),
        ("24 H", 86400),
        ("7d", 604800),
        ("10:00", 600),
        ("12:00:00", 43200),
        ("08:00:00", 28800),
        ("100:00:00", 360000),
        ("2-0", 172800),
        ("2-12", 216000),
        ("2-12:30", 217800),
        ("2-00:00:00", 172800),
        ("UNLIMITED", None),
        ("unlimited", None),
        ("INFINITE", None),
    ],
)
def test_durations(written: object, seconds: int | None) -> None:
    assert duration(written) == seconds


@pytest.mark.parametrize(
    "written",
    [
        0,
        -1,
        1.5,
        True,
        None,
        [],
        "",
        "soon",
        "1:2:3:4",
        "-5m",
        "1.5h",
        "0s",
        "00:00",
        "12:",
        "9" * 30,
        10**13,
    ],
)
def test_what_is_no_duration(written: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        duration(written)


def test_values_are_named_on_one_short_line() -> None:
    assert found(None) == "found nothing"
    assert found(True) == "found true"
    assert found({}) == "found a mapping"
    assert found([1]) == "found a list"
    assert found("a\nb") == r"found 'a\nb'"
    assert len(found("x" * 10**6)) < 100
    assert found(10**5000) == "found a number of thousands of digits"


def test_the_path_of_a_key() -> None:
    assert key_path(("modules", 0, "nodes")) == "modules[0].nodes"
    assert key_path(()) == ""
    assert key_path(("a\nb", 1)) == r"'a\nb'[1]"


def test_a_flood_of_problems_is_cut() -> None:
    assert listed(["a"] * 50) == ["a"] * 50
    assert listed(["a"] * 60)[-1] == "... and 10 more"
