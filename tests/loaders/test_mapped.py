"""Tables of others as workloads: maps, guesses, rounding, dirt, repairs, and what is carried on."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from scheduler_sim import Result, Simulation, System, Workload, read_trace, write_trace
from scheduler_sim.errors import ConfigError, TraceError
from scheduler_sim.loaders.column_map import ColumnMap

pytestmark = pytest.mark.interpreted

MAP = """
time_zone: Europe/Rome
columns:
  component_id: id
  submit_time: sub
  start_time: begun
  end_time: over
  time_limit: {formula: limit, unit: min}
  nodes: cpus / 4
  status: {formula: how, values: {ok: 0, "*": 1}}
"""
CSV = """id;sub;begun;over;limit;cpus;how;colour
7;2021-03-01 10:00:00;2021-03-01 10:05:00;2021-03-01 11:00:00.5;60;16;ok;red
8;2021-03-01 10:00:00.75;2021-03-01 10:00:10;2021-03-01 12:00:10;60;10;bad;
9;2021-03-01 09:00:00;;;60;4;ok;blue
"""
SITE = System.homogeneous(64)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str = CSV, how: str = MAP, **more: str) -> Workload:
    columns = written(folder, "map.yaml", how)
    return read_trace(written(folder, "t.csv", text), columns=columns, **more)


def test_a_map_by_hand(tmp_path):
    """Second 0 is the midnight in UTC before 9 o'clock in Rome, which is 8 in UTC."""
    jobs = read(tmp_path)
    assert jobs["component_id"].tolist() == [7, 8, 9]
    assert jobs["submit_time"].tolist() == [9 * 3600, 9 * 3600, 8 * 3600]
    assert jobs["run_time"].tolist() == [3301, 7200, -1]
    assert jobs["wait_time"].tolist() == [300, 10, -1]
    assert jobs["nodes"].tolist() == [4, 3, 1]
    assert jobs["time_limit"].tolist() == [3600, 7200, 3600]
    assert jobs["listed_time_limit"].tolist() == [3600, 3600, 3600]
    assert jobs["status"].tolist() == [0, 1, 0]
    assert jobs["skipped"].tolist() == [0, 0, 2]
    assert jobs.source.header == ("; UnixStartTime: 1614556800", "; TimeZoneString: Europe/Rome")
    assert jobs.source.line_of(2) == 4


def test_what_is_rounded_and_repaired_is_said_and_listed(tmp_path):
    jobs = read(tmp_path)
    said = "\n".join(jobs.source.notes)
    for line in (
        "submit_time: 1 value rounded down",
        "run_time: 1 value rounded up",
        "nodes: 1 value rounded up",
    ):
        assert line in said
    assert "repaired: 1 x limit below run time" in said
    assert jobs.repairs.to_dict("records") == [
        {
            "component_id": 8,
            "line": 3,
            "kind": "limit below run time",
            "field": "time_limit",
            "found": 3600,
            "made": 7200,
        }
    ]


def test_what_is_none_of_ours_is_in_the_result_behind_our_columns(tmp_path):
    jobs = read(tmp_path)
    assert list(jobs.carried) == ["trace_colour"]
    path = Simulation(SITE, jobs, "fcfs").run().save(tmp_path / "result")
    result = Result.load(path)
    result.check()
    assert result.components.columns[-1] == "trace_colour"
    assert result.components["trace_colour"].tolist() == ["red", ""]
    assert result.manifest["carried"] == {"trace_colour": "text"}
    assert result.repairs["made"].tolist() == [7200]
    assert json.loads((path / "manifest.json").read_text())["repaired"] == {"limit below run time": 1}


def test_a_result_without_repairs_takes_the_file_away(tmp_path):
    Simulation(SITE, read(tmp_path), "fcfs").run().save(tmp_path / "result")
    assert (tmp_path / "result" / "repairs.parquet").exists()
    Simulation(SITE, read(tmp_path).select([0]).replace(nodes=2), "fcfs").run()
    plain = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1])
    Simulation(SITE, plain, "fcfs").run().save(tmp_path / "result")
    assert not (tmp_path / "result" / "repairs.parquet").exists()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_it_comes_back_with_what_is_carried(tmp_path, suffix):
    jobs = read(tmp_path)
    write_trace(jobs, tmp_path / f"out.{suffix}")
    back = read_trace(tmp_path / f"out.{suffix}")
    pd.testing.assert_frame_equal(back.table, jobs.table)
    pd.testing.assert_frame_equal(back.carried, jobs.carried)


def test_other_formats_say_that_they_lose_it(tmp_path):
    assert any("trace_colour" in note for note in write_trace(read(tmp_path), tmp_path / "out.swf"))


BAD = f"""{CSV}10;oops;;;60;4;ok;red
11;2021-03-01 09:00:00;;;60
12;;;;60;4;ok;red
13;2021-03-01 10:00:00;;;60;-4;ok;x
"""


def test_dirt_stops(tmp_path):
    with pytest.raises(TraceError, match=r"t\.csv:5: not a time; field submit_time; found 'sub: oops'"):
        read(tmp_path, BAD)


def test_dirt_is_skipped_counted_and_shown(tmp_path):
    jobs = read(tmp_path, BAD, on_error="skip")
    said = next(note for note in jobs.source.notes if "left out" in note)
    assert said.startswith("3 rows left out: ")
    for part in (
        "1 wrong number of fields",
        "1 not a time",
        "1 no submission",
        "t.csv:5",
        "t.csv:6",
        "t.csv:7",
    ):
        assert part in said
    assert jobs["component_id"].tolist() == [7, 8, 9, 13]
    assert jobs["skipped"].tolist() == [0, 0, 2, 2]


def test_a_row_of_a_job_of_several_components_takes_the_job_with_it(tmp_path):
    how = MAP.replace("component_id: id", "component_id: id\n  modular_job_id: job")
    rows = [
        "id;sub;begun;over;limit;cpus;how;job",
        "1;5;6;7;60;4;ok;3",
        "2;5;6;x;60;4;ok;3",
        "3;5;6;7;60;4;ok;4",
    ]
    jobs = read(tmp_path, "\n".join(rows) + "\n", how, on_error="skip")
    assert jobs["component_id"].tolist() == [3]
    assert any(
        "2 rows left out: 1 not a time, 1 of a job with such a line" in said for said in jobs.source.notes
    )


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_lines_that_are_no_text_are_skipped_too(tmp_path, name):
    rows = ["submit_time,run_time,nodes,user", "1,2,3,ann"] if name == "t.csv" else []
    rows += ["4,5,6,ben"] if rows else ['{"submit_time": 4, "run_time": 5, "nodes": 6}'] * 2
    lines = [row.encode() for row in rows]
    lines[-1:-1] = [b"7,8,9,J\xf6rg", b"7,\x00,9,x"]
    (tmp_path / name).write_bytes(b"\n".join(lines))
    with pytest.raises(TraceError, match=r"not UTF-8 text|a NUL byte"):
        read_trace(tmp_path / name)
    jobs = read_trace(tmp_path / name, on_error="skip")
    assert jobs["submit_time"].tolist()[-1] == 4
    assert [jobs.source.line_of(0), jobs.source.line_of(1)] == [len(lines) - 3, len(lines)]
    assert "2 rows left out: 1 a NUL byte: this is not text, 1 not UTF-8 text" in jobs.source.notes[-1]


def test_a_word_that_no_value_is_listed_for(tmp_path):
    how = MAP.replace(', "*": 1', "")
    with pytest.raises(TraceError, match=r"t\.csv:3: an unknown word; field status; found 'how: bad'"):
        read(tmp_path, CSV, how)


def test_ends_before_starts_ids_and_clocks(tmp_path):
    rows = [
        "id,submit_time,start_time,end_time,nodes",
        "1,100,50,200,1",
        "1,100,150,120,1",
        "5,100,100,100,1",
    ]
    jobs = read_trace(written(tmp_path, "t.csv", "\n".join(rows) + "\n"))
    assert jobs["component_id"].tolist() == [1, 6, 5]
    assert jobs["submit_time"].tolist() == [50, 100, 100]
    assert jobs["run_time"].tolist() == [150, -1, 0]
    assert jobs["skipped"].tolist() == [0, 2, 0]
    kinds = {"duplicate id", "start before submission", "end before start"}
    assert set(jobs.repairs["kind"]) == kinds


def test_names_that_leave_no_doubt_are_guessed_and_shown(tmp_path):
    rows = ["Job ID,Submit Time,elapsed,Requested Walltime (min),nnodes,Queue", "a,0,90.0,2,3,x"]
    jobs = read_trace(written(tmp_path, "t.csv", "\n".join(rows) + "\n"))
    assert [jobs[name][0] for name in ("run_time", "time_limit", "nodes", "partition")] == [90, 120, 3, "x"]
    assert 'time_limit = "Requested Walltime (min)"' in jobs.source.notes[0]
    assert jobs.carried["trace_Job ID"].tolist() == ["a"]


@pytest.mark.parametrize("names", ["submitTime,startTime,endTime,numNodes", "Submit Time,Start,End,NNodes"])
def test_names_are_guessed_however_they_are_joined(tmp_path, names):
    jobs = read_trace(written(tmp_path, "t.csv", f"{names}\n5,7,9,2\n"))
    assert [jobs[name][0] for name in ("submit_time", "wait_time", "run_time", "nodes")] == [5, 2, 2, 2]


def test_names_that_leave_doubt_ask_for_a_map(tmp_path):
    with pytest.raises(TraceError, match=r"no column that is called as nodes.*--columns"):
        read_trace(written(tmp_path, "t.csv", "submit_time,run_time,procs\n1,2,3\n"))


def test_a_column_of_ours_that_is_spelt_wrong_is_warned_of(tmp_path):
    jobs = read_trace(written(tmp_path, "t.csv", "submit_time,run_time,nodes,time_limt\n1,2,3,4\n"))
    told = "without a meaning here, carried on: time_limt (did you mean 'time_limit'?)"
    assert any(told in note for note in jobs.source.notes)


def test_json_lines(tmp_path):
    rows = [
        {"submit_time": 5, "run_time": 7, "nodes": 2, "of": {"user": "ann"}},
        {"submit_time": 6, "run_time": 1, "nodes": 1},
    ]
    path = written(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows)) + "\n")
    jobs = read_trace(path)
    assert jobs["submit_time"].tolist() == [5, 6]
    assert jobs.carried["trace_of.user"].tolist() == ["ann", ""]
    path.write_text(path.read_text() + "{\n[1]\n" + json.dumps(rows[0] | {"nodes": "x"}) + "\n")
    with pytest.raises(TraceError, match=r"t\.jsonl:3: not a JSON object"):
        read_trace(path)
    jobs = read_trace(path, on_error="skip")
    assert len(jobs) == 2
    assert "2 not a JSON object, 1 not a number" in jobs.source.notes[-1]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("columns: {submit_time: sub}", "columns.nodes: missing"),
        (
            MAP.replace("cpus / 4", "cpu"),
            r"map\.yaml:9: columns\.nodes: no such column .did you mean 'cpus'.*found 'cpu'",
        ),
        (MAP.replace("cpus / 4", "cpus /"), "columns.nodes.formula: found 'cpus /'"),
        (MAP.replace("unit: min", "unit: fortnights"), "columns.time_limit.unit: found 'fortnights'"),
        (MAP.replace("Europe/Rome", "Mars"), "time_zone: found 'Mars'"),
        ('separator: ";;"' + MAP, "separator: found ';;'; allowed: one character"),
        (MAP + "leave_out: [color]\n", "leave_out: no such column .did you mean 'colour'.*found 'color'"),
        (MAP.replace("component_id", "job"), "columns.job: unknown column of ours"),
        (MAP + "  user: id + id\n", "columns.user: found 'id . id'; allowed: one column"),
        (MAP + "  hold: {value: x}\n", "columns.hold.value is no number"),
    ],
)
def test_maps_that_are_wrong(tmp_path, how, message):
    with pytest.raises((ConfigError, TraceError), match=message):
        read(tmp_path, CSV, how)


def test_all_that_is_wrong_with_a_map_is_told_at_once(tmp_path):
    with pytest.raises(ConfigError) as told:
        read(tmp_path, CSV, "colums: {}\ncolumns: {submit_time: sub, user: id + id}\n")
    assert [problem.split(": ")[1] for problem in told.value.problems] == [
        *("colums", "columns.user", "columns.nodes", "columns.run_time")
    ]


def test_a_map_that_is_made_in_python(tmp_path):
    how = ColumnMap.from_yaml(written(tmp_path, "m.yaml", MAP))
    assert len(read_trace(written(tmp_path, "t.csv", CSV), columns=how)) == 3


def test_milliseconds_are_not_taken_for_seconds(tmp_path):
    text = "id,submit,start,end,nodes\n1,1767600000000,1767600060000,1767600360000,1\n"
    with pytest.raises(TraceError, match=r"t\.csv:2: a time after the year 5000.*unit: ms"):
        read_trace(written(tmp_path, "t.csv", text))
    how = "columns: {nodes: nodes, " + ", ".join(
        f"{ours}: {{formula: {theirs}, unit: ms}}"
        for ours, theirs in {"submit_time": "submit", "start_time": "start", "end_time": "end"}.items()
    )
    jobs = read(tmp_path, text, how + "}")
    assert (jobs["run_time"].tolist(), jobs["wait_time"].tolist()) == ([300], [60])


def test_a_negative_run_time_is_called_that(tmp_path):
    jobs = read_trace(written(tmp_path, "t.csv", "submit,run,nodes\n5,-7,1\n5,7,1\n"))
    assert jobs["run_time"].tolist() == [-1, 7]
    assert jobs.repairs["kind"].tolist() == ["negative run time"]


def test_dates_in_other_forms_are_pointed_to_time_format(tmp_path):
    text = "submit,run,nodes\n02/03/2026 10:00,7,1\n"
    with pytest.raises(TraceError, match=r"t\.csv:2: not a time.*02/03/2026.*time_format in a column map"):
        read_trace(written(tmp_path, "t.csv", text))
    how = "columns: {{submit_time: {{formula: submit, time_format: {}}}, run_time: run, nodes: nodes}}"
    with pytest.raises(TraceError, match=r"allowed: a time as %Y, or nothing"):
        read(tmp_path, text, how.format('"%Y"'))
    assert read(tmp_path, text, how.format('"%d/%m/%Y %H:%M"'))["submit_time"].tolist() == [10 * 3600]


def test_csv_tells_that_it_does_not_know_second_0(tmp_path):
    assert write_trace(read(tmp_path), tmp_path / "out.csv") == [
        "CSV has no place for the date of second 0: UnixStartTime: 1614556800, TimeZoneString: Europe/Rome"
    ]


def test_formulas_that_divide_by_0_are_counted(tmp_path):
    text = "submit,run,nodes\n5,10,1\n5,0,1\n5,,1\n"
    jobs = read(tmp_path, text, "columns: {submit_time: submit, run_time: 100 / run, nodes: nodes}")
    assert jobs["run_time"].tolist() == [10, -1, -1]
    (note,) = [note for note in jobs.source.notes if "divides" in note]
    assert note == "run_time: 100 / run divides by 0 in 1 row, where the value is unknown"
