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
    assert "--module sets the real one" in done.err
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
    assert "treated as strong scaling" in done.err
    assert list(tmp_path.iterdir()) == []


def test_times_have_no_tree(cli, tmp_path):
    (tmp_path / "t.csv").write_text("p,time\n2,100\n4,60\n8,40\n16,30\n32,25\n")
    done = cli("fit", "scaling", tmp_path / "t.csv", "--out", tmp_path / "t.yaml", "--scaling", "strong")
    assert done.code == 0, done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.png", "t.yaml"]


NO_CURVE = "nodes,time\n1,100\n2,1000\n4,3\n8,500\n16,2\n32,900\n"
STRONG = "nodes,run_time\n1,1000\n2,520\n4,280\n8,160\n16,110\n32,80\n"


@pytest.mark.parametrize("scaling", ["strong", "weak"])
def test_what_no_curve_fits_is_said_first_and_not_predicted(cli, tmp_path, scaling):
    (tmp_path / "t.csv").write_text(NO_CURVE)
    done = cli("fit", "scaling", tmp_path / "t.csv", "--out", tmp_path / "t.yaml", "--scaling", scaling)
    assert done.code == 0, done.err
    assert done.out.startswith("time does not fit, no model: no better than a constant; points predicted")
    (row,) = (line for line in done.out.splitlines() if line.startswith("time, s"))
    assert row.endswith("no model")
    assert f"warning: no curve describes time; {tmp_path / 't.yaml'} makes no predictions for it" in done.err
    assert "does not fit" in read_profile(tmp_path / "t.yaml").provenance.notes[0]


def test_times_are_told_in_seconds_as_the_file_names_them(cli, tmp_path):
    (tmp_path / "t.csv").write_text(STRONG)
    done = cli("fit", "scaling", tmp_path / "t.csv", "--scaling", "strong")
    assert done.out.startswith("run time fits well: points predicted from the others are 2.5 % off")
    assert "1 to 32 nodes" in done.out
    (row,) = (line for line in done.out.splitlines() if line.startswith("run time, s"))
    assert "(930.2 + 50.2 p) / p  65.79 (60.39 to 69.08)" in row
    assert "x processes" not in done.out


def test_ranks_of_nodes_are_refused(cli, tmp_path):
    (tmp_path / "t.csv").write_text(STRONG)
    done = cli("fit", "scaling", tmp_path / "t.csv", "--ranks-per-node", 24)
    assert done.code == 2
    assert "found 24 for points counted in nodes" in done.err


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
