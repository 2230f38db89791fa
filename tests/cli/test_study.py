"""The command study: its page, its files, resuming, bad input, Ctrl-C."""

from __future__ import annotations

import signal
import time

import pandas as pd
import pytest

from tests.cli.command import CLUSTER, SAMPLE, process, started

STUDY = """\
systems: [{cluster}]
workloads: [{sample}]
policies: [fcfs, easy]
baseline: {{policy: easy}}
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(STUDY.format(cluster=CLUSTER, sample=SAMPLE))
    return path


def test_a_study_and_again(cli, study, tmp_path):
    done = cli("study", study, "--out", tmp_path / "out", "--workers", 1)
    assert (done.code, done.err) == (0, "")
    assert "two: 2 runs" in done.out
    assert "2 new in" in done.out
    assert "against easy" in done.out
    assert "not the values of the whole trace" in " ".join(done.out.split())
    again = cli("study", study, "--out", tmp_path / "out", "--workers", 1)
    assert "0 new in" in again.out
    assert "2 were there" in again.out
    index = pd.read_parquet(tmp_path / "out" / "index.parquet")
    assert index["policy"].tolist() == ["fcfs", "easy"]
    assert cli("study", study, "--out", tmp_path / "out", "--workers", 1, "--quiet").out == ""


def test_a_failed_run_is_told_at_the_end(cli, study, tmp_path):
    study.write_text(study.read_text().replace("[fcfs, easy]", "[fcfs, easy, late.yaml]"))
    (tmp_path / "late.yaml").write_text("order: late.py:late\nbackfill: easy\n")
    (tmp_path / "late.py").write_text("def late(nodes):\n    return nodes * float('nan')\n")
    done = cli("study", study, "--out", tmp_path / "out", "--workers", 1)
    assert done.code == 1
    assert "1 runs failed; the others are kept" in done.err
    assert pd.read_parquet(tmp_path / "out" / "index.parquet")["state"].tolist() == [
        "finished",
        "finished",
        "failed",
    ]


def test_names_in_models_that_mean_nothing_are_told(cli, study, tmp_path):
    (tmp_path / "models.yaml").write_text("conversions: [{origin: nowhere, to: CM}]\n")
    study.write_text(study.read_text() + "models: models.yaml\n")
    done = cli("study", study, "--out", tmp_path / "out", "--workers", 1)
    assert done.code == 0, done.err
    told = "2 runs with a module which the system does not have: manifest.json names it"
    assert told in done.out
    assert cli("report", tmp_path / "out", "--out", tmp_path / "page.html").code == 0
    assert told in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workers", "0"], "--workers: found 0"),
        (["--workers", "2", "--dask", "tcp://127.0.0.1:1"], "allowed: one of the two"),
        (["--dask", "none.yaml"], "none.yaml"),
    ],
)
def test_bad_options_are_told(cli, study, tmp_path, options, said):
    done = cli("study", study, "--out", tmp_path / "out", *options)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "out" / "index.parquet").exists()


def test_a_bad_study_writes_nothing(cli, tmp_path):
    (tmp_path / "bad.yaml").write_text("systems: []\npolicies: [fats]\n")
    done = cli("study", tmp_path / "bad.yaml", "--out", tmp_path / "out")
    assert done.code == 2
    assert "systems: found" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_interrupted_it_says_what_is_kept_and_goes_on(study, tmp_path):
    text = study.read_text().replace("[fcfs, easy]", "[conservative, easy]")
    study.write_text(text.replace(str(SAMPLE), str(SAMPLE.with_suffix(".yaml"))) + "seeds: 400\n")
    with started("study", study, "--out", tmp_path / "out", "--workers", "2") as running:
        for _ in range(300):
            if len(list((tmp_path / "out" / "packs").glob("[0-9a-f]*"))) > 4:
                break
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130, (out, err)
    assert "finished runs are kept" in err
    assert "Traceback" not in err
    study.write_text(study.read_text().replace("seeds: 400", "seeds: 2"))
    assert process("study", study, "--out", tmp_path / "out", "--workers", "1").code == 0


def test_a_metric_that_has_no_value_is_left_empty(cli, tmp_path):
    """The recipe has no users, so there is nothing to be fair between."""
    (tmp_path / "s.yaml").write_text(
        "systems: {s: {modules: [{name: a, nodes: 8}]}}\n"
        "workloads: {w: {recipe: {modules: [{name: a, nodes: 8, jobs: 50}]}}}\n"
        "policies: [fcfs, easy]\nbaseline: {policy: easy}\nseeds: 2\n"
        "metrics: [wait_time_mean, user_slowdown_jain]\n"
    )
    done = cli("study", tmp_path / "s.yaml", "--out", tmp_path / "out", "--workers", 1)
    assert (done.code, done.err) == (0, "")
    assert cli("report", tmp_path / "out").code == 0
