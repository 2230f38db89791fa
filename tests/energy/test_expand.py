"""Components at every P-state: from signatures, stated power, hints, or what is typical."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.energy.expand import ORIGINS, REFERENCE, SIGNATURE, TYPICAL, expand
from scheduler_sim.energy.points import Points
from scheduler_sim.energy.profile import PowerProfiles
from scheduler_sim.errors import InputError
from tests.energy.test_profile import LEAST

HINTS = "    hints: {memory_intensive: 0.1}\n    sensitivity: 0.8\n"
FITTED = """\
name: fitted
khz: [1200000, 2300000, 2301000]
power: {form: affine, terms: [power_w, '1']}
time: {form: stall, terms: [l2, '1']}
pairs:
- {from: 2300000, to: 1200000, power: [0.5, 10], time: [-1, 0.9]}
- {from: 2300000, to: 2301000, power: [1.1, 0], time: [-1, 0.9]}
- {from: 1200000, to: 2300000, power: [2, -20], time: [0, 0.5]}
"""


@pytest.fixture
def profile(tmp_path):
    def read(more=""):
        (tmp_path / "model.yaml").write_text(FITTED)
        (tmp_path / "node.yaml").write_text(LEAST + more)
        return PowerProfiles.from_yaml(tmp_path / "node.yaml")["CM"]

    return read


def test_without_signatures(profile):
    """12/23 of the clock: (12/23)² of the power above 95 W, and 1 + α · 11/12 of the time."""
    made = expand(
        profile(HINTS),
        np.array(["", "", "", ""]),
        hint=np.array(["", "memory_intensive", "other", ""]),
        reference_w=np.array([np.nan, -1.0, 150.0, 900.0]),
    )
    assert made.khz.tolist() == [1_200_000, 2_300_000, 2_301_000]
    assert made.origin.tolist() == [TYPICAL, TYPICAL, REFERENCE, REFERENCE]
    slow = (12 / 23) ** 2
    assert made.power_w[:, 0].tolist() == pytest.approx(
        [95 + 76 * slow, 95 + 76 * slow, 95 + 55 * slow, 95 + 108.1 * slow]
    )
    assert made.power_w[:, 1].tolist() == pytest.approx([171, 171, 150, 203.1]), "never above the peak"
    assert made.time_factor[:, 0].tolist() == pytest.approx(
        [1 + alpha * 11 / 12 for alpha in (0.8, 0.1, 0.8, 0.8)]
    )
    assert (made.time_factor[:, 1] == 1).all()
    assert made.power_w[3, 2] == 203.1


def test_signatures_come_first(profile):
    signatures = Points.of(
        {
            "workload": ["lu", "ep"],
            "frequency_khz": [2_300_000, 2_300_000],
            "power_w": [160, 180],
            "l2": [0.9, 0.1],
        }
    )
    made = expand(
        profile("    model: model.yaml\n"),
        np.array(["ep", "", "lu", "bt", "ep"]),
        reference_w=np.full(5, 120.0),
        signatures=signatures,
    )
    assert [ORIGINS[i] for i in made.origin] == [
        "signature", "reference power", "signature", "reference power", "signature",
    ]  # fmt: skip
    assert made.power_w[[0, 2, 4], 0].tolist() == pytest.approx([100, 95, 100]), "at least idle"
    assert made.power_w[0].tolist() == pytest.approx([100, 180, 198])
    assert made.time_factor[0].tolist() == pytest.approx(
        [1 + 0.8 * 11 / 12, 1, 1 + 0.8 * (2.3 / 2.59 - 1)], rel=0.2
    )
    assert made.time_factor[2, 0] == 1, "α held at 0"


def test_times_are_in_units_of_the_reference_frequency(profile):
    """A signature measured at 1.2 GHz: 1 there, 1 / 1.24 at 2.3; the trace's times are those at 2.3."""
    signatures = Points.of({"workload": ["lu"], "frequency_khz": [1_200_000], "power_w": [100], "l2": [0.5]})
    made = expand(profile("    model: model.yaml\n"), np.array(["lu"]), signatures=signatures)
    at_reference = 1 + 0.5 * (12 / 23 - 1)
    assert made.time_factor[0, :2].tolist() == pytest.approx([1 / at_reference, 1])
    assert made.power_w[0, 1] == pytest.approx(180)
    assert np.isnan(made.power_w[0, 2]), "no coefficients from there to turbo"
    assert np.isnan(made.time_factor[0, 2])


def test_no_time_falls_as_the_clock_falls(profile, tmp_path):
    """EAR's law may say so: CPI halves from 2.3 to 1.2 GHz, and the time with it, nearly."""
    profile("    model: model.yaml\n")
    text = FITTED.replace("form: stall, terms: [l2, '1']", "form: cpi, terms: [cpi, '1']")
    text = text.replace("[-1, 0.9]", "[0.5, 0]")
    (tmp_path / "model.yaml").write_text(text)
    node = PowerProfiles.from_yaml(tmp_path / "node.yaml")["CM"]
    signatures = Points.of(
        {"workload": ["stream"], "frequency_khz": [2_300_000], "power_w": [160], "cpi": [3]}
    )
    assert node.model.project(signatures).time_factor[0, 0] == pytest.approx(0.5 * 23 / 12)
    made = expand(node, np.array(["stream"]), signatures=signatures)
    assert made.time_factor[0, 0] == 1.0


def test_a_million_components_at_once(profile):
    apps = np.array(["", "lu"], dtype=object)[np.arange(1_000_000) % 2]
    signatures = Points.of({"workload": ["lu"], "frequency_khz": [2_300_000], "power_w": [160]})
    made = expand(profile(), apps, signatures=signatures)
    assert made.power_w.shape == (1_000_000, 3)
    assert np.unique(made.power_w[:, 1]).tolist() == [160, 171]
    assert (made.origin[1::2] == SIGNATURE).all()


def test_some_p_states_are_some_columns_of_all(profile):
    node = profile("    model: model.yaml\n")
    apps = np.array(["lu", "", "lu"])
    signatures = Points.of({"workload": ["lu"], "frequency_khz": [2_300_000], "power_w": [160], "l2": [0.5]})
    every = expand(node, apps, signatures=signatures)
    some = expand(node, apps, signatures=signatures, which=[2, 0])
    assert some.khz.tolist() == [2_301_000, 1_200_000]
    assert some.power_w.tolist() == every.power_w[:, [2, 0]].tolist()
    assert some.time_factor.tolist() == every.time_factor[:, [2, 0]].tolist()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"workload": ["lu", "lu"], "frequency_khz": [2_300_000, 1_200_000], "power_w": [1, 1], "l2": [0, 0]},
         "application lu has several"),
        ({"workload": ["lu"], "frequency_khz": [2_000_000], "power_w": [1], "l2": [0]},
         "signatures on CM: P-state: found 2000000 kHz"),
        ({"workload": ["lu"], "frequency_khz": [2_301_000], "power_w": [1], "l2": [0]},
         "no coefficients from 2301000 to 2300000 kHz"),
        ({"workload": ["lu"], "frequency_khz": [2_300_000], "power_w": [1]}, "found no column 'l2'"),
    ],
)  # fmt: skip
def test_signatures_that_do_not_do(profile, columns, message):
    with pytest.raises(InputError, match=message):
        expand(profile("    model: model.yaml\n"), np.array(["lu"]), signatures=Points.of(columns))


def test_hints_out_of_range(profile):
    with pytest.raises(InputError, match=r"hints.memory_intensive: found 2; allowed: a number from 0 to 1"):
        profile("    hints: {memory_intensive: 2}\n")
