"""Files that are no traces: each a TraceError with its reason, and nothing half-written."""

from __future__ import annotations

import gzip
import os
import threading

import pytest

from scheduler_sim import Workload, read_trace, write_trace
from scheduler_sim.errors import InputError, TraceError
from tests.workload.records import mwf, packed, swf, write

RECORD = {"swf": swf, "mwf": mwf}
FORMATS = ("swf", "mwf")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({8: -5}, r"negative number of processors; field 8 \(nodes\); found -5"),
        ({5: -3}, r"field 5 \(allocated_nodes\); found -3"),
        ({4: "sixty"}, r"field 4 \(run_time\); found 'sixty'; allowed: an integer within int64"),
        ({4: "1e5"}, r"found '1e5'"),
        ({4: "nan"}, r"found 'nan'"),
        ({6: "nan"}, r"field 6 \(average_cpu_time\); found 'nan'; allowed: a decimal number"),
        ({6: "inf"}, r"found 'inf'"),
        ({6: "1e5"}, r"found '1e5'"),
        ({7: "1.2.3"}, r"found '1.2.3'"),
        ({4: "-"}, r"found '-'"),
        ({4: "--1"}, r"found '--1'"),
        ({4: "+1"}, r"found '\+1'"),
        ({4: "1_000"}, r"found '1_000'"),
        ({4: "0x10"}, r"found '0x10'"),
        ({4: "٣"}, r"field 4"),
        ({4: 2**63}, r"found '9223372036854775808'"),
        ({4: "9" * 500}, r"found '999"),
        ({2: -1}, r"field 2 \(submit_time\); found -1; allowed: 0 to 1e15"),
        ({4: 10**16}, r"field 4 \(run_time\)"),
        ({8: 2**31}, r"field 8 \(nodes\)"),
    ],
)
def test_an_swf_value(tmp_path, changes, message):
    path = write(tmp_path / "t.swf", ["; head", swf(), swf(changes), swf()])
    with pytest.raises(TraceError, match=rf"t\.swf:3: .*{message}"):
        read_trace(path)


@pytest.mark.parametrize("line", [swf() + " 1" * 110, swf()[:-3], "1", "text here", "-1;7;-1;6;2"])
def test_an_swf_record_of_another_length(tmp_path, line):
    path = write(tmp_path / "t.swf", [swf(), line])
    with pytest.raises(
        TraceError,
        match=r"t\.swf:2: (wrong number of fields; found \d+; allowed: 18, or up to 127|not a number|words)",
    ):
        read_trace(path)


def test_semicolons_instead_of_blanks_are_named(tmp_path):
    with pytest.raises(TraceError, match="fields are separated by blanks"):
        read_trace(write(tmp_path / "t.swf", [swf().replace(" ", ";")]))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "no records"),
        (b"; only\n; comments\n", "no records"),
        (b"1 2\0 3\n", "1: a NUL byte"),
        (b"; fine\n; not \0 fine\n", "2: a NUL byte"),
        ("1 2 3\n".encode("utf-16"), "a NUL byte"),
        (bytes(range(1, 256)) * 10, r":\d+: "),
        (b"1" * 70_000, "1: the line is too long"),
        (b";\n" + b"7" * 70_000 + b"\n1\n", "2: the line is too long"),
        (b"\x1f\x8b\x08rubbish", "broken gzip"),
        (gzip.compress(b"x" * 100, mtime=0)[:20], "broken gzip"),
        (gzip.compress(b"1 2\0\n", mtime=0), "a NUL byte"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"\x28\xb5\x2f\xfdrubbish", "broken zstd: .*; allowed: a whole zstd file"),
        (packed(bytes(range(100)), ".zst")[:50], "broken zstd"),
        (packed(b"1 2\0\n", ".zst"), "a NUL byte"),
        (packed(b"", ".zst"), "the file is empty"),
    ],
)
def test_a_file_that_is_no_trace(tmp_path, kind, data, message):
    path = tmp_path / f"t.{kind}"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=message):
        read_trace(path)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(("suffix", "name"), [(".gz", "gzip"), (".zst", "zstd")])
def test_a_packed_file_cut_short_or_damaged(tmp_path, kind, suffix, name):
    whole = packed(
        "".join(
            f"{RECORD[kind]({1: job, **({8: job} if kind == 'mwf' else {})})}\n" for job in range(500)
        ).encode(),
        suffix,
    )
    path = tmp_path / f"t.{kind}{suffix}"
    path.write_bytes(whole)
    assert len(read_trace(path)) == 500
    for damaged in (
        whole[:-1],
        whole[: len(whole) // 2],
        whole[:8],
        whole + b"more",
        b"1" + whole[1:],
        *([whole[:-4] + b"\1\2\3\4"] if name == "gzip" else []),  # its checksum
    ):
        path.write_bytes(damaged)
        with pytest.raises(
            TraceError, match=rf"t\.{kind}{suffix}: (broken {name}|.* but this is not {name})"
        ):
            read_trace(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst", ".GZ", ".Zst"])
def test_a_name_that_says_packed_of_a_file_that_is_not(tmp_path, suffix):
    (tmp_path / f"t.swf{suffix}").write_text(swf())
    with pytest.raises(
        TraceError, match=rf"ends in {suffix.lower()} but this is not (gzip|zstd); found .31 20"
    ):
        read_trace(tmp_path / f"t.swf{suffix}")


@pytest.mark.parametrize(("suffix", "name"), [(".gz", "gzip"), (".zst", "zstd")])
def test_packed_is_read_from_files_only(tmp_path, suffix, name):
    os.mkfifo(tmp_path / "pipe.swf")
    data = packed(swf().encode(), suffix)
    writer = threading.Thread(target=lambda: (tmp_path / "pipe.swf").write_bytes(data))
    writer.start()
    with pytest.raises(TraceError, match=f"{name} is read from files only"):
        read_trace(tmp_path / "pipe.swf")
    writer.join(20)


def test_places_that_are_no_files(tmp_path):
    with pytest.raises(TraceError, match="no such file"):
        read_trace(tmp_path / "none.swf")
    for kind in ("swf", "mwf", "csv", "parquet"):
        (tmp_path / f"d.{kind}").mkdir()
        with pytest.raises(TraceError, match=r"directory"):
            read_trace(tmp_path / f"d.{kind}")
    with pytest.raises(TraceError, match="cannot be read"):
        read_trace("nul\0byte.swf")


@pytest.mark.parametrize(
    "name", ["trace.txt", "trace", "trace.swf.bz2", "trace.gz", "w.parquet.gz", "trace.zst", "w.parquet.zst"]
)
def test_a_name_that_tells_no_format(tmp_path, name):
    with pytest.raises(TraceError, match="unknown trace format"):
        read_trace(write(tmp_path / name, ["1 2 3"]))
    with pytest.raises(TraceError, match=r"gone/.*: no such file$"):
        read_trace(tmp_path / "gone" / name)


def test_the_format_can_be_given(tmp_path):
    path = write(tmp_path / "trace.txt", [swf()])
    assert len(read_trace(path, "swf")) == 1
    with pytest.raises(TraceError, match="unknown trace format"):
        read_trace(path, "sfw")


@pytest.mark.parametrize("kind", FORMATS)
def test_more_than_the_memory_is_refused_in_words(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("scheduler_sim.workload.memory.available_memory", lambda: 1000)
    path = write(tmp_path / f"t.{kind}.gz", [RECORD[kind]({1: job}) for job in range(50)])
    with pytest.raises(TraceError, match=r"of memory, and 0\.0 GB are free"):
        read_trace(path)
    path = write(tmp_path / f"t.{kind}", [RECORD[kind]({1: job}) for job in range(50)])
    with pytest.raises(TraceError, match=r"of memory, and 0\.0 GB are free"):
        read_trace(path)


def test_a_flood_of_blank_lines_is_refused(tmp_path):
    path = write(tmp_path / "t.swf.gz", b"\n" * (1 << 21))
    with pytest.raises(TraceError, match="more than 64 MB"):
        read_trace(path)


def test_times_that_together_exceed_the_clock(tmp_path):
    with pytest.raises(TraceError, match="beyond what int64 seconds can hold"):
        read_trace(write(tmp_path / "t.swf", [swf({1: job, 4: 10**15, 8: 2**31 - 1}) for job in range(3)]))


@pytest.mark.parametrize("name", ["missing/t.swf", "dir.swf"])
def test_a_place_that_cannot_be_written(tmp_path, name):
    (tmp_path / "dir.swf").mkdir()
    workload = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1])
    with pytest.raises(InputError):
        write_trace(workload, tmp_path / name)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = write(tmp_path / "t.mwf", [mwf()])
    before = path.read_bytes()
    workload = read_trace(path).replace(name=["a;b"])
    with pytest.raises(TraceError, match="cannot be written in MWF"):
        write_trace(workload, path)
    with pytest.raises(TraceError, match="line end"):
        write_trace(workload.replace(name=["a\nb"]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("scheduler_sim.workload.record_lines._put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_trace(Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1]), tmp_path / "t.swf")
    assert list(tmp_path.iterdir()) == []
