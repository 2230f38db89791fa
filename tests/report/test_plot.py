"""``result.plot`` and the card of a notebook: every picture by name, nothing loaded early, names escaped."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import pytest

from scheduler_sim.errors import InputError
from scheduler_sim.result.result import Result
from tests.conftest import ROOT
from tests.report.schedules import EASY, behind_a_shadow, schedule
from tests.report.test_gantt import HOSTILE, texts
from tests.result.hand_made import Run

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("name", ["overview", "gantt", "waits", "heat_map"])
def test_every_picture_shows_itself(name):
    figure = getattr(behind_a_shadow().plot, name)()
    assert figure._repr_png_().startswith(PNG)


def test_arguments_reach_the_picture():
    result = behind_a_shadow()
    assert "User:" in texts(result.plot.gantt("user"))
    assert result.plot.gantt(span=(50, 60)).axes[0].get_xlim() == (50, 60)
    assert "90th percentile of wait" in texts(result.plot.heat_map("wait_time_p90"))
    assert result.plot.diff(result, span=(50, 60)).axes[0].get_xlim() == (50, 60)
    with pytest.raises(InputError):
        result.plot.heat_map("nothing")


def test_others_stand_beside_this_run_even_under_its_name():
    legend = texts(behind_a_shadow().plot.waits({"easy": behind_a_shadow(), "other": behind_a_shadow()}))
    assert "easy (this run): 50 %" in legend
    assert "easy: 50 %" in legend
    assert "other: 50 %" in legend


def test_a_result_loads_no_matplotlib_until_it_is_drawn():
    code = (
        "import sys; from tests.report.schedules import behind_a_shadow; result = behind_a_shadow();"
        " result.plot; result._repr_html_(); print('matplotlib' in sys.modules);"
        " result.plot.gantt(); print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "True", "False"]


class Tags(HTMLParser):
    """What a browser would make of a card."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not attrs

    def handle_data(self, data):
        self.cells.append(data)


def test_the_card_has_the_headline_numbers():
    cells = Tags(behind_a_shadow()._repr_html_()).cells
    assert cells[0] == "Result: easy"
    rows = dict(zip(cells[1::2], cells[2::2], strict=True))
    assert rows == {
        "components": "4", "CM": "10 nodes, 55.0 % used", "mean wait": "0:01:08", "median wait": "45 s",
        "longest wait": "0:03:00", "mean bounded slowdown": "1.45", "makespan": "0:06:40",
    }  # fmt: skip


def test_the_card_says_what_did_not_complete():
    runs = [Run(0, 0, 9, 1, state="FAILED"), Run(0, None, 0, 1, state="REJECTED")]
    cells = Tags(schedule(runs, {"CM": 2, "DAM": 1}, EASY)._repr_html_()).cells
    rows = dict(zip(cells[1::2], cells[2::2], strict=True))
    assert (rows["failed"], rows["rejected"]) == ("1", "1")
    assert rows["all modules"].startswith("3 nodes")
    assert "pending" not in rows


def test_names_in_a_card_are_harmless():
    runs = [Run(0, 0, 90, 1, name) for name in HOSTILE]
    result = schedule(runs, dict.fromkeys(HOSTILE, 1), {**EASY, "name": '<img src=x onerror="alert(1)">'})
    page = Tags(result._repr_html_())
    assert page.tags == {"table", "caption", "tbody", "tr", "th", "td"}
    assert "<script>alert(1)</script>" in page.cells
    assert "\u202e" not in "".join(page.cells)


def test_an_empty_result_has_a_card():
    result = behind_a_shadow()
    empty = Result(result.components.iloc[:0], result.timeline.iloc[:0], {}, {})
    assert "<td>–</td>" in empty._repr_html_()
