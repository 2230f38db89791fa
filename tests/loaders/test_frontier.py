"""Frontier's jobs: nodes are those of the descriptor."""

from __future__ import annotations

import pytest

from scheduler_sim import read_trace
from tests.workload.records import swf, write


def read(tmp_path, *jobs):
    records = ({1: i, 4: 60, 5: size, 8: size, 9: 90} for i, (size, _) in enumerate(jobs, 1))
    lines = [f"{swf(record)} 8 -1 {text}" for record, (_, text) in zip(records, jobs, strict=True)]
    return read_trace(write(tmp_path / "t.swf", lines), "frontier")


def test_nodes_are_those_of_the_descriptor(tmp_path):
    sizes = [
        (280000, "frontier:excl:2500x112"),
        (2500, "frontier:excl:2500x112"),
        (-1, "frontier:shared:1x56"),
    ]
    jobs = read(tmp_path, *sizes)
    assert jobs["nodes"].tolist() == [2500, 2500, 1]
    assert jobs["skipped"].tolist() == [0, 0, 0]
    assert not any("descriptor" in note for note in jobs.source.notes)


@pytest.mark.parametrize("text", ["frontier:excl", "7", "frontier:excl:0x112", "frontier:excl:_5x112"])
def test_without_a_descriptor_the_fields_count_and_it_is_said(tmp_path, text):
    jobs = read(tmp_path, (64, text), (280000, "frontier:excl:2500x112"))
    assert jobs["nodes"].tolist() == [64, 2500]
    assert jobs.source.notes[-1].startswith("1 job without a descriptor such as frontier:excl:2500x112")
