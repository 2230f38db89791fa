"""The command report: the page, the exports, bad input."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import CLUSTER, SAMPLE


@pytest.fixture
def result(cli, tmp_path):
    out = tmp_path / "result"
    assert cli("run", CLUSTER, SAMPLE, "--out", out, "--quiet").code == 0
    return out


def test_a_page_of_a_run(cli, result, tmp_path):
    done = cli("report", result)
    assert (done.code, done.err) == (0, "")
    page = (result / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "sample-1000.swf" in page
    assert cli("report", result, "--out", tmp_path / "a.html", "--quiet").out == ""
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json", ".paje"])
def test_exports(cli, result, tmp_path, suffix):
    done = cli("report", result, "--out", tmp_path / f"run{suffix}")
    assert done.code == 0
    assert (tmp_path / f"run{suffix}").stat().st_size > 10_000
    if suffix == ".json":
        assert json.loads((tmp_path / "run.json").read_text())["traceEvents"]


def test_bad_input_is_told(cli, result, tmp_path):
    for arguments, said in (
        (["report", tmp_path / "none"], "none"),
        (["report", result, "--out", tmp_path / "run.xlsx"], ".xlsx"),
        (
            ["report", result, "--out", tmp_path / "run.swf.gz"],
            "scheduler-sim convert TRACE OUT --result DIR",
        ),
        (["report", tmp_path, "--out", tmp_path / "x.csv"], "missing"),
    ):
        done = cli(*arguments)
        assert done.code == 2, arguments
        assert said in done.err
        assert "Traceback" not in done.err
