"""The timeline of a replay: intervals add up, and the picture is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from scheduler_sim.messages.patterns import stencil
from scheduler_sim.messages.replay import replay
from scheduler_sim.messages.timeline import COMPUTING, TRANSFER, WAITING, intervals
from scheduler_sim.report.messages_figure import COLUMNS, MOST_ROWS, STATES, timeline_figure
from tests.messages.network import network


@pytest.fixture(scope="module")
def replayed():
    trace = stencil(6, 2)
    return trace, replay(trace, network(latency_us=500, bandwidth_mb_s=10, links_out=1), record=True)


def test_intervals_are_what_each_process_did(replayed):
    trace, ran = replayed
    spans = intervals(trace, ran.records)
    for state, expected in ((COMPUTING, ran.useful), (WAITING, ran.waiting), (TRANSFER, ran.transfer)):
        mine = spans.state == state
        took = np.bincount(spans.process[mine], weights=(spans.end - spans.begin)[mine], minlength=6)
        assert (took == expected).all()
    for process in range(6):
        mine = spans.process == process
        assert (spans.begin[mine][1:] == spans.end[mine][:-1]).all()  # without a gap


def test_colours_are_the_shares_of_time(replayed):
    trace, ran = replayed
    figure = timeline_figure("x", *intervals(trace, ran.records), 6, ran.run_time)
    (image,) = figure.axes[0].images
    pixels = image.get_array()
    assert pixels.shape == (6, COLUMNS, 3)
    computing = np.isclose(pixels, to_rgb(STATES["computing"])).all(axis=2)
    assert (abs(computing.mean(axis=1) - ran.useful / ran.run_time) < 0.02).all()
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [*STATES, "ended"]


def test_many_processes_share_rows():
    processes = 3 * MOST_ROWS
    zero = np.arange(processes)
    figure = timeline_figure(
        "x", zero, np.zeros_like(zero), np.zeros_like(zero), np.where(zero % 3 == 0, 4, 0), processes, 4
    )
    pixels = figure.axes[0].images[0].get_array()
    assert pixels.shape[0] == MOST_ROWS
    assert np.allclose(pixels[:, 0], pixels[0, 0])  # a third computing, two ended


def test_nothing_at_all_can_be_drawn():
    nothing = np.zeros(0, dtype=np.int64)
    assert timeline_figure("x", nothing, nothing, nothing, nothing, 2, 0).axes
