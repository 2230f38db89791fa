"""Metrics other than run time: read, fitted, saved as models of their own, evaluated, and no run times."""

from __future__ import annotations

import pytest
import yaml

from scheduler_sim.errors import ConfigError
from scheduler_sim.scaling.fitting import read_points
from scheduler_sim.scaling.learn import learn
from scheduler_sim.scaling.metric_model import metric_model_of, metric_text, read_metric_model
from scheduler_sim.scaling.profile_file import read_profile
from scheduler_sim.scaling.targets import Target, asked_for, predicted

CSV = "processes,time,flops,host\n" + "".join(
    f"{p},{100 / p},{1e16 * p**1.5},n{p}\n" for p in (2, 4, 8, 16, 32)
)
EXTRAP = """\
PARAMETER p
POINTS 2 4 8 16 32
METRIC time
REGION main
DATA 9
DATA 9
DATA 9
DATA 9
DATA 9
METRIC visits
REGION main
DATA 2
DATA 4
DATA 8
DATA 16
DATA 32
REGION io
DATA 5
DATA 5
DATA 5
DATA 5
DATA 5
"""


def write(tmp_path, text, name="points.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_a_column_is_read_as_a_metric(tmp_path):
    points = read_points(write(tmp_path, CSV), metric="FLOPS")
    assert (points.metric, list(points.times), points.efficiencies) == ("FLOPS", ["FLOPS"], {})
    assert points.notes == ("left out beside FLOPS: time, host",)
    assert points.times["FLOPS"].values[0] == pytest.approx(1e16 * 2**1.5)
    times = read_points(write(tmp_path, CSV), metric="time")
    assert (times.metric, list(times.times)) == ("", ["time"])


def test_a_metric_of_several_in_a_file_of_extra_p(tmp_path):
    path = write(tmp_path, EXTRAP, "points.txt")
    points = read_points(path, metric="visits")
    assert (points.metric, list(points.times)) == ("visits", ["main", "io"])
    assert read_points(path).metric == ""
    alone = EXTRAP.split("METRIC visits")[0].replace("METRIC time", "METRIC bytes")
    assert read_points(write(tmp_path, alone, "b.txt")).metric == "bytes"


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (CSV, "a.csv", ":1: found no metric 'bytes'; allowed: time, flops, host"),
        (EXTRAP, "a.txt", "found the metrics time, visits; allowed: one of them; found no 'bytes'"),
    ],
)
def test_a_metric_that_is_not_there(text, name, said, tmp_path):
    with pytest.raises(ConfigError) as told:
        read_points(write(tmp_path, text, name), metric="bytes")
    assert said in str(told.value)


def test_values_of_a_metric_are_numbers(tmp_path):
    with pytest.raises(ConfigError, match="found 'n2' at 2 processes"):
        read_points(write(tmp_path, CSV), metric="host")


def test_a_model_goes_to_a_file_and_back_and_gives_no_run_time(tmp_path):
    learnt = learn(read_points(write(tmp_path, CSV), metric="flops"), "a", scaling="weak", module="X")
    path = write(tmp_path, metric_text("flops", learnt.profile), "flops.yaml")
    model = read_metric_model(path)
    assert (model.metric, model.law.provenance.fitted) == ("flops", [2, 32])
    assert asked_for(model.law) == ("nodes",)
    assert predicted(model.law, Target(100, "")).time == pytest.approx(1e19, rel=1e-6)
    with pytest.raises(ConfigError, match="metric: found a model of flops; allowed here: run times"):
        read_profile(path)


def test_strong_scaling_models_what_processes_share(tmp_path):
    rows = "".join(f"{p},{1e9 / p!r}\n" for p in (2, 4, 8, 16, 32))
    points = read_points(write(tmp_path, "processes,bytes\n" + rows), metric="bytes")
    law = learn(points, "a", scaling="strong", module="X").profile
    model, _ = metric_model_of(yaml.safe_load(metric_text("bytes", law)))
    assert predicted(model.law, Target(1000, "")).time == pytest.approx(1e6)


LEAST = {
    "version": 1,
    "app": "a",
    "metric": "m",
    "scaling": "weak",
    "value": {"curve": "pmnf", "constant": 1.0},
}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"value": {"curve": "amdahl", "f": 0.5}}, "amdahl gives a efficiency of processes"),
        ({"value": None}, "value"),
        (
            {"ranks_per_node": {"CM": 4}},
            "ranks_per_node: found one for each module; allowed here: an integer",
        ),
        (
            {"value": {"curve": "pmnf", "terms": [{"c": 1, "of": {"clock_khz": [-1, 0]}}]}},
            "clock_khz: missing; allowed: the usual clock",
        ),
        ({"modules": {"CM": 1}}, "modules"),
    ],
)
def test_models_that_cannot_be(keys, said):
    assert metric_model_of(LEAST)[1] == []
    model, problems = metric_model_of({**LEAST, **keys})
    assert model is None
    assert said in " ".join(map(str, problems))
