"""Policies one above the other: titles, colours by wait, and what is refused."""

from __future__ import annotations

import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.report.side_by_side import side_by_side
from tests.report.schedules import behind_a_shadow


def test_each_policy_has_its_panel_and_its_mean_wait():
    result = behind_a_shadow()
    figure = side_by_side({"one": result, "<other>": result})
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert [title.partition(":")[0] for title in titles] == ["one", "<other>"]
    assert all("mean wait" in title and "% of the nodes used" in title for title in titles)
    assert all(panel.collections for panel in figure.axes)
    (key,) = figure.legends
    assert key.get_texts()[0].get_text() == "at once"


def test_what_cannot_be_drawn():
    result = behind_a_shadow()
    with pytest.raises(InputError, match="a span from 9 s to 9 s"):
        side_by_side({"one": result}, (9, 9))
    with pytest.raises(InputError, match="found several modules, or no result"):
        side_by_side({})


def test_a_run_in_which_nothing_ran():
    nothing = simulate(System.homogeneous(2), Workload.from_columns(nodes=[], submit_time=[], run_time=[]))
    assert len(side_by_side({"one": nothing}).axes) == 1
