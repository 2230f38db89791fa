"""The command predict-runtime: table, parts, warnings, bad input."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

AVBP = ROOT / "configs" / "apps" / "avbp.yaml"
SWEEP = ROOT / "configs" / "apps" / "sweep3d.yaml"


def row(text, start):
    words = start.split()
    (found,) = (line.split() for line in text.splitlines() if line.split()[: len(words)] == words)
    return found


def test_seconds_over_a_known_run(cli):
    done = cli("predict-runtime", AVBP, "--at", "nodes=8,16,32,64", "--known", "time=3600,nodes=8")
    assert done.code == 0, done.err
    assert row(done.out, "CM 8 3,600") == ["CM", "8", "3,600", "0.916", "8"]
    assert row(done.out, "CM 64") == ["CM", "64", "581", "0.709", "10.3", "4", "x"]
    assert "3600 s on 8 nodes of CM" in done.out
    assert "warning: 2 of 4 targets beyond the processes that were fitted" in done.err
    assert "efficiencies; --known" not in done.err


def test_parts_of_the_time_are_ranked_at_the_last_target(cli):
    done = cli("predict-runtime", SWEEP, "--at", "nodes=256", "--at", "nodes=4096")
    assert "receive is the largest part at 4,096 nodes: 78 % of the run time" in done.out
    assert row(done.out, "receive 4.03")[1:3] == ["4.03", "p^0.5"]
    assert row(done.out, "receive 4.03")[-8:] == ["5.2", "%", "46.7", "%", "77.8", "%", "64", "x"]
    assert "warning: Sweep3D: the profile does not say what was fitted" in done.err


def test_efficiencies_alone(cli):
    done = cli("predict-runtime", AVBP, "--at", "nodes=16")
    assert done.code == 0
    assert "run time, s" not in done.out
    assert "the profile contains efficiencies; --known time=S,nodes=N gives seconds" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((AVBP,), "--at"),
        (("none.yaml", "--at", "nodes=1"), "none.yaml"),
        ((AVBP, "--at", "nodes=8,size=1e9"), "--at: found 'size', on which AVBP does not depend"),
        ((AVBP, "--at", "nodes=8", "--known", "nodes=8"), "--known: found no time"),
        ((AVBP, "--at", "nodes=" + ",".join(["8"] * 1001)), "found 1,001 targets; allowed: up to 1,000"),
        ((ROOT / "configs" / "apps" / "coupled-climate.yaml", "--at", "nodes=8"), "modular application"),
    ],
)
def test_bad_input_is_told(cli, arguments, said):
    done = cli("predict-runtime", *arguments)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""
    assert "Traceback" not in done.err


VISITS = """\
PARAMETER p
POINTS 2 4 8 16 32
METRIC visits
REGION main
DATA 2
DATA 4
DATA 8
DATA 16
DATA 32
REGION io
DATA 5
DATA 5
DATA 5
DATA 5
DATA 5
METRIC time
REGION main
DATA 9
DATA 9
DATA 9
DATA 9
DATA 9
"""


def test_a_metric_is_fitted_saved_and_evaluated(cli, tmp_path):
    out = tmp_path / "visits.yaml"
    (tmp_path / "p.txt").write_text(VISITS)
    done = cli("fit", "scaling", tmp_path / "p.txt", "--metric", "visits", "--out", out)
    assert done.code == 0, done.err
    assert "p: visits, no run time, weak scaling" in done.out
    assert "note: visits is not a run time, so no profile is written" in done.err
    assert "main, s" not in done.out
    again = cli("fit", "scaling", tmp_path / "p.txt", "--out", out)
    assert again.code == 2
    assert "model of a metric" not in again.out
    done = cli("predict-runtime", out, "--at", "nodes=64,128")
    assert done.code == 0, done.err
    (row,) = (line.split() for line in done.out.splitlines() if line.split()[:1] == ["128"])
    assert row == ["128", "133", "4", "x"]
    assert "main is the largest part at 128 nodes: 96 % of the visits" in done.out
    assert "node-hours" not in done.out
    for arguments, said in (
        (("--at", "nodes=8,module=CM"), "--at: found 'module', on which p does not depend; allowed: nodes"),
        (("--at", "nodes=8", "--known", "time=1,nodes=8"), "--known: found a run beside a model of visits"),
    ):
        done = cli("predict-runtime", out, *arguments)
        assert done.code == 2
        assert said in done.err
    done = cli("fit", "scaling", tmp_path / "p.txt", "--metric", "visits", "--module", "CM")
    assert (done.code, "--module: found with visits" in done.err) == (2, True)
