"""``fit scaling`` of a file with points of several modules."""

from __future__ import annotations

import pytest

POINTS = "module,processes,time\nCM,1,100\nCM,2,52\nESB,1,50\nCM,4,28\nESB,2,27\nCM,8,16\n"


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(POINTS)
    return path


def test_the_profile_is_of_the_module_that_is_named(points, cli, tmp_path):
    profile = tmp_path / "p.yaml"
    ended = cli("fit", "scaling", points, "--module", "CM", "--scaling", "strong", "--out", profile)
    assert ended.code == 0, ended.err
    assert "CM" in profile.read_text()
    assert "names the module" not in ended.err


def test_without_a_name_the_modules_are_listed(points, cli):
    ended = cli("fit", "scaling", points)
    assert ended.code == 2
    assert "found 2 modules beside the column module; allowed: --module CM, --module ESB" in ended.err
