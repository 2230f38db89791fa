"""Reading message traces: what is read, what is counted, and where mistakes are."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from scheduler_sim.errors import InputError, TraceError
from scheduler_sim.messages.patterns import PATTERNS, stencil
from scheduler_sim.messages.reading import TRACE, read_messages, write_messages
from scheduler_sim.messages.replay import replay
from scheduler_sim.messages.trace import (
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    MARK,
    PS,
    RECV,
    SEND,
    WAIT,
    WAIT_COLLECTIVE,
)
from tests.messages.network import network

DIM = """\
#DIMEMAS:"a run":0:3(1,2,1),2
d:1:1:3:0:1:2
d:1:9:2:0:2
1:0:0:0.500000001
20:0:0:42000059:1150000000
20:0:0:50000001:31
2:0:0:1:-1:4000:7:1:0
2:0:0:2:-1:100:8:1:3
20:0:0:42000059:99
10:0:0:11:1:0:0:8:16:1
10:0:0:0:9:0:0:0:0:1
3:1:0:0:-1:4000:7:1:0
1:1:1:5.0
10:1:0:11:1:0:0:8:16:1
3:2:0:0:-1:100:8:1:1
3:2:0:0:-1:100:8:1:2
10:2:0:11:1:0:0:8:16:1
10:2:0:0:9:0:0:0:0:1
0:2:0
11:2:0:1.5
40:2:0:1:2:3
"""


@pytest.fixture
def dim(tmp_path):
    def written(text=DIM, name="t.dim"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_records_of_dimemas(dim):
    trace = read_messages(dim())
    assert (trace.name, trace.processes) == ("a run", 3)
    mine = trace.process == 0
    kinds = [COMPUTE, MARK, MARK, SEND, ISEND, MARK, COLLECTIVE, COLLECTIVE]
    assert trace.kind[mine].tolist() == kinds
    assert trace.duration[0] == 500_000_001_000
    assert trace.cycles[0] == 1_150_000_000  # the count behind the burst, not the later one of the calls
    assert trace.peer[mine].tolist()[3:5] == [1, 2]
    assert trace.bytes[mine].tolist()[3:5] == [4000, 100]
    assert trace.tag[mine].tolist()[3:5] == [7, 8]
    assert trace.received[mine].tolist()[3:5] == [0, 1]  # how 3: not blocking, waits for its receive
    assert trace.kind[trace.process == 2].tolist() == [IRECV, WAIT, COLLECTIVE, COLLECTIVE]
    assert trace.kind[trace.process == 1].tolist() == [RECV, COLLECTIVE]
    assert [
        trace.groups[trace.group[row]].tolist() for row in np.flatnonzero(trace.kind == COLLECTIVE)[:2]
    ] == [
        [0, 1, 2],
        [0, 2],
    ]
    assert (replay(trace, network()).finish[:] == 500_000_001_000).all()


def test_what_is_not_replayed_is_counted_by_kind(dim):
    assert dict(read_messages(dim()).skipped) == {
        "GPU bursts (kind 11)": 1,
        "events of type 42000059": 2,
        "events of type 50000001": 1,
        "records of kind '40'": 1,
        "records of other threads than the first": 1,
        "records that say nothing (kind 0)": 1,
    }


def test_short_records_offsets_and_operations_that_are_begun(dim):
    text = """\
#DIMEMAS:"":1,77:2(1,1),0
2:0:0:1:10:3:0:0
10:0:0:27:0:0:0:8:8:0
10:0:0:11:0:0:0:8:8:2
10:0:0:77:0:0:0:8:8
3:1:0:0:10:3:0:0
3:1:0:0:10:3:0:3
10:1:0:27:0:0:0:8:8:0
10:1:0:27:0:0:0:8:8:2
s:0:26
s:1:90
"""
    trace = read_messages(dim(text))
    assert trace.name == "t.dim"
    assert trace.kind.tolist() == [SEND, ICOLLECTIVE, WAIT_COLLECTIVE, RECV, ICOLLECTIVE, WAIT_COLLECTIVE]
    assert dict(trace.skipped) == {"global operations of number 77": 1, "receives of type 3": 1}


BAD_DIM = {
    "no header": ("#DIMEMAS:what\n", 1, "no header"),
    "a task that is not": (DIM.replace("1:0:0:0.5", "1:3:0:0.5"), 4, "task"),
    "a burst that is no number": (DIM.replace("0.500000001", "abc"), 4, "abc"),
    "a burst below 0": (DIM.replace("0.500000001", "-1"), 4, "seconds from 0"),
    "a burst of nothing": (DIM.replace("0.500000001", "nan"), 4, "seconds from 0"),
    "a field too few": (DIM.replace("2:0:0:1:-1:4000:7:1:0", "2:0:0:1:4000:7"), 7, "8 or 9 fields"),
    "a partner that is not": (DIM.replace("2:0:0:1:-1:4000", "2:0:0:5:-1:4000"), 7, "partner"),
    "no such communicator": (DIM.replace("10:0:0:11:1:", "10:0:0:11:4:"), 10, "communicator"),
    "a communicator of too few": (DIM.replace("d:1:9:2:0:2", "d:1:9:3:0:2"), 3, "communicator"),
    "how it is sent": (DIM.replace("4000:7:1:0\n2", "4000:7:1:9\n2"), 7, "how"),
}


@pytest.mark.parametrize("case", BAD_DIM)
def test_mistakes_in_traces_of_dimemas_have_their_line(dim, case):
    text, line, told = BAD_DIM[case]
    with pytest.raises(TraceError) as error:
        read_messages(dim(text))
    assert error.value.line == line
    assert told in str(error.value)


BAD_CSV = {
    "an unknown kind": ("process,kind\n0,compte\n", 2, "did you mean 'compute'"),
    "an unknown column": ("process,kind,sise\n0,waitall,1\n", 1, "sise"),
    "a column twice": ("process,kind,tag,tag\n0,waitall,1,2\n", 1, "twice"),
    "no kind": ("process,seconds\n0,1\n", 1, "kind"),
    "a compute without time": ("process,kind,seconds\n0,waitall,\n0,compute,\n", 3, "seconds"),
    "a compute without the column": ("process,kind\n0,compute\n", 2, "seconds"),
    "a time that is none": ("process,kind,seconds\n0,compute,1\n0,compute,1h\n", 3, "1h"),
    "a send to nobody": ("process,kind,peer\n0,send,\n", 2, "peer"),
    "a send to who does nothing": ("process,kind,peer\n0,send,4\n", 2, "0 to 0"),
    "a wait for nothing": ("process,kind,request\n0,wait,\n", 2, "request"),
    "a group of others": ("process,kind,peer\n0,barrier,0 8\n", 2, "0 to 0"),
    "a field too many": ("process,kind\n0,waitall,5\n", None, "columns"),
    "a process below 0": ("process,kind\n-1,waitall\n", 2, "process"),
    "bytes that are no number": ("process,kind,peer,bytes\n0,send,0,1k\n", 2, "1k"),
    "nothing": ("", None, "empty"),
    "a header alone": ("process,kind\n", None, "no records"),
    "a NUL": ("process,kind\n0,\0\n", 2, "NUL"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_mistakes_in_tables_have_their_line(dim, case):
    text, line, told = BAD_CSV[case]
    with pytest.raises(TraceError) as error:
        read_messages(dim(text, "t.csv"))
    assert error.value.line == line
    assert told in str(error.value)


def test_files_that_are_none(tmp_path):
    with pytest.raises(TraceError, match="no such file"):
        read_messages(tmp_path / "none.csv")
    with pytest.raises(TraceError, match="directory"):
        read_messages(tmp_path)
    (tmp_path / "x.csv.gz").write_bytes(b"\x1f\x8b12")
    with pytest.raises(TraceError, match="gzip"):
        read_messages(tmp_path / "x.csv.gz")
    (tmp_path / "latin.csv").write_bytes(b"process,kind,label,seconds\n0,compute,\xe9,1\n")
    with pytest.raises(TraceError, match=r"UTF-?8"):
        read_messages(tmp_path / "latin.csv")


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("suffix", [".csv", ".dim", ".dim.gz"])
def test_what_is_written_is_read_and_replayed_alike(tmp_path, name, suffix):
    made = PATTERNS[name](*((3, 2) if name == "wavefront" else (4,)))
    again = read_messages(write_messages(made, tmp_path / f"t{suffix}"))
    on = network(8, 2, latency_us=1, bandwidth_mb_s=100, links_out=1)
    assert (replay(again, on).finish == replay(made, on).finish).all()
    if suffix == ".csv" and made.labels:
        assert [again.labels[i] for i in again.label[:20]] == [made.labels[i] for i in made.label[:20]]


def test_labels_become_events_in_dimemas_traces(tmp_path):
    trace = read_messages(write_messages(stencil(2, 2), tmp_path / "t.dim"))
    assert (trace.kind == MARK).sum() == 8  # inner, border, twice, in each of two processes
    assert set(trace.bytes[trace.kind == MARK].tolist()) == {1, 2}


def test_lines_far_down_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("scheduler_sim.messages.text_columns.BLOCK_BYTES", 1 << 10)
    lines = ["process,kind,seconds", *(f"{i % 3},compute,0.5" for i in range(1000)), "0,compute,x"]
    path = tmp_path / "long.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(TraceError) as error:
        read_messages(path)
    assert error.value.line == 1002
    path.write_text("\n".join(lines[:-1]))
    trace = read_messages(path)
    assert len(trace) == 1000
    assert replay(trace, network()).finish.tolist() == [167 * PS, 333 * PS // 2, 333 * PS // 2]


def test_a_request_or_another_suffix_cannot_be_written(tmp_path, table):
    trace = table("0 isend 1 8 #1", "0 wait #1", "1 recv 0 8")
    with pytest.raises(InputError, match="request"):
        write_messages(trace, tmp_path / "t.dim")
    with pytest.raises(InputError, match=r"\.dim or \.csv"):
        write_messages(trace, tmp_path / "t.prv")
    assert not (tmp_path / "t.dim").exists()


def test_what_is_a_trace(tmp_path, dim):
    assert TRACE.is_one(dim())
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert not TRACE.is_one(tmp_path / "other.csv")
    packed = tmp_path / "t.dim.gz"
    packed.write_bytes(gzip.compress(DIM.encode()))
    assert read_messages(packed).processes == 3
