"""The command fit scaling: profile, pictures, notes, and bad input."""

from __future__ import annotations

import pytest

from scheduler_sim.scaling.profile_file import read_profile
from tests.conftest import ROOT

POINTS = ROOT / "configs" / "apps" / "points" / "prism.csv"


def test_a_profile_and_its_pictures(cli, tmp_path):
    done = cli(
        "fit", "scaling", POINTS, "--out", tmp_path / "prism.yaml", "--scaling", "strong", "--holdout", 2
    )
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prism-tree.png", "prism.png", "prism.yaml"]
    for said in ("load balance", "held against the rest", "envelope"):
        assert said in done.out
    assert "--module says where it ran" in done.err
    profile = read_profile(tmp_path / "prism.yaml")
    assert profile.scaling == "strong"
    assert profile.provenance.source == "prism.csv"
    assert 0.85 < profile.efficiency(256, "CLUSTER") < 0.9


def test_the_same_points_give_the_same_bytes(cli, tmp_path):
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        assert cli("fit", "scaling", POINTS, "--out", folder / "x.yaml", "--quiet").code == 0
    for name in ("x.yaml", "x.png", "x-tree.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_without_out_it_only_tells(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli("fit", "scaling", POINTS, "--reading", "LINEAR")
    assert done.code == 0, done.err
    assert "amdahl (linear)" in done.out
    assert "taken as strong scaling" in done.err
    assert list(tmp_path.iterdir()) == []


def test_times_have_no_tree(cli, tmp_path):
    (tmp_path / "t.csv").write_text("p,time\n2,100\n4,60\n8,40\n16,30\n32,25\n")
    done = cli("fit", "scaling", tmp_path / "t.csv", "--out", tmp_path / "t.yaml", "--scaling", "strong")
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.png", "t.yaml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "MODEL"),
        (("scalin",), "invalid choice"),
        (("scaling", "none.csv"), "none.csv: no such file"),
        (("scaling", POINTS, "--scaling", "hard"), "--scaling: found 'hard'; allowed: strong, weak"),
        (("scaling", POINTS, "--reading", "cubic"), "--reading: found 'cubic'"),
        (("scaling", POINTS, "--weights", "last"), "--weights: found 'last'"),
        (("scaling", POINTS, "--holdout", 9), "holdout: found 9; allowed: 1 to 4 of 5 points"),
        (("scaling", POINTS, "--holdout", -1), "--holdout: found -1"),
        (("scaling", POINTS, "--ranks-per-node", 0), "--ranks-per-node: found 0"),
        (("scaling", POINTS, "--out", "x.png"), "--out: found 'x.png'; allowed: a profile, .yaml or .yml"),
        (("scaling", POINTS, "--out", "none/x.yaml"), "none"),
        (("scaling", POINTS, "--app", "x" * 300, "--out", "x.yaml"), "app: found"),
        (("scaling", POINTS, "--module", "a b", "--out", "x.yaml"), "modules"),
    ],
)
def test_bad_input_is_told_and_leaves_nothing(cli, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cli("fit", *arguments)
    assert done.code in (1, 2)
    assert said in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_the_way_leaves_nothing(cli, tmp_path):
    (tmp_path / "x-tree.png").mkdir()
    done = cli("fit", "scaling", POINTS, "--out", tmp_path / "x.yaml")
    assert done.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["x-tree.png"]
