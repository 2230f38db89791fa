"""The nodes over time: every rectangle where it belongs, nothing lost of too many, any name harmless."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PolyCollection

from scheduler_sim.errors import InputError
from scheduler_sim.report import node_panel
from scheduler_sim.report.class_nodes import COLUMNS, column_edges, nodes_by_class
from scheduler_sim.report.colouring import colouring
from scheduler_sim.report.gantt import gantt
from scheduler_sim.report.look import TONES, ink, save_png, shades
from scheduler_sim.result.result import Result
from tests.report.schedules import EASY, behind_a_shadow, beside_each_other, schedule
from tests.result.hand_made import Run

HOSTILE = ["$x^2", "\x1b[31m", "<script>alert(1)</script>", "a" * 500, "\u202etxt.exe"]


def rectangles(panel) -> list[tuple[float, float, float, float]]:
    """Return (start, end, low, high) of each rectangle drawn in a panel."""
    found = [
        path.vertices
        for part in panel.collections
        if isinstance(part, PolyCollection)
        for path in part.get_paths()
    ]
    return [(*v[:, 0][[0, 1]], *v[:, 1][[0, 2]]) for v in found]


def fills(panel) -> np.ndarray:
    return np.concatenate([part.get_facecolor() for part in panel.collections])[:, :3]


def labels(panel) -> list[str]:
    return [text.get_text() for text in panel.texts]


def texts(figure) -> str:
    found = [figure.get_suptitle(), *(panel.get_title(loc="left") for panel in figure.axes)]
    legends = [legend for part in (figure, *figure.subfigs) for legend in part.legends]
    found += [legend.get_title().get_text() for legend in legends]
    found += [text.get_text() for legend in legends for text in legend.get_texts()]
    return "\n".join([*found, figure.axes[-1].get_xlabel()])


def test_every_component_stands_where_it_ran():
    figure = gantt(behind_a_shadow())
    (panel,) = figure.axes
    assert rectangles(panel) == [(0, 100, 0, 8), (100, 200, 0, 9), (200, 400, 0, 2), (30, 80, 8, 10)]
    assert sorted(labels(panel)) == ["1", "2", "3", "4"]
    assert (panel.get_xlim(), panel.get_ylim()) == ((0, 400), (0, 10))
    assert panel.get_title(loc="left") == "CM: 10 nodes, 55.0 % used"
    assert "minutes after the first submission" in texts(figure)


@pytest.mark.interpreted
def test_jobs_that_share_a_node_stand_beside_each_other():
    figure = gantt(beside_each_other())
    (panel,) = figure.axes
    assert rectangles(panel) == [(0, 100, 0, 0.5), (0, 300, 0.5, 0.75), (0, 50, 1, 3), (50, 150, 1, 1.75)]
    assert "each is as high in the row of its node as its share of the cores" in texts(figure)
    assert "all alike" not in texts(figure)


def test_waits_have_the_colour_of_their_class():
    waits = [0, 1, 599, 600, 3600, 21599, 21600, 86399, 86400]
    runs = [Run(0, wait, 10, 1) for wait in waits]
    colours = fills(gantt(schedule(runs, {"CM": 9}, EASY)).axes[0])
    tones = shades(6)
    expected = [tones[i] for i in (0, 1, 1, 2, 3, 3, 4, 4, 5)]
    np.testing.assert_allclose(colours, expected)


def test_ordered_colours_darken_and_text_stands_out():
    for number in range(1, 12):
        grey = [np.dot(tone, (0.299, 0.587, 0.114)) for tone in shades(number)]
        assert (np.diff(grey) < -0.03).all()
    assert [ink(tone) for tone in ("white", "#fde725", "#22a884", "#440154", "black")] == [
        "black", "black", "black", "white", "white",
    ]  # fmt: skip


def test_users_with_most_node_seconds_have_a_colour_and_the_others_are_counted():
    users = ["a", "b", "c", "d", "e", "f", "g", "h", ""]
    runs = [Run(0, i, 10 * (9 - i), 1) for i in range(9)]
    result = schedule(runs, {"CM": 9}, EASY, users=users)
    found = colouring(result, "user")
    assert found.code.tolist() == [0, 1, 2, 3, 4, 5, 6, 6, 7]
    assert [label for label, _ in found.keys] == ["a", "b", "c", "d", "e", "f", "2 others", "not known"]


def test_components_of_one_job_share_a_colour():
    runs = [
        Run(0, 0, 9, 1, job=7),
        Run(0, 0, 9, 1, job=3),
        Run(0, 9, 9, 1, job=7),
        Run(0, 9, 9, 1, job=9),
        Run(0, 18, 9, 1, job=9),
    ]
    found = colouring(schedule(runs, {"CM": 2}, EASY), "workflow")
    assert found.code.tolist() == [0, len(TONES), 0, 1, 1]
    assert [label for label, _ in found.keys] == [
        "2 jobs of several components: one colour each, which repeats", "1 job of one component",
    ]  # fmt: skip


def test_sizes_have_the_classes_of_the_slices():
    found = colouring(schedule([Run(0, 0, 9, n) for n in (1, 4, 5, 17)], {"CM": 40}, EASY), "size")
    assert found.code.tolist() == [0, 1, 2, 3]
    assert [label for label, _ in found.keys] == ["1", "2–4", "5–16", "17–64"]


def test_an_unknown_colour_is_refused():
    with pytest.raises(InputError, match="colours by 'users'; allowed: wait, size, user, app, workflow"):
        gantt(behind_a_shadow(), "users")


def test_a_span_cuts_and_keeps_the_clock():
    figure = gantt(behind_a_shadow(), span=(60, 240))
    (panel,) = figure.axes
    assert rectangles(panel) == [(60, 100, 0, 8), (100, 200, 0, 9), (200, 240, 0, 2), (60, 80, 8, 10)]
    assert [panel.xaxis.get_major_formatter()(x, 0) for x in (60, 120)] == ["1", "2"]
    with pytest.raises(InputError, match="a span from 5 s to 5 s"):
        gantt(behind_a_shadow(), span=(5, 5))


def test_a_panel_a_module_and_lost_nodes_above_it():
    runs = [Run(0, 0, 90, 4), Run(0, 0, 50, 2, "DAM"), Run(5, 50, 40, 2, "DAM"), Run(6, 90, 9, 3)]
    result = schedule(runs, {"CM": 5, "DAM": 2}, EASY, down={"CM": {10: 1, 40: 0}})
    figure = gantt(result)
    lost, first, second = figure.axes
    assert lost.get_title(loc="left").startswith("CM: 5 nodes")
    assert second.get_title(loc="left").startswith("DAM: 2 nodes")
    assert (rectangles(first), rectangles(second)) == (
        [(0, 90, 0, 4), (90, 99, 0, 3)],
        [(0, 50, 0, 2), (50, 90, 0, 2)],
    )
    (hatched,) = lost.collections
    assert hatched.get_hatch() == "xxxx"
    assert hatched.get_paths()[0].contains_point((20, 0.5))
    assert not hatched.get_paths()[0].contains_point((45, 0.5))
    assert "out of service" in texts(figure)


def test_of_many_modules_those_that_did_most():
    runs = [Run(0, 0, 10 * i + 1, 1, f"m{i}") for i in range(12)]
    figure = gantt(schedule(runs, {f"m{i}": 2 for i in range(12)}, EASY))
    assert [panel.get_title(loc="left").split(":")[0] for panel in figure.axes] == [
        f"m{i}" for i in range(4, 12)
    ]
    assert "Not drawn: 4 modules on which less ran." in texts(figure)


def dense(rows: int = node_panel.MOST_RECTANGLES + 1) -> Result:
    """More components than are drawn one by one: half of the nodes, half of the time."""
    result = behind_a_shadow()
    table = result.components
    many = pd.concat([table.iloc[[0]]] * rows, ignore_index=True)
    many["component_id"] = np.arange(rows)
    many["submit_time"] = many["eligible_time"] = many["start_time"] = np.arange(rows) * 100
    many["end_time"] = many["start_time"] + 50
    many["nodes"] = 5
    result.components = many
    return result


def test_of_more_than_can_be_told_apart_the_nodes_of_each_class_are_stacked():
    rows = node_panel.MOST_RECTANGLES + 1
    figure = gantt(dense(rows), span=(0, 100 * rows))
    (panel,) = figure.axes
    assert "more components than can be told apart" in texts(figure)
    at_once, *later = panel.collections
    corners = at_once.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx(2.5, abs=0.1)  # 5 nodes, half of the time
    assert all(one.get_paths()[0].vertices[:, 1].max() <= 2.6 for one in later)
    assert panel.get_ylabel() == "nodes"


spans = st.lists(
    st.tuples(st.integers(-50, 250), st.integers(0, 120), st.integers(1, 9), st.integers(0, 1)), max_size=8
)


@given(spans, st.sets(st.integers(0, 200), min_size=2, max_size=6))
def test_the_nodes_of_a_class_are_counted_second_by_second(found, edges):
    edges = np.array(sorted(edges))
    counted = np.zeros((2, 500))
    for start, long, nodes, code in found:
        counted[code, start + 50 : start + 50 + long] += nodes
    expected = [
        [counted[code, low + 50 : high + 50].mean() for low, high in pairwise(edges)] for code in (0, 1)
    ]
    start, long, nodes, code = (np.array([one[i] for one in found], dtype=np.int64) for i in range(4))
    held = nodes_by_class(start, start + long, nodes, code, 2, edges)
    np.testing.assert_allclose(held, expected, atol=1e-9)


@pytest.mark.parametrize("seconds", [1, 199, 86_400, 31_536_000, 10**9])
def test_columns_are_few_and_fill_the_span(seconds):
    edges = column_edges(7, 7 + seconds)
    assert (edges[0], edges[-1]) == (7, 7 + seconds)
    assert 1 <= len(edges) - 1 <= COLUMNS
    assert (np.diff(edges) > 0).all()


@pytest.mark.parametrize("colour", ["wait", "user", "app", "workflow", "size"])
def test_empty_and_one_job(colour, tmp_path):
    result = behind_a_shadow()
    empty = Result(result.components.iloc[:0], result.timeline.iloc[:0], {}, {"modules": {"CM": 10}})
    assert "nothing ran" in texts(gantt(empty, colour))
    one = schedule([Run(0, 5, 0, 1)], {"CM": 1}, EASY)
    figure = gantt(one, colour)
    save_png(figure, tmp_path / "one.png")
    assert rectangles(figure.axes[0]) == [(5, 5, 0, 1)]


def test_no_modules_at_all(tmp_path):
    result = behind_a_shadow()
    nothing = Result(result.components.iloc[:0], result.timeline.iloc[:0], {}, {})
    save_png(gantt(nothing), tmp_path / "nothing.png")


def test_hostile_names_are_drawn_as_text(tmp_path):
    runs = [Run(0, 0, 90, 1, name) for name in HOSTILE]
    result = schedule(runs, dict.fromkeys(HOSTILE, 1), {**EASY, "name": r"$\frac{"}, users=HOSTILE)
    figure = gantt(result, "user")
    save_png(figure, tmp_path / "names.png")
    assert "\x1b" not in texts(figure)
    assert "\u202e" not in texts(figure)
    assert "$x^2: 1 node" in texts(figure)


@pytest.mark.parametrize("make", [behind_a_shadow, dense])
def test_the_same_result_gives_the_same_bytes(make, tmp_path):
    one = save_png(gantt(make()), tmp_path / "one.png").read_bytes()
    assert save_png(gantt(make()), tmp_path / "other.png").read_bytes() == one
    assert gantt(make())._repr_png_() == one


RESERVED = [
    {"name": "$x^2<b>", "flags": [], "start": 20, "end": 60, "every_s": 0, "nodes": {"CM": "1,3-4"}},
    {
        "name": "day",
        "flags": ["DAILY"],
        "start": -86350,
        "end": -86340,
        "every_s": 86400,
        "nodes": {"CM": "0"},
    },
    {"name": "later", "flags": []},
]


def test_reservations_are_bands_on_their_nodes():
    result = behind_a_shadow()
    result.manifest |= {"reserved": RESERVED, "topology": {"CM": ["0-9"]}}
    figure = gantt(result)
    (panel,) = figure.axes
    boxes = sorted((*one.get_xy(), one.get_width(), one.get_height()) for one in panel.patches)
    assert boxes == [(20, 1, 40, 1), (20, 3, 40, 2), (50, 0, 10, 1)]
    assert " $x^2<b>" in labels(panel)
    assert "in an advance reservation" in texts(figure)
    assert "1 reservation of which a result does not state nodes or turns: later." in texts(figure)


def test_nodes_that_are_only_counted_have_no_bands_on_them():
    result = behind_a_shadow()
    result.manifest |= {"reserved": RESERVED}
    above, panel = gantt(result).axes
    assert not panel.patches
    (hatched,) = above.collections
    shape = hatched.get_paths()[0]
    assert [shape.contains_point(at) for at in ((40, 2.5), (40, 3.5), (55, 3.5), (70, 0.5))] == [
        True, False, True, False,
    ]  # fmt: skip
