"""Nodes that are not alike: by hand, the same under every policy, and exact sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scheduler_sim import System, Workload, simulate
from scheduler_sim.config.yaml_file import YamlFile
from scheduler_sim.energy.profile import PowerProfiles

pytestmark = pytest.mark.interpreted

NODE = {
    "name": "cluster", "idle_w": 100, "typical_w": 300, "peak_w": 900, "reference_khz": 10,
    "pstates_khz": [10], "node_sigma": 0.2,
}  # fmt: skip


def models(**more):
    return {"energy": {"power": {"modules": [NODE | more]}}}


def factors(nodes, seed):
    profiles = PowerProfiles.within(YamlFile(Path("profile"), {"modules": [NODE]}, {}))
    return profiles["cluster"].node_factors(nodes, seed)


def jobs(**more):
    columns = {"nodes": [2, 1, 3], "submit_time": [0, 0, 5], "run_time": [10, 20, 10]}
    return Workload.from_columns(**columns | more)


def test_by_hand():
    # nodes 0 and 1 from 0, node 2 from 0; at 10 nodes 0, 1 and 3
    result = simulate(System.homogeneous(4), jobs(), "fcfs", models=models(), seed=7)
    result.check()
    f = factors(4, 7)
    expected = [200 + 200 * (f[0] + f[1]), 100 + 200 * f[2], 300 + 200 * (f[0] + f[1] + f[3])]
    assert result.components["power_w"].tolist() == pytest.approx(expected, abs=0.001)
    assert len(set(f)) == 4


def test_the_whole_module_draws_the_same_under_every_policy_and_seed_alone_changes_it():
    wide = jobs(nodes=[4, 4, 4])
    drawn = {
        (policy, seed): simulate(System.homogeneous(4), wide, policy, models=models(), seed=seed)
        for policy in ("fcfs", "easy", "conservative")
        for seed in (1, 2)
    }
    powers = {key: tuple(result.components["power_w"]) for key, result in drawn.items()}
    assert len({powers[policy, 1] for policy, _ in powers}) == 1
    assert powers["easy", 1] != powers["easy", 2]
    for result in drawn.values():
        result.check()


def test_without_spread_nothing_changes_and_what_was_measured_stays():
    plain = simulate(System.homogeneous(4), jobs(), models=models(node_sigma=0))
    assert plain.components["power_w"].tolist() == [600, 300, 900]
    measured = models()
    measured["energy"]["jobs"] = "measured"
    known = jobs(measured_power_w=[500.0, -1.0, 700.0])
    result = simulate(System.homogeneous(4), known, models=measured)
    result.check()
    power = result.components["power_w"].to_numpy()
    assert power[[0, 2]].tolist() == [500, 700]
    assert power[1] != 300


def test_a_power_cap_goes_by_what_nodes_draw_in_the_mean():
    """The cap of 1,000 W lets four nodes of 250 W run: what these draw may be more, and is no breach."""
    energy = models(typical_w=250)["energy"] | {"cap": {"power_w": 1000}}
    for seed in range(4):
        result = simulate(System.homogeneous(4), jobs(nodes=[4, 4, 4]), models={"energy": energy}, seed=seed)
        result.check()
        above = result.metrics["energy"]["above_cap_s"]
        assert (above > 0) == (result.components["power_w"].iloc[0] > 1000)


@pytest.mark.compiled
def test_spread_is_as_stated():
    many = Workload.from_columns(nodes=[1] * 400, submit_time=[0] * 400, run_time=[10] * 400)
    result = simulate(System.homogeneous(400), many, models=models())
    factor = (result.components["power_w"].to_numpy() - 100) / 200
    assert factor.mean() == pytest.approx(1, abs=0.04)
    assert np.log(factor).std() == pytest.approx(0.2, abs=0.02)
