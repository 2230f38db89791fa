"""The SWF reader and writer."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from scheduler_sim import read_trace, write_trace
from scheduler_sim.errors import TraceError
from tests.workload.records import packed, swf, write


def read(tmp_path, *lines):
    return read_trace(write(tmp_path / "t.swf", lines))


def test_a_record_becomes_a_row(tmp_path):
    row = read(tmp_path, "; Version: 2.2", swf()).table.iloc[0]
    expected = {
        "modular_job_id": 1, "component_id": 1, "submit_time": 10, "run_time": 60, "nodes": 4,
        "time_limit": 100,
        "user": "7", "group": "8", "app": "9", "queue": "2", "partition": "2", "listed_partition": "",
        "status": 0, "skipped": 0, "preceding_job": -1, "memory_kb": -1, "components_total": 1, "name": "",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("changes", "nodes", "limit", "skipped"),
    [
        ({}, 4, 100, 0),
        ({8: -1, 5: 3}, 3, 100, 0),
        ({8: 0, 5: 3}, 3, 100, 0),
        ({8: 5, 5: 3}, 5, 100, 0),
        ({9: -1}, 4, 60, 0),
        ({9: 0}, 4, 60, 0),
        ({9: -1, 4: 0}, 4, 1, 0),
        ({9: 5}, 4, 5, 0),
        ({4: -1}, 4, 100, 2),
        ({5: -1, 8: -1}, -1, 100, 3),
        ({5: 0, 8: 0}, 0, 100, 3),
        ({11: 5, 4: 0}, 4, 100, 1),
        ({11: 5, 4: -1}, 4, 100, 1),
        ({11: 5}, 4, 100, 0),
    ],
)
def test_rule_11(tmp_path, changes, nodes, limit, skipped):
    row = read(tmp_path, swf(changes)).table.iloc[0]
    assert (row["nodes"], row["time_limit"], row["skipped"]) == (nodes, limit, skipped)


@pytest.mark.parametrize(("swf_status", "status"), [(0, 1), (1, 0), (2, 2), (3, 3), (4, 4), (5, 5), (-1, -1)])
def test_status_is_in_the_sense_of_mwf_and_goes_back(tmp_path, swf_status, status):
    workload = read(tmp_path, swf({11: swf_status}))
    assert workload["status"].tolist() == [status]
    write_trace(workload, tmp_path / "out.swf")
    assert (tmp_path / "out.swf").read_text().split()[10] == str(swf_status)


@pytest.mark.parametrize(
    ("queue", "partition", "name"), [(-1, -1, ""), (2, -1, "2"), (2, 3, "3"), (-1, 0, "0"), (0, -1, "0")]
)
def test_the_partition_goes_before_the_queue(tmp_path, queue, partition, name):
    assert read(tmp_path, swf({15: queue, 16: partition}))["partition"].tolist() == [name]


def test_comments_and_blank_lines_come_back_where_they_were(tmp_path):
    lines = [
        "; Version: 2.2",
        "",
        ";",
        swf(),
        "; between",
        "",
        swf({1: 2}),
        swf({1: 3}),
        ";last",
        "  ; indented",
    ]
    workload = read(tmp_path, *lines)
    assert workload.source.header == ("; Version: 2.2", "", ";")
    assert workload.source.comments == ((1, "; between"), (1, ""), (3, ";last"), (3, "  ; indented"))
    assert [workload.source.line_of(row) for row in range(3)] == [4, 7, 8]
    write_trace(workload, tmp_path / "out.swf")
    assert (tmp_path / "out.swf").read_text().splitlines() == lines


def test_comments_at_every_block_edge(tmp_path, monkeypatch):
    monkeypatch.setattr("scheduler_sim.workload.lines.BLOCK_BYTES", 97)
    lines = [line for job in range(200) for line in (swf({1: job}), *["; x" * (job % 3)] * (job % 4))]
    workload = read(tmp_path, *lines)
    assert workload["component_id"].tolist() == list(range(200))
    write_trace(workload, tmp_path / "out.swf")
    assert (tmp_path / "out.swf").read_text().splitlines() == lines
    numbered = [number for number, line in enumerate(lines, start=1) if line.startswith(tuple("0123456789"))]
    assert [workload.source.line_of(row) for row in range(200)] == numbered
    assert workload.source.lines(200).tolist() == numbered


def test_blanks_tabs_line_ends_and_a_missing_last_one_are_tolerated(tmp_path):
    data = b"; x\r\n  1\t10 -1 60  4 -1 -1 4 100 -1 1 7 8 9 2 -1 -1 -1   \r\n" + swf({1: 2}).encode()
    assert read_trace(write(tmp_path / "t.swf", data))["component_id"].tolist() == [1, 2]


def test_a_byte_order_mark_is_skipped(tmp_path):
    data = b"\xef\xbb\xbf" + swf().encode() + b"\n"
    assert len(read_trace(write(tmp_path / "t.swf", data))) == 1


def test_decimals_in_cpu_time_and_used_memory(tmp_path):
    words = ["0.5", "12", "-1", "7.25", "1234567.125", "0.00001", ".5", "3."]
    workload = read(tmp_path, *(swf({1: job, 6: word, 7: word}) for job, word in enumerate(words, start=1)))
    assert workload["average_cpu_time"].tolist() == [float(word) for word in words]
    write_trace(workload, tmp_path / "out.swf")
    written = [line.split()[5] for line in (tmp_path / "out.swf").read_text().splitlines()]
    assert written == ["0.5", "12", "-1", "7.25", "1234567.125", "0.00001", "0.5", "3"]


def test_integers_up_to_int64_leading_zeros_and_nothing_beyond(tmp_path):
    workload = read(tmp_path, swf({13: 2**63 - 1}), swf({1: "0002", 13: -(2**63), 17: "0" * 30 + "5"}))
    assert workload["group"].tolist() == [str(2**63 - 1), str(-(2**63))]
    assert workload["preceding_job"].tolist() == [-1, 5]
    with pytest.raises(TraceError, match=r"t\.swf:2: .*field 13 \(group\)"):
        read(tmp_path, swf(), swf({13: 2**63}))


def test_latin_1_headers_keep_their_bytes(tmp_path):
    data = b"; Installation: Universit\xe9 de Gen\xe8ve\n" + swf().encode() + b"\n"
    workload = read_trace(write(tmp_path / "t.swf", data))
    assert workload.source.header == ("; Installation: Université de Genève",)
    write_trace(workload, tmp_path / "out.swf")
    assert (tmp_path / "out.swf").read_bytes() == data


def test_utf_8_headers_keep_their_bytes(tmp_path):
    lines = ["; Installation: Kungliga Tekniska högskolan — KTH", swf()]
    workload = read(tmp_path, *lines)
    write_trace(workload, tmp_path / "out.swf.gz")
    assert gzip.decompress((tmp_path / "out.swf.gz").read_bytes()).decode().splitlines() == lines


def test_header_numbers(tmp_path):
    source = read(tmp_path, "; MaxNodes: 100", ";maxprocs:  200 (2 each)", "; MaxJobs: many", swf()).source
    assert source.header_number("MaxNodes") == 100
    assert source.header_number("MaxProcs") == 200
    assert source.header_number("MaxJobs") is None
    assert source.header_number("Missing") is None


def test_changed_columns_are_written_not_the_listed_ones(tmp_path):
    workload = read(tmp_path, swf(), swf({1: 2, 8: -1, 9: -1}))
    write_trace(
        workload.replace(nodes=np.array([8, 4]), time_limit=np.array([200, 60])), tmp_path / "out.swf"
    )
    first, second = (
        (line.split()[7], line.split()[8]) for line in (tmp_path / "out.swf").read_text().splitlines()
    )
    assert first == ("8", "200")
    assert second == ("-1", "-1")


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".GZ"])
def test_the_same_trace_packed_has_the_same_bytes_each_time(tmp_path, suffix):
    workload = read(tmp_path, "; x", *(swf({1: job}) for job in range(1, 5000)))
    for name in ("a.swf", "b.swf"):
        write_trace(workload, tmp_path / f"{name}{suffix}")
    first = (tmp_path / f"a.swf{suffix}").read_bytes()
    assert len(first) < 200_000 / 4
    assert first == (tmp_path / f"b.swf{suffix}").read_bytes()
    write_trace(read_trace(tmp_path / f"a.swf{suffix}"), tmp_path / f"c.swf{suffix}")
    assert (tmp_path / f"c.swf{suffix}").read_bytes() == first
    write_trace(read_trace(tmp_path / f"c.swf{suffix}"), tmp_path / "plain.swf")
    assert (tmp_path / "plain.swf").read_bytes() == (tmp_path / "t.swf").read_bytes()


def test_files_of_several_frames_as_the_tools_make_them(tmp_path):
    parts = [packed(f"{swf({1: job})}\n".encode() * 3, ".zst") for job in (1, 2)]
    (tmp_path / "t.swf.zst").write_bytes(b"".join(parts))
    assert read_trace(tmp_path / "t.swf.zst")["component_id"].tolist() == [1, 1, 1, 2, 2, 2]


BEHIND = {
    "as many numbers each": [" 5 6.5", " 7 8", " -1 0"],
    "as many, text among them": [" 5 a", " 7 b", " é 8"],
    "as many as each likes": ["", " 5 6.5", " 7"],
    "text, and as many as each likes": [" a", "", " 5 6.5 (x,y)"],
    "the last the widest": ["", "", " 1 2 3"],
}


@pytest.mark.parametrize("block", [97, 1 << 21])
@pytest.mark.parametrize("kind", BEHIND)
def test_fields_behind_the_18th_come_back_as_they_were(tmp_path, monkeypatch, kind, block):
    monkeypatch.setattr("scheduler_sim.workload.lines.BLOCK_BYTES", block)
    lines = ["; x", *(f"{swf({1: job})}{more}" for job, more in enumerate(BEHIND[kind] * 5)), "; ä"]
    workload = read(tmp_path, *lines)
    assert workload["component_id"].tolist() == list(range(15))
    for place in range(19, 19 + len(workload.carried.columns)):
        words = [dict(enumerate(line.split(), 1)).get(place) for line in lines[1:-1]]
        found = workload.carried[f"trace_field_{place}"]
        said = (
            [float(w) if w else None for w in words]
            if found.dtype != "category"
            else [w or "" for w in words]
        )
        assert [None if value != value else value for value in found.tolist()] == said
    write_trace(workload, tmp_path / "t.parquet")
    for back in (workload, read_trace(tmp_path / "t.parquet")):
        assert write_trace(back, tmp_path / "out.swf", force=False) == []
        assert (tmp_path / "out.swf").read_text().splitlines() == lines
    write_trace(workload.select([2, 4, 5]), tmp_path / "out.swf")
    assert (tmp_path / "out.swf").read_text().splitlines()[1:] == [lines[3], lines[5], lines[6]]


def test_a_warning_counts_how_records_differ(tmp_path):
    notes = read(tmp_path, swf(), f"{swf({1: 2})} 5", f"{swf({1: 3})} a b", swf({1: 4})).source.notes
    assert notes[0].startswith("records differ in their number of fields: 2 x 18, 1 x 19, 1 x 20; ")
    assert notes[1:] == (
        "field 19: text in 1 record, such as 'a', carried on as text",
        "field 20: text in 1 record, such as 'b', carried on as text",
    )
    assert (
        read(tmp_path, f"{swf()} 5")
        .source.notes[0]
        .startswith("19 fields per record: the last 1 are carried")
    )


def test_decimals_are_rounded_in_records_that_differ(tmp_path):
    workload = read(tmp_path, swf({2: "10.5", 4: "60.5"}), f"{swf({1: '0002'})} a")
    assert (workload["submit_time"].tolist(), workload["run_time"].tolist()) == ([10, 10], [61, 60])
    assert workload["component_id"].tolist() == [1, 2]
    with pytest.raises(TraceError, match=r"t\.swf:3: not a number; field 4 \(run_time\); found 'b'"):
        read(tmp_path, "; x", f"{swf()} a", swf({4: "b"}))
