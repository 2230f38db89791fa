"""Energy models as files: what is written is read back, and mistakes are named."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.energy.fitting.grid import Grid
from scheduler_sim.energy.fitting.regression import power_laws, time_laws
from scheduler_sim.energy.fitting.selection import fit_selected
from scheduler_sim.energy.model_file import model_text, read_model
from scheduler_sim.energy.profile import PowerProfiles
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import ConfigError
from tests.energy.test_fitting import KHZ, made
from tests.energy.test_profile import LEAST

SMALL = """\
name: small
khz: [1000000, 2000000]
power: {form: affine, terms: [power_w, '1']}
time: {form: stall, terms: ['1']}
pairs:
- {from: 2000000, to: 1000000, power: [0.5, 10], time: [0.8]}
"""


def write(tmp_path, text):
    path = tmp_path / "model.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("cpi", [False, True])
@pytest.mark.parametrize("counters", [[], ["tpi"]])
def test_a_round_trip(tmp_path, counters, cpi):
    points = made(noise=0.01)
    grid = Grid.of(points, PStates.of(KHZ, 2_000_000))
    laws = [power_laws(counters)[-1], time_laws(counters, cpi=cpi)[-1]]
    model, *_ = fit_selected(laws, grid)
    back = read_model(write(tmp_path, model_text(model)))
    assert back.pstates.turbo
    at = points.at(2_000_000)
    once, again = model.project(at), back.project(at)
    assert np.allclose(once.power_w, again.power_w, rtol=1e-9)
    assert np.allclose(once.time_factor, again.time_factor, rtol=1e-9)


def test_a_small_one_by_hand(tmp_path):
    model = read_model(write(tmp_path, SMALL))
    at = made().at(2_000_000)
    assert model.project(at, 1_000_000).power_w[:, 0] == pytest.approx(0.5 * at.power + 10)
    assert model.project(at, 1_000_000).time_factor[:, 0] == pytest.approx(np.full(20, 1.8))
    assert model.project(at, 2_000_000).power_w[:, 0].tolist() == at.power.tolist()


def test_a_profile_uses_it(tmp_path):
    text = SMALL.replace("1000000", "1200000").replace("2000000", "2300000")
    write(tmp_path, text.replace("[1200000, 2300000]", "[1200000, 2300000, 2301000]"))
    (tmp_path / "node.yaml").write_text(LEAST + "    model: model.yaml\n")
    profile = PowerProfiles.from_yaml(tmp_path / "node.yaml")["CM"]
    assert profile.model.project(profile.typical()).power_w[0, 0] == pytest.approx(0.5 * 171 + 10)
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=r"modules\[0\].model: found none of 2301000 kHz"):
        PowerProfiles.from_yaml(tmp_path / "node.yaml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("to: 1000000", "to: 1500000", r"yaml:6: pairs\[0\].to: found 1500000 kHz; allowed: 1000000, 2"),
        ("[0.5, 10]", "[0.5]", r"pairs\[0\].power: found 1 numbers; allowed: one for each of power_w, 1"),
        ("[0.8]", "[.nan]", r"pairs\[0\].time: found 1 numbers"),
        ("[power_w, '1']", "[cpi, '1']", r"power.terms: found cpi, 1; allowed: power_w among them"),
        ("affine", "linear", "found 'linear'; allowed: affine, ratio"),
        ("form: stall", "form: roof", "found 'roof'; allowed: cpi, stall"),
        ("name: small\n", "name: small\nturbo_khz: 1000000\n", "turbo_khz: found 1000000; allowed: the hi"),
        ("khz: [1000000, 2000000]\n", "", "khz: missing"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path, old, new, message):
    with pytest.raises(ConfigError, match=message):
        read_model(write(tmp_path, SMALL.replace(old, new)))
