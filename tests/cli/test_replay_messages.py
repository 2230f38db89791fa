"""The command replay-messages: tables, files, pictures, and bad input."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest

from scheduler_sim.messages.patterns import stencil
from scheduler_sim.messages.reading import write_messages
from scheduler_sim.scaling.profile_file import read_profile
from tests.conftest import ROOT

MESSAGES = ROOT / "workloads" / "messages"
STENCIL, WAVE = MESSAGES / "stencil-8.csv", MESSAGES / "wavefront-12.dim"
CLUSTER = ROOT / "configs" / "networks" / "cluster.yaml"
ON = ("--network", CLUSTER)


def test_a_table_of_factors_and_what_ifs(cli):
    done = cli("replay-messages", STENCIL, *ON, "--what-if", "balanced", "--what-if", "faster:inner:2+ideal")
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert ["as", "traced"] in [row[:2] for row in rows]
    (balanced,) = [row for row in rows if row[:1] == ["balanced"]]
    assert balanced[5:7] == ["1.0000", "1.0000"]
    assert "faster:inner:2+ideal" in done.out
    assert "8 processes, 336 records, 80 messages" in done.out


def test_all_files_and_the_picture_whole_and_the_same(cli, tmp_path):
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        files = ("--out", folder / "r.json", "--points", folder / "p.csv", "--profile", folder / "app.yaml")
        done = cli("replay-messages", STENCIL, *ON, *files, "--plot", folder / "t.png", "--scaling", "weak")
        assert done.code == 0, done.err
        assert sorted(path.name for path in folder.iterdir()) == ["app.yaml", "p.csv", "r.json", "t.png"]
    for name in ("app.yaml", "p.csv", "r.json", "t.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    (found,) = json.loads((tmp_path / "a" / "r.json").read_text())["traces"]
    product = found["load_balance"] * found["serialization"] * found["transfer"]
    assert product == pytest.approx(found["parallel_efficiency"], abs=1e-8)
    each = found["per_process"]
    for parts in zip(each["useful_s"], each["waiting_s"], each["transfer_s"], each["end_s"], strict=True):
        assert sum(parts[:3]) == pytest.approx(parts[3])
    profile = read_profile(tmp_path / "a" / "app.yaml")
    assert (profile.app, profile.scaling) == ("stencil-8", "weak")


def test_a_row_a_process(cli, tmp_path):
    assert cli("replay-messages", STENCIL, WAVE, *ON, "--out", tmp_path / "r.csv", "--quiet").code == 0
    with (tmp_path / "r.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["process"] for row in rows] == [*map(str, range(8)), *map(str, range(12))]
    assert {row["module"] for row in rows} == {"CLUSTER"}
    # written again over its own kind, refused over others
    assert cli("replay-messages", WAVE, *ON, "--out", tmp_path / "r.csv", "--quiet").code == 0
    (tmp_path / "other.csv").write_text("thesis\n")
    refused = cli("replay-messages", WAVE, *ON, "--out", tmp_path / "other.csv")
    assert refused.code == 2
    assert "left alone" in refused.err


def test_points_of_several_traces_go_straight_into_fit(cli, tmp_path):
    traces = [write_messages(stencil(p, 2), tmp_path / f"{p}.dim") for p in (2, 4, 8, 16, 32)]
    points = tmp_path / "p.csv"
    done = cli("replay-messages", *traces, *ON, "--points", points, "--scaling", "strong", "--quiet")
    assert done.code == 0, done.err
    fitted = cli("fit", "scaling", points, "--scaling", "strong", "--module", "CLUSTER")
    assert fitted.code == 0, fitted.err
    for factor in ("load balance", "serialization", "transfer", "computation scalability"):
        assert factor in fitted.out


def test_what_is_not_replayed_is_noted(cli, tmp_path):
    text = WAVE.read_text() + "20:0:0:50000001:1\n2:0:0:1:-1:5:99:0:0\n"
    (tmp_path / "t.dim").write_text(text)
    done = cli("replay-messages", tmp_path / "t.dim", *ON)
    assert done.code == 0, done.err
    assert "events of type 50000001: 1" in done.err
    assert "1 messages are sent and never received" in done.err


BAD = {
    "no network": ([STENCIL], "--network"),
    "no such network": ([STENCIL, "--network", "none.yaml"], "none.yaml"),
    "no such trace": (["none.csv", *ON], "none.csv"),
    "a job trace": ([ROOT / "workloads" / "sample-1000.swf", *ON], "columns"),
    "a network as a trace": ([CLUSTER, *ON], "columns"),
    "a trace as a network": ([STENCIL, "--network", STENCIL], "stencil-8.csv"),
    "an unknown what-if": ([STENCIL, *ON, "--what-if", "fast"], "allowed: ideal"),
    "an unknown kernel": ([STENCIL, *ON, "--what-if", "faster:outer:2"], "inner"),
    "a result of no kind": ([STENCIL, *ON, "--out", "r.txt"], ".json or .csv"),
    "points of no kind": ([STENCIL, *ON, "--points", "p.json"], ".csv"),
    "a profile of no kind": ([STENCIL, *ON, "--profile", "p.csv"], ".yaml"),
    "a picture of two": ([STENCIL, WAVE, *ON, "--plot", "t.png"], "with one"),
    "a picture of no kind": ([STENCIL, *ON, "--plot", "t.pdf"], ".png"),
    "an unknown scaling": ([STENCIL, *ON, "--scaling", "both"], "strong, weak"),
    "the same trace twice": ([STENCIL, STENCIL, *ON, "--points", "p.csv"], "one for each number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_ends_with_2_and_writes_nothing(cli, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    arguments, told = BAD[case]
    ended = cli("replay-messages", *arguments)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err
    assert not list(tmp_path.iterdir())


def test_a_deadlock_ends_with_2(cli, tmp_path):
    (tmp_path / "t.csv").write_text(
        "process,kind,peer,bytes\n0,recv,1,5\n0,send,1,5\n1,recv,0,5\n1,send,0,5\n"
    )
    ended = cli("replay-messages", tmp_path / "t.csv", *ON)
    assert ended.code == 2
    assert "process 0, recv from 1, tag 0 (line 2), waits for process 1" in ended.err


@pytest.mark.long
def test_plain_python_gives_the_same_bytes(cli, tmp_path):
    asked = ["--network", str(CLUSTER), "--what-if", "balanced", "--quiet", "--plot"]
    for trace in (STENCIL, WAVE):
        here = tmp_path / f"{trace.stem}.json"
        assert cli("replay-messages", trace, *asked, here.with_suffix(".png"), "--out", here).code == 0
        there = tmp_path / f"{trace.stem}-plain.json"
        command = [sys.executable, "-m", "scheduler_sim", "replay-messages", str(trace), *asked]
        subprocess.run(
            [*command, str(there.with_suffix(".png")), "--out", str(there)],
            env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
            check=True,
        )
        assert here.read_bytes() == there.read_bytes()
        assert here.with_suffix(".png").read_bytes() == there.with_suffix(".png").read_bytes()
