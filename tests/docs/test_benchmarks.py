"""The benchmark of Slurm's schedulers measures, checks what it measures, and has its place in the page."""

from __future__ import annotations

import pytest

from benchmarks import slurm
from tests.conftest import ROOT

SAMPLE = str(ROOT / "workloads" / "sample-1000.swf")


@pytest.fixture
def measured(monkeypatch):
    """Figures in place of measurements; the starts are those that the test says."""
    starts = {"": "a", "false": "a"}

    def in_process(case):
        how = case.settings.get("policy.slurm.accelerate", "")
        figures = {"jobs": 1000, "engine_s": 0.5, "whole_s": 1.0, "peak_mb": 300.0}
        return {**figures, "engine_cpu_s": 0.5, "bare_cpu_s": 0.01, "starts": starts[how]}

    monkeypatch.setattr(slurm, "in_process", in_process)
    return starts


@pytest.mark.long
def test_it_runs_a_trace_twice_and_a_part_of_the_month(capsys):
    slurm.main(["--trace", SAMPLE, "--nodes", "128", "--days", "0.02", "--repeats", "1"])
    head, line, *rows = capsys.readouterr().out.splitlines()
    assert [len(row.split("|")) for row in (head, line, *rows)] == [11] * 5
    assert [row.split(" | ")[1] for row in rows] == ["accelerated", "plain", "accelerated"]
    assert [row.split(" | ")[2] for row in rows[:2]] == ["1,000", "1,000"]
    assert rows[2].startswith("| centre-month.yaml, first 0.02 days, 5,000 nodes |")
    assert 0 < int(rows[2].split(" | ")[2]) < 1000


def test_other_starts_without_acceleration_end_it(measured):
    measured["false"] = "b"
    with pytest.raises(SystemExit, match=r"sample-1000\.swf: other starts without acceleration"):
        slurm.main(["--trace", SAMPLE])


def test_a_trace_that_is_not_there_is_left_out_with_a_word(measured, capsys):
    slurm.main(["--trace", "nowhere/KTH.swf.gz"])
    printed = capsys.readouterr()
    assert printed.err.startswith("nowhere/KTH.swf.gz is not there")
    assert len(printed.out.splitlines()) == 3


def test_the_table_goes_to_its_place_in_the_page(measured, tmp_path):
    text = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    slurm.main(["--trace", SAMPLE, "--page", str(tmp_path / "page.md")])
    filled = (tmp_path / "page.md").read_text(encoding="utf-8")
    before, after = text.split("<!-- slurm:")[0], text.split("<!-- end -->")[1]
    assert filled.startswith(before)
    assert filled.endswith(after)
    assert "| 1,000 | 0.50 | 2,000 | 1.00 | 300 | 50 | the same |" in filled


def test_a_page_without_a_place_is_refused_before_anything_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm, "in_process", None)
    (tmp_path / "page.md").write_text("nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="found no place for the table"):
        slurm.main(["--page", str(tmp_path / "page.md")])
