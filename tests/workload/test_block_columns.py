"""Blocks read as columns at once say what they say line by line; no more is taken for a number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler_sim import read_trace, write_trace
from scheduler_sim.errors import TraceError
from scheduler_sim.workload import mwf, swf
from scheduler_sim.workload.block_columns import Growing, Texts, _common_end, parse_block
from scheduler_sim.workload.columns import is_shared
from tests.workload.records import mwf as mwf_record
from tests.workload.records import swf as swf_record
from tests.workload.records import write

NO_NUMBERS = [
    "0x10", "0X1f", "-0x1", "+5", "1e5", "1E5", "nan", "NaN", "inf", "-inf", "NA", "null", "true", "", "-",
    "--1", "1-", "1.2.3", ".", "-.", "1_0", "1,0", "\u0663", "5\v", "\x1c5", "7" * 400, "'5'", '"5"', "\xa05",
]  # fmt: skip
BEYOND_INT64 = ["9223372036854775808", "-9223372036854775809", "7" * 30]
NUMBERS = ["0", "-0", "-1", "007", "-007", "0" * 50 + "5", "9223372036854775807", "-9223372036854775808"]
DECIMALS = [
    "0.5",
    ".5",
    "-.5",
    "3.",
    "-3.",
    "0.0",
    "123456789.123456789",
    "0." + "0" * 40 + "1",
    *BEYOND_INT64,
]

words = st.one_of(
    st.sampled_from([*NUMBERS, *DECIMALS, *NO_NUMBERS]),
    st.integers(-(2**64), 2**64).map(str),
    st.text("0123456789-+.ex \t", max_size=6),
)
swf_changes = st.lists(st.dictionaries(st.integers(1, 18), words, max_size=1), min_size=1, max_size=5)
mwf_changes = st.lists(
    st.tuples(st.dictionaries(st.integers(1, 42), words, max_size=2), st.sampled_from([42, 42, 41, 40])),
    min_size=1,
    max_size=5,
)
blanks = st.sampled_from([" ", "  ", "\t", " \t "])


def told(module, block):
    """What the plain rules make of a block, None if they refuse it."""
    try:
        more = (np.zeros(18, dtype=np.int64),) if module is swf else ()
        return module._parse_lines(block, 0, "t", *more)
    except TraceError:
        return None


def texts_of(column):
    return [column.words[code] for code in column.codes] if isinstance(column, Texts) else column.tolist()


def same(columns, plain):
    assert (columns is None) == (plain is None)
    if columns is not None:
        assert [texts_of(column) for column in columns] == [texts_of(column) for column in plain]


@settings(max_examples=300)
@given(swf_changes, blanks, st.sampled_from(["", " ", "\t", "   "]), st.sampled_from(["\n", "\r\n", " \n"]))
@example([{}, {4: "0x10"}], " ", "", "\n")
@example([{6: "0.5", 7: "nan"}], " ", "", "\n")
@example([{6: "9" * 400}], " ", "", "\n")
def test_swf_as_columns_is_swf_by_lines(changes, blank, before, end):
    block = "".join(before + swf_record(change).replace(" ", blank) + end for change in changes).encode()
    quick = swf._parse(block, swf._KINDS)
    if quick is None:
        quick = swf._parse_decimals(block, swf._KINDS, np.zeros(18, dtype=np.int64))
    plain = told(swf, block)
    if quick is None and plain is not None:  # wider, or decimals beside numbers beyond 2^53
        wider = any(len(swf._words(line)) > 18 for line in block.split(b"\n"))
        assert wider or any(abs(value) >= 2**53 for column in plain for value in column.tolist())
        quick, counts, _ = swf._parse_cut(block, block, 0, "t", np.zeros(18, dtype=np.int64))
        assert (counts > 18).any() == wider
    same(quick, plain)


@settings(max_examples=300)
@given(mwf_changes, st.sampled_from(["\n", "\r\n"]))
@example([({11: "0x10", 3: "0x"}, 42)], "\n")
@example([({11: " 5", 9: "a b"}, 42), ({}, 40)], "\n")
def test_mwf_as_columns_is_mwf_by_lines(changes, end):
    block = "".join(mwf_record(change, count) + end for change, count in changes).encode()
    same(mwf._parse(block) or mwf._parse_mixed(block), told(mwf, block))


@pytest.mark.parametrize("word", NO_NUMBERS)
@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_what_arrow_may_take_for_a_number_is_none(word, kind):
    assert parse_block(f"1;{word};a\n".encode(), ";", ["int64", kind, "text"]) is None


@pytest.mark.parametrize("word", [*NUMBERS, *DECIMALS])
def test_what_is_a_number(word):
    columns = parse_block(f"{word};a 0x1 +.e\n".encode(), ";", ["float64", "text"])
    assert columns[0].tolist() == [float(word)]
    assert texts_of(columns[1]) == [b"a 0x1 +.e"]
    whole = parse_block(f"{word};x\n".encode(), ";", ["int64", "text"])
    assert (whole is None) == (word in DECIMALS)
    assert whole is None or whole[0].tolist() == [int(word)]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"1;2\n\n1;2\n", b"1\n", b"1;2;3\n", b"1;2\n1\n", b"1;2\r3;4\n"]
)
def test_what_is_no_block_of_records(data):
    assert parse_block(data, ";", ["int64", "int64"]) is None


@given(
    st.lists(
        st.lists(st.sampled_from(["", "-1", "1", "11"]), min_size=1, max_size=6), min_size=1, max_size=40
    )
)
@example([["1", "1"], ["11"], ["1"]])
@example([["", "1", "-1"], ["-1"]])
def test_the_words_with_which_all_lines_end(lines):
    end = []
    for place in range(1, min(map(len, lines))):
        if len({line[-place] for line in lines}) > 1:
            break
        end.insert(0, lines[0][-place].encode())
    data = "".join(";".join(line) + "\n" for line in lines).encode()
    assert _common_end(data, b";") == end


numbers = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))


@given(
    st.lists(st.lists(st.tuples(numbers, st.sampled_from([b"", b"a", b"b", b"c"])), min_size=1), min_size=1)
)
def test_a_table_grown_by_blocks_is_the_blocks_one_behind_the_other(blocks):
    table = Growing(["int64", "float64", "text"])
    for block in blocks:
        integers, words = zip(*block, strict=True)
        table.add([np.array(integers), np.array(integers, dtype=float), Texts.of(words)])
    rows = [row for block in blocks for row in block]
    whole = table.whole()
    assert [str(column.dtype) for column in whole[:2]] == ["int64", "float64"]
    assert whole[0].tolist() == [number for number, _ in rows]
    assert whole[1].tolist() == [float(number) for number, _ in rows]
    assert texts_of(whole[2]) == [word for _, word in rows]
    assert is_shared(whole[0]) == (len(set(whole[0].tolist())) == 1)


def test_a_zero_has_no_sign():
    table = Growing(["float64"])
    for values in (np.array([-0.0]), np.array([-0.0, 1.0]), np.broadcast_to(-0.0, 1)):
        table.add([values])
    assert [str(number) for number in table.whole()[0].tolist()] == ["0.0", "0.0", "1.0", "0.0"]


@pytest.mark.parametrize("kind", ["swf", "mwf"])
def test_every_block_edge_and_every_width_of_number(tmp_path, kind, monkeypatch):
    record, job, amount = (swf_record, 1, 10) if kind == "swf" else (mwf_record, 8, 18)
    widths = [100, 30_000, 2**31 - 1, 2**31, 2**53, 7, 7]
    lines = [record({job: row + 1, amount: widths[row // 10 % 7]}) for row in range(300)]
    path = write(tmp_path / f"t.{kind}", lines)
    for size in (64, 500, 5000):
        monkeypatch.setattr("scheduler_sim.workload.lines.BLOCK_BYTES", size)
        workload = read_trace(path)
        assert workload["memory_kb"].tolist() == [widths[row // 10 % 7] for row in range(300)]
        write_trace(workload, tmp_path / f"again.{kind}")
        assert (tmp_path / f"again.{kind}").read_bytes() == path.read_bytes()
