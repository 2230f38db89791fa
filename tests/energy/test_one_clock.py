"""Power from counters at one clock: found where there is a law, not where there is none; used by a run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.energy.fitting.one_clock import MEAN, fit_one_clock
from scheduler_sim.energy.model_file import model_text, read_model
from scheduler_sim.energy.points import Points
from scheduler_sim.errors import ConfigError, InputError
from scheduler_sim.streams import stream

KHZ = 2_000_000


def levels(watts, workloads=12, noise=0.01, **more):
    """Return load levels of workloads with a counter that says nothing, and their power by ``watts``."""
    draws = stream(3, "one clock")
    load = np.tile([0.1, 0.4, 0.7, 1.0], workloads)
    names = np.repeat([f"w{i}" for i in range(workloads)], 4)
    own = np.repeat(draws.uniform(0, 1, workloads), 4)
    power = watts(load, own) * draws.normal(1, noise, len(load))
    columns = {"workload": names, "frequency_khz": KHZ, "power_w": power, "load": load, "misses": own, **more}
    return Points(pd.DataFrame(columns))


def test_a_line_in_the_load_is_found():
    made = fit_one_clock(levels(lambda load, own: 90 + 150 * load), ["load", "misses"])
    assert made.selected == "load"
    assert made.coefficients == pytest.approx([150, 90], rel=0.02)
    assert made.errors.loc["load", "mape"] < 1.5 < made.errors.loc[MEAN, "mape"]


def test_a_bend_and_a_second_counter_are_taken_where_they_are_there():
    bent = fit_one_clock(levels(lambda load, own: 90 + 200 * load - 100 * load**2), ["load"])
    assert bent.selected == "load, bent"
    both = fit_one_clock(levels(lambda load, own: 90 + 100 * load + 60 * own), ["load", "misses"])
    assert both.selected == "load, misses"
    assert fit_one_clock(levels(lambda load, own: 100 + 0 * load), ["load"]).selected == MEAN


def test_a_workload_is_left_out_whole_and_a_test_is_never_fitted():
    role = np.repeat(["fit"] * 10 + ["test"] * 2, 4)
    odd = np.where(role == "test", 50.0, 0.0)
    made = fit_one_clock(levels(lambda load, own: 90 + 150 * load + odd, role=role), ["load"])
    assert made.coefficients == pytest.approx([150, 90], rel=0.02)
    assert made.errors.loc["load", "bias"] < -20
    assert made.judged.sum() == 8


def test_what_cannot_be_fitted():
    points = levels(lambda load, own: 90 + 150 * load)
    with pytest.raises(InputError, match="one frequency and no counter that varies"):
        fit_one_clock(points, [])
    with pytest.raises(InputError, match="found 3 workloads; allowed: at least 4"):
        fit_one_clock(levels(lambda load, own: 90 + 150 * load, workloads=3), ["load"])


def profile(model):
    node = {"name": "cluster", "idle_w": 80, "typical_w": 150, "peak_w": 300, "reference_khz": KHZ}
    return {"modules": [node | {"pstates_khz": [1_000_000, KHZ], "model": model}]}


@pytest.fixture
def fitted(tmp_path):
    path = tmp_path / "node.yaml"
    made = fit_one_clock(levels(lambda load, own: 90 + 150 * load, noise=1e-9), ["load"])
    path.write_text(model_text(made.model()))
    assert read_model(path).power.form == "counters"
    return str(path)


def test_a_run_takes_the_power_of_signatures_from_their_counters(fitted):
    jobs = Workload.from_columns(nodes=[2], submit_time=[0], run_time=[100], app=["solver"])
    signatures = {"workload": ["solver"], "frequency_khz": [KHZ], "load": [0.5]}
    models = {"energy": {"power": profile(fitted), "signatures": signatures}}
    result = simulate(System.homogeneous(4), jobs, models=models)
    assert result.components["power_w"].tolist() == pytest.approx([2 * 165], abs=0.01)
    unknown, elsewhere = profile(fitted), profile(fitted)
    del unknown["modules"][0]["model"]
    elsewhere["modules"][0] |= {"pstates_khz": [1_000_000], "reference_khz": 1_000_000}
    for power, error, said in (
        (unknown, InputError, "found no power_w; allowed: measured powers, or a model"),
        (elsewhere, ConfigError, "found one of 2000000 kHz; allowed: of a P-state"),
    ):
        models["energy"]["power"] = power
        with pytest.raises(error, match=said):
            simulate(System.homogeneous(4), jobs, models=models)
