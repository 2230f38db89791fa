"""Exports of a run: tables that come back, a Chrome trace and a Paje trace that tell the same schedule."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pandas as pd
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.errors import InputError
from scheduler_sim.report.evalys import COLUMNS, jobs_of
from scheduler_sim.report.export import export
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def small():
    jobs = Workload.from_columns(
        nodes=[2, 1, 3], submit_time=[0, 0, 5], run_time=[10, 20, 0], name=["a", '<b>"x"', "c"], user="u"
    )
    return simulate(System.homogeneous(3, "CM"), jobs, "fcfs")


@pytest.fixture(scope="module")
def modular():
    system = ROOT / "configs" / "systems" / "deep-est-prototype.yaml"
    return simulate(system, ROOT / "workloads" / "sample-modular.mwf", "easy")


@pytest.mark.parametrize(("suffix", "read"), [(".csv", pd.read_csv), (".parquet", pd.read_parquet)])
def test_tables_come_back(small, tmp_path, suffix, read):
    export(small, tmp_path / f"run{suffix}")
    back = read(tmp_path / f"run{suffix}")
    assert list(back) == list(small.components)
    assert back["start_time"].tolist() == small.components["start_time"].tolist()
    assert back["name"].astype(str).tolist() == small.components["name"].astype(str).tolist()


def test_no_name_is_a_formula_in_a_spreadsheet(tmp_path):
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "a=1", "1-2"]
    count = len(names)
    jobs = Workload.from_columns(nodes=[1] * count, submit_time=[0] * count, run_time=[9] * count, name=names)
    result = simulate(System.homogeneous(3, "CM"), jobs, "fcfs")
    for suffix, read in ((".csv", pd.read_csv), (".parquet", pd.read_parquet)):
        export(result, tmp_path / f"run{suffix}")
        back = read(tmp_path / f"run{suffix}", **({"keep_default_na": False} if suffix == ".csv" else {}))
        told = [f"'{name}" if i < 5 and suffix == ".csv" else name for i, name in enumerate(names)]
        assert back["name"].astype(str).tolist() == told


def sets(text):
    """The numbers in a set of intervals, as evalys' ProcSet.from_str reads it: 0-3 5."""
    ends = [word.split("-") for word in text.split()]
    return [number for pair in ends for number in range(int(pair[0]), int(pair[-1]) + 1)]


def test_jobs_for_evalys_by_hand(small, tmp_path):
    export(small, tmp_path / "run.evalys.csv")
    back = pd.read_csv(tmp_path / "run.evalys.csv", converters={"allocated_resources": sets, "metadata": str})
    assert list(back) == list(COLUMNS)
    assert back["allocated_resources"].tolist() == [[0, 1], [2], [0, 1, 2]]
    rows = back[["job_id", "starting_time", "finish_time", "waiting_time", "success", "consumed_energy"]]
    assert rows.to_numpy().tolist() == [[1, 0, 10, 0, 1, -1], [2, 0, 20, 0, 1, -1], [3, 20, 20, 15, 1, -1]]
    assert back["turnaround_time"].tolist() == [10, 20, 15]
    assert back["stretch"].isna().tolist() == [False, False, True]
    export(small, tmp_path / "run.evalys.csv", force=False)
    (tmp_path / "run.evalys.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="evalys"):
        export(small, tmp_path / "run.evalys.csv", force=False)


def test_jobs_for_evalys_have_as_many_nodes_as_they_had_and_share_none(modular):
    jobs = jobs_of(modular)
    ran = modular.components["start_time"] >= 0
    assert len(jobs) == ran.sum() > 0
    sizes = [len(sets(text)) for text in jobs["allocated_resources"]]
    assert (
        sizes == jobs["requested_number_of_resources"].tolist() == modular.components["nodes"][ran].tolist()
    )
    spans = [
        (node, start, end)
        for text, start, end in zip(
            jobs["allocated_resources"], jobs["starting_time"], jobs["finish_time"], strict=True
        )
        for node in sets(text)
        if end > start
    ]
    spans.sort()
    assert all(one[0] < other[0] or one[2] <= other[1] for one, other in pairwise(spans))


def test_a_chrome_trace_by_hand(small, tmp_path):
    export(small, tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    assert events[0] == {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "CM"}}
    slices = [event for event in events if event["ph"] == "X"]
    assert [(s["name"], s["ts"], s["dur"], s["tid"], s["args"]["nodes_here"]) for s in slices] == [
        ("1 a", 0, 10_000_000, 0, 2),
        ('2 <b>"x"', 0, 20_000_000, 2, 1),
        ("3 c", 20_000_000, 0, 0, 3),
    ]
    queue = [(e["ts"], e["args"]["queue_components"]) for e in events if e.get("name") == "queue_components"]
    assert (5_000_000, 1) in queue


def test_a_chrome_trace_has_every_node_second(modular, tmp_path):
    export(modular, tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    work = sum(e["dur"] * e["args"]["nodes_here"] for e in events if e["ph"] == "X") / 1e6
    c = modular.components
    assert work == (c["nodes"] * (c["end_time"] - c["start_time"])).sum()


def test_a_paje_trace_has_every_node_second(modular, tmp_path):
    export(modular, tmp_path / "run.paje")
    text = (tmp_path / "run.paje").read_text()
    assert text.count("%EventDef") == text.count("%EndEventDef") == 5
    state, since, work, before = {}, {}, 0, 0
    for line in text.splitlines():
        if not line.startswith("3 "):
            continue
        _, time, _, container, value = re.match(r'(\d+) (\d+) (\w+) (\w+) "(.*)"', line).groups()
        assert int(time) >= before
        before = int(time)
        if state.get(container, "idle") != "idle":
            work += int(time) - since[container]
        state[container], since[container] = value, int(time)
    assert set(state.values()) == {"idle"}
    c = modular.components
    assert work == (c["nodes"] * (c["end_time"] - c["start_time"])).sum()


@pytest.fixture
def sharing():
    """Jobs 1 and 2 share node 0, then 1 and 4, which has the lane that 2 left; 3 has node 1, then 5 both."""
    nodes = {"name": "CM", "nodes": 2, "shared": True, "cores_per_node": 4, "gpus_per_node": 1}
    jobs = Workload.from_columns(
        nodes=[1, 1, 1, 1, 2], submit_time=[0, 0, 0, 10, 11], run_time=[20, 10, 20, 8, 5],
        cores=[1, 2, 4, 2, -1], gpus=[1, 0, 0, 0, 0],
    )  # fmt: skip
    return simulate(
        System.from_dict({"modules": [nodes]}), jobs, {"backfill": "none", "packing": "first_fit"}
    )


@pytest.mark.interpreted
def test_jobs_that_share_a_node_are_in_lanes_of_a_chrome_trace(sharing, tmp_path):
    export(sharing, tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {0: "node 0", 1: "node 0 (2)", 2: "node 1"}
    slices = [event for event in events if event["ph"] == "X"]
    assert [(s["name"], s["ts"] // 10**6, s["dur"] // 10**6, s["tid"]) for s in slices] == [
        ("1", 0, 20, 0), ("2", 0, 10, 1), ("3", 0, 20, 2), ("4", 10, 8, 1), ("5", 20, 5, 0),
    ]  # fmt: skip
    assert slices[0]["args"]["cores"] == 1
    assert slices[0]["args"]["gpus"] == 1
    busy = [(e["ts"] // 10**6, e["args"]["cores_busy"]) for e in events if e["name"] == "cores_busy"]
    assert busy == [(0, 7), (11, 7), (18, 5), (20, 8), (25, 0)]


@pytest.mark.interpreted
def test_jobs_that_share_a_node_are_in_lanes_of_a_paje_trace(sharing, tmp_path):
    export(sharing, tmp_path / "run.paje")
    lines = (tmp_path / "run.paje").read_text().splitlines()
    assert [line for line in lines if line.startswith("2 0 m0n")] == [
        '2 0 m0n0 Node m0 "0"', '2 0 m0n0l1 Node m0 "0 (2)"', '2 0 m0n1 Node m0 "1"',
    ]  # fmt: skip
    assert [line.split(" ", 1)[1] for line in lines if line.startswith("3 ") and "m0n0" in line] == [
        '0 Component m0n0 "1"', '0 Component m0n0l1 "2"', '10 Component m0n0l1 "idle"',
        '10 Component m0n0l1 "4"', '18 Component m0n0l1 "idle"', '20 Component m0n0 "idle"',
        '20 Component m0n0 "5"', '25 Component m0n0 "idle"',
    ]  # fmt: skip
    assert sum(line.startswith("4 25 Node") for line in lines) == 3


def test_other_suffixes_are_refused(small, tmp_path):
    with pytest.raises(InputError, match=r"allowed: \.csv, \.parquet, \.json, \.paje"):
        export(small, tmp_path / "run.xlsx")
    assert list(tmp_path.iterdir()) == []
