"""Axes of time: dates at the marks where they are known, time since the first submission in any case."""

from __future__ import annotations

import pytest

from scheduler_sim.report.look import blank, look
from scheduler_sim.report.module_view import unix_start
from scheduler_sim.report.time_axis import time_axis

DAY = 86_400
NEW_YEAR = 1_704_067_200  # 2024-01-01 00:00 UTC


def drawn(first: int, last: int, **clock: int):
    """Return the marks of an axis, their places, its name, and the same of an axis below."""
    with look():
        figure = blank(8, 2)
        panel = figure.subplots()
        time_axis(panel, first, last, **clock)
        figure.draw_without_rendering()
    return [
        ([text.get_text() for text in axes.get_xticklabels()], list(axes.get_xticks()), axes.get_xlabel())
        for axes in (panel, *panel.child_axes)
    ]


def test_hours_alone_without_a_date():
    ((texts, _, name),) = drawn(0, 5 * 3600)
    assert texts == [f"{half / 2:g}" for half in range(11)]
    assert name == "hours after the first submission"


@pytest.mark.parametrize(
    ("days", "texts", "places"),
    [
        (2, ["Jan 1", "06:00", "12:00", "18:00", "Jan 2", "06:00", "12:00", "18:00", "Jan 3"], [0, 0.25]),
        (6, ["Jan 1", "Jan 2", "Jan 3", "Jan 4", "Jan 5", "Jan 6", "Jan 7"], [0, 1]),
        (400, ["2024", "Mar", "May", "Jul", "Sep", "Nov", "2025"], [0, 60]),
    ],
)
def test_dates_stand_where_they_begin_and_days_below(days, texts, places):
    (dates, at, none), (_, _, name) = drawn(100, 100 + days * DAY, zero=100, unix_start=NEW_YEAR - 100)
    assert dates == texts
    assert [(place - 100) / DAY for place in at[:2]] == places
    assert none == ""
    assert "after the first submission; 2024-01-01 to" in name


def test_without_a_date_in_the_calendar_there_is_none():
    assert len(drawn(0, DAY, unix_start=10**15)) == 1


@pytest.mark.parametrize("stated", [0, -5, "1996", None])
def test_a_clock_that_begins_before_1970_has_no_dates(stated):
    assert unix_start({"trace": {"unix_start_time": stated}}) is None
    assert unix_start({"trace": {"unix_start_time": NEW_YEAR}}) == NEW_YEAR
