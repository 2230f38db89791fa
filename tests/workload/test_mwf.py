"""The MWF reader and writer."""

from __future__ import annotations

import pytest

from scheduler_sim import read_trace, write_trace
from scheduler_sim.errors import TraceError
from scheduler_sim.workload.mwf_text import parse_api_calls
from tests.workload.records import mwf, swf, write


def read(tmp_path, *lines):
    return read_trace(write(tmp_path / "t.mwf", lines))


def round_trip(tmp_path, *lines):
    write_trace(read(tmp_path, *lines), tmp_path / "out.mwf")
    return (tmp_path / "out.mwf").read_text().splitlines()


def test_every_position_has_its_column(tmp_path):
    texts = {3: "J", 9: "C", 13: "app", 14: "p", 19: "7,8", 23: "n", 24: "c", 25: "h", 26: "l", 28: "P",
             37: "N", 38: "L", 39: "-1", 40: "NA", 42: "5"}  # fmt: skip
    numbers = {position: 100 + position for position in range(1, 43) if position not in texts}
    row = read(tmp_path, mwf({**numbers, **texts})).table.iloc[0]
    assert row["modular_job_id"] == 101
    assert row["components_total"] == 102
    assert (row["modular_job_name"], row["name"]) == ("J", "C")
    assert (row["submit_time"], row["wait_time"], row["listed_time_limit"], row["time_limit"]) == (
        104,
        105,
        106,
        106,
    )
    assert (row["components_at_submit"], row["listed_component_id"], row["component_id"]) == (107, 108, 108)
    assert (row["component_wait_time"], row["run_time"], row["status"]) == (110, 111, 112)
    assert (row["app"], row["partition"], row["nodes"]) == ("app", "p", 115)
    assert (row["processes_per_node"], row["threads_per_process"], row["memory_kb"]) == (116, 117, 118)
    assert (row["frequency"], row["reference_power_w"], row["nam_kb"], row["local_storage_mb"]) == (
        "7,8",
        120,
        121,
        122,
    )
    assert (row["network"], row["constraint"], row["hint"], row["licences"]) == ("n", "c", "h", "l")
    assert (row["allocated_module"], row["allocated_partition"], row["allocated_nodes"]) == (127, "P", 129)
    assert row["allocated_processes_per_node"] == 130
    assert row["allocated_threads_per_process"] == 131
    assert row["allocated_memory_kb"] == 132
    assert (row["allocated_frequency_khz"], row["average_power_w"], row["allocated_nam_kb"]) == (
        133,
        134,
        135,
    )
    assert (row["allocated_local_storage_mb"], row["allocated_network"], row["allocated_licences"]) == (
        136,
        "N",
        "L",
    )
    assert (row["delay"], row["api_calls"]) == (141, "5")


def test_missing_text_is_empty_in_what_the_simulator_uses_and_comes_back_as_it_was(tmp_path):
    spellings = ["-1", "NA", "", "no", "No"]
    lines = [
        mwf(
            {
                1: job,
                8: job,
                3: word,
                13: word,
                23: word,
                24: word,
                25: word,
                26: word,
                39: word,
                40: word,
                42: word,
            }
        )
        for job, word in enumerate(spellings, start=1)
    ]
    workload = read(tmp_path, *lines, mwf({1: 9, 8: 9, 26: "any"}))
    for column in ("app", "constraint", "licences"):
        assert set(workload[column]) == {""}
    assert workload["network"].tolist() == [*spellings, "-1"]
    assert workload.not_honoured() == {}
    assert round_trip(tmp_path, *lines) == lines


def test_field_counts_may_mix_and_come_back(tmp_path):
    lines = [
        mwf({1: job, 8: job, 20: 50, 34: 60, 42: "30"}, count)
        for job, count in enumerate([42, 41, 40, 40, 41, 42])
    ]
    workload = read(tmp_path, *lines)
    assert workload["api_calls"].tolist() == ["30", "", "30", "30", "", "30"]
    assert workload["reference_power_w"].tolist() == [50, 50, -1, -1, 50, 50]
    assert workload["average_power_w"].tolist() == [60, 60, -1, -1, 60, 60]
    assert round_trip(tmp_path, *lines) == lines


def test_a_record_grows_only_where_it_must(tmp_path):
    workload = read(tmp_path, mwf({}, 41), mwf({1: 2, 8: 2}, 41))
    write_trace(workload.replace(api_calls=["7", ""]), tmp_path / "out.mwf")
    counts = [line.count(";") + 1 for line in (tmp_path / "out.mwf").read_text().splitlines()]
    assert counts == [42, 41]


def test_the_case_and_lists_of_partitions_stay(tmp_path):
    lines = [
        mwf({1: job, 8: job, 14: name}) for job, name in enumerate(["CM", "cm", "Cm,ESB", "-1", "NA", ""])
    ]
    assert read(tmp_path, *lines)["partition"].tolist() == ["CM", "cm", "Cm,ESB", "-1", "NA", ""]
    assert round_trip(tmp_path, *lines) == lines


@pytest.mark.parametrize(("listed", "limit"), [(-1, -1), (0, 1), (1, 1), (500, 500)])
def test_time_limits(tmp_path, listed, limit):
    assert read(tmp_path, mwf({6: listed}))["time_limit"].tolist() == [limit]
    assert round_trip(tmp_path, mwf({6: listed})) == [mwf({6: listed})]


def test_component_ids_from_position_8(tmp_path):
    workload = read(tmp_path, mwf({8: 20}), mwf({8: 10, 39: 20, 40: "AFTEROK"}))
    assert workload["component_id"].tolist() == [20, 10]
    assert workload.dependencies().values.tolist() == [[1, 0, "AFTEROK", 0]]


def test_component_ids_from_the_jobs(tmp_path):
    workload = read(tmp_path, mwf({1: 7, 8: 0}), mwf({1: 9, 8: 0, 39: 7, 40: "after"}))
    assert workload["component_id"].tolist() == [7, 9]
    assert workload.dependencies().values.tolist() == [[1, 0, "AFTER", 0]]


def test_component_ids_from_the_lines_and_dependencies_on_jobs(tmp_path):
    lines = ["# heading", mwf({1: 5, 8: 0}), mwf({1: 5, 8: 0}), mwf({1: 6, 8: 0, 39: 5, 40: "AFTERANY"})]
    workload = read(tmp_path, *lines)
    assert workload["component_id"].tolist() == [2, 3, 4]
    assert workload.dependencies().values.tolist() == [[2, 0, "AFTERANY", 0], [2, 1, "AFTERANY", 0]]
    assert round_trip(tmp_path, *lines) == lines
    write_trace(workload, tmp_path / "w.parquet")
    assert (
        read_trace(tmp_path / "w.parquet").dependencies().values.tolist()
        == workload.dependencies().values.tolist()
    )


def test_comments_come_back_but_a_record_without_an_id_is_no_comment(tmp_path):
    lines = ["# made by hand", "; another", "", mwf(), "# between", mwf({1: 2, 8: 2}), "#"]
    assert round_trip(tmp_path, *lines) == lines
    with pytest.raises(TraceError, match=r"t\.mwf:2: not a number; field 1 \(modular_job_id\); found ''"):
        read(tmp_path, mwf(), mwf({1: ""}))


def test_records_without_nodes_or_run_time_are_skipped(tmp_path):
    lines = [
        mwf(),
        mwf({1: 2, 8: 2, 15: 0}),
        mwf({1: 3, 8: 3, 11: -1}),
        mwf({1: 4, 8: 4, 39: 2, 40: "AFTER"}),
    ]
    workload = read(tmp_path, *lines)
    assert workload["skipped"].tolist() == [0, 3, 2, 0]
    assert workload.dependencies().empty
    assert workload.not_honoured() == {"skipped_predecessor": 1}
    assert round_trip(tmp_path, *lines) == lines


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("650", (("WF_API", 650),)),
        ("0", ()),
        ("-1", ()),
        ("NA", ()),
        ("", ()),
        ("WF_API:650,extend_job:850", (("WF_API", 650), ("extend_job", 850))),
        ("WF_API:650, extend_job:850", (("WF_API", 650), ("extend_job", 850))),
    ],
)
def test_api_calls(tmp_path, text, calls):
    assert parse_api_calls(text) == calls
    workload = read(tmp_path, mwf({42: text}))
    assert workload["api_calls"].tolist() == [text]
    assert workload.not_honoured() == ({"api_call": 1} if calls else {})
    assert round_trip(tmp_path, mwf({42: text})) == [mwf({42: text})]


def test_latin_1_names_keep_their_bytes(tmp_path):
    data = mwf({3: "É"}).encode("latin-1") + b"\n" + mwf({1: 2, 8: 2, 9: "x"}).encode() + b"\n"
    workload = read_trace(write(tmp_path / "t.mwf", data))
    assert workload["modular_job_name"].tolist() == ["É", "job1"]
    write_trace(workload, tmp_path / "out.mwf")
    assert (tmp_path / "out.mwf").read_bytes() == data


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({15: -4}, r"field 15 \(nodes\); found -4; allowed: 1 or more"),
        ({6: -2}, r"field 6 \(time_limit\); found -2"),
        ({11: -7}, r"field 11 \(run_time\); found -7"),
        ({4: -1}, r"field 4 \(submit_time\); found -1; allowed: 0 to"),
        ({15: "four"}, r"field 15 \(nodes\); found 'four'; allowed: an integer"),
        ({15: "1e5"}, r"found '1e5'"),
        ({15: " 4"}, r"found ' 4'"),
        ({15: "4.0"}, r"found '4.0'"),
        ({11: "nan"}, r"found 'nan'"),
        ({19: "fast"}, r"field 19 \(frequency\); found 'fast'"),
        ({42: "soon"}, r"not an API call; field 42 \(api_calls\); found 'soon'"),
        ({42: "a:b:3"}, r"not an API call"),
        ({18: -5}, r"field 18 \(memory_kb\)"),
        ({41: -5}, r"field 41 \(delay\)"),
        ({39: 77, 40: "AFTEROK"}, r"not in the trace; field 39 \(dependency_ids\); found 77"),
        ({39: "x", 40: "AFTEROK"}, r"not a dependency; field 39"),
        ({39: 1, 40: "AFTEROK"}, r"form a circle; field 39"),
        ({39: "1,2", 40: "AFTEROK,AFTER,AFTER"}, r"do not pair up"),
        ({39: 1, 40: "NA"}, r"do not pair up"),
        ({39: -1, 40: "AFTEROK"}, r"do not pair up"),
        ({39: 1, 40: "AFTEROKAY"}, r"unknown kind of dependency \(did you mean 'AFTEROK'\?\); field 40"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, changes, message):
    with pytest.raises(TraceError, match=rf"t\.mwf:3: .*{message}"):
        read(tmp_path, "# head", mwf({1: 9, 8: 9}), mwf(changes), mwf({1: 2, 8: 2}))


@pytest.mark.parametrize("line", [swf(), mwf()[:-9], mwf() + ";-1", "text", ";".join(["1"] * 39)])
def test_a_wrong_number_of_fields(tmp_path, line):
    with pytest.raises(
        TraceError, match=r"t\.mwf:2: wrong number of fields; found \d+; allowed: 42, 41 .* 40"
    ):
        read(tmp_path, mwf(), line)
