"""Choosing P-state and module: by hand, by properties, and the DEEP-EST policy's own eight applications."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.energy.choice import OBJECTIVES, choose
from scheduler_sim.energy.ear import ear_model, ear_signatures
from scheduler_sim.energy.pstates import PStates
from scheduler_sim.errors import InputError
from tests.conftest import SHARED, needs_shared

# One component: fast and hungry, balanced, slow and frugal, dominated.
TIME = np.array([100.0, 104.0, 200.0, 210.0])
ENERGY = np.array([1000.0, 900.0, 600.0, 1200.0])
ONE = np.zeros(4, int)


@pytest.mark.parametrize(
    ("objective", "slowdown", "row"),
    [
        ("min_time", None, 0),
        ("min_energy", None, 2),
        ("min_energy", 0.05, 1),
        ("min_energy", 0.04, 1),
        ("min_energy", 0.03, 0),
        ("edp", None, 1),  # 100000, 93600, 120000
        ("sum_of_squares", None, 1),  # (1.67² + 1, 1.5² + 1.04², 1 + 2²)
    ],
)
def test_by_hand(objective, slowdown, row):
    assert choose(ONE, TIME, ENERGY, objective, slowdown=slowdown).tolist() == [row]


def test_sum_of_squares_is_not_edp():
    """Products 10, 10.45, 20; squares over the least of each, 1 and 5: 1 + 4, 3.61 + 1.21, 16 + 1."""
    time, energy = np.array([1.0, 1.9, 4.0]), np.array([10.0, 5.5, 5.0])
    assert choose(ONE[:3], time, energy, "edp").tolist() == [0]
    assert choose(ONE[:3], time, energy, "sum_of_squares").tolist() == [1]


def test_several_components_in_any_order_of_rows():
    component = np.array([7, 3, 7, 3])
    rows = choose(component, np.array([2.0, 5.0, 1.0, 4.0]), np.array([1.0, 1.0, 3.0, 2.0]), "min_energy")
    assert rows.tolist() == [1, 0], "component 3, then 7"


def test_ties_go_to_the_faster_then_to_the_cheaper_then_to_the_first():
    same = np.zeros(3, int)
    assert choose(same, np.array([9.0, 8.0, 8.0]), np.full(3, 5.0), "min_energy").tolist() == [1]
    assert choose(same, np.full(3, 8.0), np.array([5.0, 4.0, 4.0]), "min_time").tolist() == [1]
    assert choose(same, np.array([4.0, 2.0, 8.0]), np.array([4.0, 8.0, 2.0]), "edp").tolist() == [1]


def test_nothing_to_choose():
    assert choose(np.empty(0, int), np.empty(0), np.empty(0), "edp", slowdown=0.1).tolist() == []


def test_what_is_not_possible_is_not_chosen():
    time = np.array([np.nan, 104.0, 200.0, 210.0])
    assert choose(ONE, time, ENERGY, "min_time").tolist() == [1]
    with pytest.raises(InputError, match="component 0: no option; allowed"):
        choose(ONE, np.full(4, np.nan), ENERGY, "min_time")


def test_a_bound_against_a_given_time():
    """Up to 204 s against 120 s; against the least, 100 s, only up to 170 s."""
    assert choose(ONE, TIME, ENERGY, "min_energy", slowdown=0.7).tolist() == [1]
    assert choose(ONE, TIME, ENERGY, "min_energy", slowdown=0.7, reference_s=np.full(4, 120.0)).tolist() == [
        2
    ]
    with pytest.raises(InputError, match=r"component 0: no option within 5 % of its reference time"):
        choose(ONE, TIME, ENERGY, "min_energy", slowdown=0.05, reference_s=np.full(4, 50.0))


def test_bad_input():
    with pytest.raises(InputError, match=r"objective: found 'min_enrgy'; .*did you mean 'min_energy'"):
        choose(ONE, TIME, ENERGY, "min_enrgy")
    with pytest.raises(InputError, match=r"slowdown: found -0\.1; allowed: a number >= 0"):
        choose(ONE, TIME, ENERGY, "edp", slowdown=-0.1)


options = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 10**6), st.integers(1, 10**9)), min_size=1, max_size=40
)


@given(options, st.sampled_from(OBJECTIVES), st.one_of(st.none(), st.floats(0, 2)))
def test_the_bound_holds_for_every_component_and_nothing_better_is_left(rows, objective, slowdown):
    component, time, energy = (np.array(column) for column in zip(*rows, strict=True))
    best = choose(component, time.astype(float), energy.astype(float), objective, slowdown=slowdown)
    assert component[best].tolist() == sorted(set(component.tolist()))
    for row in best.tolist():
        own = component == component[row]
        least = time[own].min()
        inside = own if slowdown is None else own & (time <= (1 + slowdown) * least)
        assert inside[row], "the bound is honoured"
        t, e = time[inside], energy[inside]
        squares = (t / t.min()) ** 2 + (e / e.min()) ** 2
        scores = {"min_time": t, "min_energy": e, "edp": t * e, "sum_of_squares": squares}
        score = scores[objective]
        chosen = score[np.flatnonzero(inside) == row][0]
        assert chosen <= score.min() * (1 + 1e-12)


@given(options)
def test_sum_of_squares_does_not_care_for_units(rows):
    component, time, energy = (np.array(column, float) for column in zip(*rows, strict=True))
    once = choose(component.astype(int), time, energy, "sum_of_squares")
    scaled = choose(component.astype(int), 4 * time, 2 * energy, "sum_of_squares")
    assert once.tolist() == scaled.tolist(), "powers of two scale exactly"


# The fact sheet's evaluation of the policy on its own data: energy and node time against all applications on
# the Platinum 8168 at its highest frequency, %.
@needs_shared
@pytest.mark.parametrize(
    ("objective", "slowdown", "frequencies", "energy", "time"),
    [
        ("min_time", None, "highest", -6.1, -5.6),
        ("sum_of_squares", None, "all", -14.4, -1.7),
        ("min_energy", 0.05, "all", -11.7, -4.3),
        ("min_energy", None, "all", -18.0, 20.6),
    ],
)
def test_the_deep_est_policys_own_eight_applications(objective, slowdown, frequencies, energy, time):
    component, seconds, joules, highest = eight_applications()
    rows = np.flatnonzero(highest) if frequencies == "highest" else np.arange(len(component))
    best = rows[choose(component[rows], seconds[rows], joules[rows], objective, slowdown=slowdown)]
    base = np.flatnonzero(highest)[:8]
    assert joules[base].sum() == pytest.approx(184_700, abs=50)
    assert 100 * (joules[best].sum() / joules[base].sum() - 1) == pytest.approx(energy, abs=0.05)
    assert 100 * (seconds[best].sum() / seconds[base].sum() - 1) == pytest.approx(time, abs=0.05)


def eight_applications():
    """Options of the eight applications: both modules at all frequencies; first those on module 0."""
    folder = SHARED / "data" / "energy" / "deepest_ear" / "2hw"
    signatures = ear_signatures(folder / "apps", [2_700_000, 3_100_000])
    parts = []
    for module, file, highest in (("0", "normal.energy", 2_700_000), ("1", "normal2.energy", 3_100_000)):
        model = ear_model(folder / file, PStates.of(range(1_200_000, highest + 1, 100_000)))
        own = signatures.of_module(module)
        made = model.project(own)
        time = made.times(own)
        component = np.broadcast_to(np.arange(8)[:, None], time.shape)
        top = np.broadcast_to(made.khz == highest, time.shape)
        parts.append([values.ravel() for values in (component, time, time * made.power_w, top)])
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
