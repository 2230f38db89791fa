"""A column map beside a named source: what it says goes before what the source says, and all else stays."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from scheduler_sim import Workload, read_trace
from scheduler_sim.errors import ConfigError, TraceError
from scheduler_sim.loaders.column_map import ColumnMap, Entry
from scheduler_sim.loaders.formula import read_formula
from scheduler_sim.loaders.sources import MAPS
from tests.fuzz.loaded import FOLDER, SOURCES

pytestmark = pytest.mark.interpreted


def over(folder: Path, source: str, said: str) -> Workload:
    path = folder / "over.yaml"
    path.write_text(said, encoding="utf-8")
    return read_trace(FOLDER / SOURCES[source], source, columns=path)


def test_a_queue_of_pbs_becomes_a_partition_and_all_else_stays(tmp_path):
    plain = read_trace(FOLDER / SOURCES["pbs"], "pbs")
    said = "columns: {partition: {formula: queue, values: {workq: batch}}, qos: {value: low}}"
    said += "\nleave_out: [etime]"
    found = over(tmp_path, "pbs", said)
    assert set(plain["partition"]) == {"workq"}
    assert (set(found["partition"]), set(found["qos"])) == ({"batch"}, {"low"})
    changed = ["partition", "listed_partition", "qos"]
    left = plain.table.drop(columns=changed), found.table.drop(columns=changed)
    assert left[0].astype(str).equals(left[1].astype(str))
    assert set(plain.carried) - set(found.carried) == {"trace_etime"}
    assert found.source.notes[0].endswith(
        "over.yaml over pbs: without etime; partition = queue by its words in place of queue; qos = low"
    )


@pytest.mark.parametrize("source", MAPS)
def test_every_source_takes_another_formula(source, tmp_path):
    plain = read_trace(FOLDER / SOURCES[source], source)
    found = over(tmp_path, source, "columns: {nodes: {value: 3}}")
    assert set(found["nodes"]) == {3}
    assert found["submit_time"].tolist() == plain["submit_time"].tolist()
    assert found.source.notes[0].split(" over ", 1)[1].startswith(f"{source}: nodes = 3 in place of ")


def test_ends_take_the_place_of_run_times(tmp_path):
    found = over(tmp_path, "philly", "columns: {end_time: submitted_time, start_time: submitted_time}")
    assert set(found["run_time"]) == {0}
    assert "run_time = end_time - start_time in place of run_time" in found.source.notes[0]
    with pytest.raises(ConfigError, match=r"columns.run_time: missing"):
        over(tmp_path, "gavel", "columns: {end_time: arrival_time}")


def test_data_without_times_get_some(tmp_path):
    pods = pd.read_csv(FOLDER / "openb.csv").drop(
        columns=["creation_time", "scheduled_time", "deletion_time"]
    )
    pods.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "m.yaml").write_text("columns: {submit_time: {value: 0}, run_time: {value: 60}}")
    found = read_trace(tmp_path / "p.csv", "openb", columns=tmp_path / "m.yaml")
    assert (set(found["submit_time"]), set(found["run_time"])) == ({0}, {60})
    assert "no column for start_time = scheduled_time: it is not known" in found.source.notes


def test_a_time_zone_is_that_of_all_moments(tmp_path):
    plain = read_trace(FOLDER / SOURCES["alcf"], "alcf")
    found = over(tmp_path, "alcf", "time_zone: Asia/Tokyo")
    first = [one.source.header_number("UnixStartTime") + one["submit_time"] for one in (plain, found)]
    assert set(first[0] - first[1]) == {9 * 3600}
    assert "time_zone = Asia/Tokyo" in found.source.notes[0]


def test_one_that_is_made_in_python():
    how = ColumnMap({"nodes": Entry(read_formula("scale_factor * 2"))})
    plain, found = (read_trace(FOLDER / SOURCES["gavel"], "gavel", columns=one) for one in (None, how))
    assert found["nodes"].tolist() == (plain["nodes"] * 2).tolist()


@pytest.mark.parametrize(
    ("source", "said", "message"),
    [
        ("pbs", "columns:\n  nods: nodes", r"over\.yaml:2: columns\.nods: unknown column.*mean 'nodes'"),
        ("pbs", "columns:\n  user: usr", r"over\.yaml:2: columns\.user: no such column .*mean 'user'.*'usr'"),
        ("alcf", "columns:\n  account: x", r"over\.yaml:2: columns\.account: no such column; found 'x'"),
        ("pbs", "{columns: {}, leave_out: [colour]}", r"leave_out: no such column.*found 'colour'"),
        ("pbs", "{columns: {}, format: csv}", r"format of a column map; found 'csv'; allowed: none beside"),
        ("eacct", "{columns: {}, separator: '|'}", r"separator of a column map; found '\|'"),
        ("frontier", "columns: {nodes: n}", r"a format that has fixed columns; found 'frontier'; allowed"),
    ],
)
def test_what_fits_nothing(tmp_path, source, said, message):
    with pytest.raises((ConfigError, TraceError), match=message):
        over(tmp_path, source, said)


def test_a_map_for_what_is_no_table(tmp_path):
    (tmp_path / "m.yaml").write_text("columns: {submit_time: a, run_time: b, nodes: c}", encoding="utf-8")
    with pytest.raises(
        TraceError, match=r"a file that is not known as a table; allowed: csv, parquet, jsonl, by"
    ):
        read_trace(FOLDER / "frontier.swf", columns=tmp_path / "m.yaml")
    with pytest.raises(TraceError, match=r"format that has fixed columns; found 'swf'"):
        read_trace(FOLDER / "frontier.swf", "swf", columns=tmp_path / "m.yaml")
