"""Points of several modules in one file: a column says which is which."""

from __future__ import annotations

import pytest

from scheduler_sim.errors import ConfigError
from scheduler_sim.scaling.fitting import read_points

TWO = "module,processes,time\nCM,1,100\nCM,2,52\nESB,1,50\nCM,4,28\nESB,2,27\n"


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(TWO)
    return path


def test_the_points_of_the_module_that_is_asked_for_are_read(points):
    found = read_points(points, module="esb")
    assert found.module == "ESB"
    assert found.times["time"].values.tolist() == [50, 27]
    assert read_points(points, module="CM").processes.tolist() == [1, 2, 4]


def test_a_file_of_one_module_says_where_it_was_measured(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("processes,module,time\n1,DAM,10\n2,DAM,6\n")
    found = read_points(path)
    assert (found.module, found.times["time"].values.tolist()) == ("DAM", [10, 6])


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (None, "points.csv:1: found 2 modules beside the column module; allowed: --module CM, --module ESB"),
        ("ESV", "found --module 'ESV' beside the column module; .* .did you mean 'ESB'"),
    ],
)
def test_which_module_is_meant_has_to_be_said(points, module, told):
    with pytest.raises(ConfigError, match=told):
        read_points(points, module=module)
