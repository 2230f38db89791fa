"""Waits and slowdowns: every value at its share, 0 shown, several runs told apart; and the heat map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from scheduler_sim.errors import InputError
from scheduler_sim.report import distributions
from scheduler_sim.report.distributions import steps_of, time_marks, waits
from scheduler_sim.report.heat_map import heat_map
from scheduler_sim.report.look import save_png
from scheduler_sim.report.measures import metric_words, written
from scheduler_sim.result.result import Result
from tests.report.schedules import EASY, FCFS, behind_a_shadow, schedule
from tests.report.test_gantt import texts
from tests.result.hand_made import Run


def test_every_wait_stands_at_its_share():
    figure = waits({"easy": behind_a_shadow()})  # waits 0, 90, 180, 0
    left, right = figure.axes
    (line,) = left.lines
    assert line.get_xydata().tolist() == [[0, 0], [0, 0.5], [90, 0.75], [180, 1]]
    assert line.get_drawstyle() == "steps-post"
    (line,) = right.lines  # runs 100, 100, 200, 50
    assert line.get_xydata().tolist() == [[1, 0], [1, 0.5], [1.9, 1]]
    assert left.get_xlim()[0] == 0
    assert [text.get_text() for text in left.get_xticklabels()][:2] == ["0", "1 s"]


def test_runs_are_named_and_differ_in_colour_and_dashes():
    one, other = behind_a_shadow(), schedule([Run(0, 7200, 9, 1)], {"CM": 1}, FCFS)
    figure = waits({"easy": one, "$fcfs": other})
    assert "easy: 50 % at once, median wait 45 s, mean 67.5 s" in texts(figure)
    assert "$fcfs: 0 % at once, median wait 2 h, mean 2 h" in texts(figure)
    lines = figure.axes[0].lines
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 2
    assert lines[0].get_linestyle() != lines[1].get_linestyle()


def linear_axis():
    return Figure().subplots().xaxis.get_transform()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=200))
def test_shares_are_those_of_a_plain_count(values):
    x, share = steps_of(np.array(values), linear_axis())
    assert (x[0], share[0]) == (min(values), 0)
    for place, part in zip(x[1:], share[1:], strict=True):
        assert part == sum(value <= place for value in values) / len(values)
    assert set(x) == set(values)


def test_many_values_are_thinned_but_not_moved(monkeypatch):
    monkeypatch.setattr(distributions, "MOST_POINTS", 50)
    values = np.arange(1000) ** 2
    x, share = steps_of(values, linear_axis())
    assert len(x) == 51
    assert (x[-1], share[-1]) == (999**2, 1)
    np.testing.assert_allclose(share[1:], [(values <= place).mean() for place in x[1:]])


@given(st.floats(0, 1e10))
def test_the_axis_ends_at_a_mark_that_is_far_enough(most):
    marks = list(time_marks(most))
    assert marks[0] == 0
    assert marks == sorted(marks)
    assert marks[-1] >= most or most > 1e9
    assert marks[-2] < most or len(marks) <= 3


def test_nothing_ran(tmp_path):
    result = behind_a_shadow()
    empty = Result(result.components.iloc[:0], result.timeline.iloc[:0], {}, {"modules": {"CM": 10}})
    figure = waits({"none": empty, "easy": result})
    assert "none: nothing ran" in texts(figure)
    save_png(figure, tmp_path / "a.png")
    save_png(waits({"none": empty}), tmp_path / "b.png")
    save_png(heat_map(empty), tmp_path / "c.png")


def cells(figure) -> dict[tuple[str, str], tuple[str, str]]:
    """Return (nodes, run time) -> (value, components) of a heat map."""
    panel = figure.axes[0]
    rows = [label.get_text() for label in panel.get_yticklabels()]
    columns = [label.get_text() for label in panel.get_xticklabels()]
    found: dict[tuple[str, str], list[str]] = {}
    for text in panel.texts:
        x, y = text.get_position()
        found.setdefault((rows[int(y)], columns[int(x)]), []).append(text.get_text())
    return {cell: tuple(both) for cell, both in found.items()}


def test_each_cell_has_its_mean_and_its_count():
    runs = [
        Run(0, 0, 59, 1),
        Run(0, 30, 60, 1),
        Run(0, 90, 599, 1),
        Run(0, 7200, 86400, 5),
        Run(0, None, 0, 5, state="PENDING"),
    ]
    figure = heat_map(schedule(runs, {"CM": 9}, EASY))
    assert cells(figure) == {
        ("1", "< 1 min"): ("0 s", "1"),
        ("1", "1 to 10 min"): ("60 s", "2"),
        ("5–16", "≥ 1 d"): ("2 h", "1"),
    }
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["1", "2–4", "5–16"]
    colours = [tuple(part.get_facecolor()[0]) for part in figure.axes[0].collections]
    assert len(set(colours)) == 2  # 0 s and the least above it are lightest
    grey = [np.dot(colour[:3], (0.299, 0.587, 0.114)) for colour in colours]
    assert grey[2] == min(grey)


def test_another_measure():
    figure = heat_map(behind_a_shadow(), "bounded_slowdown_mean")
    assert cells(figure)["5–16", "1 to 10 min"] == ("1.45", "2")
    assert "Mean bounded slowdown by size and run time" in texts(figure)
    with pytest.raises(InputError, match="measure wait; allowed: "):
        heat_map(behind_a_shadow(), "wait")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wait_time_mean", "mean wait"),
        ("bounded_slowdown_p99", "99th percentile of bounded slowdown"),
        ("response_time_max", "largest response time"),
        ("wait_time_weighted", "mean wait of a node-hour"),
        ("utilization_total", "utilisation"),
        ("utilization_CM", "utilisation of CM"),
        ("user_slowdown_jain", "user slowdown jain"),
        ("makespan", "makespan"),
    ],
)
def test_measures_in_words(name, words):
    assert metric_words(name) == words


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (0, "wait_time_mean", "0 s"),
        (59.96, "wait_time_mean", "60 s"),
        (12345, "wait_time_mean", "3.42 h"),
        (1234.56, "bounded_slowdown_mean", "1,235"),
        (12.3456, "bounded_slowdown_mean", "12.3"),
        (0.01234, "overtaken_share", "0.0123"),
        (0.0, "overtaken_share", "0"),
        (7, "users", "7"),
    ],
)
def test_values_with_sensible_digits(value, name, text):
    assert written(value, name) == text


@pytest.mark.parametrize(
    "draw", [lambda: waits({"a": behind_a_shadow()}), lambda: heat_map(behind_a_shadow())]
)
def test_the_same_result_gives_the_same_bytes(draw, tmp_path):
    assert (
        save_png(draw(), tmp_path / "a.png").read_bytes() == save_png(draw(), tmp_path / "b.png").read_bytes()
    )
