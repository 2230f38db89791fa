"""Round trips in every format, and conversions between them."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from scheduler_sim import Workload, read_trace, write_trace
from scheduler_sim.errors import TraceError
from tests.conftest import ROOT, examples
from tests.workload.records import mwf, swf, write

numbers = st.integers(-1, 10**12)
words = st.text(st.characters(codec="utf-8", exclude_characters=";\r\n\0"), max_size=8)
comments = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=12), max_size=2
)


@st.composite
def swf_files(draw):
    lines = [f";{text}" for text in draw(comments)]
    for job in range(draw(st.integers(1, 6))):
        changes = {position: draw(numbers) for position in range(1, 19)}
        changes |= {
            1: job,
            2: draw(st.integers(0, 10**9)),
            8: draw(st.integers(-1, 10**6)),
            5: draw(st.integers(-1, 9)),
        }
        changes |= {
            9: draw(st.integers(-1, 10**9)),
            4: draw(st.integers(-5, 10**9)),
            11: draw(st.integers(-1, 6)),
        }
        lines += [swf(changes), *(f";{text}" for text in draw(comments))]
    return lines


MWF_TEXTS = (3, 9, 13, 14, 23, 24, 25, 26, 28, 37, 38)
MWF_NUMBERS = (2, 5, 7, 10, 12, 16, 17, 18, 20, 21, 22, 27, 29, 30, 31, 32, 33, 34, 35, 36, 41)
frequencies = st.sampled_from(["-1", "2100", "1,2"])
api_calls = st.sampled_from(["-1", "0", "7", "a:1,b:2", ""])
kinds = st.sampled_from(["AFTER", "afterok", "DYNAMIC"])
simple_numbers = st.sampled_from([-1, 0, 1, 7, 10**12])


@st.composite
def mwf_files(draw):
    lines = [f"#{text}" for text in draw(comments)]
    listed = draw(st.booleans())
    for job in range(1, draw(st.integers(2, 6))):
        changes = dict(zip(MWF_TEXTS, draw(st.tuples(*[words] * len(MWF_TEXTS))), strict=True))
        changes |= dict(zip(MWF_NUMBERS, draw(st.tuples(*[simple_numbers] * len(MWF_NUMBERS))), strict=True))
        changes |= {1: job, 4: draw(st.integers(0, 10**9)), 8: job if listed else 0, 19: draw(frequencies)}
        changes |= {
            11: draw(st.integers(-1, 10**6)),
            6: draw(st.integers(-1, 10**6)),
            15: draw(st.integers(-1, 99)),
        }
        changes |= {42: draw(api_calls)}
        if job > 1 and draw(st.booleans()):
            changes |= {39: draw(st.integers(1, job - 1)), 40: draw(kinds)}
        lines += [mwf(changes, draw(st.sampled_from([40, 41, 42]))), *(f"#{text}" for text in draw(comments))]
    return lines


@examples(60)
@given(swf_files())
def test_swf_comes_back(tmp_path_factory, lines):
    _comes_back(tmp_path_factory.mktemp("swf"), lines, "swf")


@examples(60)
@given(mwf_files())
def test_mwf_comes_back(tmp_path_factory, lines):
    _comes_back(tmp_path_factory.mktemp("mwf"), lines, "mwf")


def _comes_back(folder, lines, kind):
    path = write(folder / f"in.{kind}", lines)
    workload = read_trace(path)
    assert write_trace(workload, folder / f"out.{kind}") == []
    assert (folder / f"out.{kind}").read_bytes() == path.read_bytes()
    write_trace(workload, folder / "w.parquet")
    again = read_trace(folder / "w.parquet")
    assert_frame_equal(again.table, workload.table)
    write_trace(again, folder / f"again.{kind}")
    assert (folder / f"again.{kind}").read_bytes() == path.read_bytes()
    write_trace(workload, folder / "w.csv")
    assert_frame_equal(read_trace(folder / "w.csv").table, workload.table)
    other = "mwf" if kind == "swf" else "swf"
    write_trace(workload, folder / f"converted.{other}")
    assert _simulated(workload) == [] or _same_work(read_trace(folder / f"converted.{other}"), workload)


def _simulated(workload):
    live = workload.table[workload.table["skipped"] == 0]
    return live[["submit_time", "run_time", "nodes"]].to_numpy().tolist()


def _same_work(converted, workload):
    assert _simulated(converted) == _simulated(workload)
    return True


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", ["swf", "mwf", "csv", "parquet"])
def test_a_workload_made_in_python_goes_to_every_format_and_stays(tmp_path, kind, packing):
    suffix = f".{kind}" if kind == "parquet" else f".{kind}{packing}"
    workload = Workload.from_columns(
        nodes=[4, 2],
        submit_time=[0, 5],
        run_time=[60, 30],
        time_limit=[100, 50],
        partition=["CM", "ESB"],
        user=["1", ""],
    )
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    write_trace(workload, first)
    read = read_trace(first)
    for column in (
        "nodes",
        "submit_time",
        "run_time",
        "time_limit",
        "component_id",
        "modular_job_id",
        "status",
    ):
        assert read[column].tolist() == workload[column].tolist()
    write_trace(read, second)
    assert second.read_bytes() == first.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a{suffix}", f"b{suffix}"]


def test_swf_to_mwf(tmp_path):
    lines = [
        "; Version: 2.2",
        "; MaxNodes: 9",
        swf(),
        swf({1: 2, 9: -1, 11: 0}),
        swf({1: 3, 4: -1}),
        swf({1: 4, 8: -1, 5: 3, 16: 6}),
        swf({1: 5, 4: 0, 11: 5}),
    ]
    workload = read_trace(write(tmp_path / "t.swf", lines))
    notes = write_trace(workload, tmp_path / "t.mwf")
    assert any("1 records that are not simulated left out" in note for note in notes)
    assert any(note.startswith("user: MWF has no place") for note in notes)
    header, *lines = (tmp_path / "t.mwf").read_text().splitlines()
    assert header == "# MaxNodes: 9"
    assert read_trace(tmp_path / "t.mwf").source.header_number("MaxNodes") == 9
    records = [line.split(";") for line in lines]
    assert [len(record) for record in records] == [42, 42, 42, 42]
    assert [[record[place - 1] for place in (1, 4, 6, 8, 11, 12, 13, 14, 15, 29)] for record in records] == [
        ["1", "10", "100", "1", "60", "0", "9", "2", "4", "4"],
        ["2", "10", "60", "2", "60", "1", "9", "2", "4", "4"],
        ["3", "10", "100", "3", "-1", "0", "9", "2", "4", "4"],
        ["4", "10", "100", "4", "60", "0", "9", "6", "3", "3"],
    ]
    assert not any(field == "" for record in records for field in record)


def test_mwf_to_swf(tmp_path):
    lines = [
        "# made by hand",
        mwf({14: "CM", 13: "gromacs"}),
        mwf({1: 2, 8: 2, 14: "ESB", 12: 1, 6: -1, 39: 1, 40: "AFTEROK"}),
        mwf({1: 3, 8: 3, 14: "NA", 12: 5}),
    ]
    notes = write_trace(read_trace(write(tmp_path / "t.mwf", lines)), tmp_path / "t.swf")
    assert any(note.startswith("dependency_ids: SWF has no place") for note in notes)
    written = (tmp_path / "t.swf").read_text().splitlines()
    assert written[:3] == ["; Version: 2.2", "; MaxJobs: 3", "; MaxRecords: 3"]
    assert "; made by hand" in written
    assert "; Partition: 1 CM" in written
    assert "; Partition: 2 ESB" in written
    assert "; Application: 1 gromacs" in written
    records = [line.split() for line in written if not line.startswith(";")]
    assert [[record[place - 1] for place in (1, 2, 4, 8, 9, 11, 14, 16)] for record in records] == [
        ["1", "10", "60", "4", "100", "1", "1", "1"],
        ["2", "10", "60", "4", "-1", "0", "-1", "2"],
        ["3", "10", "60", "4", "100", "5", "-1", "-1"],
    ]


def test_parquet_of_others(tmp_path):
    table = pd.DataFrame(
        {"nodes": [1, 2], "submit_time": [0, 1], "run_time": [5, 6], "user": ["a", "b"]}, index=[5, 7]
    )
    table.to_parquet(tmp_path / "t.parquet")
    workload = read_trace(tmp_path / "t.parquet")
    assert workload["user"].tolist() == ["a", "b"]
    assert workload.source.format == "parquet"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"user": [None]}, "missing values; field user"),
        ({"user": [3]}, "wrong type; field user"),
        ({"nodes": ["x"]}, "wrong type; field nodes"),
        ({"nodes": [0]}, "field nodes; found 0"),
        ({"skipped": [300]}, "out of range; field skipped"),
        ({"used_memory_kb": [float("inf")]}, "not a number; field used_memory_kb"),
    ],
)
def test_parquet_that_is_no_workload(tmp_path, columns, message):
    pd.DataFrame({"nodes": [1], "submit_time": [0], "run_time": [5], **columns}).to_parquet(
        tmp_path / "t.parquet"
    )
    with pytest.raises(TraceError, match=message):
        read_trace(tmp_path / "t.parquet")


def test_parquet_without_rows_or_columns_or_sense(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"nodes": [1]}).to_parquet(path)
    with pytest.raises(TraceError, match="columns submit_time, run_time are missing"):
        read_trace(path)
    pd.DataFrame({"nodes": [1], "submit_time": [0], "run_time": [5]}).iloc[:0].to_parquet(path)
    with pytest.raises(TraceError, match="no records"):
        read_trace(path)
    for data in (b"", b"PAR1", b"PAR1" * 10, b"nonsense"):
        path.write_bytes(data)
        with pytest.raises(TraceError, match="cannot be read as Parquet"):
            read_trace(path)


def test_parquet_with_broken_metadata(tmp_path):
    path = tmp_path / "t.parquet"
    write_trace(Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1]), path)
    table = parquet.read_table(path)
    for text in (b"{", b"{}", b"[]", b'{"format": "swf"}'):
        parquet.write_table(table.replace_schema_metadata({b"scheduler_sim.workload": text}), path)
        with pytest.raises(TraceError, match="metadata cannot be read"):
            read_trace(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("nodes,submit_time,run_time\n", "no records"),
        ("nodes,submit_time\n1,2\n", "run_time are missing"),
        ("nodes,submit_time,run_time\n1,2,x\n", r"t\.csv:2: not a number; field run_time; found 'x'"),
        ("nodes,submit_time,run_time\n1,2,3\n1,2,1e5\n", r"t\.csv:3: not a number; field run_time"),
        ("nodes,submit_time,run_time\n1,2\n", r"t\.csv:2: wrong number of fields; found 2; allowed: 3"),
        ("nodes,submit_time,run_time,average_cpu_time\n1,2,3,nan\n", "not a number"),
        ("nodes,nodes,submit_time,run_time\n1,2,3,4\n", "column nodes occurs twice"),
        ("nodes,submit_time,run_time\n-1,2,3\n", "field nodes; found -1"),
    ],
)
def test_csv_that_is_no_workload(tmp_path, text, message):
    with pytest.raises(TraceError, match=message):
        read_trace(write(tmp_path / "t.csv", text.encode()))


def test_csv_quotes_what_needs_it(tmp_path):
    names = ["a,b", 'say "x"', "plain", "-1", "NA", "", "ü"]
    workload = Workload.from_columns(nodes=[1] * 7, submit_time=[0] * 7, run_time=[1] * 7, name=names)
    write_trace(workload, tmp_path / "t.csv")
    assert read_trace(tmp_path / "t.csv")["name"].tolist() == names


def test_an_error_in_parquet_names_the_file_that_was_read(tmp_path):
    """... and not the trace it was made of, which has other lines, or none."""
    sample = tmp_path / "site.swf"
    sample.write_bytes((ROOT / "workloads" / "sample-1000.swf").read_bytes())
    path = tmp_path / "bad.parquet"
    write_trace(read_trace(sample), path)
    table = parquet.read_table(path)
    for column, value in (("run_time", -5), ("nodes", 0)):
        values = table[column].to_pylist()
        values[7] = value
        broken = table.set_column(table.column_names.index(column), column, pa.array(values))
        parquet.write_table(broken, path)
        with pytest.raises(
            TraceError, match=rf"bad\.parquet: value out of range in row 7 .*found {value}"
        ) as told:
            read_trace(path)
        assert "site.swf" not in str(told.value)
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_trace(read_trace(sample), first)
    write_trace(read_trace(first), second)
    assert read_trace(first).source.name == str(first)
    assert first.read_bytes() == second.read_bytes()
    write_trace(read_trace(second), tmp_path / "back.swf")
    assert (tmp_path / "back.swf").read_bytes() == sample.read_bytes()


TEXTS = ["", "a,b", 'say "hi"', "two\nlines", "\r\n", " lead", "=1+1", "NA", "null", "é\u2028", "1", "\ufeff"]


@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5),
    st.lists(st.floats(0, 1e300), min_size=1, max_size=5),
    st.sampled_from([-1, 0, 5]),
)
@examples(40)
def test_csv_comes_back_to_the_byte(tmp_path_factory, names, seconds, number):
    folder, rows = tmp_path_factory.mktemp("csv"), len(names)
    workload = Workload.from_columns(
        nodes=[1] * rows,
        submit_time=list(range(rows)),
        run_time=[1] * rows,
        name=names,
        average_cpu_time=[seconds[row % len(seconds)] for row in range(rows)],
        component_id=[number] * rows,
        modular_job_id=[number] * rows,
    )
    write_trace(workload, folder / "a.csv")
    back = read_trace(folder / "a.csv")
    write_trace(back, folder / "b.csv")
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    for column in ("name", "average_cpu_time", "component_id", "modular_job_id"):
        assert back[column].tolist() == workload[column].tolist()


def test_a_large_csv_with_line_ends_in_its_names_comes_back(tmp_path):
    rows = 60_000
    workload = Workload.from_columns(
        nodes=[1] * rows,
        submit_time=[0] * rows,
        run_time=[1] * rows,
        name=[f"two lines\nof {i}" for i in range(rows)],
    )
    write_trace(workload, tmp_path / "a.csv")
    write_trace(read_trace(tmp_path / "a.csv"), tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".swf", ".mwf"])
@pytest.mark.parametrize("text", ["a\0b", "x" * 70_000])
def test_what_could_not_be_read_again_is_not_written(tmp_path, suffix, text):
    columns = {"user": text} if suffix == ".swf" else {"name": text}
    workload = Workload.from_columns(nodes=[1], submit_time=[0], run_time=[1], **columns)
    with pytest.raises(TraceError, match=r"cannot be written|too long to be written"):
        write_trace(workload, tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize("kind", ["swf", "mwf"])
def test_comments_kinds_of_records_and_words_at_every_block_edge_of_the_writer(
    tmp_path, kind, size, monkeypatch
):
    monkeypatch.setattr("scheduler_sim.workload.record_lines._ROWS_A_BLOCK", size)
    if kind == "swf":
        lines = [swf({1: job, 6: job / 4 if job % 5 else -1, 12: job % 3}) for job in range(1, 30)]
        lines = [line.replace(".0 ", " ") for line in lines]
    else:
        names = ("é", "a b", "", "-1", '"q"')
        lines = [mwf({1: job, 8: job, 9: names[job % 5]}, (42, 41, 40)[job % 3]) for job in range(1, 30)]
    sign = ";" if kind == "swf" else "#"
    given = [text for line in lines for text in (line, *[f"{sign} é"] * (len(line) % 3))]
    path = write(tmp_path / f"t.{kind}", [f"{sign} first", *given])
    write_trace(read_trace(path), tmp_path / f"again.{kind}")
    assert (tmp_path / f"again.{kind}").read_text().splitlines() == path.read_text().splitlines()
    assert (tmp_path / f"again.{kind}").read_bytes() == path.read_bytes()
