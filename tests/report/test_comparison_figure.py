"""A comparison drawn: the intervals where they are, and better or worse only where the verdict says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.errors import InputError
from scheduler_sim.metrics.comparison import compare
from scheduler_sim.report.comparison_figure import BETTER, MARKS, OPEN, WORSE, comparison_figure, open_words
from scheduler_sim.report.look import save_png
from scheduler_sim.report.wording import percent_change
from tests.report.test_gantt import texts


def comparison(**columns) -> pd.DataFrame:
    """Return a table as of ``compare``, with these columns instead of plain ones."""
    plain = {
        "system": "one", "policy": ["fcfs", "sjf", "keep"], "baseline": "easy", "metric": "wait_time_mean",
        "confidence": 0.95, "ratio": [6.0, 0.7, 1.02],
        "ratio_low": [5.0, 0.6, 0.95], "ratio_high": [7.0, 0.8, 1.09],
        "verdict": ["longer by 500 %", "shorter by 30 %", "no difference found: within 9 %"],
    }  # fmt: skip
    return pd.DataFrame(plain | columns)


def drawn(panel) -> tuple[list[list[float]], list[tuple[float, str, str]]]:
    """Return the intervals and the marks (ratio, colour, shape) of a panel, from above."""
    lines = [
        line for line in panel.lines if list(line.get_xdata()) != [1, 1] or len(set(line.get_ydata())) == 1
    ]
    bars = [list(line.get_xdata()) for line in lines if len(line.get_xdata()) == 2]
    marks = [
        (line.get_xdata()[0], line.get_color(), line.get_marker())
        for line in lines
        if len(line.get_xdata()) == 1
    ]
    return bars, marks


def test_ratios_and_intervals_stand_where_they_are():
    figure = comparison_figure(comparison())
    (panel,) = figure.axes
    bars, marks = drawn(panel)
    assert bars == [[5, 7], [0.6, 0.8], [0.95, 1.09]]
    assert marks == [(6, *WORSE), (0.7, *BETTER), (1.02, *OPEN)]
    assert panel.get_xscale() == "log"
    assert panel.get_xlim()[0] < 0.6 < 7 < panel.get_xlim()[1]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["fcfs", "sjf", "keep"]
    assert panel.texts[0].get_text() == "longer by 500 %"
    assert panel.get_title(loc="left") == "Mean wait (less is better)"
    assert "Against easy  ·  ratio of means with 95 % intervals" in texts(figure)


def test_more_is_better_for_utilisation():
    verdicts = ["lower by 7 %", "higher by 2 %", "not certain among so many comparisons: higher by 1 %"]
    figure = comparison_figure(
        comparison(
            metric="utilization_total",
            ratio=[0.93, 1.02, 1.01],
            ratio_low=0.9,
            ratio_high=1.1,
            verdict=verdicts,
        )
    )
    assert [mark[1:] for mark in drawn(figure.axes[0])[1]] == [WORSE, BETTER, OPEN]
    assert figure.axes[0].get_title(loc="left") == "Utilisation (more is better)"


def test_of_some_metrics_neither_is_better():
    verdicts = ["lower by 7 %", "higher by 2 %", "no difference found: within 1 %"]
    figure = comparison_figure(
        comparison(
            metric="offered_load_total",
            ratio=[0.93, 1.02, 1.0],
            ratio_low=0.9,
            ratio_high=1.1,
            verdict=verdicts,
        )
    )
    assert [mark[1:] for mark in drawn(figure.axes[0])[1]] == [OPEN] * 3
    assert figure.axes[0].get_title(loc="left") == "Offered load total (neither is better)"
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "neither better nor worse"
    assert (
        open_words(["wait_time_mean", "users", "jobs"]) == "no certain difference or neither better nor worse"
    )


def test_an_interval_that_reaches_nothing_gets_an_arrow():
    figure = comparison_figure(comparison(ratio_low=[0.0, 0.6, 0.95], ratio_high=[900.0, 0.8, 1.09]))
    (panel,) = figure.axes
    left, right = panel.get_xlim()
    bars, marks = drawn(panel)
    assert bars[0] == [left, right]
    assert [mark[2] for mark in marks[:3]] == ["<", ">", WORSE[1]]


def test_no_interval_and_no_ratio_draw_what_is_known():
    nothing = comparison(ratio=[np.nan, 0.7, 1.0], ratio_low=np.nan, ratio_high=np.nan)
    bars, marks = drawn(comparison_figure(nothing).axes[0])
    assert bars == []
    assert [mark[0] for mark in marks] == [0.7, 1.0]


def test_rows_are_named_by_what_changes_and_metrics_have_panels_of_their_own():
    table = comparison(system=["a", "b", "b"], metric=["wait_time_mean", "wait_time_mean", "makespan"])
    first, second = comparison_figure(table).axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["a · fcfs", "b · sjf"]
    assert [label.get_text() for label in second.get_yticklabels()] == ["b · keep"]


@pytest.mark.parametrize("spread", [1.03, 1.2, 2.0, 30.0, 400.0])
def test_marks_do_not_touch_and_the_baseline_has_one(spread):
    figure = comparison_figure(comparison(ratio=[spread, 1.0, 1.0], ratio_low=1.0, ratio_high=1.0))
    ticks = figure.axes[0].get_xticks()
    low, high = figure.axes[0].get_xlim()
    assert 1.0 in ticks
    assert set(ticks) <= set(MARKS)
    assert (np.diff(np.log(ticks)) / np.log(high / low) >= 0.07 - 1e-9).all()


def test_as_compare_returns_it(tmp_path):
    rows = [
        {
            "policy": policy,
            "replicate": seed,
            "wait_time_mean": 100.0 * (seed + 1) * factor + 7 * (seed % 3) * (factor > 1),
        }
        for policy, factor in (("easy", 1), ("fcfs", 3), ("same", 1))
        for seed in range(8)
    ]
    figure = comparison_figure(compare(pd.DataFrame(rows), "wait_time_mean", "policy", "easy"))
    _, marks = drawn(figure.axes[0])
    assert [mark[1:] for mark in marks] == [WORSE, OPEN]
    assert marks[0][0] == pytest.approx(3, rel=0.05)
    assert marks[1][0] == 1
    one = save_png(figure, tmp_path / "a.png").read_bytes()
    assert (
        one
        == save_png(
            comparison_figure(compare(pd.DataFrame(rows), "wait_time_mean", "policy", "easy")),
            tmp_path / "b.png",
        ).read_bytes()
    )


def test_hostile_names(tmp_path):
    table = comparison(policy=["$x^2", "\x1b[31m", "b" * 300], baseline="\u202e$_", verdict="\x1b$^ " * 40)
    figure = comparison_figure(table)
    save_png(figure, tmp_path / "a.png")
    assert not set("\x1b\u202e") & set(
        texts(figure) + "".join(text.get_text() for text in figure.axes[0].texts)
    )


def test_what_is_no_comparison_is_refused():
    with pytest.raises(InputError, match="no column ratio_low in the comparison; needed: baseline"):
        comparison_figure(comparison().drop(columns="ratio_low"))
    with pytest.raises(InputError, match="the comparison has no rows"):
        comparison_figure(comparison().iloc[:0])


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.0, "no change"),
        (1.0001, "under 0.1 %"),
        (1.32, "+32 %"),
        (0.966, "−3.4 %"),
        (0.02, "−98 %"),
        (3.25, "3.25 times"),
    ],
)
def test_changes_in_words(ratio, text):
    assert percent_change(ratio) == text


def test_a_ratio_of_zero_stands_at_the_end_of_the_axis():
    """Nobody is overtaken under fcfs: the row was counted as better, but had no mark."""
    verdicts = ["lower by 100 %", "lower by 30 %", "no difference found: within 9 %"]
    figure = comparison_figure(
        comparison(
            metric="overtaken_share",
            ratio=[0.0, 0.7, 1.02],
            ratio_low=[0.0, 0.6, 0.95],
            ratio_high=[0.0, 0.8, 1.09],
            verdict=verdicts,
        )
    )
    marks = [mark for mark in drawn(figure.axes[0])[1] if mark[2] != "<"]
    assert marks == [(figure.axes[0].get_xlim()[0], *BETTER), (0.7, *BETTER), (1.02, *OPEN)]
