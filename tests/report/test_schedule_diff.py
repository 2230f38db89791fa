"""Two schedules of one workload: differences exact, winners and losers counted, other workloads refused."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from scheduler_sim.errors import InputError
from scheduler_sim.report.diff_figures import OUTCOMES, diff_figure
from scheduler_sim.report.look import save_png
from scheduler_sim.report.schedule_diff import schedule_diff
from scheduler_sim.result.result import Result
from tests.report.schedules import CONSERVATIVE, EASY, behind_a_shadow, schedule
from tests.report.test_gantt import HOSTILE, fills, rectangles, texts
from tests.result.hand_made import Run

USERS = ["ada", "ben", "cy", "dan"]


def kept_waiting() -> Result:
    """The components of ``behind_a_shadow`` in another order: 3 wins, 2 and 4 lose."""
    runs = [Run(0, 0, 100, 8), Run(10, 300, 100, 9), Run(20, 100, 200, 2), Run(30, 100, 50, 2)]
    return schedule(runs, {"CM": 10}, CONSERVATIVE, users=USERS)


def test_differences_by_component():
    table = schedule_diff(behind_a_shadow(), kept_waiting()).components
    assert table["wait_before"].tolist() == [0, 90, 180, 0]
    assert table["wait_after"].tolist() == [0, 290, 80, 70]
    assert table["wait_difference"].tolist() == [0, 200, -100, 70]
    assert table["end_difference"].tolist() == [0, 200, -100, 70]


def test_rows_are_matched_by_component_and_not_by_place():
    after = kept_waiting()
    after.components = after.components.iloc[[2, 0, 3, 1]].reset_index(drop=True)
    diff = schedule_diff(behind_a_shadow(), after)
    assert diff.components["component_id"].tolist() == [1, 2, 3, 4]
    assert diff.components["wait_difference"].tolist() == [0, 200, -100, 70]
    panels = diff_figure(diff).axes
    won, lost, same = (OUTCOMES[name] for name in ("earlier", "later", "at the same time"))
    colour = dict(zip(map(tuple, fills(panels[1])), rectangles(panels[1]), strict=False))
    assert len(colour) == 3
    found = {box: hex_of(fill) for fill, box in zip(fills(panels[1]), rectangles(panels[1]), strict=True)}
    assert found[(0, 100, 0, 8)] == same
    assert found[(300, 400, 0, 9)] == lost
    assert found[(100, 300, 0, 2)] == won


def hex_of(fill) -> str:
    return "#" + "".join(f"{round(255 * part):02X}" for part in fill)


def test_winners_and_losers_by_class():
    diff = schedule_diff(behind_a_shadow(), kept_waiting())
    sizes = diff.by("size")
    assert list(sizes.index) == ["2–4", "5–16"]
    assert sizes[["components", "shorter", "same", "longer", "not_in_both"]].to_numpy().tolist() == [
        [2, 1, 0, 1, 0],
        [2, 0, 1, 1, 0],
    ]
    assert sizes["wait_difference"].tolist() == [-15, 100]
    assert sizes["median_difference"].tolist() == [-15, 100]
    assert sizes["wait_before"].tolist() == [90, 45]
    assert diff.by("user").loc["cy", "shorter"] == 1
    with pytest.raises(InputError, match="slices by users; allowed: size, cores, gpus, run_time"):
        diff.by("users")


def test_what_ran_in_one_only_is_neither_winner_nor_loser():
    runs = [
        Run(0, 0, 100, 8),
        Run(10, None, 0, 9, state="REJECTED"),
        Run(20, 100, 200, 2),
        Run(30, 100, 50, 2),
    ]
    diff = schedule_diff(behind_a_shadow(), schedule(runs, {"CM": 8}, CONSERVATIVE))
    assert np.isnan(
        diff.components.loc[1, ["wait_after", "wait_difference", "end_difference"]].astype(float)
    ).all()
    large = diff.by("size").loc["5–16"]
    assert large[["components", "shorter", "same", "longer", "not_in_both"]].tolist() == [2, 0, 1, 0, 1]
    assert large["wait_before"] == 0  # of the one that ran in both
    assert "only in one of the two" in texts(diff_figure(diff))
    assert "mean wait 60 s → 50 s (−17 %)" in texts(diff_figure(diff))  # of those that ran in both


def test_a_cancelled_one_has_no_end():
    after = behind_a_shadow()
    after.components.loc[2, ["start_time", "run_time"]] = -1
    after.components.loc[2, "end_time"] = 60
    diff = schedule_diff(behind_a_shadow(), after)
    assert np.isnan(diff.components.loc[2, ["end_after", "end_difference"]].astype(float)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.iloc[:2], "component 3 is in the first run only, as are 1 more"),
        (lambda table: table.assign(component_id=[1, 2, 3, 9]), "component 4 is in the first run only$"),
        (lambda table: table.assign(component_id=[1, 2, 3, 3]), "component 3 stands twice in the second run"),
        (
            lambda table: table.assign(submit_time=[0, 11, 20, 30]),
            "component 2 is submitted at 10 s in the first run and is submitted at 11 s in the second",
        ),
        (
            lambda table: table.assign(modular_job_id=[1, 2, 3, 3]),
            "component 4 belongs to job 4 in the first",
        ),
    ],
)
def test_other_workloads_are_refused(change, message):
    after = behind_a_shadow()
    after.components = change(after.components)
    with pytest.raises(InputError, match=f"not two schedules of one workload: {message}"):
        schedule_diff(behind_a_shadow(), after)


def test_a_component_more_in_the_second_run_is_refused():
    before = behind_a_shadow()
    before.components = before.components.iloc[:3]
    with pytest.raises(InputError, match="component 4 is in the second run only"):
        schedule_diff(before, behind_a_shadow())


def test_before_above_after_on_one_axis():
    runs = [Run(0, 0, 90, 4), Run(0, 0, 50, 2, "DAM")]
    before = schedule(runs, {"CM": 5, "DAM": 2}, EASY)
    after = schedule([Run(0, 500, 90, 4), Run(0, 0, 50, 2)], {"CM": 9}, EASY)
    figure = diff_figure(schedule_diff(before, after))
    titles = [panel.get_title(loc="left") for panel in figure.axes]
    assert titles[:3] == ["before: CM, 5 nodes", "after: CM, 9 nodes", "before: DAM, 2 nodes"]
    assert {panel.get_xlim() for panel in figure.axes[:3]} == {(0, 590)}
    assert "By module" in titles
    assert figure.get_suptitle() == "before → after  ·  mean wait 0 s → 4.17 min"


def test_bars_show_shares_to_both_sides():
    figure = diff_figure(schedule_diff(behind_a_shadow(), kept_waiting()))
    panel = next(panel for panel in figure.axes if panel.get_title(loc="left") == "By nodes")
    widths = {(round(bar.get_y() + bar.get_height() / 2), bar.get_width()) for bar in panel.patches}
    assert widths == {(1, 50), (1, -50), (0, 0), (0, -50)}
    assert [text.get_text() for text in panel.texts] == ["1", "1", "0", "1"]
    panel = next(panel for panel in figure.axes if panel.get_title(loc="left").startswith("Change of wait"))
    assert panel.get_title(loc="left") == "Change of wait: 25 % wait less, 50 % longer"


def test_with_itself_nothing_changes():
    figure = diff_figure(schedule_diff(behind_a_shadow(), behind_a_shadow()))
    assert figure.get_suptitle() == "before → after  ·  mean wait 67.5 s → 67.5 s (no change)"
    colours = np.concatenate(
        [
            part.get_facecolor()
            for panel in figure.axes[:2]
            for part in panel.collections
            if isinstance(part, PolyCollection)
        ]
    )
    assert {hex_of(fill[:3]) for fill in colours} == {OUTCOMES["at the same time"]}


def test_empty_and_hostile(tmp_path):
    result = behind_a_shadow()
    empty = Result(result.components.iloc[:0], result.timeline.iloc[:0], {}, {"modules": {"CM": 10}})
    save_png(diff_figure(schedule_diff(empty, empty)), tmp_path / "empty.png")
    runs = [Run(0, 0, 90, 1, name) for name in HOSTILE]
    both = [
        schedule(runs, dict.fromkeys(HOSTILE, 1), {**EASY, "name": name}, users=HOSTILE)
        for name in ("$\\frac{", "\x1b")
    ]
    figure = diff_figure(schedule_diff(*both))
    save_png(figure, tmp_path / "hostile.png")
    assert "\x1b" not in texts(figure)


def test_the_same_results_give_the_same_bytes(tmp_path):
    files = [
        save_png(diff_figure(schedule_diff(behind_a_shadow(), kept_waiting())), tmp_path / name)
        for name in ("a", "b")
    ]
    assert files[0].read_bytes() == files[1].read_bytes()
