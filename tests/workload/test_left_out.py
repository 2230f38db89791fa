"""Lines that cannot be read, of SWF, MWF, dumps of sacct and events: left out, counted, the first shown."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import Workload, read_trace, write_trace
from scheduler_sim.errors import TraceError
from tests.conftest import examples
from tests.workload.records import mwf, swf, write
from tests.workload.sacct_dump import lines as sacct

pytestmark = pytest.mark.interpreted

EVENT = "-dt {} -e submit_batch_job | -sim-walltime 20 -N 2 -t 5 x.job"
GOOD: dict[str, list[str]] = {
    "swf": ["; MaxNodes: 9", swf(), swf({1: 2, 6: "1.5"}), "; between", swf({1: 3, 2: "7.5"}), swf({1: 4})],
    "mwf": ["# x", mwf(),
            mwf({1: 2, 8: 2, 39: 1, 40: "AFTEROK"}), "# y", mwf({1: 3, 8: 3}, 40), mwf({1: 4, 8: 4}, 41)],
    "sacct": sacct({}, {"JobID": "8", "JobIDRaw": "8"}, {"JobID": "9.0"}, {"JobID": "9", "JobIDRaw": "9"}),
    "events": ["# x", *(EVENT.format(time) for time in range(4))],
}  # fmt: skip
HEAD = {"swf": 0, "mwf": 0, "sacct": 1, "events": 0}
"""Lines that nothing may stand before."""

GARBAGE = ["oops", "1 2 3", "x" * 70_000, "a\0b", "é;é;é", "7|8", "-dt x"]


def read(folder: Path, name: str, lines: list[str]) -> Workload:
    return read_trace(write(folder / name, lines), on_error="skip")


@pytest.mark.parametrize("kind", GOOD)
@examples(25)
@given(data=st.data())
def test_what_can_be_read_is_as_without_the_rest(kind, data, tmp_path_factory):
    folder, lines, bad = tmp_path_factory.mktemp("left"), list(GOOD[kind]), []
    for _ in range(data.draw(st.integers(0, 5))):
        place = data.draw(st.integers(HEAD[kind], len(lines)))
        bad = [line + (line > place) for line in bad] + [place + 1]
        lines.insert(place, data.draw(st.sampled_from(GARBAGE)))
    found = read(folder, f"t.{kind}", lines)
    clean = read_trace(write(folder / f"c.{kind}", GOOD[kind]))
    pd.testing.assert_frame_equal(found.table, clean.table)
    told = [note for note in found.source.notes if " left out: " in note and "the first: " in note]
    assert len(told) == bool(bad)
    if bad:
        assert told[0].startswith(f"{len(bad)} line{'s' * (len(bad) > 1)} left out: ")
        assert told[0].count(f"t.{kind}:") == min(len(bad), 3)
    for row in range(len(found)):
        assert lines[found.source.line_of(row) - 1] == GOOD[kind][clean.source.line_of(row) - 1]


def test_values_that_no_workload_may_have_are_left_out_too(tmp_path):
    found = read(tmp_path, "t.swf", [swf(), swf({1: 2, 2: -7}), "; a", swf({1: 3, 8: -5}), swf({1: 4}), "x"])
    assert found["component_id"].tolist() == [1, 4]
    assert [found.source.line_of(row) for row in (0, 1)] == [1, 5]
    note = "3 lines left out: 1 not a number, 1 negative number of processors, 1 value out of range"
    assert found.source.notes[0].startswith(note)
    write_trace(found, tmp_path / "again.swf")
    pd.testing.assert_frame_equal(read_trace(tmp_path / "again.swf").table, found.table)


def test_fields_behind_the_18th_go_with_their_lines(tmp_path):
    found = read(tmp_path, "t.swf", ["1 " * 130, swf(), f"{swf({1: 2, 8: -5})} 5 x", f"{swf({1: 3})} 6"])
    assert found["component_id"].tolist() == [1, 3]
    assert found.carried["trace_field_19"].tolist()[1] == 6
    assert "2 lines left out: 1 wrong number of fields, 1 negative number" in found.source.notes[-1]


def part(job: int, component: int, **changes: int) -> str:
    return mwf({1: job, 2: 2, 8: component, **{int(key[1:]): value for key, value in changes.items()}})


@pytest.mark.parametrize(
    ("bad", "left"),
    [
        (part(2, 3).replace("24", "no", 1) + ";", "1 wrong number of fields"),
        (part(2, 3, p15=-9), "1 value out of range"),
        ("2;oops", "1 wrong number of fields"),
        ("oops", "1 wrong number of fields"),
    ],
)
def test_a_line_of_a_job_of_several_components_takes_the_job_with_it(bad, left, tmp_path):
    lines = [part(1, 1), part(1, 2), bad, part(2, 4), part(5, 5), part(5, 6)]
    found = read(tmp_path, "t.mwf", lines)
    assert found["modular_job_id"].tolist() == [1, 1, 5, 5]
    assert [found.source.line_of(row) for row in range(4)] == [1, 2, 5, 6]
    assert "2 lines left out: " in found.source.notes[0]
    assert left in found.source.notes[0]
    assert "1 of a job with such a line" in found.source.notes[0]


def test_what_depends_on_a_line_left_out_depends_on_none(tmp_path):
    lines = ["oops", mwf({1: 2, 8: 2, 39: 1, 40: "AFTEROK"}), mwf({1: 3, 8: 3, 39: 2, 40: "AFTEROK"})]
    found = read(tmp_path, "t.mwf", lines)
    assert found.dependencies()[["row", "after_row"]].to_numpy().tolist() == [[1, 0]]
    assert found.source.notes[1].startswith(
        "1 component taken as without dependencies: 1 depends on a component"
    )


def test_cells_of_a_dump_that_cannot_be_read(tmp_path):
    jobs = [
        {"JobID": "7", "JobIDRaw": "7", "ReqMem": "much"},
        {"JobID": "8", "JobIDRaw": "8", "Submit": "2024-13-45T00:00:00"},
        {"JobID": "9", "JobIDRaw": "9"},
        {"JobID": "10+0", "JobIDRaw": "10"},
        {"JobID": "10+1", "JobIDRaw": "11", "State": "WHO KNOWS"},
        {"JobID": "12", "JobIDRaw": "12", "Submit": "Unknown"},
    ]
    found = read(tmp_path, "t.sacct", sacct(*jobs))
    assert found["component_id"].tolist() == [9]
    note = found.source.notes[-1]
    assert note.startswith("5 lines left out: ")
    for kind in (
        "not an amount of memory",
        "not a time",
        "of a job with such a line",
        "without a submit time",
    ):
        assert f"1 {kind}" in note or f"1 a job {kind}" in note


def test_separators_within_submit_lines_are_understood_from_the_header(tmp_path):
    """As sacct --parsable2 prints them, in any place; a row of which nothing tells where is not."""
    wrapped = {"SubmitLine": "sbatch --wrap a|b|c -N 2 --gpus-per-node=2", "JobName": "plain"}
    jobs = read_trace(write(tmp_path / "t.sacct", sacct(wrapped, {"JobID": "8", "JobIDRaw": "8"})))
    assert len(jobs) == 2
    assert "1 row with the separator or a line end within a text" in jobs.source.notes
    assert jobs["gpus"].tolist() == [2, -1]
    path = write(tmp_path / "u.sacct", sacct({"Licenses": "x", "Comment": "b|c"}, {}))
    with pytest.raises(TraceError, match=r"u\.sacct:2: too many fields: a text may hold the separator"):
        read_trace(path)
    found = read_trace(path, on_error="skip")
    assert len(found) == 1
    assert "1 line left out: 1 too many fields" in found.source.notes[-1]


@pytest.mark.parametrize("kind", GOOD)
def test_a_file_of_which_nothing_can_be_read(kind, tmp_path):
    head = GOOD[kind][: HEAD[kind]]
    with pytest.raises(TraceError, match=rf"t\.{kind}: no record can be read, 2 left out: .*t\.{kind}:"):
        read(tmp_path, f"t.{kind}", [*head, "oops", "oops"])


@pytest.mark.parametrize("kind", GOOD)
def test_the_first_such_line_is_an_error_otherwise(kind, tmp_path):
    path = write(tmp_path / f"t.{kind}", [*GOOD[kind], "oops"])
    with pytest.raises(TraceError, match=rf"t\.{kind}:{len(GOOD[kind]) + 1}: "):
        read_trace(path)
