"""Files of points: four formats, and everything that can be wrong with them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.scaling.curves import Phases, Pmnf
from scheduler_sim.scaling.fitting import read_points
from scheduler_sim.scaling.learn import learn
from scheduler_sim.scaling.page import learnt_text
from tests.scaling import golden

CSV = "processes,load_balance,transfer_eff\n24,0.99,0.98\n96,0.97,0.95\n48,0.98,0.97\n"
MODELFACTORS = """\
"Number of processes";24;48(2x24);96
"Global efficiency";98.940000;98.330000;98.200000
"-- Parallel efficiency";98.940000;98.470000;98.140000
"   -- Load balance";99.480000;99.500000;99.260000
"   -- Communication efficiency";99.460000;98.960000;98.870000
"      -- Serialization efficiency";Non-Avail;99.650000;99.430000
"      -- Transfer efficiency";99.610000;99.310000;99.430000
"-- Computation scalability";100.000000;99.860000;100.060000
#
"Speedup";1.000000;1.988000;3.970000
"A metric of tomorrow";1;2;3
"""
EXTRAP = """\
PARAMETER p
POINTS 64 128 (256) 512 1024

METRIC time
REGION sweep
DATA 10 11 12
DATA 10 10
DATA 10
DATA 10
DATA 10
REGION receive
DATA 8
DATA 11.3137085
DATA 16
DATA 22.627417
DATA 32
METRIC visits
REGION sweep
DATA 1
DATA 1
DATA 1
DATA 1
DATA 1
"""


def write(tmp_path, text, name="points.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_table_is_sorted_and_has_our_names(tmp_path):
    points = read_points(write(tmp_path, CSV))
    assert list(points.efficiencies) == ["load_balance", "transfer"]
    assert points.efficiencies["transfer"].processes.tolist() == [24, 48, 96]
    assert points.efficiencies["transfer"].values.tolist() == [0.98, 0.97, 0.95]
    assert points.decimals == 2
    assert points.times == {}


def test_a_table_in_per_cent_with_semicolons(tmp_path):
    text = "P;Load Balance;time\n24;99.5;10\n48;98.5;6\n"
    points = read_points(write(tmp_path, text), percent=True)
    assert points.efficiencies["load_balance"].values == pytest.approx([0.995, 0.985])
    assert points.times["time"].values.tolist() == [10, 6]
    assert points.decimals == 3


def test_modelfactors_of_bsc(tmp_path):
    points = read_points(write(tmp_path, MODELFACTORS, "modelfactors.csv"))
    assert list(points.efficiencies) == [
        "global", "parallel", "load_balance", "communication", "transfer", "computation"
    ]  # fmt: skip
    assert points.processes.tolist() == [24, 48, 96]
    assert points.efficiencies["computation"].values == pytest.approx([1, 0.9986, 1.0006])
    assert "serialization efficiency is not available in all runs; left out" in points.notes
    assert any("metric of tomorrow" in note for note in points.notes)
    assert not any("Speedup" in note for note in points.notes)
    learnt = learn(points, "app", scaling="weak", module="CM")
    assert list(learnt.fits) == ["load_balance", "transfer", "computation"]
    assert any("communication efficiency is left out" in note for note in learnt.notes)


def test_extra_ps_text(tmp_path):
    points = read_points(write(tmp_path, EXTRAP, "points.txt"))
    assert list(points.times) == ["sweep", "receive"]
    assert points.times["sweep"].values.tolist() == [11, 10, 10, 10, 10]
    assert points.times["receive"].processes.tolist() == [64, 128, 256, 512, 1024]
    assert "metric time of time, visits" in points.notes
    assert any("up to 3 repetitions a point: their mean counts" in note for note in points.notes)


def test_extra_ps_json_lines_are_the_same_points(tmp_path):
    lines = [
        json.dumps({"params": {"p": p}, "callpath": "receive", "metric": "time", "value": p**0.5})
        for p in (64, 128, 256, 512, 1024)
    ]
    one = read_points(write(tmp_path, "\n".join(lines), "points.jsonl")).times["receive"]
    other = read_points(write(tmp_path, EXTRAP, "points.txt")).times["receive"]
    assert one.values == pytest.approx(other.values)


def test_phases_are_learnt_one_by_one(tmp_path):
    text = EXTRAP.replace("DATA 10 11 12", "DATA 10")
    learnt = learn(read_points(write(tmp_path, text, "a.txt")), "a", scaling="weak", module="CM")
    assert isinstance(learnt.profile.model, Phases)
    assert learnt.profile.model.values(4096) == pytest.approx(10 + 64, rel=1e-6)
    text = " ".join(learnt_text(learnt).split())
    assert "receive, s 1 p^0.5" in text
    assert learnt.tree_rows() == {}


def test_times_of_strong_scaling_become_work(tmp_path):
    rows = "".join(f"{p},{float(1000 / p + 0.5 * np.log2(p))!r}\n" for p in (64, 128, 256, 512, 1024, 2048))
    learnt = learn(read_points(write(tmp_path, "p,time\n" + rows)), "a", scaling="strong", module="CM")
    assert isinstance(learnt.profile.model, Pmnf)
    assert learnt.profile.relative_time(4096, "CM") == pytest.approx(1000 / 4096 + 6)
    assert learnt.profile.model.quantity == "work"


def test_a_profile_and_a_page_of_a_table(tmp_path):
    points = read_points(write(tmp_path, golden.ECEARTH_2TO3), percent=True)
    learnt = learn(points, "EC-EARTH", scaling="strong", module="CM", ranks_per_node=24, holdout=2)
    assert [check.processes for check in learnt.broken] == [201, 201]
    rows = learnt.tree_rows()
    parallel = rows[("global", "parallel")]
    assert rows[("global",)] == pytest.approx(parallel * rows[("global", "computation")])
    text = learnt_text(learnt)
    for said in (
        "201 processes: communication 0.6989",
        "held against the rest",
        "load balance",
        "envelope, 3080",
    ):
        assert said in text
    assert learnt.profile.provenance.fitted == [85, 385]


WRONG = {
    "": "the file is empty",
    "processes,load_balance\n": "found no points",
    "cores,load_balance\n4,0.9\n": ":1: found the first column 'cores'; allowed: one of processes",
    "processes,load_balanc\n4,0.9\n": "(did you mean 'load_balance'?)",
    "processes,transfer,transfer_eff\n4,0.9,0.9\n": "column transfer occurs twice",
    "processes,transfer\n4,0.9,1\n": ":2: found 3 fields; allowed: 2",
    "processes,transfer\n0,0.9\n": ":2: transfer: found 0 processes; allowed: a number from 1",
    "processes,transfer\nmany,0.9\n": ":2: found 'many' processes; allowed",
    "processes,transfer\n4,nan\n": ":2: transfer: found 'nan' at 4 processes",
    "processes,transfer\n4,\n": ":2: transfer: found '' at 4 processes",
    "processes,transfer\n4,1.2\n": ":2: transfer: found 1.2 at 4 processes; allowed: an efficiency up to 1",
    "processes,transfer\n4,98\n": "say --percent",
    "processes,time\n4,-1\n": ":2: time: found -1 at 4 processes",
    "Number of processes;4;8\nSpeedup;1;2\n": "found no efficiencies",
    "Number of processes;4;8\nLoad balance;99\n": ":2: found 2 fields; allowed: 3",
    "PARAMETER p q\nPOINTS 1 2\nDATA 1\n": "found the parameters p, q; allowed of several: processes",
    "PARAMETER p n\nPOINTS 1 2 3\nDATA 1\n": ":2: found 3 numbers; allowed: 2 for each of POINTS",
    "PARAMETER p procs\nPOINTS 1 2\nDATA 1\n": "found the parameters p, procs; allowed: each once",
    "p,size,transfer\n4,1000,0.9\n": "found transfer of 2 parameters; allowed: time, or one parameter",
    "p,size,time\n4,0,0.9\n": ":2: time: found 0 size; allowed: a number from 1",
    "p,size,time\n4,big,0.9\n": ":2: found 'big' size; allowed: a number from 1",
    "p,procs,time\n4,4,0.9\n": "found the parameters processes, processes; allowed: each once",
    "PARAMETER p\nPOINTS 4\nDATA 1\nDATA 2\n": ":4: found DATA line 2 of time; allowed: 1, as POINTS",
    "PARAMETER p\nPOINTS 4 x\nDATA 1\n": ":2: found 'x'; allowed: numbers",
    "PARAMETER p\nPOINTS 4\nDAT 1\n": ":3: found 'DAT'",
    "PARAMETER p\nPOINTS 0\nDATA 1\n": ":3: time: found 0 processes",
    "PARAMETER p\nPOINTS 4\n": "found no DATA",
    "PARAMETER p\nPOINTS 4\nMETRIC a\nDATA 1\nMETRIC b\nDATA 1\n": "found the metrics a, b",
    '{"params": {"p": 4}}\n': ':1: found \'{"params"',
    '{"params": {"p": 4, "n": 2}, "value": 3}\n{"params": {"p": 4}, "value": 3}\n': ":2: found",
    '{"params": {}, "value": 3}\n': "the same parameters on every line",
    "{\n": ":1: found '{'",
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_are_told_with_their_lines(text, tmp_path):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as told:
        read_points(path)
    assert WRONG[text] in str(told.value)
    assert str(told.value).startswith(str(path))


def test_every_mistake_is_told_at_once(tmp_path):
    with pytest.raises(ConfigError) as told:
        read_points(write(tmp_path, "processes,transfer\n0,0.9\n4,2\n8,nan\n"))
    assert len(told.value.problems) == 3


def test_files_that_are_none(tmp_path):
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(ConfigError, match=r"directory|no such file"):
            read_points(path)


def test_nothing_measured_twice_holds_out(tmp_path):
    points = read_points(write(tmp_path, "p,time\n4,3\n8,4\n"))
    with pytest.raises(InputError, match="holdout: found run times"):
        learn(points, "a", scaling="weak", module="CM", holdout=1)


def test_rows_of_the_same_point_are_repetitions(tmp_path):
    points = read_points(write(tmp_path, "processes,transfer,time\n4,0.9,10\n8,0.8,6\n4,0.7,12\n"))
    sample = points.times["time"].sample
    assert (sample.values.tolist(), sample.count.tolist()) == ([11, 6], [2, 1])
    assert sample.noise == pytest.approx(np.sqrt(2) / 11)
    assert points.efficiencies["transfer"].values == pytest.approx([0.8, 0.8])
    assert points.decimals is None
    assert points.notes == (
        "up to 2 repetitions a point: their mean counts; they lie 13 to 18 % apart (standard deviation)",
    )


SEVERAL = {
    "points.csv": "processes,size,time\n16,1000,3\n16,2000,5\n32,1000,4\n16,1000,3.5\n",
    "points.txt": "PARAMETER p\nPARAMETER n\nPOINTS (16 1000) (16 2000) (32 1000)\n"
    "DATA 3 3.5\nDATA 5\nDATA 4\n",
    "points.jsonl": "".join(
        json.dumps({"params": {"p": p, "n": n}, "value": value}) + "\n"
        for p, n, value in ((16, 1000, 3), (16, 2000, 5), (32, 1000, 4), (16, 1000, 3.5))
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_several_parameters(name, tmp_path):
    points = read_points(write(tmp_path, SEVERAL[name], name))
    sample = points.times["time"].sample
    assert points.parameters == ("processes", "size")
    assert sample.points.tolist() == [[16, 1000], [16, 2000], [32, 1000]]
    assert (sample.values.tolist(), sample.count.tolist()) == ([3.25, 5, 4], [2, 1, 1])


def test_nodes_are_p_where_no_column_has_processes(tmp_path):
    points = read_points(write(tmp_path, "nodes,size,time\n1,10,3\n2,10,5\n"))
    assert (points.parameters, points.counted) == (("processes", "size"), "nodes")
    both = read_points(write(tmp_path, "nodes,p,time\n1,10,3\n2,20,5\n"))
    assert (both.parameters, both.counted) == (("nodes", "processes"), "processes")
