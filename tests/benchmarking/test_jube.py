"""JUBE's tables, in all its styles, mean the same; what cannot be read is said with line and column."""

from __future__ import annotations

import pytest

from scheduler_sim.benchmarking.jube import read_tables
from scheduler_sim.benchmarking.result_table import Roles, told_apart
from scheduler_sim.errors import ConfigError
from tests.benchmarking.tables import ALIGNED, CSV, PRETTY, TRANSPOSED, jube_folder

START = 1795694346  # 2026-11-26T11:59:06


def read(path, roles=None):
    (raw,) = read_tables(path)
    return told_apart(raw, roles or Roles())


def values(table, metric):
    rows = table.values[table.values["metric"] == metric]
    return [
        (*table.parameters.loc[row], value) for row, value in zip(rows["row"], rows["value"], strict=True)
    ]


RUNTIMES = [("1", "1", 2.5), ("1", "1", 2.7), ("1", "16384", 16385.5), ("8", "1", 9.5)]


@pytest.mark.parametrize("text", [CSV, PRETTY, ALIGNED, CSV.replace(",", ";"), CSV.replace("\n", "\r\n")])
def test_every_style_means_the_same(text, tmp_path):
    path = tmp_path / "link.dat"
    path.write_text(text)
    table = read(path)
    assert table.benchmark == "link"
    assert list(table.parameters) == ["nodes", "size"]
    assert values(table, "runtime") == RUNTIMES
    assert set(table.values["time"]) == {START}
    assert dict(table.values.groupby("metric")["unit"].first())["runtime"] == "s"


def test_a_transposed_table_takes_its_time_from_the_run_or_the_user(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TRANSPOSED)
    with pytest.raises(ConfigError, match=r"does not say when it was run; allowed: .*--at"):
        read(path)
    assert values(read(path, Roles(at=START)), "runtime") == RUNTIMES
    run = jube_folder(tmp_path, result=TRANSPOSED)
    assert set(read(run).values["time"]) == {START}


def test_a_folder_says_the_name_and_what_is_a_result(tmp_path):
    run = jube_folder(tmp_path / "bench_run", result=PRETTY.replace("[s]", "").replace("[MB/s]", ""))
    table = read(run)
    assert table.benchmark == "linktest"
    assert values(table, "runtime") == RUNTIMES
    assert set(table.values["metric"]) == {"runtime", "Bandwidth, average"}  # by the title of its column
    assert table.notes == ("left out, as JUBE's bookkeeping: jube_wp_id",)
    jube_folder(tmp_path / "bench_run", 1, other=CSV, store="/somewhere/store.sqlite")
    assert [raw.benchmark for raw in read_tables(tmp_path / "bench_run")] == ["linktest", "linktest/other"]


def test_a_missing_result_is_counted_and_an_environment_is_no_parameter(tmp_path):
    path = tmp_path / "link.csv"
    path.write_text(CSV.replace("2.7", "").replace("size", "mpi"))
    table = read(path, Roles(environment=["mpi"]))
    assert values(table, "runtime") == [("1", 2.5), ("1", 16385.5), ("8", 9.5)]
    assert list(table.environment["mpi"]) == ["1", "1", "16384", "1"]
    assert table.notes == ("1 of 4 rows have no runtime",)


@pytest.mark.parametrize(
    ("change", "roles", "said"),
    [
        (("2.7", "soon"), Roles(), r"line 3: runtime: found 'soon'; allowed: a number"),
        (("2.7", "inf"), Roles(), r"line 3: runtime: found 'inf'"),
        (("2.7,", "2.7,5,"), Roles(), r"link.csv:3: found 6 fields; allowed: 5"),
        (("2026-11-26T11:59:06,8", "monday,8"), Roles(), r"line 5: jube_benchmark_start: found 'monday'"),
        (("[s]", ""), Roles(results=["run_time"]), r"no column 'run_time'.*did you mean 'runtime'"),
        (("", ""), Roles(environment=["mpi"]), r"no column 'mpi'; allowed: jube_benchmark_start, nodes"),
        (("", ""), Roles(time="date"), r"no column 'date' of times"),
        (("nodes", "size"), Roles(), r"found the column 'size' twice"),
    ],
)
def test_what_cannot_be_read_is_said(change, roles, said, tmp_path):
    path = tmp_path / "link.csv"
    path.write_text(CSV.replace(*change, 1))
    with pytest.raises(ConfigError, match=said):
        read(path, roles)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("nodes,runtime[s]\n", "found no rows"),
        (
            "nodes,runtime\n1,2\n",
            "no column has a unit, so the results are not known; name them with --results",
        ),
    ],
)
def test_a_file_that_is_no_table(text, said, tmp_path):
    path = tmp_path / "link.csv"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        read(path, Roles(at=START))


def test_a_folder_without_results_and_broken_xml(tmp_path):
    with pytest.raises(ConfigError, match="found no results of JUBE"):
        read_tables(tmp_path)
    run = jube_folder(tmp_path, result=CSV)
    (run / "configuration.xml").write_text("<jube>")
    with pytest.raises(ConfigError, match="found no XML"):
        read_tables(run)
