"""Exports of a run: tables that come back, a Chrome trace and a Paje trace that tell the same schedule."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.errors import InputError
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


def test_other_suffixes_are_refused(small, tmp_path):
    with pytest.raises(InputError, match=r"allowed: \.csv, \.parquet, \.json, \.paje"):
        export(small, tmp_path / "run.xlsx")
    assert list(tmp_path.iterdir()) == []
