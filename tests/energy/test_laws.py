"""Laws of power and time, by hand: EAR's numbers, the identity, a node measured at all its P-states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.energy.fitting.node import node_curve
from scheduler_sim.energy.laws import (
    CpiTime,
    IdleDynamic,
    LinearMap,
    LinearPower,
    Stall,
    power_law,
    time_law,
)
from scheduler_sim.energy.model import Model
from scheduler_sim.energy.points import Points
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError

STATES = PStates.of([2_000_000, 2_400_000])
LU = {"workload": ["LU"], "frequency_khz": [2_400_000], "time_s": [60.81], "power_w": [319.86]}
COUNTED = Points.of(LU | {"cpi": [0.5533], "tpi": [15.44]})

# A Grid'5000 Taurus node under NAS EP.C: kHz, mean W, s; the last is turbo (Batsim's platform generator).
TAURUS = np.array([
    (1_200_000, 125.88, 62.7), (1_300_000, 128.87, 57.3), (1_400_000, 132.519, 56.3),
    (1_500_000, 135.368, 48.1), (1_600_000, 138.928, 46.4), (1_700_000, 142.95, 43.6),
    (1_800_000, 146.92, 41.0), (1_900_000, 151.30, 38.9), (2_000_000, 155.729, 37.0),
    (2_100_000, 160.47, 35.0), (2_200_000, 165.62, 33.7), (2_300_000, 171.02, 31.7),
    (2_301_000, 190.738, 28.2),
])  # fmt: skip


def ear() -> Model:
    """EAR's coefficients from 2.4 to 2.0 GHz of the fact sheet; CPI falls by a tenth."""
    power, cpi = np.full((2, 2, 3), np.nan), np.full((2, 2, 3), np.nan)
    power[1, 0] = 1.460243, 0.179429, -215.988654
    cpi[1, 0] = 0.9, 0.0, 0.0
    return Model(
        "EAR",
        STATES,
        power_law("affine", ("power_w", "tpi", "1"), STATES, power),
        time_law("cpi", ("cpi", "tpi", "1"), STATES, cpi),
    )


def test_ear_by_hand():
    made = ear().project(COUNTED, 2_000_000)
    assert made.power_w[0, 0] == pytest.approx(253.86, abs=0.005)
    assert made.time_factor[0, 0] == pytest.approx(0.9 * 2.4 / 2.0)
    assert made.times(COUNTED)[0, 0] == pytest.approx(60.81 * 1.08)


def test_ratio_by_hand():
    """Eq. 5.1: P(f) = P(f0) · (a · counter + b)."""
    coefficients = np.full((2, 2, 2), np.nan)
    coefficients[1, 0] = -0.02, 0.9
    law = power_law("ratio", ("tpi", "1"), STATES, coefficients)
    expected = 319.86 * (0.9 - 0.02 * 15.44)
    assert law.power(COUNTED, np.array([2_000_000]))[0, 0] == pytest.approx(expected)


def test_stalls_by_hand():
    law = Stall.constant(STATES, 0.5)
    assert law.factor(COUNTED, np.array([2_000_000]))[0, 0] == pytest.approx(1 + 0.5 * 0.2)
    steep = Stall(LinearMap(("tpi",), STATES, np.full((2, 2, 1), 1.0)))
    assert steep.factor(COUNTED, np.array([2_000_000]))[0, 0] == pytest.approx(1.2), "α held at 1"
    negative = Stall(LinearMap(("tpi",), STATES, np.full((2, 2, 1), -1.0)))
    assert negative.factor(COUNTED, np.array([2_000_000]))[0, 0] == 1.0, "α held at 0"


def test_idle_and_dynamic_by_hand():
    """100 W idle, 319.86 W at 2.4 GHz: at 2.0 GHz the rest is (2.0 / 2.4)² of it."""
    law = IdleDynamic.of_exponent(100.0, STATES)
    made = law.power(COUNTED, STATES.khz)
    assert made[0].tolist() == pytest.approx([100 + 219.86 * (2.0 / 2.4) ** 2, 319.86])
    with pytest.raises(InputError, match=r"found 319\.86 W; allowed: at least idle, 400 W"):
        IdleDynamic.of_exponent(400.0, STATES).power(COUNTED, STATES.khz)


@given(
    power=st.floats(50, 800),
    cpi=st.floats(0.2, 5),
    tpi=st.floats(0, 300),
    numbers=st.lists(st.floats(-5, 5), min_size=36, max_size=36),
    form=st.sampled_from(["affine", "ratio"]),
    time=st.sampled_from(["cpi", "stall"]),
)
def test_a_signature_projects_onto_itself_at_its_own_frequency(power, cpi, tpi, numbers, form, time):
    states = PStates.of([1_200_000, 2_000_000, 2_500_000])
    cube = np.array(numbers).reshape(3, 3, 4)
    signatures = Points.of(
        {"workload": ["a"], "frequency_khz": [2_000_000], "power_w": [power], "cpi": [cpi], "tpi": [tpi]}
    )
    model = Model(
        "any",
        states,
        power_law(form, ("power_w", "cpi", "tpi", "1"), states, cube),
        time_law(time, ("power_w", "cpi", "tpi", "1"), states, cube),
    )
    made = model.project(signatures, 2_000_000)
    assert made.power_w[0, 0] == power
    assert made.time_factor[0, 0] == 1.0


def test_a_missing_pair_is_refused_or_left_open():
    down = Points.of(LU | {"cpi": [0.5533], "tpi": [15.44], "frequency_khz": [2_000_000]})
    everything = ear().project(down)
    assert np.isnan(everything.power_w).tolist() == [[False, True]]
    with pytest.raises(InputError, match="EAR: no coefficients from 2000000 to 2400000 kHz"):
        ear().project(down, 2_400_000)


def test_a_frequency_that_does_not_exist():
    with pytest.raises(InputError, match="P-state: found 2100000 kHz; allowed: 2000000, 2400000 kHz"):
        ear().project(COUNTED, 2_100_000)
    stray = Points.of(LU | {"cpi": [0.5533], "tpi": [15.44], "frequency_khz": [2_200_000]})
    with pytest.raises(InputError, match="found 2200000 kHz"):
        ear().project(stray)


def test_a_counter_that_is_not_there():
    with pytest.raises(InputError, match=r"found no column 'tpi'; known: .*power_w"):
        ear().project(Points.of(LU | {"cpi": [0.5]}))


def test_odd_coefficients():
    with pytest.raises(InputError, match=r"allowed: \(2, 2, 1\)"):
        LinearMap(("1",), STATES, np.zeros((2, 1, 1)))
    with pytest.raises(InputError, match="form: found 'linear'; allowed: affine, ratio"):
        LinearPower("linear", LinearMap(("1",), STATES, np.zeros((2, 2, 1))))


def test_many_signatures_from_different_frequencies_at_once():
    """Each row uses the coefficients of its own frequency."""
    cube = np.arange(4.0).reshape(2, 2, 1)
    law = CpiTime(LinearMap(("1",), STATES, cube))
    both = Points.of(
        {"workload": ["a", "b"], "frequency_khz": [2_000_000, 2_400_000], "power_w": [1, 1], "cpi": [1, 2]}
    )
    factors = law.factor(both, STATES.khz)
    assert factors.ravel().tolist() == pytest.approx([0, 1 * 2.0 / 2.4, 2 / 2 * 2.4 / 2.0, 3 / 2])


def test_never_faster_when_slower():
    states = PStates.of([1_000_000, 2_000_000, 3_000_000])
    cube = np.full((3, 3, 1), 1.0)
    cube[2, 1], cube[2, 0] = 0.5, 0.4
    model = Model(
        "m", states, power_law("ratio", ("1",), states, cube), CpiTime(LinearMap(("1",), states, cube))
    )
    one = Points.of({"workload": ["a"], "frequency_khz": [3_000_000], "power_w": [100], "cpi": [1]})
    made = model.project(one)
    assert made.time_factor[0].tolist() == pytest.approx([1.2, 0.75, 1.0])
    raised = made.never_faster_when_slower()
    assert raised.time_factor[0].tolist() == pytest.approx([1.2, 1.0, 1.0])
    assert made.within(45.0, 90.0).power_w[0].tolist() == [45.0, 50.0, 90.0]


def test_taurus_within_two_thousandths_and_turbo_apart():
    """Each of the twelve but 1.4 GHz, which stands out from its neighbours in power and in time."""
    khz, watts, _ = TAURUS[:-1].T
    curve = node_curve(khz, watts)
    error = np.abs(curve.power(khz) / watts - 1)
    assert np.delete(error, khz == 1_400_000).max() < 0.002
    assert error.max() < 0.0035
    assert error.mean() < 0.001
    left_out = [
        abs(node_curve(np.delete(khz, i), np.delete(watts, i)).power(khz[i]) / watts[i] - 1)
        for i in range(12)
    ]
    assert np.mean(left_out) < 0.002
    turbo_khz, turbo_w, _ = TAURUS[-1]
    assert curve.power(turbo_khz) / turbo_w - 1 == pytest.approx(-0.10, abs=0.005)
    assert curve.power(curve.clock(turbo_w)) == pytest.approx(turbo_w)


def test_taurus_by_the_physical_law_with_turbo_as_a_state_of_its_own():
    """From 2.3 GHz alone. Turbo's run time says 2.59 GHz; its power lies 1.8 % above the curve there."""
    khz, watts, seconds = TAURUS.T
    effective = round(2_300_000 * seconds[-2] / seconds[-1])
    assert effective == pytest.approx(2_590_000, rel=0.003)
    states = PStates.of(khz[:-1].astype(int), 2_301_000, effective)
    law = IdleDynamic.of_exponent(node_curve(khz[:-1], watts[:-1]).static_w, states)
    at = Points.of({"workload": ["EP"], "frequency_khz": [2_300_000], "power_w": [171.02]})
    error = law.power(at, states.khz)[0] / watts - 1
    assert np.abs(np.delete(error[:-1], khz[:-1] == 1_400_000)).max() < 0.002
    assert error[-1] == pytest.approx(-0.018, abs=0.001)
    assert Stall.constant(states).factor(at, np.array([2_301_000]))[0, 0] == pytest.approx(28.2 / 31.7)


def test_on_taurus_slower_is_not_cheaper():
    khz, watts, seconds = TAURUS.T
    joules = watts * seconds
    assert khz[joules.argmin()] == 2_301_000
    assert joules.min() == pytest.approx(5380, abs=5)
    assert joules[0] == pytest.approx(7890, abs=5)


def test_node_curves_need_rising_power():
    with pytest.raises(InputError, match="does not rise"):
        node_curve(np.array([1e6, 2e6]), np.array([100.0, 90.0]))
    with pytest.raises(InputError, match="two or more"):
        node_curve(np.array([1e6, 1e6]), np.array([100.0, 90.0]))


def test_gpu_beside_cpu():
    """Powers add up; so do the times that each loses."""
    cpu = Model("c", STATES, IdleDynamic.of_exponent(100.0, STATES), Stall.constant(STATES, 0.5))
    gpu = Model("g", STATES, IdleDynamic.of_exponent(50.0, STATES), Stall.constant(STATES, 0.25))
    card = Points.of({"workload": ["LU"], "frequency_khz": [2_400_000], "power_w": [250]})
    both = cpu.project(COUNTED).beside(gpu.project(card, 2_000_000))
    slow = (2.0 / 2.4) ** 2
    assert both.power_w[0, 1] == pytest.approx(319.86 + 50 + 200 * slow)
    assert both.time_factor[0].tolist() == pytest.approx([1 + 0.5 * 0.2 + 0.25 * 0.2, 1 + 0.25 * 0.2])


def test_pstates():
    states = PStates.of([2_000_000, 1_000_000, 2_000_000], 2_001_000, 2_600_000)
    assert states.khz.tolist() == [1_000_000, 2_000_000, 2_001_000]
    assert states.effective_khz.tolist() == [1_000_000, 2_000_000, 2_600_000]
    assert states.turbo
    assert not STATES.turbo
    assert states.index([2_001_000, 1_000_000]).tolist() == [2, 0]
    with pytest.raises(InputError, match="turbo: found 1500000 kHz; allowed: above 2000000 kHz"):
        PStates.of([1_000_000, 2_000_000], 1_500_000)
    with pytest.raises(InputError, match="at least one frequency"):
        PStates.of([])
