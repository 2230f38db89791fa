"""Real traces, where they lie beside this checkout: counts, values, and coming back as they were."""

from __future__ import annotations

import gzip
import json

import pytest
from pandas.testing import assert_frame_equal

from scheduler_sim import read_trace, write_trace
from tests.conftest import SHARED, needs_shared

TRACES = SHARED / "data" / "traces"
ORACLE = SHARED / "data" / "generator_oracle" / "indep"
RECORDED = SHARED / "data" / "slurm_oracle" / "deep_est_simulator"

pytestmark = needs_shared


@pytest.mark.parametrize(
    ("name", "records", "max_procs"),
    [
        ("KTH-SP2-1996-2.1-cln.swf.gz", 28489, 100),
        pytest.param("NASA-iPSC-1993-3.1-cln.swf.gz", 18239, 128, marks=pytest.mark.long),
        ("theta_2022.swf.gz", 23911, 4360),
        ("CEA-Curie-sample.predictsim.swf.gz", 29998, 93312),
        ("norm/kth5k.swf.gz", 5000, 100),
        pytest.param("norm/kth20k.swf.gz", 20000, 100, marks=pytest.mark.long),
        pytest.param("norm/kth28k.swf.gz", 28481, 100, marks=pytest.mark.long),
    ],
)
def test_swf(tmp_path, name, records, max_procs):
    workload = read_trace(TRACES / name)
    assert len(workload) == records
    assert workload["skipped"].sum() == 0
    assert workload.source.header_number("MaxProcs") == max_procs
    write_trace(workload, tmp_path / "t.swf")
    said, written = (
        gzip.decompress((TRACES / name).read_bytes()).splitlines(),
        (tmp_path / "t.swf").read_bytes().splitlines(),
    )
    assert [line for line in said if line.startswith(b";")] == [
        line for line in written if line.startswith(b";")
    ]
    assert [line.split() for line in said] == [line.split() for line in written]
    again = read_trace(tmp_path / "t.swf")
    assert_frame_equal(again.table, workload.table)


@pytest.mark.parametrize("name", ["dep", "dep_api", "het", "het_api", "het_std"])
def test_mwf_of_the_reference_generator_comes_back_byte_for_byte(tmp_path, name):
    path = ORACLE / f"{name}.mwf.gz"
    workload = read_trace(path)
    assert len(workload) == 3000
    write_trace(workload, tmp_path / "t.mwf")
    assert (tmp_path / "t.mwf").read_bytes() == gzip.decompress(path.read_bytes())
    expected = {
        "dep": ({}, 389),
        "dep_api": ({"api_call": 389}, 389),
        "het": ({"heterogeneous": 733, "delay": 389}, 0),
        "het_api": ({"heterogeneous": 733, "delay": 389, "api_call": 389}, 0),
        "het_std": ({"heterogeneous": 733}, 0),
    }
    assert (workload.not_honoured(), len(workload.dependencies())) == expected[name]


def test_the_trace_of_d2_2(tmp_path):
    workload = read_trace(TRACES / "traceD2-2.mwf.gz")
    assert len(workload) == 3000
    assert workload.source.field_count == 41
    assert (workload["listed_component_id"] == 0).all()
    assert workload["component_id"].tolist() == workload["modular_job_id"].tolist()
    assert workload["skipped"].tolist().count(3) == 80
    assert set(workload["partition"]) == {"CM", "DAM", "ESB"}
    write_trace(workload, tmp_path / "t.mwf")
    assert (tmp_path / "t.mwf").read_bytes() == gzip.decompress((TRACES / "traceD2-2.mwf.gz").read_bytes())


@pytest.mark.parametrize(
    "name", ["dep", "het", "delays", "delays42", "cirne", "scenario_dep1000", "scenario_het_delay1000"]
)
def test_mwf_that_the_reference_simulator_has_run(tmp_path, name):
    lines = json.loads(gzip.decompress((RECORDED / f"{name}.json.gz").read_bytes()))["mwf"]
    path = tmp_path / "t.mwf"
    path.write_text("".join(f"{line}\n" for line in lines))
    workload = read_trace(path)
    assert len(workload) == len(lines)
    write_trace(workload, tmp_path / "out.mwf")
    assert (tmp_path / "out.mwf").read_bytes() == path.read_bytes()
    if name == "dep":
        assert workload.dependencies().values.tolist() == [[1, 0, "AFTEROK", 0], [1, 2, "AFTEROK", 0]]
        assert workload["licences"].tolist() == [""] * 3
        assert workload["frequency"].tolist() == ["2100"] * 3
