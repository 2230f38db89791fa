"""Sizes: the law by hand, its table against draws, powers of two by integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_sim.generation.sizes import MACHINE, SizeLaw, halved, nearest_power_of_two
from scheduler_sim.streams import stream


def test_law_of_the_project_by_hand():
    pmf = SizeLaw(power_of_two=0.0).pmf(1000)
    assert len(pmf) == 65
    assert pmf[:4] == pytest.approx([0.0, 0.4, 0.1, 0.1 * np.log2(3 / 2)])
    assert pmf.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("nodes", "reduction", "mean", "serial", "largest", "at_largest"),
    [  # by hand from the law: fact sheets of the reference generator agree
        (16, 1, 5.9879, 0.4, 16, 0.2138),
        (16, 2, 3.1939, 0.5263, 8, 0.2183),
        (50, 1, 9.5375, 0.4, 50, 0.0398),
        (75, 1, 9.8399, 0.4, 64, 0.0071),
        (165, 2, 5.1200, 0.5263, 32, 0.0082),
    ],
)
def test_law_on_the_machines_of_the_project(nodes, reduction, mean, serial, largest, at_largest):
    pmf = SizeLaw().pmf(nodes, reduction)
    assert (np.arange(len(pmf)) * pmf).sum() == pytest.approx(mean, abs=5e-5)
    assert pmf[1] == pytest.approx(serial, abs=5e-5)
    assert len(pmf) - 1 == largest
    assert pmf[-1] == pytest.approx(at_largest, abs=5e-5)


@pytest.mark.parametrize("nodes", [1, 3, 16, 50, 75])
@pytest.mark.parametrize("reduction", [1, 2])
@pytest.mark.parametrize("law", [SizeLaw(), SizeLaw(0.12, 0.2, 0.75), SizeLaw(0.3, 0.1, 0.5, MACHINE)])
def test_draws_follow_the_table(law, nodes, reduction):
    jobs = 100_000
    sizes = law.draw(nodes, reduction, stream(1, "where").random(jobs), stream(1, "power"))
    pmf = law.pmf(nodes, reduction)
    share = np.bincount(sizes, minlength=len(pmf)) / jobs
    assert len(share) == len(pmf)
    assert np.abs(share - pmf).max() < 4.5 * np.sqrt(0.25 / jobs)


@given(st.integers(1, 10**6))
def test_nearest_power_of_two_is_the_nearest_on_a_logarithmic_scale(size):
    power = int(nearest_power_of_two(np.array([size]))[0])
    assert power & (power - 1) == 0
    for other in (power // 2, 2 * power):
        if other:
            ratio = max(power, size) ** 2 / min(power, size) ** 2
            assert ratio <= max(other, size) ** 2 / min(other, size) ** 2


def test_halves_of_odd_sizes_follow_the_coin():
    sizes = np.array([1, 2, 3, 3, 8, 9])
    coin = np.array([True, True, True, False, True, False])
    assert halved(sizes, coin).tolist() == [1, 1, 2, 1, 4, 4]


def test_sizes_scale_with_the_machine_if_wished():
    assert len(SizeLaw(largest=MACHINE).pmf(1000)) - 1 == 1000
    assert len(SizeLaw().pmf(1000)) - 1 == 64
    assert len(SizeLaw(largest=32).pmf(1000)) - 1 == 32
    assert SizeLaw(largest=64).pmf(1000) == pytest.approx(SizeLaw().pmf(1000))
