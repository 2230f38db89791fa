"""Pictures: nothing lost in the columns, the same bytes each time, any result drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.errors import SchedulerSimError
from scheduler_sim.output import whole
from scheduler_sim.report.envelope import envelope, means
from scheduler_sim.report.figures import overview, save_png
from scheduler_sim.result.columns import TIMELINE, frame
from scheduler_sim.result.result import Result
from tests.report.schedules import EASY, behind_a_shadow, schedule
from tests.result.hand_made import Run

PNG = b"\x89PNG\r\n\x1a\n"

steps = st.lists(st.tuples(st.integers(-20, 120), st.integers(0, 9)), max_size=40).map(
    lambda rows: (
        np.array(sorted({t for t, _ in rows}), dtype=np.int64),
        np.array([dict(rows)[t] for t in sorted({t for t, _ in rows})], dtype=np.int64),
    )
)


def at_each_second(steps, first, last):
    return np.append(0, steps[1])[np.searchsorted(steps[0], np.arange(first, last), side="right")]


@given(steps=steps, last=st.integers(1, 100), columns=st.integers(1, 30))
def test_columns_keep_node_seconds_least_and_most(steps, last, columns):
    seconds = at_each_second(steps, 0, last)
    picture = envelope(steps, 0, last, columns)
    assert len(picture.area) <= columns
    assert picture.area.sum() == seconds.sum()
    for i, (begin, end) in enumerate(zip(picture.edges[:-1], picture.edges[1:], strict=True)):
        column = seconds[begin:end]
        assert (picture.area[i], picture.low[i], picture.high[i]) == (
            column.sum(),
            column.min(),
            column.max(),
        )
        if picture.exact:
            assert column.min() == column.max()
    np.testing.assert_allclose(means(steps, picture.edges), picture.mean)


def dense(components: int = 3000) -> Result:
    """One module with far more changes than columns."""
    time = np.arange(components, dtype=np.int64) * 60
    both = np.concatenate((time, time))
    busy = np.concatenate((time // 60 % 7, time // 60 % 7))
    columns = {
        "time": both,
        "module": ["CM"] * components + ["total"] * components,
        "nodes_busy": busy,
        "nodes_reserved_idle": 0 * both,
        "nodes_down": 0 * both,
        "queue_components": busy % 3,
        "queue_nodes": busy % 3 * 2,
    }
    result = behind_a_shadow()
    result.timeline = frame(columns, TIMELINE)
    return result


def texts(figure) -> str:
    found = [panel.get_title(loc="left") for panel in figure.axes]
    found += [panel.get_ylabel() for panel in figure.axes] + [figure.axes[-1].get_xlabel()]
    found += [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    found += [legend.get_title().get_text() for legend in figure.legends]
    return "\n".join([figure.get_suptitle(), *found])


def test_a_small_run_is_drawn_change_by_change(tmp_path):
    figure = overview(behind_a_shadow())
    text = texts(figure)
    assert "easy  ·  4 jobs on 10 nodes  ·  mean wait 67.5 s  ·  utilisation 55.0 %" in text
    assert "Every change is drawn" in text
    assert "nodes of 10" in text
    assert "minutes after the first submission" in text
    assert save_png(figure, tmp_path / "a.png").read_bytes().startswith(PNG)


def test_a_dense_run_says_what_its_columns_mean(tmp_path):
    text = texts(overview(dense()))
    assert "each of 2,000 columns sums up 90 s" in text
    assert "days after" not in text
    assert "hours after" in text


def test_several_modules_and_lost_nodes():
    runs = [Run(0, 0, 90, 4), Run(0, 0, 50, 2, "DAM"), Run(5, 50, 40, 2, "DAM"), Run(6, 90, 9, 3)]
    result = schedule(runs, {"CM": 5, "DAM": 2}, EASY, down={"CM": {10: 1, 40: 0}})
    text = texts(overview(result))
    assert "Busy nodes of CM" in text
    assert "Busy nodes of DAM" in text
    assert "waits for DAM" in text
    assert "out of service" in text
    assert len(overview(result).axes) == 4


def test_many_modules_are_drawn_as_a_whole():
    result = schedule([Run(0, 0, 90, 1, "m3")], {f"m{i}": 2 for i in range(9)}, EASY)
    figure = overview(result)
    assert len(figure.axes) == 3
    assert "nodes of 18" in texts(figure)


def test_an_empty_result(tmp_path):
    result = behind_a_shadow()
    empty = Result(result.components.iloc[:0], result.timeline.iloc[:0], {}, {"modules": {"CM": 10}})
    figure = overview(empty)
    assert "nothing ran" in texts(figure)
    save_png(figure, tmp_path / "empty.png")


@pytest.mark.parametrize("make", [behind_a_shadow, dense])
def test_the_same_result_gives_the_same_bytes(make, tmp_path):
    one = save_png(overview(make()), tmp_path / "one.png").read_bytes()
    other = save_png(overview(make()), tmp_path / "other.png").read_bytes()
    assert one == other
    assert one.count(b"Software") == one.count(b"tEXtSoftware\0scheduler-sim") == 1  # no version of anything
    assert b"tIME" not in one


def test_the_users_own_settings_do_not_show(tmp_path):
    import matplotlib

    expected = save_png(overview(behind_a_shadow()), tmp_path / "one.png").read_bytes()
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "savefig.dpi": 30}):
        assert save_png(overview(behind_a_shadow()), tmp_path / "other.png").read_bytes() == expected
        assert matplotlib.rcParams["font.size"] == 20


def test_names_are_not_formulas(tmp_path):
    runs = [Run(0, 0, 90, 1, "$x^2"), Run(0, 0, 90, 1, "\x1b[31m")]
    result = schedule(runs, {"$x^2": 2, "\x1b[31m": 1}, {**EASY, "name": r"$\frac{"})
    save_png(overview(result), tmp_path / "names.png")


def test_a_picture_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    figure = overview(behind_a_shadow())
    with pytest.raises(SchedulerSimError, match="cannot write"):
        save_png(figure, tmp_path / "nowhere" / "a.png")
    target = tmp_path / "a.png"
    target.write_text("older")
    monkeypatch.setattr(whole.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full")))
    with pytest.raises(SchedulerSimError, match=r"the disk at .* is full"):
        save_png(figure, target)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert target.read_text() == "older"
