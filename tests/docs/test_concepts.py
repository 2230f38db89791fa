"""The drawings of the concepts show what is simulated, and that is what was worked out by hand."""

from __future__ import annotations

import json
from functools import cache

import pytest
from PIL import Image

from analysis.concepts import cases
from analysis.concepts.blocks import Rows
from analysis.concepts.drawing import draw
from analysis.concepts.pictures import PICTURES
from scheduler_sim import simulate
from tests.conftest import ROOT

pytestmark = pytest.mark.interpreted

BY_HAND = [
    (cases.ONE_PASS, "fcfs", {"A": 0, "B": 0, "C": 6, "D": 10, "E": 10}),
    (cases.BACKFILL, "fcfs", {"A": 0, "B": 0, "C": 6, "D": 11, "E": 15, "F": 16, "G": 19}),
    (cases.BACKFILL, "easy", {"A": 0, "B": 0, "C": 6, "D": 2, "E": 16, "F": 2, "G": 11}),
    (cases.BACKFILL, "conservative", {"A": 0, "B": 0, "C": 6, "D": 2, "E": 11, "F": 15, "G": 2}),
    (cases.CALLING, "easy", {"A": 0, "B": 0, "C": 7, "D": 1, "E": 12}),
    (cases.SHARED, "easy", {"A": 0, "B": 0, "C": 10, "D": 3}),
]


@cache
def drawing(name):
    return PICTURES[name]()


@pytest.mark.parametrize(("case", "policy", "starts"), BY_HAND)
def test_starts_are_those_worked_out_by_hand(case, policy, starts):
    jobs = simulate(*case, policy).components
    assert dict(zip(jobs["name"], jobs["start_time"] / cases.MINUTE, strict=True)) == starts


def test_components_start_together_or_a_delay_later():
    together = simulate(*cases.HETEROGENEOUS, "easy").components
    assert together["start_time"][together["name"] == "C"].tolist() == [8 * 60, 8 * 60]
    later = simulate(*cases.DELAYED, "conservative").components
    assert later["start_time"][later["name"] == "C"].tolist() == [3 * 60, 10 * 60]


def test_passes_reserve_what_was_worked_out_by_hand():
    easy = cases.watched(*cases.BACKFILL, "Easy", 2)
    assert (easy.queue, easy.reserved) == (list("CDEFG"), {"C": 6})
    assert easy.running == {"A": 6, "B": 16, "D": 6, "F": 16}
    conservative = cases.watched(*cases.BACKFILL, "Conservative", 2)
    assert conservative.reserved == {"C": 6, "E": 11, "F": 15}


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_that_is_kept_shows_what_is_simulated(name):
    with Image.open(ROOT / "docs" / "images" / "concepts" / f"{name}.png") as kept:
        shown = json.loads(kept.text["Description"])
    made = json.loads(json.dumps(drawing(name).shown()))
    assert shown == made, "run: python -m analysis.concepts"


def test_every_block_is_drawn_where_it_stands():
    easy = drawing("easy")
    for panel, axes in zip(easy.panels, draw(easy).axes, strict=True):
        drawn = [
            (patch.get_x(), patch.get_width(), patch.get_y(), patch.get_height()) for patch in axes.patches
        ]
        area = sum((block.end - block.start) * len(block.rows) for block in panel.blocks)
        assert sum(width * height for _, width, _, height in drawn) == area
        for block in panel.blocks:
            assert (block.start, block.end - block.start) in {(x, width) for x, width, _, _ in drawn}


def test_rows_are_taken_once():
    rows = Rows(4)
    assert rows.take(0, 5, 2) == (0, 1)
    assert rows.take(2, 7, 1) == (2,)
    assert rows.take(5, 9, 2) == (0, 1)
    assert rows.take(7, 8, 2) == (2, 3)
    with pytest.raises(ValueError, match="only"):
        rows.take(6, 8, 1)
