"""The facility: by hand, as RAPS has it, over temperature and prices, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim import System, Workload, simulate
from scheduler_sim.config.yaml_file import YamlFile, read_yaml
from scheduler_sim.energy.accounting import account
from scheduler_sim.energy.bill import bill
from scheduler_sim.energy.facility import Curve, Facility, facility_in
from scheduler_sim.energy.facility_page import facility_page
from scheduler_sim.energy.profile import Watts
from scheduler_sim.energy.tariff import Series
from scheduler_sim.errors import ConfigError, InputError
from tests.conftest import ROOT
from tests.energy.test_accounting import COMPONENTS, TIMELINE, WATTS

NODES = {"CM": 4, "ESB": 3}


def of(temperature=None, **keys):
    return Facility.of(facility_in(YamlFile(ROOT / "facility", keys, {})), temperature)


def steady(watts: float, nodes: int):
    """Return the account of nodes that all draw this much for 10 s."""
    ran = pd.DataFrame(
        {"module": ["m"], "nodes": [nodes], "start": [0], "end": [10], "power_w": [watts * nodes]}
    )
    states = dict.fromkeys(("nodes_idle", "nodes_off", "nodes_booting", "nodes_stopping"), 0)
    return account(
        ran,
        pd.DataFrame([{"time": 0, "module": "m", "nodes_busy": nodes, **states}]),
        {"m": Watts(1, 0, 0, 0)},
    )


# kW that RAPS gives when it is run (commit 6c142bf of 2026-08-18); nobody here computed them
@pytest.mark.parametrize(
    ("cpu", "gpus", "kilowatts"), [(0, 0, 7306.52), (0.33, 3.16, 22954.45), (1, 4, 28227.88)]
)
def test_frontier_takes_what_raps_says(cpu, gpus, kilowatts):
    keys = facility_in(read_yaml(ROOT / "configs/facilities/frontier.yaml"))
    node = 90 + 190 * cpu + 4 * 88 + 472 * gpus + 74.26 + 4 * 20 + 30
    nodes = 74 * 128
    made = bill(steady(node, nodes), {"m": nodes}, facility=Facility.of(keys, None))
    assert made.max_facility_w / 1000 == pytest.approx(kilowatts, abs=0.01)
    assert made.facility_j == pytest.approx(10 * made.max_facility_w)


def test_stages_cooling_and_prices_by_hand():
    made = account(COMPONENTS, TIMELINE, WATTS, end=30)
    outside = Series("t", np.array([0, 20, 30]), np.array([10.0, 30.0]))
    facility = of(
        outside,
        conversion=[{"name": "supply", "nodes": 2, "feeds_w": 5, "loss_w": 3, "efficiency": 0.9}],
        fixed_w=70,
        cooling={"pue": {"10": 1.1, "20": 1.2, "50": 1.5}, "temperature": 0},
    )
    # 4 nodes have 2 supplies, 3 have one and a half; total power by test_accounting
    steps = [(2, 1050), (3, 1810), (4, 2010), (1, 1250), (2, 770), (8, 570), (10, 485)]
    behind = [(seconds, (watts + 3.5 * 8) / 0.9 + 70) for seconds, watts in steps]
    taken = sum(s * w * 1.1 for s, w in behind[:-1]) + 10 * behind[-1][1] * 1.3
    due = bill(made, NODES, facility=facility, price=Series("p", np.array([0, 20, 30]), np.array([0.0, 3.6])))
    assert due.facility_j == pytest.approx(taken)
    assert due.it_j + due.conversion_j + due.cooling_j == pytest.approx(taken)
    assert due.conversion_j == pytest.approx(sum(s * w for s, w in behind) - due.it_j)
    assert due.max_facility_w == pytest.approx(1.1 * behind[2][1])
    assert due.cost == pytest.approx(10 * behind[-1][1] * 1.3 / 1e6)
    parts = [bill(made, NODES, module=name, facility=facility) for name in NODES]
    assert sum(part.facility_j for part in parts) == pytest.approx(taken)


def test_efficiency_by_load():
    facility = of(conversion=[{"name": "supply", "nodes": 2, "efficiency": {"200": 0.9, "100": 0.8}}])
    for watts, efficiency in ((10, 0.8), (50, 0.8), (75, 0.85), (100, 0.9), (900, 0.9)):
        made = bill(steady(watts, 4), {"m": 4}, facility=facility)
        assert made.facility_j == pytest.approx(4 * watts * 10 / efficiency)


@given(st.floats(1, 3), st.floats(0, 500), st.floats(0.1, 1))
def test_the_parts_are_the_whole_and_nothing_is_won(pue, loss, efficiency):
    made = account(COMPONENTS, TIMELINE, WATTS, end=30)
    stages = [{"name": "a", "loss_w": loss, "efficiency": efficiency}]
    due = bill(made, NODES, facility=of(conversion=stages, cooling={"pue": pue}))
    assert due.facility_j == due.it_j + due.conversion_j + due.cooling_j
    assert due.conversion_j >= -1e-6
    assert due.cooling_j >= -1e-6


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"cooling": {"pue": 0.9}}, r"cooling.pue: found 0.9; allowed: a number from 1 to 100"),
        (
            {"cooling": {"pue": {"hot": 1.2}}},
            r"cooling.pue: found a mapping; allowed: a number from 1",
        ),
        ({"cooling": {"pue": {"10": 1.2}}}, r"cooling.temperature: found nothing; allowed: a temperature"),
        ({"conversion": [{"name": "a", "efficiency": 0}]}, r"conversion\[0\].efficiency: found 0"),
        (
            {"conversion": [{"name": "a", "nodes": 4}, {"name": "b", "nodes": 6}]},
            r"conversion\[1\].nodes: found 6; allowed: a multiple of 4, the nodes of a",
        ),
        ({"colling": {}}, "colling: unknown key; allowed: conversion, fixed_w, cooling"),
    ],
)
def test_what_cannot_be(keys, said):
    with pytest.raises(ConfigError, match=said):
        facility_in(YamlFile(ROOT / "facility", keys, {}))


def models(facility, **more):
    node = {
        "name": "cluster",
        "idle_w": 10,
        "typical_w": 100,
        "peak_w": 200,
        "reference_khz": 10,
        "pstates_khz": [10],
    }
    return {"energy": {"power": {"modules": [node]}, "facility": facility, **more}}


def jobs():
    return Workload.from_columns(nodes=[2], submit_time=[0], run_time=[100])


def test_a_run_counts_the_facility_and_repeats_from_its_manifest():
    facility = {
        "conversion": [{"name": "supply", "nodes": 4, "loss_w": 20}],
        "cooling": {
            "pue": {"0": 1.0, "20": 1.2},
            "temperature": {"time": [0, 50, 100], "value": [0, 10, 20]},
        },
    }
    result = simulate(System.homogeneous(4), jobs(), models=models(facility))
    result.check()
    found = result.metrics["energy"]
    behind = 200 + 20 + 20
    assert found["facility_j"] == pytest.approx(50 * behind + 50 * behind * 1.1)
    assert found["conversion_j"] == pytest.approx(2000)
    assert found["pue"] == pytest.approx(found["facility_j"] / 22000)
    again = simulate(System.homogeneous(4), jobs(), models=result.manifest["models"])
    assert again.metrics == result.metrics


def test_what_a_run_refuses():
    with pytest.raises(ConfigError, match=r"energy.pue: found beside energy.facility"):
        simulate(System.homogeneous(4), jobs(), models=models({"fixed_w": 1}, pue=1.2))
    cold = {"cooling": {"pue": {"0": 1.1, "9": 1.2}, "temperature": {"time": [0, 10], "value": [1, 2]}}}
    with pytest.raises(InputError, match="temperature: ends too early"):
        simulate(System.homogeneous(4), jobs(), models=models(cold))


def test_curves_are_flat_beyond_their_points():
    assert Curve.of({"2": 20.0, "1": 10.0})(np.array([0, 1.5, 3])).tolist() == [10, 15, 20]


def test_the_reference_page_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "facility.md").read_text(encoding="utf-8")
    assert page == facility_page(), (
        "run: python -m scheduler_sim.energy.facility_page > docs/reference/facility.md"
    )


def test_what_ships_can_be_read():
    for path in (ROOT / "configs" / "facilities").glob("*.yaml"):
        facility_in(read_yaml(path))
