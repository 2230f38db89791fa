"""Whatever the bytes, a reader returns a workload or raises a TraceError, and nothing else."""

from __future__ import annotations

import gzip
import random
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler_sim import Workload, read_trace, write_trace
from scheduler_sim.errors import TraceError
from tests.workload.records import mwf, swf
from tests.workload.sacct_dump import lines as sacct_lines

SEEDS = {
    "swf": ["; MaxNodes: 9", swf(), swf({1: 2, 6: "1.5"}), "; between", swf({1: 3, 4: -1})],
    "mwf": [
        "# x",
        mwf(),
        mwf({1: 2, 8: 2, 39: 1, 40: "AFTEROK"}),
        mwf({1: 3, 8: 3, 42: "a:5,b:6"}, 40),
        mwf({1: 4, 8: 4}, 41),
    ],
    "sacct": sacct_lines(
        {"Constraints": "a|b", "ReqMem": "4Gn"},
        {"JobID": "7.batch"},
        {"JobID": "8_1", "JobIDRaw": "9", "Dependency": "afterok:7?after:8_1+2"},
        {"JobID": "8_[2-3%1]", "JobIDRaw": "8", "State": "PENDING", "Start": "Unknown"},
        {"JobID": "10+0", "JobIDRaw": "10", "State": "CANCELLED by 5", "Timelimit": "UNLIMITED"},
    ),
    "csv": ["nodes,submit_time,run_time,name", "1,0,5,a", '2,3,4,"b,c"'],
}
SCRAPS = [
    b"\n", b"\r\n", b"\0", b";", b" ", b"-", b"--", b"nan", b"1e5", b"-1", b"0", b"9" * 25, b".", b",",
    b'"', b"\xff", b"\t", b"\xe2\x82\xac", b"\xef\xbb\xbf", b"#", b";;;;", b"\x1f\x8b", b"AFTER", b"1,1",
    b"\r", b"\x0b", b"\x85", b"|", b"\x1f", b"_[", b"+", b"K", b"T25:",
]  # fmt: skip


def readable(path):
    """Read; if it can be read, it must also be written and read again."""
    try:
        workload = read_trace(path)
    except TraceError:
        return
    out = path.with_name("out.parquet" if "sacct" in path.name else f"out{''.join(path.suffixes)}")
    write_trace(workload, out)
    again = read_trace(out)
    assert again.table.equals(workload.table) or path.suffix == ".csv"
    before = out.read_bytes()
    write_trace(again, out)
    assert out.read_bytes() == before


@pytest.mark.parametrize("kind", SEEDS)
def test_mutated_files(tmp_path, kind):
    draw = random.Random(kind)
    whole = "\n".join(SEEDS[kind]).encode() + b"\n"
    path = tmp_path / f"t.{kind}"
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(data) + 1)
            match draw.randrange(4):
                case 0:
                    data[place:place] = draw.choice(SCRAPS)
                case 1:
                    data[place : place + draw.randint(1, 8)] = draw.choice(SCRAPS)
                case 2:
                    del data[place : place + draw.randint(1, 30)]
                case 3:
                    data[place : place + 1] = bytes([draw.randrange(256)])
        path.write_bytes(data)
        readable(path)


@pytest.mark.parametrize("kind", ["swf", "mwf", "csv", "sacct"])
def test_mutated_gzip(tmp_path, kind):
    draw = random.Random(kind)
    whole = gzip.compress("\n".join(SEEDS[kind] * 20).encode(), mtime=0)
    path = tmp_path / f"t.{kind}.gz"
    for _ in range(150):
        data = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(draw.randint(0, 3)):
            if data:
                data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data)
        readable(path)


def test_mutated_parquet(tmp_path):
    draw = random.Random(1)
    path = tmp_path / "t.parquet"
    write_trace(
        Workload.from_columns(nodes=[1, 2, 3], submit_time=[0, 1, 2], run_time=5, name=["a", "b", "c"]), path
    )
    whole = path.read_bytes()
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(4, len(data))] = draw.randrange(256)
        path.write_bytes(data[: draw.choice([len(data), draw.randrange(len(data))])])
        with suppress(TraceError):
            read_trace(path)


@settings(max_examples=150)
@given(st.sampled_from(["swf", "mwf", "csv", "sacct"]), st.binary(max_size=300))
@example("swf", b"\xef\xbb\xbf")
@example("swf", b"-\n" * 18)
@example("mwf", b";" * 41 + b"\n")
@example("mwf", (";".join(["0"] * 42) + "\r\r\n").encode())
def test_random_bytes(tmp_path_factory, kind, data):
    path = tmp_path_factory.mktemp("fuzz") / f"t.{kind}"
    path.write_bytes(data)
    readable(path)


@settings(max_examples=150)
@given(
    st.lists(
        st.lists(
            st.sampled_from(["1", "-1", "0", "5.5", "x", "", "99999999999999999999"]),
            min_size=17,
            max_size=19,
        )
    )
)
def test_records_of_odd_fields(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("fuzz") / "t.swf"
    path.write_text("".join(f"{' '.join(record)}\n" for record in records))
    readable(path)
