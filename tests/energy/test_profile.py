"""Power profiles: the defaults of the DEEP-EST prototype, quality of every figure, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler_sim.energy.keys import QUALITIES
from scheduler_sim.energy.profile import PowerProfiles
from scheduler_sim.errors import ConfigError, InputError
from tests.conftest import ROOT

LEAST = """\
modules:
  - name: CM
    idle_w: 95
    typical_w: 171
    peak_w: {value: 203.1, quality: measured, source: Taurus}
    off_w: 9.75
    boot: {time_s: 151.52, energy_j: 18966.42}
    shutdown: {time_s: 6.1, energy_j: 616.08}
    reference_khz: 2300000
    pstates_khz: [1200000, 2300000]
    turbo: {khz: 2301000, effective_khz: 2590000}
    cores: 12
    core_share: {1: 0.2, 6: 0.7}
"""


@pytest.fixture
def profiles(tmp_path):
    def read(*changes):
        text = LEAST
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "node.yaml"
        path.write_text(text)
        return PowerProfiles.from_yaml(path)

    return read


def test_the_prototype():
    made = PowerProfiles.from_yaml(ROOT / "configs" / "power" / "deep-est-prototype.yaml")
    assert list(made.modules) == ["CM", "DAM", "ESB"]
    assert [made[name].idle_w for name in ("cm", "dam", "esb")] == [120, 250, 100]
    assert [made[name].typical_w for name in ("cm", "dam", "esb")] == [345, 450, 175]
    figures = made.figures()
    assert set(figures["quality"]) <= set(QUALITIES)
    known = figures[~figures["figure"].isin(["node_sigma"])]
    assert (known["source"] != "").all(), "every figure says where it comes from"
    for profile in made.modules.values():
        projected = profile.model.project(profile.typical())
        assert (projected.power_w <= profile.peak_w).all()
        assert (np.diff(projected.power_w[0]) > 0).all()
        assert (np.diff(projected.time_factor[0]) < 0).all()
        at = profile.pstates.index(profile.reference_khz)
        assert projected.power_w[0, at] == pytest.approx(profile.typical_w)
    assert made["DAM"].gpu_model().project(made["DAM"].gpu_typical(), 945_000).power_w[0, 0] == pytest.approx(
        95.5, abs=0.1
    )
    with pytest.raises(InputError, match="CM: has no GPUs"):
        made["CM"].gpu_model()


def test_taurus(profiles):
    made = profiles()["cm"]
    assert made.break_even_s == pytest.approx(212, abs=0.5), "the fact sheet's figure"
    assert made.watts.booting == pytest.approx(18966.42 / 152), "in whole seconds"
    assert made.watts.stopping == pytest.approx(616.08 / 7)
    assert (made.boot_s, made.shutdown_s) == (152, 7)
    watts = made.model.project(made.typical(2)).power_w
    assert watts.shape == (2, 3)
    assert watts[1].tolist() == pytest.approx([95 + 76 * (1.2 / 2.3) ** 2, 171, 95 + 76 * (2.59 / 2.3) ** 2])


def test_off_that_never_pays(profiles):
    assert profiles(("off_w: 9.75", "off_w: 95"))["CM"].break_even_s == float("inf")


def test_dynamic_shares_in_place_of_a_power_of_the_clock(profiles):
    made = profiles(("    cores", "    dynamic_share: {1200000: 1.2, 2300000: 4, 2301000: 5}\n    cores"))[
        "CM"
    ]
    assert made.share.tolist() == pytest.approx([0.3, 1, 1.25])
    watts = made.model.project(made.typical()).power_w[0]
    assert watts.tolist() == pytest.approx([95 + 76 * 0.3, 171, 95 + 76 * 1.25])


def test_busy_cores(profiles):
    made = profiles()["CM"]
    assert made.partial(195.0, np.array([0, 1, 3, 6, 12])).tolist() == pytest.approx([95, 115, 135, 165, 195])
    with pytest.raises(InputError, match="found 13 busy cores; allowed: 0 to 12"):
        made.partial(195.0, np.array([13]))


def test_node_variability(profiles):
    assert profiles()["CM"].node_factors(3, 7).tolist() == [1, 1, 1]
    made = profiles(("    cores", "    node_sigma: 0.1\n    cores"))["CM"]
    factors = made.node_factors(20_000, 7)
    assert factors.mean() == pytest.approx(1, abs=0.003)
    assert np.log(factors).std() == pytest.approx(0.1, abs=0.002)
    assert (made.node_factors(20_000, 7) == factors).all()
    assert (made.node_factors(20_000, 8) != factors).any()


def test_quality_is_carried_along(profiles):
    figures = profiles()["CM"].figures().set_index("figure")
    assert figures.loc["peak_w", ["value", "unit", "quality", "source"]].tolist() == [
        203.1,
        "W",
        "measured",
        "Taurus",
    ]
    assert figures.loc["idle_w", "quality"] == "guess", "a bare number is a guess"
    assert figures.loc["boot.energy_j", ["value", "unit"]].tolist() == [18966.42, "J"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("idle_w: 95", "idle_w: -95", r"node.yaml:3: .*idle_w.value: found -95; allowed: a number >= 0"),
        ("idle_w: 95", "idle_w: [95]", r":3: .*idle_w: found a list; allowed: a number >= 0, or a mapping"),
        ("quality: measured", "quality: exact", "found 'exact'; allowed: measured, scaled, guess"),
        ("    idle_w: 95\n", "", r"idle_w: missing"),
        ("typical_w: 171", "typical_w: 90", r":4: .*typical_w: found 90 W; allowed: at least idle_w, 95 W"),
        ("reference_khz: 2300000", "reference_khz: 2200000", "found 2200000; allowed: one of the P-states"),
        ("{khz: 2301000", "{khz: 2200000", r"turbo.khz: found 2200000; allowed: above 2300000 kHz"),
        ("pstates_khz: [1200000, 2300000]", "pstates_khz: []", "either pstates_khz or pstates"),
        ("pstates_khz: [1200000, 2300000]", "pstates: {lowest_khz: 1250000, highest_khz: 2300000}",
         "whole number of steps of 100000 kHz"),
        ("6: 0.7", "13: 0.7", r"core_share.13: found 0.7; allowed: cores from 1 to 12"),
        ("    cores", "    sensitivity: 1.5\n    cores", "found 1.5; allowed: a number from 0 to 1"),
        ("    cores", "    dynamic_share: {1200000: 1}\n    cores", "2300000 kHz is missing; allowed"),
        ("    cores", "    model: none.yaml\n    cores", "none.yaml: no such file"),
        ("modules:", "modules:\n  - name: cm", r"modules\[1\].name: found 'CM' again; allowed: once"),
        ("idle_w", "idel_w", r"idel_w: unknown key; .*did you mean 'idle_w'"),
    ],
)  # fmt: skip
def test_mistakes_are_named(profiles, old, new, message):
    with pytest.raises(ConfigError, match=message):
        profiles((old, new))


def test_a_module_without_a_profile(profiles):
    with pytest.raises(InputError, match=r"power profile node: module DAM: allowed: CM"):
        profiles()["DAM"]
