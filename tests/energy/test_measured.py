"""How well the laws project measured workloads that were not fitted, held to published figures.

The V100 (Wang and Chu, ICPADS 2018): fitted to 138 micro-kernels, projecting 20 applications, 600 MHz and up.
The ARM Cortex-A15 (ARMPM, cBench): 40 halves of 30 workloads, drawn at random.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from scheduler_sim.energy.fitting.regression import absolute_law, power_laws, time_laws
from scheduler_sim.energy.fitting.validation import Validation, validate
from scheduler_sim.energy.points import Points
from tests.conftest import SHARED, needs_shared

pytestmark = needs_shared

DATA = SHARED / "data" / "energy"
GPU_COUNTERS = ["DRAMA", "FP32A", "FP64A"]
ALL_GPU_COUNTERS = [*GPU_COUNTERS, "FP16A", "SMACT", "SMOCC", "TENSO"]
NEAR = 0.3
"""Percentage points by which a figure may be worse than the published one."""


def v100() -> Points:
    parts = []
    for role, name in (("fit", "microbenchmark"), ("test", "real")):
        raw = pd.read_csv(DATA / "nv_dvfs_v100" / f"v100-dvfs-{name}-profile.csv").dropna()
        parts.append(
            pd.DataFrame(
                {
                    "workload": raw["benchmark"] + "/" + raw["kernel"] + "/" + raw["argNo"],
                    "role": role,
                    "frequency_khz": raw["core_frequency"] * 1000,
                    "power_w": raw["average_power"],
                    "time_s": raw["time"],
                    **{counter: raw[counter] for counter in ALL_GPU_COUNTERS},
                }
            )
        )
    table = pd.concat(parts)
    return Points.of(table[table["frequency_khz"] >= 600_000].to_dict("list"))


def cbench() -> Points:
    raw = pd.read_csv(DATA / "arm_xu3" / "xu3_cset_perfcpu_cBench_eMMC_big.data.gz", sep="\t")
    raw.columns = ["ns", "workload", "run", "mhz", "degc", "volt", "ampere", "watt", *raw.columns[8:]]
    groups = raw.groupby(["workload", "run", "mhz"])
    sums = groups[list(raw.columns[8:])].sum()
    table = pd.DataFrame(
        {
            "power_w": groups["watt"].mean(),
            "time_s": (groups["ns"].max() - groups["ns"].min()) / 1e9,
            "cpi": sums["CPU_CYCLES"] / sums["INST_RETIRED"],
            "l1_refills": sums["L1D_CACHE_REFILL"] / sums["INST_RETIRED"],
            "accesses": sums["L1D_CACHE_ACCESS"] / sums["INST_RETIRED"],
        }
    ).reset_index()
    table["gips"] = sums["INST_RETIRED"].to_numpy() / table["time_s"] / 1e9
    table["frequency_khz"] = table.pop("mhz") * 1000
    return Points.of(table.drop(columns="run").to_dict("list"))


@cache
def on_v100() -> Validation:
    laws = [*power_laws(GPU_COUNTERS), *time_laws(GPU_COUNTERS, cpi=False), absolute_law(ALL_GPU_COUNTERS)]
    return validate(v100(), laws)


@cache
def on_cbench() -> Validation:
    counters = ["l1_refills", "gips", "cpi", "accesses"]
    return validate(cbench(), [*power_laws(counters), *time_laws(["l1_refills"], cpi=True)])


def mean(validation: Validation, quantity: str, law: str, reference: int, target: int | None = None):
    errors = validation.errors
    rows = (
        (errors["quantity"] == quantity) & (errors["law"] == law) & (errors["from_khz"] == 1000 * reference)
    )
    if target is not None:
        rows &= errors["to_khz"] == 1000 * target
    return errors.loc[rows, ["rmse_percent", "mape"]].mean().tolist()


# MHz measured at; RMSE % (D2.3 eq. 5.4) and MAPE % of the fact sheet.
@pytest.mark.parametrize(
    ("quantity", "law", "reference", "published"),
    [
        ("power", "ratio", 1380, (4.6, 6.0)),
        ("power", "affine", 1380, (5.5, 5.3)),
        ("time", "stall", 1380, (2.7, 6.9)),
        ("energy", "selected", 1380, (1.3, 6.7)),
        ("power", "ratio", 1087, (3.0, 3.8)),
        ("power", "affine", 1087, (3.2, 3.6)),
        ("time", "stall", 1087, (1.6, 4.8)),
        ("energy", "selected", 1087, (1.3, 5.7)),
    ],
)
def test_applications_on_a_v100(quantity, law, reference, published):
    found = mean(on_v100(), quantity, law, reference)
    assert (np.array(found) <= np.array(published) + NEAR).all(), found


@pytest.mark.parametrize(("reference", "time"), [(1380, (5.4, 11.0)), (1087, (2.8, 6.0))])
def test_the_baselines_on_a_v100(reference, time):
    """The counters-only model fails as D2.3's GPU model did; T = f0 / f is twice as far off as stalls."""
    assert mean(on_v100(), "power", "counters only", reference)[0] == pytest.approx(21.5, abs=NEAR)
    assert mean(on_v100(), "power", "counters only", reference)[1] > 30
    assert mean(on_v100(), "time", "f0 / f", reference) == pytest.approx(time, abs=NEAR)
    constant, ratio = (mean(on_v100(), "power", law, reference)[0] for law in ("constant ratio", "ratio"))
    assert constant > ratio + 0.5


@pytest.mark.parametrize(
    ("quantity", "law", "reference", "target", "published"),
    [
        ("power", "affine", 2000, 1500, (1.5, 1.3)),
        ("power", "affine", 2000, 1000, (3.2, 2.8)),
        ("power", "affine", 1500, 2000, (1.7, 1.5)),
        ("power", "ratio", 2000, 1500, (1.8, 1.6)),
        ("power", "ratio", 2000, 1000, (4.0, 3.5)),
        ("power", "ratio", 1500, 2000, (1.8, 1.5)),
        ("power", "constant ratio", 2000, 1500, (1.6, 1.6)),
        ("power", "constant ratio", 2000, 1000, (3.5, 3.3)),
        ("power", "constant ratio", 1500, 2000, (1.6, 1.7)),
        ("time", "cpi", 2000, 1500, (2.5, 3.9)),
        ("time", "cpi", 2000, 1000, (5.3, 7.2)),
        ("time", "cpi", 1500, 2000, (2.6, 4.2)),
        ("energy", "selected", 2000, 1500, (2.6, 3.7)),
        ("energy", "selected", 2000, 1000, (4.7, 6.1)),
        ("energy", "selected", 1500, 2000, (2.6, 3.9)),
    ],
)
def test_cbench_on_arm(quantity, law, reference, target, published):
    found = mean(on_cbench(), quantity, law, reference, target)
    assert (np.array(found) <= np.array(published) + NEAR).all(), found


def test_what_is_selected_does_not_lose_to_the_baseline_and_keeps_what_is_to_be_had():
    """18 of the cBench workloads, halves of 9: the least error alone took laws of 2.6 % for 2.2 %.

    Halves of 9 are too few for a law of two coefficients; halves of 15 are not.
    """
    points = cbench()
    few = sorted(points.table["workload"].unique())[:18]
    laws = [*power_laws(["l1_refills"]), *time_laws(["l1_refills"], cpi=True)]
    found = validate(points.rows(points.table["workload"].isin(few).to_numpy()), laws).summary()
    error = found.set_index(["quantity", "law"])["rmse_percent"]
    assert error["power", "selected"] <= error["power", "constant ratio"] + 0.1
    assert error["time", "selected"] <= error["time", "f0 / f"] + 0.1
    every = on_cbench().summary().set_index(["quantity", "law"])["rmse_percent"]
    assert every["power", "selected"] <= every["power", "constant ratio"] + 0.1
    assert every["time", "selected"] < 0.7 * every["time", "f0 / f"]
    on_gpu = on_v100().summary(1_380_000).set_index(["quantity", "law"])["rmse_percent"]
    assert on_gpu["power", "selected"] == on_gpu["power", "affine"], "what many workloads tell is taken"
    assert on_gpu["time", "selected"] == on_gpu["time", "stall"]


def test_errors_grow_with_distance_and_the_middle_is_the_best_reference():
    """As D2.3 says of its heat maps; and the highest frequency is the worst target but one."""
    table = on_v100().map()
    near, far = table.loc[1_087_000, 1_102_000], table.loc[1_087_000, 1_380_000]
    assert near < far
    assert 800_000 < on_v100().best_reference() < 1_300_000
    curve = on_v100().curve()["selected"]
    assert curve.loc[1_380_000] > curve.loc[1_087_000] + 1
