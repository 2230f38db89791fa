"""``scheduler-sim benchmarks``: from JUBE's table to steps, a page and points."""

from __future__ import annotations

import re

import pytest

from tests.benchmarking.tables import CSV, jube_folder
from tests.conftest import ROOT

SAMPLE = ROOT / "workloads" / "sample-benchmarks.csv"


@pytest.fixture
def store(cli, tmp_path):
    path = tmp_path / "s.sqlite"
    added = cli("benchmarks", "add", path, SAMPLE, "--benchmark", "solver", "--environment", "mpi")
    assert (added.code, added.err) == (0, "")
    assert added.out == f"  runs: 45 new; in {path}\n"
    return path


def test_from_a_table_to_steps_and_points(cli, store, tmp_path):
    again = cli("benchmarks", "add", store, SAMPLE, "--benchmark", "solver", "--environment", "mpi")
    assert "0 new, 45 known already" in again.out
    told = cli("benchmarks", "list", store).out
    assert "2026-05-04 03:00: 111.1 to 117.6 s (+5.9%); with it mpi 4.1.4 to 4.1.5" in told
    assert "2 steps in 8 series; of those without a step at most 1% show one by chance" in told
    points = tmp_path / "points.csv"
    asked = ("--benchmark", "solver", "--metric", "runtime", "--processes", "nodes*taskspernode")
    written = cli("benchmarks", "points", store, *asked, "--out", points)
    assert written.out == f"  134 runs written to {points}\n"
    assert "46 runs before the last step" in written.err
    assert points.read_text().startswith("processes,time\n24.0,")


def test_the_page_opens_offline_escapes_names_and_has_the_same_bytes_again(cli, tmp_path):
    hostile, store = tmp_path / "hostile.csv", tmp_path / "s.sqlite"
    hostile.write_text(CSV.replace("nodes", "<script>alert(1)</script>").replace("MB/s", "<b>"))
    cli("benchmarks", "add", store, hostile, "--benchmark", "</title><img src=x onerror=alert(2)>")
    page, again = tmp_path / "page.html", tmp_path / "again.html"
    assert cli("benchmarks", "report", store, "--out", page).code == 0
    text = page.read_text()
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert not re.search(r"""(?:src|href)=["']https?:""", text)
    assert "1 benchmark in 6 series" in text
    assert len(page.read_bytes()) < 1_000_000
    cli("benchmarks", "report", store, "--out", again)
    assert again.read_bytes() == page.read_bytes()
    assert cli("benchmarks", "report", store, "--out", page).code == 0  # over a page of its own


def test_bad_input_ends_with_2_and_one_line(cli, store, tmp_path):
    def of(benchmark, metric, processes):
        asked = ("--benchmark", benchmark, "--metric", metric, "--processes", processes)
        return "points", store, *asked, "--out"

    run = jube_folder(tmp_path, result=CSV.replace("2.5", "soon"))
    for arguments in (
        ("add", store, tmp_path / "none.csv"),
        ("add", store, run),
        ("add", store, SAMPLE, "--at", "yesterday"),
        ("add", SAMPLE, SAMPLE),
        ("list", tmp_path / "none.sqlite"),
        ("report", store, "--out", tmp_path / "page.pdf"),
        ("report", store, "--out", SAMPLE.parent / "sample-1000.swf"),
        (*of("x", "runtime", "nodes"), tmp_path / "p.csv"),
        (*of("solver", "bandwidth", "nodes"), tmp_path / "p.csv"),
    ):
        ended = cli("benchmarks", *arguments)
        assert (ended.code, ended.out) == (2, ""), arguments
        assert "Traceback" not in ended.err
        assert len(ended.err.splitlines()) == 1, ended.err
    assert not (tmp_path / "p.csv").exists()
