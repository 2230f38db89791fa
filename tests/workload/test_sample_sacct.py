"""The made-up dump of sacct that ships: what its script writes, and with all that its pages promise."""

from __future__ import annotations

import runpy

import pytest

from scheduler_sim import read_trace
from scheduler_sim.workload.summary import summarise
from tests.conftest import ROOT

SAMPLE = ROOT / "workloads" / "sample-sacct.txt"


@pytest.mark.long
def test_it_is_what_its_script_writes(tmp_path):
    script = runpy.run_path(str(SAMPLE.with_name("sacct_like.py")))
    script["main"](tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == SAMPLE.read_bytes()


def test_it_says_first_that_it_is_made_up():
    assert SAMPLE.read_text(encoding="utf-8").startswith("# Made up by workloads/sacct_like.py")
    assert read_trace(SAMPLE).source.header[0].startswith("# Made up")


def test_it_has_all_that_a_dump_has():
    jobs = read_trace(SAMPLE)
    summary = summarise(jobs)
    assert 480 <= summary.records <= 520
    assert set(summary.skipped) == {"cancelled before it ran", "not ended when the trace was taken"}
    assert set(summary.partitions) == {"batch", "long", "test", "gpu"}
    assert summary.not_honoured["begin_time"] > 20
    assert len(set(jobs["array_job_id"].tolist())) > 10
    killed = jobs["run_time"] > jobs["time_limit"]
    assert 20 < killed.sum() < 60
    live = jobs["skipped"] == 0
    assert {0, 1, 5} == set(jobs["status"][live].tolist())
    assert len(set(jobs["component_id"].tolist())) == len(jobs)
