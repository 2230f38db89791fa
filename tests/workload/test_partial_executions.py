"""Partial executions in SWF (status 2 to 4): the line for the whole job is what counts."""

from __future__ import annotations

import pytest

from scheduler_sim import read_trace, simulate, write_trace
from scheduler_sim.errors import TraceError
from scheduler_sim.system.system import System
from tests.workload.records import swf, write

#: A job of 30 s that was stopped after 10: its line, and its two parts; then another job.
WHOLE = {1: 1, 2: 0, 4: 30, 5: 60, 8: 60, 9: 60, 11: 1}
PARTS = [{**WHOLE, 4: 10, 11: 2}, {**WHOLE, 2: -1, 4: 20, 11: 3}]
OTHER = {1: 2, 2: 1, 4: 10, 5: 60, 8: 60, 9: 60, 11: 1}


def read(tmp_path, *records):
    return read_trace(write(tmp_path / "t.swf", [swf(one) for one in records]))


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("last", [3, 4])
@pytest.mark.parametrize("first", [True, False])
def test_the_line_for_the_whole_job_counts(tmp_path, status, last, first):
    whole, parts = {**WHOLE, 11: status}, [PARTS[0], {**PARTS[1], 11: last}]
    jobs = read(tmp_path, *([whole, *parts] if first else [*parts, whole]), OTHER)
    assert jobs["skipped"].tolist() == ([0, 6, 6, 0] if first else [6, 6, 0, 0])
    assert not any("occurred before" in note or "partial" in note for note in jobs.source.notes)
    result = simulate(System.from_dict({"modules": [{"name": "CM", "nodes": 100}]}), jobs, "fcfs")
    assert result.components["component_id"].tolist() == [1, 2]
    assert result.components["run_time"].tolist() == [30, 10]


def test_parts_alone_are_jobs_of_their_own_and_told(tmp_path):
    jobs = read(tmp_path, *PARTS, OTHER, {**OTHER, 1: 3, 11: 4})
    assert jobs["skipped"].tolist() == [0, 6, 0, 0]
    assert jobs.source.notes == (
        "3 partial executions (status 2 to 4) of jobs without a line of status 0 or 1, each taken as a job of"
        " its own; 1 of them left out, as they have no submit time",
    )


def test_a_whole_job_without_a_submit_time_stays_an_error(tmp_path):
    with pytest.raises(TraceError, match=r"t\.swf:1: value out of range; field 2 \(submit_time\); found -1"):
        read(tmp_path, {**WHOLE, 2: -1}, *PARTS)


def test_they_are_written_as_they_came(tmp_path):
    jobs = read(tmp_path, WHOLE, *PARTS, OTHER)
    write_trace(jobs, tmp_path / "u.swf")
    assert (tmp_path / "u.swf").read_bytes() == (tmp_path / "t.swf").read_bytes()


def test_a_row_of_names_is_told_from_a_record(tmp_path):
    path = write(tmp_path / "t.swf", ["id submit wait run procs", swf()])
    with pytest.raises(TraceError, match=r"t\.swf:1: words, not a record.*begins with ;"):
        read_trace(path)
